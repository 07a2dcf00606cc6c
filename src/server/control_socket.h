// SPDX-License-Identifier: Apache-2.0
// ControlSocket: a Unix socket in a data directory, by which a command on the same machine reaches
// the process that has the directory open (docs/decisions/0005-online-backup.md).
//
// Security: accepts only root and the user that the process runs as, who can read the data anyway.
// HTTP clients cannot reach it.
// Threads: one, which handles one request at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "base/files.h"
#include "stator/result.h"

namespace stator::server {

class ControlSocket {
 public:
  // Copies the data to a directory that does not exist yet.
  using Backup = std::function<Result<void>(const std::filesystem::path& target)>;

  // Replaces an existing socket, so the caller must have the directory open and locked. `backup`
  // runs on the socket's thread. Errors: kIo if the socket cannot be created, for example because
  // the file system does not support sockets.
  static Result<std::unique_ptr<ControlSocket>> open(const std::filesystem::path& data,
                                                     Backup backup);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();  // waits for a backup in progress

 private:
  ControlSocket(Descriptor directory, Descriptor listener, Descriptor stop, Backup backup);
  void run();
  void serve(int connection) const;

  const Descriptor directory_;
  const Descriptor listener_;
  const Descriptor stop_;  // an event that ends run()
  Backup backup_;
  std::thread thread_;
};

// Requests a backup from the process that has `data` open, and waits for it without a time limit.
// That process opens `target`, so the path must be absolute. Errors: kUnavailable if no process
// listens, or it ended before the backup was complete; kInvalidArgument if `target` is too long;
// kIo if `data` cannot be opened, this user is not permitted, or the backup failed.
Result<void> request_backup(const std::filesystem::path& data, const std::filesystem::path& target);

}  // namespace stator::server

// SPDX-License-Identifier: Apache-2.0
// ControlSocket: how a command on the same machine reaches the process that has a data directory
// open. A Unix socket in that directory (docs/decisions/0005-online-backup.md).
//
// Who may ask: the user that the process runs as, and root; nobody gains rights by it, and nothing
// that speaks HTTP can reach it. One request at a time, each on the socket's own thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "stator/result.h"

namespace stator::server {

class ControlSocket {
 public:
  // Copies the data to a directory that does not exist yet.
  using Backup = std::function<Result<void>(const std::filesystem::path& target)>;

  // The caller has the directory open and locked. kIo where the file system takes no sockets.
  static Result<std::unique_ptr<ControlSocket>> open(const std::filesystem::path& data,
                                                     Backup backup);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();  // waits for a backup under way

 private:
  ControlSocket(int directory, int listener, int stop, Backup backup);
  void run();
  void serve(int connection) const;

  int directory_;
  int listener_;
  int stop_;  // an event that ends run()
  Backup backup_;
  std::thread thread_;
};

// Asks the process that has `data` open for a backup, and waits for it. kUnavailable where none
// listens; otherwise what the backup failed with, as kIo.
Result<void> request_backup(const std::filesystem::path& data, const std::filesystem::path& target);

}  // namespace stator::server

// SPDX-License-Identifier: Apache-2.0
// FileWatch: detects changes of small files, such as keys and certificates.
//
// It reads them at every interval, because modification times can stay the same, and replacing a
// directory of links as a whole (Kubernetes) causes no event for the file.
// Thread safety: add() before start(); check() from any thread. Calls never overlap.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace stator::server {

class FileWatch {
 public:
  using Files = std::function<std::vector<std::filesystem::path>()>;
  using Changed = std::function<void()>;

  FileWatch() = default;
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch() = default;

  // Calls `changed`, on the checking thread, if the content of one of `files`, or the list itself,
  // differs from the last check; the first check is now. Missing files count as empty; only the
  // first MB of a large file counts.
  void add(Files files, Changed changed);
  void start(std::chrono::milliseconds interval);
  // Checks at once.
  void check();

 private:
  struct Watched {
    Files files;
    Changed changed;
    std::string contents;
  };

  std::mutex mutex_;
  std::condition_variable_any waiting_;
  std::vector<Watched> watched_;
  std::jthread thread_;  // last, so that it ends first
};

}  // namespace stator::server

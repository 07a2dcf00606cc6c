// SPDX-License-Identifier: Apache-2.0
// FileWatch: says when the contents of small files have changed, such as keys and certificates.
//
// It reads them every interval. Times of modification can stay the same, and a directory of links
// that is swapped as a whole (Kubernetes) has no event of the file's own.
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

  // Calls `changed` when the contents of one of `files`, or the list itself, differ from what they
  // were at the last look; the first look is now. Missing files count as empty ones, and of large
  // ones the first MB counts.
  void add(Files files, Changed changed);
  void start(std::chrono::milliseconds interval);
  // Looks at once.
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

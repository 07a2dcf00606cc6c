// SPDX-License-Identifier: Apache-2.0
#include "server/file_watch.h"

#include <fstream>
#include <utility>

namespace stator::server {
namespace {

constexpr std::size_t kBytesMax = 1UL << 20;

// The paths and lengths separate the files.
std::string contents_of(const std::vector<std::filesystem::path>& files) {
  std::string contents;
  std::string bytes;
  for (const std::filesystem::path& file : files) {
    bytes.resize(kBytesMax);
    std::ifstream in(file, std::ios::binary);
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    contents += file.string() + '\n' + std::to_string(bytes.size()) + '\n' + bytes;
  }
  return contents;
}

}  // namespace

void FileWatch::add(Files files, Changed changed) {
  std::string contents = contents_of(files());
  watched_.push_back({std::move(files), std::move(changed), std::move(contents)});
}

void FileWatch::start(std::chrono::milliseconds interval) {
  thread_ = std::jthread([this, interval](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    while (!waiting_.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
      check();
    }
  });
}

void FileWatch::check() {
  const std::lock_guard lock(mutex_);
  for (Watched& watched : watched_) {
    std::string contents = contents_of(watched.files());
    if (contents == watched.contents) continue;
    watched.contents = std::move(contents);
    watched.changed();
  }
}

}  // namespace stator::server

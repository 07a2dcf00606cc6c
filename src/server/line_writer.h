// SPDX-License-Identifier: Apache-2.0
// LineWriter: writes lines to a file on a separate thread, so that a slow or full disk does not
// delay requests.
//
// Thread safety: any thread. write() never waits for the file: if the buffer is full or the file
// cannot be written, lines are dropped and counted.
// Lifetime: the destructor writes the buffered lines.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.h"
#include "stator/result.h"

namespace stator::server {

class LineWriter {
 public:
  // Appends to the file; "-" is standard output. Errors: kIo if it cannot be opened.
  static Result<std::unique_ptr<LineWriter>> open(const std::string& path);
  static std::unique_ptr<LineWriter> to_standard_error();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter();

  // `line`: without a line break.
  void write(std::string_view line);
  // Opens the file again by its name, after it was renamed. Errors: kIo; the old file stays open.
  Result<void> reopen();
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  LineWriter(int descriptor, Descriptor file, std::string path);
  void run();
  void write_out(std::string_view lines);

  const std::string path_;  // empty: a standard stream
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string waiting_;
  bool stopping_ = false;
  std::mutex descriptor_mutex_;  // held while lines are written
  int descriptor_;
  Descriptor file_;  // owns descriptor_ unless that is a standard stream
  std::atomic<uint64_t> dropped_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace stator::server

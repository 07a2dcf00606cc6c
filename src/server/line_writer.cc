// SPDX-License-Identifier: Apache-2.0
#include "server/line_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace stator::server {
namespace {

constexpr std::size_t kWaitingBytesMax = 4UL << 20;

Result<Descriptor> open_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (file.get() >= 0) return file;
  return fail(Code::kIo,
              "could not open the log '" + path + "': " + std::system_category().message(errno));
}

Descriptor no_file() {
  return Descriptor(-1);
}

}  // namespace

Result<std::unique_ptr<LineWriter>> LineWriter::open(const std::string& path) {
  if (path == "-") return std::unique_ptr<LineWriter>(new LineWriter(STDOUT_FILENO, no_file(), ""));
  STATOR_ASSIGN_OR_RETURN(Descriptor file, open_file(path));
  const int descriptor = file.get();
  return std::unique_ptr<LineWriter>(new LineWriter(descriptor, std::move(file), path));
}

std::unique_ptr<LineWriter> LineWriter::to_standard_error() {
  return std::unique_ptr<LineWriter>(new LineWriter(STDERR_FILENO, no_file(), ""));
}

LineWriter::LineWriter(int descriptor, Descriptor file, std::string path)
    : path_(std::move(path)),
      descriptor_(descriptor),
      file_(std::move(file)),
      thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LineWriter::write(std::string_view line) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() >= kWaitingBytesMax) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    wake = waiting_.empty();
    waiting_.append(line).push_back('\n');
  }
  if (wake) wake_.notify_one();
}

Result<void> LineWriter::reopen() {
  if (path_.empty()) return {};
  const std::lock_guard lock(descriptor_mutex_);  // once the file exists, it gets all lines
  STATOR_ASSIGN_OR_RETURN(Descriptor opened, open_file(path_));
  file_ = std::move(opened);
  descriptor_ = file_.get();
  return {};
}

void LineWriter::run() {
  std::string lines;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    lines.clear();
    lines.swap(waiting_);
    lock.unlock();
    write_out(lines);
    lock.lock();
  }
}

void LineWriter::write_out(std::string_view lines) {
  const std::lock_guard lock(descriptor_mutex_);
  while (!lines.empty()) {
    const ssize_t count = ::write(descriptor_, lines.data(), lines.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      dropped_.fetch_add(static_cast<uint64_t>(std::ranges::count(lines, '\n')),
                         std::memory_order_relaxed);
      return;
    }
    lines.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace stator::server

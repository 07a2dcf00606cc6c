// SPDX-License-Identifier: Apache-2.0
#include "cli/event_source.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/files.h"
#include "transfer/bucket.h"

namespace stator::cli {
namespace {

constexpr std::size_t kBatch = 256;
constexpr std::chrono::milliseconds kFetchWait{500};

Failure io_failure(std::string_view what, const std::string& path = {}) {
  const std::string reason = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  return fail(Code::kIo, path.empty() ? fmt::format("{}: {}", what, reason)
                                      : fmt::format("{} '{}': {}", what, path, reason));
}

// ---- Checkpoints

Result<uint64_t> read_checkpoint(const std::string& path) {
  std::ifstream file(path);
  if (!file) return 0;
  std::string text;
  std::getline(file, text);
  uint64_t position = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), position);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return fail(Code::kInvalidArgument, fmt::format("'{}' is not a checkpoint", path));
  }
  return position;
}

Result<void> keep_checkpoint(const std::string& path, uint64_t position) {
  return transfer::replace_file(std::filesystem::absolute(path), std::to_string(position) + "\n");
}

// ---- Lines

class Lines final : public EventSource {
 public:
  Lines(int input, Descriptor wake, std::string checkpoint, uint64_t position)
      : input_(input),
        wake_(std::move(wake)),
        checkpoint_(std::move(checkpoint)),
        position_(position) {}

  Result<std::optional<std::vector<std::string>>> next(const std::stop_token& stop) override {
    ends_.clear();
    std::vector<std::string> lines;
    uint64_t end = position_;
    while (lines.size() < kBatch) {
      if (auto line = take_line()) {
        end += line->second;
        ends_.push_back(end);
        lines.push_back(std::move(line->first));
        continue;
      }
      // Handles received events before waiting for more.
      if (ended_ || !lines.empty()) break;
      STATOR_ASSIGN_OR_RETURN(const bool more, fill(stop));
      if (!more) break;
    }
    if (lines.empty() && ended_) return std::optional<std::vector<std::string>>();
    return std::optional(std::move(lines));
  }

  Result<void> settle(const std::vector<Settlement>& settlements) override {
    if (settlements.empty()) return {};
    position_ = ends_.back();
    if (has_left_) return {};  // the checkpoint stays before the first line that was left
    const auto left = std::ranges::find(settlements, Settlement::kLeft);
    has_left_ = left != settlements.end();
    if (checkpoint_.empty() || left == settlements.begin()) return {};
    return keep_checkpoint(checkpoint_,
                           ends_[static_cast<std::size_t>(left - settlements.begin()) - 1]);
  }

  // Skips the input before the position, if it is not seekable.
  Result<void> skip(uint64_t bytes) {
    while (bytes > 0 && !ended_) {
      STATOR_RETURN_IF_ERROR(fill({}));
      const std::size_t taken = std::min<uint64_t>(bytes, read_.size());
      read_.erase(0, taken);
      bytes -= taken;
    }
    if (bytes > 0) return fail(Code::kInvalidArgument, "the input ends before its checkpoint");
    return {};
  }

 private:
  // The next complete line, and the number of input bytes that it took.
  std::optional<std::pair<std::string, std::size_t>> take_line() {
    const std::size_t end = read_.find('\n', searched_);
    if (end == std::string::npos) {
      // Keeps only the beginning of a line that is too long.
      if (read_.size() > kEventBytesMax + 1) {
        dropped_ += read_.size() - (kEventBytesMax + 1);
        read_.resize(kEventBytesMax + 1);
      }
      searched_ = read_.size();
      if (!ended_ || read_.empty()) return std::nullopt;
    }
    const std::size_t length = std::min(end, read_.size());
    const std::size_t taken = length + (end == std::string::npos ? 0 : 1);
    std::pair<std::string, std::size_t> line(read_.substr(0, length), taken + dropped_);
    read_.erase(0, taken);
    searched_ = dropped_ = 0;
    return line;
  }

  // Waits for input and reads it. Returns false if `stop` was requested.
  Result<bool> fill(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { eventfd_write(wake_.get(), 1); });
    std::array<pollfd, 2> polled{{{input_, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    while (poll(polled.data(), polled.size(), -1) < 0) {
      if (errno != EINTR) return io_failure("could not wait for the input");
    }
    if (stop.stop_requested()) return false;
    std::array<char, 64UL << 10> buffer{};
    const ssize_t count = read(input_, buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR) return io_failure("could not read the input");
    if (count == 0) ended_ = true;
    if (count > 0) read_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  int input_;
  const Descriptor wake_;
  std::string checkpoint_;
  uint64_t position_;           // bytes of the input up to the last line that was settled or left
  bool has_left_ = false;       // a line was left
  std::vector<uint64_t> ends_;  // positions after the lines that next() returned
  std::string read_;            // input that next() has not returned
  std::size_t searched_ = 0;    // bytes of read_ without a line end
  std::size_t dropped_ = 0;     // bytes dropped from a line that is too long
  bool ended_ = false;
};

// ---- NATS

class Messages final : public EventSource {
 public:
  Messages(nats::JetStream server, nats::Subscription subscription)
      : server_(std::move(server)), subscription_(std::move(subscription)) {}

  Result<std::optional<std::vector<std::string>>> next(const std::stop_token& stop) override {
    fetched_.clear();
    std::vector<std::string> texts;
    if (stop.stop_requested()) return std::optional(std::move(texts));
    STATOR_ASSIGN_OR_RETURN(fetched_, subscription_.fetch(static_cast<int>(kBatch), kFetchWait));
    texts.reserve(fetched_.size());
    for (const nats::Message& message : fetched_) texts.emplace_back(message.text());
    return std::optional(std::move(texts));
  }

  Result<void> settle(const std::vector<Settlement>& settlements) override {
    for (std::size_t i = 0; i < fetched_.size(); ++i) {
      if (settlements[i] == Settlement::kHandled) fetched_[i].acknowledge();
      if (settlements[i] == Settlement::kRejected) fetched_[i].terminate();
    }
    return {};
  }

 private:
  nats::JetStream server_;
  nats::Subscription subscription_;
  std::vector<nats::Message> fetched_;
};

}  // namespace

Result<std::unique_ptr<EventSource>> open_lines(int descriptor, const std::string& checkpoint) {
  uint64_t position = 0;
  if (!checkpoint.empty()) {
    STATOR_ASSIGN_OR_RETURN(position, read_checkpoint(checkpoint));
  }
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) return io_failure("could not create an event descriptor");
  auto lines = std::make_unique<Lines>(descriptor, std::move(wake), checkpoint, position);
  const off_t end = lseek(descriptor, 0, SEEK_CUR) < 0 ? -1 : lseek(descriptor, 0, SEEK_END);
  if (end < 0) {
    STATOR_RETURN_IF_ERROR(lines->skip(position));
  } else if (static_cast<uint64_t>(end) < position) {
    return fail(Code::kInvalidArgument, "the input ends before its checkpoint");
  } else if (lseek(descriptor, static_cast<off_t>(position), SEEK_SET) < 0) {
    return io_failure("could not seek in the input");
  }
  return lines;
}

Result<std::unique_ptr<EventSource>> open_nats(const NatsSource& source) {
  STATOR_ASSIGN_OR_RETURN(nats::JetStream server, nats::JetStream::connect(source.server));
  STATOR_RETURN_IF_ERROR(server.create_stream_if_missing(source.stream, {source.subject}));
  STATOR_ASSIGN_OR_RETURN(
      nats::Subscription subscription,
      server.subscribe(source.stream, source.subject, source.durable, source.ack_wait));
  return std::make_unique<Messages>(std::move(server), std::move(subscription));
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// EventSource: messages with at-least-once delivery, from lines of input or from NATS JetStream.
//
// The messages from next() must be settled before the next call. Messages that are not settled, or
// that are settled as kLeft, are delivered again, even after kill -9: NATS delivers them to any
// consumer after its acknowledgment timeout; lines are delivered to the next run with the same
// checkpoint.
// Thread safety: one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "nats/jetstream.h"
#include "stator/result.h"

namespace stator::cli {

inline constexpr std::size_t kEventBytesMax = 512UL << 10;  // more than any item takes

enum class Settlement {
  kHandled,
  kRejected,  // cannot be handled, and is not delivered again
  kLeft,      // is delivered again
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  // Returns the next messages, a few hundred at most. Empty if `stop` was requested or if none
  // arrived for a while. std::nullopt at the end of the input.
  virtual Result<std::optional<std::vector<std::string>>> next(const std::stop_token& stop) = 0;
  // One settlement for each message of the last next(), in order.
  virtual Result<void> settle(const std::vector<Settlement>& settlements) = 0;
};

// Reads lines from a file descriptor. The checkpoint file, if given, stores the position after the
// last line up to which all lines were handled or rejected (replaced atomically, synced). The next
// run on the same input resumes there, by seeking or by skipping. Lines longer than kEventBytesMax
// are truncated. Errors: kInvalidArgument if the input is shorter than its checkpoint.
Result<std::unique_ptr<EventSource>> open_lines(int descriptor, const std::string& checkpoint);

struct NatsSource {
  nats::JetStreamOptions server;
  std::string stream;
  std::string subject;
  std::string durable;
  std::chrono::milliseconds ack_wait{30'000};
};
// Creates the stream if it is missing.
Result<std::unique_ptr<EventSource>> open_nats(const NatsSource& source);

}  // namespace stator::cli

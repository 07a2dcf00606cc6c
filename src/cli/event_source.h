// SPDX-License-Identifier: Apache-2.0
// EventSource: texts to be handled at least once, from a stream of lines or from NATS JetStream.
//
// What next() returned is settled before the next call. What is not settled, or left, is delivered
// again, after a kill -9 too: by NATS to any consumer once the time to acknowledge is over; from
// lines to the next run with the same checkpoint. From one thread at a time.
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
  kRejected,  // nobody can handle it: it is not delivered again
  kLeft,      // it is delivered again
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  // The next texts, a few hundred at most; empty where `stop` asked for an end, or where none came
  // for a while and more may. Absent: there will be no more.
  virtual Result<std::optional<std::vector<std::string>>> next(const std::stop_token& stop) = 0;
  // One for each text of the last next(), in order.
  virtual Result<void> settle(const std::vector<Settlement>& settlements) = 0;
};

// Lines of a file descriptor. With a checkpoint file, the position behind the last line that was
// handled or rejected with all before it is kept there (replaced atomically, synced), and a start
// resumes from it in the same input: by seeking, or by reading over what comes before. Lines longer
// than kEventBytesMax come cut off. kInvalidArgument where the input is shorter than its
// checkpoint.
Result<std::unique_ptr<EventSource>> open_lines(int descriptor, const std::string& checkpoint);

struct NatsSource {
  nats::JetStreamOptions server;
  std::string stream;
  std::string subject;
  std::string durable;
  std::chrono::milliseconds ack_wait{30'000};
};
// Makes the stream where it is missing.
Result<std::unique_ptr<EventSource>> open_nats(const NatsSource& source);

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// JetStream: durable messages through a NATS server (https://docs.nats.io/nats-concepts/jetstream).
//
// Delivery is at least once: messages that are not acknowledged are redelivered to any member with
// the same durable name. Messages with the same id within the stream's window of two minutes are
// stored once. Broken connections are reestablished in the background.
// Thread safety: any thread can use JetStream; a Subscription, and each message, must be used from
// one thread at a time. nats.c starts some threads for each connection.
// Lifetime: subscriptions borrow their JetStream; messages borrow nothing. After their JetStream is
// destroyed, acknowledging them has no effect.
// Errors: kInvalidArgument, kUnavailable (no server, no response in time), kNotFound (no such
// stream).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator::nats {

struct JetStreamOptions {
  std::string url = "nats://127.0.0.1:4222";
  std::string credentials_file = {};  // a user's .creds file, if the server requires it
  std::chrono::milliseconds timeout{5'000};
};

class Message {
 public:
  Message(Message&&) noexcept;
  Message& operator=(Message&&) noexcept;
  ~Message();

  std::string_view text() const;

  // Marks the message as handled, so that it is not redelivered, unless the acknowledgment is lost.
  void acknowledge();
  // Marks the message as impossible to handle, so that it is not redelivered.
  void terminate();

 private:
  friend class Subscription;
  struct Handle;
  explicit Message(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

class Subscription {
 public:
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;
  ~Subscription();

  // Waits up to `wait` and returns up to `most` (1 to 256) messages, possibly none.
  Result<std::vector<Message>> fetch(int most, std::chrono::milliseconds wait);

 private:
  friend class JetStream;
  struct Handle;
  explicit Subscription(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

class JetStream {
 public:
  static Result<JetStream> connect(const JetStreamOptions& options);
  JetStream(JetStream&&) noexcept;
  JetStream& operator=(JetStream&&) noexcept;
  ~JetStream();

  // Creates the stream with these subjects, on the server's disk, unless one of that name exists.
  Result<void> create_stream_if_missing(const std::string& stream,
                                        const std::vector<std::string>& subjects);

  // Like create_stream_if_missing(), for a queue: messages are deleted when acknowledged, or after
  // `max_age`. All subscribers must share one durable name.
  Result<void> create_queue_if_missing(const std::string& stream,
                                       const std::vector<std::string>& subjects,
                                       std::chrono::nanoseconds max_age);

  // Returns once the server has stored the message.
  Result<void> publish(const std::string& subject, std::string_view text, const std::string& id);

  // Joins the members of the durable consumer `durable`, created if missing, which share the
  // stream's messages. Messages not acknowledged within `ack_wait` (set by the first member) are
  // redelivered.
  Result<Subscription> subscribe(const std::string& stream, const std::string& subject,
                                 const std::string& durable,
                                 std::chrono::milliseconds ack_wait = std::chrono::seconds(30));

 private:
  struct Handle;
  explicit JetStream(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace stator::nats

// SPDX-License-Identifier: Apache-2.0
// JetStream: durable messages through a NATS server (https://docs.nats.io/nats-concepts/jetstream).
//
// Delivery is at least once: what is not acknowledged comes again, to any member that subscribed
// under the same durable name. A message published again under one id within the stream's window of
// two minutes is kept once.
// Thread safety: JetStream from any thread at once; a Subscription and its messages from one thread
// at a time. Threads: nats.c has some of its own for each connection.
// Lifetime: subscriptions borrow their JetStream, messages nothing.
// Errors: kInvalidArgument, kUnavailable (no server, no answer in time), kNotFound (no such
// stream). A broken connection is made anew in the background meanwhile.
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
  std::string credentials_file = {};  // a user's .creds, where the server asks for one
  std::chrono::milliseconds timeout{5'000};
};

class Message {
 public:
  Message(Message&&) noexcept;
  Message& operator=(Message&&) noexcept;
  ~Message();

  std::string_view text() const;

  // Handled: it does not come again. Where the word is lost it does.
  void acknowledge();
  // It cannot be handled by anybody: it does not come again.
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

  // Up to `most` (1 to 256) messages, as soon as there are some; none after `wait`.
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

  // Makes the stream of these subjects, on the server's disk, or finds one of the name.
  Result<void> create_stream_if_missing(const std::string& stream,
                                        const std::vector<std::string>& subjects);

  // Likewise a queue: what has been acknowledged is deleted, and what is older than `max_age`. All
  // who subscribe share one durable name.
  Result<void> create_queue_if_missing(const std::string& stream,
                                       const std::vector<std::string>& subjects,
                                       std::chrono::nanoseconds max_age);

  // Returns once the server has kept it.
  Result<void> publish(const std::string& subject, std::string_view text, const std::string& id);

  // Joins the members of `durable`, made where it is missing, who share the stream's messages. What
  // a member does not acknowledge within `ack_wait` (set by the first) comes again.
  Result<Subscription> subscribe(const std::string& stream, const std::string& subject,
                                 const std::string& durable,
                                 std::chrono::milliseconds ack_wait = std::chrono::seconds(30));

 private:
  struct Handle;
  explicit JetStream(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace stator::nats

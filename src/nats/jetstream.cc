// SPDX-License-Identifier: Apache-2.0
#include "nats/jetstream.h"

#include <fmt/format.h>
#include <nats/nats.h>

#include <utility>

namespace stator::nats {
namespace {

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { destroy(object); }
};
using Connection = std::unique_ptr<natsConnection, Destroy<natsConnection, natsConnection_Destroy>>;
using Context = std::unique_ptr<jsCtx, Destroy<jsCtx, jsCtx_Destroy>>;
// Shared with the messages, which use it without a reference of their own.
using RawSubscription = std::shared_ptr<natsSubscription>;
using RawMessage = std::unique_ptr<natsMsg, Destroy<natsMsg, natsMsg_Destroy>>;
using ConnectionOptions = std::unique_ptr<natsOptions, Destroy<natsOptions, natsOptions_Destroy>>;

Code code_of(natsStatus status) {
  switch (status) {
    case NATS_INVALID_ARG:
    case NATS_INVALID_SUBJECT:
    case NATS_ADDRESS_MISSING:
      return Code::kInvalidArgument;
    case NATS_NOT_FOUND:
      return Code::kNotFound;
    default:
      return Code::kUnavailable;
  }
}

Failure failure(std::string_view what, natsStatus status) {
  return fail(code_of(status), fmt::format("{}: {}", what, natsStatus_GetText(status)));
}

Result<ConnectionOptions> make_options(const JetStreamOptions& options) {
  natsOptions* raw = nullptr;
  natsStatus status = natsOptions_Create(&raw);
  ConnectionOptions made(raw);
  if (status == NATS_OK) status = natsOptions_SetURL(raw, options.url.c_str());
  if (status == NATS_OK) status = natsOptions_SetTimeout(raw, options.timeout.count());
  if (status == NATS_OK) status = natsOptions_SetMaxReconnect(raw, -1);
  if (status == NATS_OK && !options.credentials_file.empty()) {
    status =
        natsOptions_SetUserCredentialsFromFiles(raw, options.credentials_file.c_str(), nullptr);
  }
  if (status != NATS_OK) return failure("cannot use the NATS server's address", status);
  return made;
}

Result<void> add_stream(jsCtx* context, jsStreamConfig& config, const std::string& stream,
                        const std::vector<std::string>& subjects) {
  std::vector<const char*> names;
  names.reserve(subjects.size());
  for (const std::string& subject : subjects) names.push_back(subject.c_str());
  config.Name = stream.c_str();
  config.Subjects = names.data();
  config.SubjectsLen = static_cast<int>(names.size());
  jsErrCode error{};
  const natsStatus added = js_AddStream(nullptr, context, &config, nullptr, &error);
  if (added == NATS_OK || error == JSStreamNameExistErr) return {};
  return failure(fmt::format("cannot make the stream '{}'", stream), added);
}

}  // namespace

// ---- Message

struct Message::Handle {
  RawSubscription subscription;
  RawMessage message;
};

Message::Message(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Message::Message(Message&&) noexcept = default;
Message& Message::operator=(Message&&) noexcept = default;
Message::~Message() = default;

std::string_view Message::text() const {
  const natsMsg* const message = handle_->message.get();
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

void Message::acknowledge() {
  static_cast<void>(natsMsg_Ack(handle_->message.get(), nullptr));
}

void Message::terminate() {
  static_cast<void>(natsMsg_Term(handle_->message.get(), nullptr));
}

// ---- Subscription

struct Subscription::Handle {
  RawSubscription subscription;
};

Subscription::Subscription(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Subscription::Subscription(Subscription&&) noexcept = default;
Subscription& Subscription::operator=(Subscription&&) noexcept = default;
Subscription::~Subscription() = default;

Result<std::vector<Message>> Subscription::fetch(int most, std::chrono::milliseconds wait) {
  if (most < 1 || most > 256) return fail(Code::kInvalidArgument, "most: must be 1 to 256");
  natsMsgList list{};
  const natsStatus status =
      natsSubscription_Fetch(&list, handle_->subscription.get(), most, wait.count(), nullptr);
  std::vector<Message> messages;
  for (int i = 0; i < list.Count; ++i) {
    messages.push_back(Message(std::make_unique<Message::Handle>(
        Message::Handle{handle_->subscription, RawMessage(list.Msgs[i])})));
    list.Msgs[i] = nullptr;
  }
  natsMsgList_Destroy(&list);
  if (messages.empty() && status != NATS_OK && status != NATS_TIMEOUT) {
    return failure("cannot fetch messages", status);
  }
  return messages;
}

// ---- JetStream

struct JetStream::Handle {
  Connection connection;
  Context context;
};

JetStream::JetStream(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
JetStream::JetStream(JetStream&&) noexcept = default;
JetStream& JetStream::operator=(JetStream&&) noexcept = default;
JetStream::~JetStream() = default;

Result<JetStream> JetStream::connect(const JetStreamOptions& options) {
  STATOR_ASSIGN_OR_RETURN(const ConnectionOptions made, make_options(options));
  natsConnection* connection = nullptr;
  natsStatus status = natsConnection_Connect(&connection, made.get());
  auto handle =
      std::make_unique<Handle>(Handle{.connection = Connection(connection), .context = {}});
  if (status != NATS_OK) {
    return failure(fmt::format("cannot connect to the NATS server at '{}'", options.url), status);
  }
  jsOptions context_options;
  static_cast<void>(jsOptions_Init(&context_options));
  context_options.Wait = options.timeout.count();
  jsCtx* context = nullptr;
  status = natsConnection_JetStream(&context, connection, &context_options);
  handle->context.reset(context);
  if (status != NATS_OK) return failure("the NATS server has no JetStream", status);
  return JetStream(std::move(handle));
}

Result<void> JetStream::create_stream_if_missing(const std::string& stream,
                                                 const std::vector<std::string>& subjects) {
  jsStreamConfig config;
  static_cast<void>(jsStreamConfig_Init(&config));
  return add_stream(handle_->context.get(), config, stream, subjects);
}

Result<void> JetStream::create_queue_if_missing(const std::string& stream,
                                                const std::vector<std::string>& subjects,
                                                std::chrono::nanoseconds max_age) {
  jsStreamConfig config;
  static_cast<void>(jsStreamConfig_Init(&config));
  config.Retention = js_WorkQueuePolicy;
  config.MaxAge = max_age.count();
  return add_stream(handle_->context.get(), config, stream, subjects);
}

Result<void> JetStream::publish(const std::string& subject, std::string_view text,
                                const std::string& id) {
  jsPubOptions options;
  static_cast<void>(jsPubOptions_Init(&options));
  options.MsgId = id.c_str();
  const natsStatus status =
      js_Publish(nullptr, handle_->context.get(), subject.c_str(), text.data(),
                 static_cast<int>(text.size()), &options, nullptr);
  if (status != NATS_OK) return failure(fmt::format("cannot publish to '{}'", subject), status);
  return {};
}

Result<Subscription> JetStream::subscribe(const std::string& stream, const std::string& subject,
                                          const std::string& durable,
                                          std::chrono::milliseconds ack_wait) {
  jsSubOptions options;
  static_cast<void>(jsSubOptions_Init(&options));
  options.Stream = stream.c_str();
  options.Config.AckWait = std::chrono::nanoseconds(ack_wait).count();
  natsSubscription* subscription = nullptr;
  const natsStatus status = js_PullSubscribe(&subscription, handle_->context.get(), subject.c_str(),
                                             durable.c_str(), nullptr, &options, nullptr);
  auto handle = std::make_unique<Subscription::Handle>(
      Subscription::Handle{RawSubscription(subscription, natsSubscription_Destroy)});
  if (status != NATS_OK) {
    return failure(fmt::format("cannot subscribe to '{}' of the stream '{}'", subject, stream),
                   status);
  }
  return Subscription(std::move(handle));
}

}  // namespace stator::nats

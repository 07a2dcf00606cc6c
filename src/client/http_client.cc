// SPDX-License-Identifier: Apache-2.0
#include "stator/http_client.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "api/wire/wire.h"
#include "base/random.h"
#include "client/curl_transport.h"
#include "protocol/operations.h"
#include "stator/call_limits.h"

namespace stator {
namespace {

bool is_throttle(Code code) {
  return code == Code::kProvisionedThroughputExceeded || code == Code::kThrottling ||
         code == Code::kRequestLimitExceeded || code == Code::kTransactionInProgress;
}

bool checksum_holds(const HttpResponse& response) {
  if (response.crc32.empty()) return true;
  return response.crc32 ==
         fmt::to_string(libdeflate_crc32(0, response.body.data(), response.body.size()));
}

// Waits with full jitter: a random time up to the base, doubled for each further attempt, but at
// most the maximum and the time that the limits leave. Returns early if the limits stop the
// request.
void back_off(const HttpClientOptions& options, int attempts_made, const CallLimits* limits) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  constexpr int kDoublingsMax = 20;
  const int64_t most =
      std::min<int64_t>(options.backoff_base.count() << std::min(attempts_made - 1, kDoublingsMax),
                        options.backoff_max.count());
  std::uniform_int_distribution<int64_t> jitter(0, most);
  std::chrono::nanoseconds pause = std::chrono::milliseconds(jitter(random));
  if (limits != nullptr) pause = std::min(pause, limits->left());
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, limits != nullptr ? limits->stop() : std::stop_token(), pause,
                 [] { return false; });
}

// The error of a request that the limits end. `may_have_applied`: the outcome of an attempt is
// unknown.
Failure ended_by(const CallLimits& limits, bool may_have_applied) {
  const bool stopped = limits.stop().stop_requested();
  const char* const what =
      stopped ? "the request was cancelled" : "the request's time limit has passed";
  if (may_have_applied) return fail(Code::kOutcomeUnknown, what);
  return fail(stopped ? Code::kCancelled : Code::kTimeout, what);
}

// The result of one attempt: a successful response, or an error and whether another attempt might
// help.
struct Attempt {
  Result<HttpResponse> response;
  bool worth_another = false;
};

Attempt failed(Code code, std::string message, bool worth_another) {
  return {fail(code, std::move(message)), worth_another};
}

Attempt attempt_of(const TransportError& error, bool writes) {
  switch (error.failure) {
    case TransportFailure::kNotSent:
      return failed(Code::kUnavailable, error.message, true);
    case TransportFailure::kBroken:
      return failed(writes ? Code::kOutcomeUnknown : Code::kUnavailable, error.message, true);
    case TransportFailure::kTimedOut:
      return failed(writes ? Code::kOutcomeUnknown : Code::kTimeout, error.message, true);
    case TransportFailure::kOverLimit:
      return failed(writes ? Code::kOutcomeUnknown : Code::kUnavailable, error.message, false);
    case TransportFailure::kRefused:
      break;
  }
  return failed(Code::kUnavailable, error.message, false);
}

Attempt attempt_of(HttpResponse response, bool writes) {
  if (!checksum_holds(response)) {
    return failed(writes ? Code::kOutcomeUnknown : Code::kUnavailable,
                  "the response was damaged in transit: its checksum differs", true);
  }
  constexpr int kOk = 200;
  if (response.status == kOk) return {std::move(response)};
  Error error = wire::read_error(response.status, response.body);
  constexpr int kServerErrors = 500;
  const bool worth_another = response.status >= kServerErrors || is_throttle(error.code);
  return {Failure(std::move(error)), worth_another};
}

// The number, if the whole text is a non-negative integer.
std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const char* const end = std::to_address(text.end());
  const auto [last, error] = std::from_chars(std::to_address(text.begin()), end, number);
  if (text.empty() || error != std::errc() || last != end || number < 0) return std::nullopt;
  return number;
}

bool fits_a_header(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

Result<void> check_credentials(const HttpClientOptions& options) {
  if (options.region.empty() || !fits_a_header(options.region) ||
      options.region.find(':') != std::string::npos) {
    return fail(Code::kInvalidArgument, "region: must be a region's name, such as us-east-1");
  }
  const Credentials& credentials = options.credentials;
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return fail(Code::kInvalidArgument,
                "credentials: an access key id and a secret access key are needed");
  }
  if (!fits_a_header(credentials.access_key_id) || !fits_a_header(credentials.session_token)) {
    return fail(Code::kInvalidArgument,
                "credentials: the access key id or the session token has white space, control or "
                "non-ASCII characters");
  }
  return {};
}

Result<void> check_options(const HttpClientOptions& options) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest = std::chrono::hours(24);
  STATOR_RETURN_IF_ERROR(check_endpoint(options.endpoint));
  STATOR_RETURN_IF_ERROR(check_credentials(options));
  if (options.max_attempts < 1) {
    return fail(Code::kInvalidArgument, "max_attempts: must be at least 1");
  }
  for (const milliseconds timeout : {options.connect_timeout, options.request_timeout}) {
    if (timeout <= milliseconds(0) || timeout > kLongest) {
      return fail(Code::kInvalidArgument, "timeouts: must be 1 millisecond to 24 hours");
    }
  }
  for (const milliseconds pause : {options.backoff_base, options.backoff_max}) {
    if (pause < milliseconds(0) || pause > kLongest) {
      return fail(Code::kInvalidArgument, "backoffs: must be 0 to 24 hours");
    }
  }
  return {};
}

enum class Effect { kReads, kWrites };

// Whether an operation of which only the name is known might have changed something if no response
// came.
Effect effect_of(std::string_view operation) {
  for (const std::string_view verb :
       {"BatchGet", "Describe", "Get", "List", "Query", "Scan", "Search"}) {
    if (operation.starts_with(verb)) return Effect::kReads;
  }
  return Effect::kWrites;
}

}  // namespace

struct HttpClient::Impl {
  explicit Impl(const HttpClientOptions& given) : options(given), transport(given) {}

  template <class T, class Request>
  Result<T> call(std::string_view operation, const Request& request, Effect effect) {
    STATOR_ASSIGN_OR_RETURN(
        const HttpResponse response,
        send(protocol::target_of(operation), wire::to_json(request), effect == Effect::kWrites));
    auto result = wire::read_result<T>(response.body);
    if constexpr (requires { result->examined; }) {
      if (result) result->examined = number_in(response.examined);
    }
    return result;
  }

  Result<HttpResponse> send(std::string_view target, const std::string& body, bool writes) {
    bool may_have_applied = false;
    const CallLimits* const limits = CallLimits::current();
    for (int made = 1;; ++made) {
      if (limits != nullptr && limits->are_over()) return ended_by(*limits, may_have_applied);
      auto response = transport.post(target, body, limits);
      Attempt attempt = response ? attempt_of(std::move(*response), writes)
                                 : attempt_of(response.error(), writes);
      if (attempt.response) return std::move(attempt.response);
      may_have_applied |= attempt.response.error().code == Code::kOutcomeUnknown;
      if (!response && limits != nullptr && limits->are_over()) continue;
      if (!attempt.worth_another || made >= options.max_attempts) {
        Error error = std::move(attempt.response).error();
        // A throttled or unsent attempt says nothing about the outcome of an earlier one.
        const bool unsettled = attempt.worth_another || error.code == Code::kUnavailable;
        if (may_have_applied && unsettled) error.code = Code::kOutcomeUnknown;
        return Failure(std::move(error));
      }
      back_off(options, made, limits);
    }
  }

  HttpClientOptions options;
  CurlTransport transport;
};

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::open(const HttpClientOptions& options) {
  STATOR_RETURN_IF_ERROR(check_options(options));
  return HttpClient(std::make_unique<Impl>(options));
}

Result<CreateTableResult> HttpClient::create_table(const CreateTableRequest& request) {
  return impl_->call<CreateTableResult>("CreateTable", request, Effect::kWrites);
}

Result<DescribeTableResult> HttpClient::describe_table(const DescribeTableRequest& request) {
  return impl_->call<DescribeTableResult>("DescribeTable", request, Effect::kReads);
}

Result<ListTablesResult> HttpClient::list_tables(const ListTablesRequest& request) {
  return impl_->call<ListTablesResult>("ListTables", request, Effect::kReads);
}

Result<DeleteTableResult> HttpClient::delete_table(const DeleteTableRequest& request) {
  return impl_->call<DeleteTableResult>("DeleteTable", request, Effect::kWrites);
}

Result<UpdateTableResult> HttpClient::update_table(const UpdateTableRequest& request) {
  return impl_->call<UpdateTableResult>("UpdateTable", request, Effect::kWrites);
}

Result<UpdateTimeToLiveResult> HttpClient::update_time_to_live(
    const UpdateTimeToLiveRequest& request) {
  return impl_->call<UpdateTimeToLiveResult>("UpdateTimeToLive", request, Effect::kWrites);
}

Result<DescribeTimeToLiveResult> HttpClient::describe_time_to_live(
    const DescribeTimeToLiveRequest& request) {
  return impl_->call<DescribeTimeToLiveResult>("DescribeTimeToLive", request, Effect::kReads);
}

Result<WriteResult> HttpClient::put_item(const PutItemRequest& request) {
  return impl_->call<WriteResult>("PutItem", request, Effect::kWrites);
}

Result<GetItemResult> HttpClient::get_item(const GetItemRequest& request) {
  return impl_->call<GetItemResult>("GetItem", request, Effect::kReads);
}

Result<WriteResult> HttpClient::update_item(const UpdateItemRequest& request) {
  return impl_->call<WriteResult>("UpdateItem", request, Effect::kWrites);
}

Result<WriteResult> HttpClient::delete_item(const DeleteItemRequest& request) {
  return impl_->call<WriteResult>("DeleteItem", request, Effect::kWrites);
}

Result<PageResult> HttpClient::query(const QueryRequest& request) {
  return impl_->call<PageResult>("Query", request, Effect::kReads);
}

Result<PageResult> HttpClient::scan(const ScanRequest& request) {
  return impl_->call<PageResult>("Scan", request, Effect::kReads);
}

Result<SearchVectorsResult> HttpClient::search_vectors(const SearchVectorsRequest& request) {
  return impl_->call<SearchVectorsResult>("SearchVectors", request, Effect::kReads);
}

Result<BatchGetItemResult> HttpClient::batch_get_item(const BatchGetItemRequest& request) {
  return impl_->call<BatchGetItemResult>("BatchGetItem", request, Effect::kReads);
}

Result<BatchWriteItemResult> HttpClient::batch_write_item(const BatchWriteItemRequest& request) {
  return impl_->call<BatchWriteItemResult>("BatchWriteItem", request, Effect::kWrites);
}

Result<TransactWriteItemsResult> HttpClient::transact_write_items(
    const TransactWriteItemsRequest& request) {
  if (request.client_request_token) {
    return impl_->call<TransactWriteItemsResult>("TransactWriteItems", request, Effect::kWrites);
  }
  TransactWriteItemsRequest idempotent = request;
  idempotent.client_request_token = random_uuid();
  return impl_->call<TransactWriteItemsResult>("TransactWriteItems", idempotent, Effect::kWrites);
}

Result<TransactGetItemsResult> HttpClient::transact_get_items(
    const TransactGetItemsRequest& request) {
  return impl_->call<TransactGetItemsResult>("TransactGetItems", request, Effect::kReads);
}

// Only the server knows whether a statement writes.
Result<ExecuteStatementResult> HttpClient::execute_statement(
    const ExecuteStatementRequest& request) {
  return impl_->call<ExecuteStatementResult>("ExecuteStatement", request, Effect::kWrites);
}

Result<BatchExecuteStatementResult> HttpClient::batch_execute_statement(
    const BatchExecuteStatementRequest& request) {
  return impl_->call<BatchExecuteStatementResult>("BatchExecuteStatement", request,
                                                  Effect::kWrites);
}

Result<ExecuteTransactionResult> HttpClient::execute_transaction(
    const ExecuteTransactionRequest& request) {
  ExecuteTransactionRequest idempotent = request;
  if (!idempotent.client_request_token) idempotent.client_request_token = random_uuid();
  return impl_->call<ExecuteTransactionResult>("ExecuteTransaction", idempotent, Effect::kWrites);
}

Result<ListStreamsResult> HttpClient::list_streams(const ListStreamsRequest& request) {
  return impl_->call<ListStreamsResult>("ListStreams", request, Effect::kReads);
}

Result<DescribeStreamResult> HttpClient::describe_stream(const DescribeStreamRequest& request) {
  return impl_->call<DescribeStreamResult>("DescribeStream", request, Effect::kReads);
}

Result<GetShardIteratorResult> HttpClient::get_shard_iterator(
    const GetShardIteratorRequest& request) {
  return impl_->call<GetShardIteratorResult>("GetShardIterator", request, Effect::kReads);
}

Result<GetRecordsResult> HttpClient::get_records(const GetRecordsRequest& request) {
  return impl_->call<GetRecordsResult>("GetRecords", request, Effect::kReads);
}

Result<std::string> HttpClient::call(std::string_view operation, std::string_view json) {
  if (!fits_a_header(operation)) return fail(Code::kUnknownOperation, "");
  STATOR_ASSIGN_OR_RETURN(HttpResponse response,
                          impl_->send(protocol::target_of(operation), std::string(json),
                                      effect_of(operation) == Effect::kWrites));
  return std::move(response.body);
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "server/dynamodb_service.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/wire/wire.h"
#include "base/clock.h"
#include "metrics/text.h"
#include "protocol/facts.h"
#include "protocol/operations.h"
#include "server/authorization.h"
#include "server/gzip.h"
#include "server/log.h"
#include "server/request_id.h"

namespace stator::server {
namespace {

constexpr int kMetricsWaitingMax = 8;
constexpr std::string_view kJsonType = "application/x-amz-json-1.0";
constexpr std::string_view kPlainJsonType = "application/json";
constexpr std::size_t kLargePageBytes = 128UL << 10;
constexpr std::size_t kCompressedBytesMin = 1024;  // smaller bodies are not compressed
constexpr std::string_view kHistoryPath = "/metrics/history";
constexpr std::string_view kHealth = "healthy: dynamodb.us-east-1.amazonaws.com ";
constexpr std::string_view kReady = "ready\n";

// One line for the address, the delay of streams, and each pool.
std::string describe(const SharedStoreStats& database) {
  std::string lines = fmt::format(
      "database: {}\nstream horizon lag: {:.1f} s\n",
      database.address.empty() ? "not connected yet" : std::string_view(database.address),
      std::chrono::duration<double>(database.horizon_lag).count());
  for (const ConnectionPoolStats& pool : database.pools) {
    lines += fmt::format("pool {}: {} of {} connections busy, {} calls waiting\n", pool.name,
                         pool.busy, pool.connections, pool.queued_calls);
  }
  return lines;
}
constexpr std::string_view kNoOperation = "<UnknownOperationException/>\n";

}  // namespace

// The requested form of a response, and its request id.
struct ResponseForm {
  std::string_view content_type = kJsonType;  // a constant
  bool gzip = false;
  RequestId id = {};
  std::optional<int64_t> examined = {};  // items that a statement read; see protocol/facts.h
};

namespace {

http::Response make_response(int status, std::string_view content_type, std::string body,
                             const RequestId& id = {}, bool compress = false) {
  std::optional<std::string> compressed;
  if (compress && body.size() >= kCompressedBytesMin) compressed = gzip(body);
  if (compressed) body = std::move(*compressed);
  char digits[10];
  // Of the sent bytes: SDKs check it before they decompress the body.
  const uint32_t checksum = libdeflate_crc32(0, body.data(), body.size());
  const auto digits_end = std::to_chars(digits, digits + sizeof digits, checksum).ptr;
  http::Response response{
      .status = status,
      .headers = {{"Server", "Server"},
                  {"Content-Type", content_type},
                  {"x-amzn-RequestId", id.text()},
                  {"x-amz-crc32", {digits, static_cast<std::size_t>(digits_end - digits)}}},
      .body = std::move(body)};
  if (compressed) response.headers.add("Content-Encoding", "gzip");
  return response;
}

// The response hides internal errors; the log contains them, at most one per second.
void log_failure(const Error& error) {
  static std::atomic<int64_t> last_second = 0;
  const int64_t second = system_clock().unix_ms() / 1000;
  if (last_second.exchange(second) == second) return;
  log_error(std::string(code_name(error.code)) + ": " + error.message);
}

http::Response error_response(const Error& error, const ResponseForm& form = {}) {
  const int status = wire::http_status(error.code);
  // ServiceUnavailable is not a failure: the server is stopping.
  if (status >= 500 && error.code != Code::kServiceUnavailable) log_failure(error);
  return make_response(status, form.content_type, wire::error_to_json(error), form.id, form.gzip);
}

// ---- Browsers
// If signatures are verified, pages of any origin are allowed, as by DynamoDB. Otherwise HostFilter
// has rejected foreign pages.

constexpr std::string_view kAnyOrigin = "*";

void allow_origin(http::HeaderLines& headers, std::string_view origin) {
  headers.add("Access-Control-Allow-Origin", origin);
  headers.add("Access-Control-Expose-Headers", "x-amzn-RequestId,x-amz-crc32");
  if (origin != kAnyOrigin) headers.add("Vary", "Origin");
}

// The origin that may read the response; empty if the request does not come from a page.
std::string_view allowed_origin(const http::Request& request, bool verifies) {
  const std::string_view origin = request.header("origin");
  return origin.empty() || !verifies ? origin : kAnyOrigin;
}

// `allowed`: the origin that may send requests.
http::Response preflight(const http::Request& request, std::string_view allowed,
                         const RequestId& id) {
  http::Response response = make_response(200, "text/plain", "", id);
  allow_origin(response.headers, allowed);
  const auto echo = [&](std::string_view wish, std::string_view permission) {
    const std::string_view value = request.header(wish);
    if (!value.empty()) response.headers.add(permission, value);
  };
  echo("access-control-request-headers", "Access-Control-Allow-Headers");
  echo("access-control-request-method", "Access-Control-Allow-Methods");
  response.headers.add("Access-Control-Max-Age", "172800");
  return response;
}

// Calls `add` with the response's headers before it is sent.
template <class Add>
http::Respond with_headers(Add add, http::Respond respond) {
  return [kept = std::move(add), inner = std::move(respond)](http::Response response) mutable {
    if (response.make) {
      response.make = [kept = std::move(kept), make = std::move(response.make)]() mutable {
        http::Response made = make();
        kept(made.headers);
        return made;
      };
    } else {
      kept(response.headers);
    }
    inner(std::move(response));
  };
}

http::Respond with_origin(std::string_view origin, http::Respond respond) {
  return with_headers(
      [kept = std::string(origin)](http::HeaderLines& headers) { allow_origin(headers, kept); },
      std::move(respond));
}

http::Respond with_traceparent(std::string_view traceparent, http::Respond respond) {
  return with_headers([kept = std::string(traceparent)](
                          http::HeaderLines& headers) { headers.add("traceparent", kept); },
                      std::move(respond));
}

http::Respond with_test_mode(http::Respond respond) {
  return with_headers([](http::HeaderLines& headers) { headers.add("x-stator-test-mode", "on"); },
                      std::move(respond));
}

// Sends the response after the injected delay, without blocking a thread.
http::Respond delayed(const testmode::Injection& injection, http::Respond respond) {
  return [timer = injection.timer, delay = injection.delay,
          inner = std::move(respond)](http::Response response) mutable {
    timer->after(delay, [inner = std::move(inner), kept = std::move(response)]() mutable {
      inner(std::move(kept));
    });
  };
}

// ---- Operations

}  // namespace

// A request in progress and the receiver of its response.
struct Exchange {
  http::Respond respond;
  RequestScope scope;
  ResponseForm form = {};

  // Of a request that anybody may send. `error`: the API error in the response; can be null.
  void send(http::Response response, const Error* error = nullptr) {
    response.accepted = false;
    scope.finish(response, error, form.id.text());
    respond(std::move(response));
  }
  void refuse(const Error& error) { send(error_response(error, form), &error); }
};

namespace {

// Sends the result of an operation over HTTP.
struct Respond {
  Exchange exchange;
  std::atomic<int64_t>& last_large_page_ms;
  std::unique_ptr<testmode::Injection> injection = {};  // null: no test mode

  void note_table(std::string_view table, std::string_view index) {
    exchange.scope.note_table(table, index);
  }
  void note_items(std::size_t items, std::size_t examined) {
    exchange.scope.note_items(items, examined);
  }
  void note_batch(std::size_t size) { exchange.scope.note_batch(size); }
  void report_examined(int64_t examined) { exchange.form.examined = examined; }
  void inject(std::unique_ptr<testmode::Injection> what) {
    injection = std::move(what);
    if (injection->delay.count() == 0) return;
    exchange.respond = delayed(*injection, std::move(exchange.respond));
  }
  void operator()(Result<std::string> result) {
    if (result && result->size() > kLargePageBytes) last_large_page_ms = system_clock().unix_ms();
    exchange.respond(response_to(std::move(result), exchange.scope, exchange.form));
  }
  template <class Make>
  void later(Make make) {
    http::Response response;
    response.make = [scope = std::move(exchange.scope), form = exchange.form,
                     kept = std::move(make)]() mutable { return response_to(kept(), scope, form); };
    exchange.respond(std::move(response));
  }

 private:
  static http::Response response_to(Result<std::string> result, RequestScope& scope,
                                    const ResponseForm& form) {
    http::Response response =
        result ? make_response(200, form.content_type, std::move(*result), form.id, form.gzip)
               : error_response(result.error(), form);
    if (form.examined) {
      response.headers.add(protocol::kExaminedHeader, std::to_string(*form.examined));
    }
    scope.finish(response, result ? nullptr : &result.error(), form.id.text());
    return response;
  }
};

using Operations = protocol::Operations<Respond>;

// Returns one of the two supported types, as a constant; empty for any other type.
std::string_view json_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  if (content_type == kJsonType) return kJsonType;
  return content_type == kPlainJsonType ? kPlainJsonType : std::string_view();
}

ResponseForm form_of(const http::Request& request) {
  return {.content_type = json_type(request.header("content-type")),
          .gzip = accepts_gzip(request.header("accept-encoding"))};
}

// Why the headers of an operation are rejected: an API error, or 404.
struct Refusal {
  std::optional<Error> error = {};
};

http::Response response_to(const Refusal& refusal, const ResponseForm& form) {
  return refusal.error ? error_response(*refusal.error, form)
                       : make_response(404, "text/plain", std::string(kNoOperation), form.id);
}

// Checks the headers. Sets `operation` if they are accepted.
std::optional<Refusal> refusal_of(const http::Request& request, const ResponseForm& form,
                                  RequestScope& scope, const Operations::Operation*& operation) {
  scope.set_unknown_operation();
  if (form.content_type.empty()) return Refusal{};
  const std::string_view target = request.header("x-amz-target");
  operation = Operations::find_target(target);
  if (operation == nullptr) return Refusal{protocol::unknown_operation()};
  scope.set_operation(Operations::index_of(*operation));
  if (auto checked = check_authorization(request); !checked) return Refusal{checked.error()};
  return std::nullopt;
}

// SDKs retry this error with growing pauses. ProvisionedThroughputExceededException would refer to
// a table, RequestLimitExceeded to the account.
Error throttling_error() {
  return {.code = Code::kThrottling,
          .message = "Rate of requests exceeds the allowed throughput of the access key."};
}

// "192.0.2.1" of "192.0.2.1:49152", "::1" of "[::1]:49152".
std::string_view address_of(std::string_view peer) {
  const std::size_t port = peer.rfind(':');
  if (port == peer.npos) return {};
  peer = peer.substr(0, port);
  if (!peer.starts_with('[') || !peer.ends_with(']')) return peer;
  peer = peer.substr(1, peer.size() - 2);
  return peer.substr(0, peer.find('%'));  // without the scope of a link-local address
}

access::Access access_of(const http::Request& request, const SigningKey& signer, bool secure,
                         DecisionLog* decisions, Engine& engine) {
  access::Access access{.caller = access::caller_of(engine, signer.key->username),
                        .policy = signer.key->policy};
  access.caller.user_id = signer.id;
  access.caller.source_ip = address_of(request.peer);
  access.caller.user_agent = request.header("user-agent");
  access.caller.referer = request.header("referer");
  access.caller.secure = secure;
  access.caller.now_ms = system_clock().unix_ms();
  if (decisions != nullptr) {
    access.decided = [decisions](const policy::Context& context, const policy::Verdict& verdict) {
      decisions->write(context, verdict);
    };
  }
  return access;
}

// SDKs send the request again after a pause.
Error stopping_error() {
  return {.code = Code::kServiceUnavailable, .message = "the server is stopping; try again"};
}

http::Response foreign_response(const Error& error, const RequestId& id = {}) {
  return make_response(403, kJsonType, wire::error_to_json(error), id);
}

// The memory for parsing a body, in bytes: copies of its strings, and per element the space of a
// JSON parser and a tree. Blocks of a fixed size allow vector instructions.
std::size_t reading_bytes(std::string_view body) {
  constexpr std::size_t kCopies = 3;
  constexpr std::size_t kElementBytes = 48;
  constexpr std::size_t kBlock = 128;
  std::size_t elements = body.size() % kBlock;
  for (std::size_t at = 0; at + kBlock <= body.size(); at += kBlock) {
    unsigned char count = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const char c = body[at + i];
      count =
          static_cast<unsigned char>(count + ((c == ',') | (c == ':') | (c == '{') | (c == '[')));
    }
    elements += count;
  }
  return kCopies * body.size() + kElementBytes * elements;
}

constexpr std::size_t kSmallBytes = 64UL << 10;  // of a body

bool reads_pages(std::string_view target) {
  return target.ends_with(".Query") || target.ends_with(".Scan") ||
         target.ends_with(".ExecuteStatement") || target.ends_with(".GetRecords");
}

// The memory of an operation's largest response, in bytes; 0 if it is small. This includes the
// items in binary form, and as JSON in a growing buffer.
std::size_t response_bytes(std::string_view target) {
  constexpr std::size_t kCopies = 4;
  constexpr std::size_t kPageBytes = 1UL << 20;
  constexpr std::size_t kBatchBytes = 16UL << 20;
  constexpr std::size_t kTransactionBytes = 4UL << 20;
  constexpr std::size_t kStatementsBytes = 25 * (400UL << 10);
  if (target.ends_with(".BatchGetItem") || target.ends_with(".SearchVectors")) {
    return kCopies * kBatchBytes;
  }
  if (target.ends_with(".TransactGetItems")) return kCopies * kTransactionBytes;
  if (target.ends_with(".ExecuteTransaction")) return kCopies * kTransactionBytes;
  if (target.ends_with(".BatchExecuteStatement")) return kCopies * kStatementsBytes;
  return reads_pages(target) ? kCopies * kPageBytes : 0;
}

// The number in "/metrics/history?after=7"; 0 without a query, absent for any other form.
std::optional<uint64_t> number_after(std::string_view target) {
  constexpr std::string_view kAfter = "after=";
  const std::size_t mark = target.find('?');
  if (mark == target.npos) return 0;
  const std::string_view query = target.substr(mark + 1);
  if (!query.starts_with(kAfter)) return std::nullopt;
  const std::string_view digits = query.substr(kAfter.size());
  uint64_t number = 0;
  const auto [last, error] =
      std::from_chars(std::to_address(digits.begin()), std::to_address(digits.end()), number);
  if (error != std::errc() || last != std::to_address(digits.end())) return std::nullopt;
  return number;
}

}  // namespace

std::span<const std::string_view> DynamoDbService::operation_names() {
  return Operations::names();
}

std::optional<http::Response> DynamoDbService::screen(const http::Request& head) const {
  RequestScope scope(observer_, head);
  const ResponseForm form = form_of(head);
  const auto finish = [&](http::Response response, const Error* error) {
    scope.finish(response, error, form.id.text());
    return response;
  };
  if (verifier_ == nullptr) {
    if (const auto local = hosts_.check(head); !local) {
      return finish(foreign_response(local.error(), form.id), &local.error());
    }
  }
  // As in handle(): a page can read the refusal.
  const auto refuse = [&](http::Response response, const Error* error) {
    const std::string_view allowed = allowed_origin(head, verifier_ != nullptr);
    if (!allowed.empty()) allow_origin(response.headers, allowed);
    const auto traceparent = valid_traceparent(head.header("traceparent"));
    if (!traceparent.empty()) response.headers.add("traceparent", std::string(traceparent));
    return finish(std::move(response), error);
  };
  if (head.method != "POST") {
    return refuse(make_response(404, "text/plain", std::string(kNoOperation), form.id), nullptr);
  }
  const Operations::Operation* operation = nullptr;
  auto refusal = refusal_of(head, form, scope, operation);
  if (!refusal && is_stopping()) refusal = Refusal{stopping_error()};
  if (!refusal && verifier_ != nullptr) {
    auto checked = verifier_->check_claims(head, system_clock().unix_ms());
    if (!checked) refusal = Refusal{checked.error()};
  }
  if (!refusal) {
    scope.dismiss();
    return std::nullopt;
  }
  return refuse(response_to(*refusal, form), refusal->error ? &*refusal->error : nullptr);
}

bool DynamoDbService::aside(const http::Request& request) const {
  if (request.body.size() > kSmallBytes || !request.header("content-encoding").empty()) return true;
  const std::string_view target = request.header("x-amz-target");
  // Small pages are read fastest on the event loops. Large ones would delay other requests there.
  constexpr int64_t kWhileMs = 1000;
  if (reads_pages(target)) return system_clock().unix_ms() - last_large_page_ms_ < kWhileMs;
  return response_bytes(target) > 0;
}

std::size_t DynamoDbService::demand(const http::Request& request) {
  constexpr std::size_t kUnfoldedCopies = 8;  // of a body whose elements are not known yet
  std::size_t bytes = response_bytes(request.header("x-amz-target"));
  if (!request.header("content-encoding").empty()) {
    bytes += kUnfoldedCopies * std::min(claimed_size(request.body), kBodyBytesMax);
  }
  if (request.body.size() > kSmallBytes) bytes += reading_bytes(request.body);
  return bytes;
}

void DynamoDbService::handle(const http::Request& request, http::Respond respond) {
  if (test_mode_ != nullptr) respond = with_test_mode(std::move(respond));
  Exchange exchange{.respond = std::move(respond),
                    .scope = RequestScope(observer_, request),
                    .form = form_of(request)};
  if (verifier_ == nullptr) {
    if (const auto local = hosts_.check(request); !local) {
      return exchange.send(foreign_response(local.error(), exchange.form.id), &local.error());
    }
  }
  if (console::Console::serves(request.target)) return exchange.send(console_.respond(request));
  const auto traceparent = valid_traceparent(request.header("traceparent"));
  if (!traceparent.empty()) {
    exchange.respond = with_traceparent(traceparent, std::move(exchange.respond));
  }
  const auto origin = request.header("origin");
  const std::string_view allowed = allowed_origin(request, verifier_ != nullptr);
  if (request.method == "OPTIONS" && !origin.empty()) {
    return exchange.send(preflight(request, allowed, exchange.form.id));
  }
  if (!allowed.empty()) exchange.respond = with_origin(allowed, std::move(exchange.respond));
  if (request.method == "POST") return handle_operation(request, std::move(exchange));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto path = request.target.substr(0, request.target.find('?'));
  if (reads && path == "/metrics" && verifier_ == nullptr && metrics_page_) {
    return send_metrics(std::move(exchange));
  }
  if (request.method == "GET" && path == kHistoryPath && history_page_) {
    return send_history(request, std::move(exchange));
  }
  if (test_mode_ != nullptr && path == protocol::kTestModePath) {
    return handle_test_mode(request, std::move(exchange));
  }
  exchange.send(
      reads ? page(path, exchange.form.id, verifier_ == nullptr)
            : make_response(404, "text/plain", std::string(kNoOperation), exchange.form.id));
}

void DynamoDbService::handle_monitoring(const http::Request& request, bool checks_host,
                                        http::Respond respond) {
  Exchange exchange{.respond = std::move(respond), .scope = RequestScope(observer_, request)};
  if (checks_host) {
    if (const auto local = hosts_.check(request); !local) {
      return exchange.send(foreign_response(local.error(), exchange.form.id), &local.error());
    }
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto path = request.target.substr(0, request.target.find('?'));
  if (reads && path == "/metrics" && metrics_page_) return send_metrics(std::move(exchange));
  exchange.send(reads && path.starts_with("/health/")
                    ? page(path, exchange.form.id, true)
                    : make_response(404, "text/plain", "not found\n", exchange.form.id));
}

void DynamoDbService::send_metrics(Exchange exchange) {
  send_made(std::move(exchange), metrics::kContentType, metrics_page_);
}

void DynamoDbService::send_history(const http::Request& request, Exchange exchange) {
  exchange.form.content_type = kPlainJsonType;
  if (!is_admitted(request, "cloudwatch:GetMetricData", exchange)) return;
  const auto after = number_after(request.target);
  if (!after) {
    return exchange.refuse({.code = Code::kValidation, .message = "after: expected a number"});
  }
  send_made(std::move(exchange), kPlainJsonType,
            [this, number = *after] { return history_page_(number); });
}

bool DynamoDbService::is_admitted(const http::Request& request, std::string_view action,
                                  Exchange& exchange) {
  const auto check = [&]() -> Result<void> {
    if (verifier_ != nullptr) STATOR_RETURN_IF_ERROR(check_authorization(request));
    STATOR_ASSIGN_OR_RETURN(const auto access, admit(request, exchange));
    return access ? access::authorize_action(*access, action) : Result<void>();
  };
  const auto allowed = check();
  if (!allowed) exchange.refuse(allowed.error());
  return allowed.has_value();
}

void DynamoDbService::handle_test_mode(const http::Request& request, Exchange exchange) {
  exchange.form.content_type = kPlainJsonType;
  const bool replaces = request.method == "PUT";
  if (!replaces && request.method != "GET") {
    return exchange.send(
        make_response(405, "text/plain", "expected GET or PUT\n", exchange.form.id));
  }
  if (!is_admitted(request, replaces ? "stator:PutTestMode" : "stator:GetTestMode", exchange)) {
    return;
  }
  if (replaces) {
    const auto spec = testmode::parse_spec(request.body, operation_names());
    if (!spec) return exchange.refuse(spec.error());
    if (const auto replaced = test_mode_->replace(*spec); !replaced) {
      return exchange.refuse(replaced.error());
    }
  }
  exchange.send(make_response(200, kPlainJsonType, test_mode_->to_json(), exchange.form.id,
                              exchange.form.gzip));
}

void DynamoDbService::send_made(Exchange exchange, std::string_view content_type,
                                std::function<std::string()> make) {
  if (metrics_waiting_.fetch_add(1) >= kMetricsWaitingMax) {
    --metrics_waiting_;
    return exchange.send(overloaded());
  }
  metrics_worker_.post(
      [this, content_type, kept = std::move(exchange), make = std::move(make)]() mutable {
        try {
          kept.send(make_response(200, content_type, make(), kept.form.id, kept.form.gzip));
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
          // Out of memory: `kept` is dropped.
        }
        --metrics_waiting_;
      });
}

http::Response DynamoDbService::page(std::string_view path, const RequestId& id,
                                     bool shows_database) const {
  const auto text = [&](int status, std::string body) {
    return make_response(status, "text/plain", std::move(body), id);
  };
  if (path == "/health/live") return text(200, "live\n");
  const bool asks_readiness = path == "/health/ready";
  if (path != "/" && !asks_readiness) return text(404, std::string(kNoOperation));
  if (asks_readiness && is_stopping()) return text(503, "not ready: the server is stopping\n");
  const StoreHealth health = engine_.health();
  std::string body(asks_readiness ? kReady : kHealth);
  if (!health.writable) {
    body = (asks_readiness ? "not ready: " : "unhealthy: ") + health.reason + "\n";
  }
  if (asks_readiness && shows_database) {
    if (const auto shared = engine_.store().stats().shared) body += describe(*shared);
  }
  return text(health.writable ? 200 : 503, std::move(body));
}

// Whether a request with a valid signature also needs a policy decision.
bool DynamoDbService::decides_access(const AccessKey& key) const {
  return key.policy || access::has_resource_policies(engine_) ||
         (decisions_ != nullptr && decisions_->wants_allowed());
}

Result<std::optional<access::Access>> DynamoDbService::admit(const http::Request& request,
                                                             Exchange& exchange) {
  std::optional<access::Access> access;
  if (verifier_ == nullptr) return access;
  STATOR_ASSIGN_OR_RETURN(const SigningKey signer,
                          verifier_->verify(request, system_clock().unix_ms()));
  if (signer.key->limiter) {
    auto permit = signer.key->limiter->admit(std::chrono::steady_clock::now());
    if (!permit) return Failure(throttling_error());
    exchange.scope.keep(std::move(*permit));
  }
  if (decides_access(*signer.key)) {
    access = access_of(request, signer, secure_, decisions_, engine_);
  }
  return access;
}

void DynamoDbService::handle_operation(const http::Request& request, Exchange exchange) {
  const Operations::Operation* operation = nullptr;
  auto refusal = refusal_of(request, exchange.form, exchange.scope, operation);
  if (refusal) {
    return exchange.send(response_to(*refusal, exchange.form),
                         refusal->error ? &*refusal->error : nullptr);
  }
  if (is_stopping()) return exchange.refuse(stopping_error());
  const auto admitted = admit(request, exchange);
  if (!admitted) return exchange.refuse(admitted.error());
  const std::optional<access::Access>& access = *admitted;
  const protocol::Context context{.engine = engine_,
                                  .waiting = &waiting_,
                                  .searching = &searching_,
                                  .access = access ? &*access : nullptr,
                                  .operation = operation->name,
                                  .test_mode = test_mode_};
  const auto run = [&](std::string_view body) {
    operation->run(context, body, Respond{std::move(exchange), last_large_page_ms_});
  };
  const std::string_view encoding = request.header("content-encoding");
  if (encoding.empty() || encoding == "identity") return run(request.body);
  std::string body;
  const GunzipOutcome outcome =
      encoding == "gzip" ? gunzip(request.body, kBodyBytesMax, body) : GunzipOutcome::kInvalid;
  if (outcome == GunzipOutcome::kTooLarge) return exchange.send(too_large());
  if (outcome == GunzipOutcome::kInvalid) {
    return exchange.refuse({.code = Code::kSerialization, .message = ""});
  }
  run(body);
}

http::Response DynamoDbService::malformed() {
  return error_response({.code = Code::kSerialization, .message = "the request is not valid HTTP"});
}

http::Response DynamoDbService::overloaded() {
  return error_response({.code = Code::kServiceUnavailable,
                         .message = "too many large requests are in progress; try again"});
}

http::Response DynamoDbService::too_large() {
  return make_response(
      413, kJsonType,
      R"({"__type":"com.amazon.coral.service#RequestEntityTooLargeException","message":"Request body )"
      R"(is larger than the limit of )" +
          std::to_string(kBodyBytesMax) + R"( bytes"})");
}

}  // namespace stator::server

// SPDX-License-Identifier: Apache-2.0
#include "server/dynamodb_service.h"

#include <libdeflate.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/wire.h"
#include "base/clock.h"
#include "protocol/operations.h"
#include "server/authorization.h"
#include "server/gzip.h"
#include "server/log.h"
#include "server/request_id.h"

namespace stator::server {
namespace {

constexpr std::string_view kJsonType = "application/x-amz-json-1.0";
constexpr std::string_view kPlainJsonType = "application/json";
constexpr std::size_t kLargePageBytes = 128UL << 10;
constexpr std::size_t kCompressedBytesMin = 1024;  // less is not worth it
constexpr std::string_view kHealth = "healthy: dynamodb.us-east-1.amazonaws.com ";
constexpr std::string_view kReady = "ready\n";
constexpr std::string_view kNoOperation = "<UnknownOperationException/>\n";

// How a client wants its answers.
struct Wishes {
  std::string_view content_type = kJsonType;  // a constant
  bool gzip = false;
};

http::Response make_response(int status, std::string_view content_type, std::string body,
                             bool compress = false) {
  std::optional<std::string> compressed;
  if (compress && body.size() >= kCompressedBytesMin) compressed = gzip(body);
  if (compressed) body = std::move(*compressed);
  char digits[10];
  // Of what is sent: SDKs check it before they unfold the body.
  const uint32_t checksum = libdeflate_crc32(0, body.data(), body.size());
  const auto digits_end = std::to_chars(digits, digits + sizeof digits, checksum).ptr;
  const RequestId id;
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

// The answer hides what failed inside; whoever runs the server is told, at most once a second.
void log_failure(const Error& error) {
  static std::atomic<int64_t> last_second = 0;
  const int64_t second = system_clock().unix_ms() / 1000;
  if (last_second.exchange(second) == second) return;
  log_error(std::string(code_name(error.code)) + ": " + error.message);
}

enum class Logged { kNo, kYes };

http::Response error_response(const Error& error, const Wishes& wishes = {},
                              Logged logged = Logged::kYes) {
  const int status = wire::http_status(error.code);
  if (status >= 500 && logged == Logged::kYes) log_failure(error);
  return make_response(status, wishes.content_type, wire::error_to_json(error), wishes.gzip);
}

// ---- Browsers
// Where signatures are verified any page may ask, as it may ask the service. Where they are not,
// HostFilter has refused pages from elsewhere.

constexpr std::string_view kAnyOrigin = "*";

void allow_origin(http::HeaderLines& headers, std::string_view origin) {
  headers.add("Access-Control-Allow-Origin", origin);
  headers.add("Access-Control-Expose-Headers", "x-amzn-RequestId,x-amz-crc32");
  if (origin != kAnyOrigin) headers.add("Vary", "Origin");
}

// `allowed` is the origin that may ask.
http::Response preflight(const http::Request& request, std::string_view allowed) {
  http::Response response = make_response(200, "text/plain", "");
  allow_origin(response.headers, allowed);
  const auto echo = [&](std::string_view wish, std::string_view answer) {
    const std::string_view value = request.header(wish);
    if (!value.empty()) response.headers.add(answer, value);
  };
  echo("access-control-request-headers", "Access-Control-Allow-Headers");
  echo("access-control-request-method", "Access-Control-Allow-Methods");
  response.headers.add("Access-Control-Max-Age", "172800");
  return response;
}

http::Respond with_origin(std::string_view origin, http::Respond respond) {
  return [kept = std::string(origin), inner = std::move(respond)](http::Response response) mutable {
    if (response.make) {
      response.make = [kept, make = std::move(response.make)]() mutable {
        http::Response made = make();
        allow_origin(made.headers, kept);
        return made;
      };
    } else {
      allow_origin(response.headers, kept);
    }
    inner(std::move(response));
  };
}

// ---- Operations

http::Response response_to(Result<std::string> answer, const Wishes& wishes) {
  return answer ? make_response(200, wishes.content_type, std::move(*answer), wishes.gzip)
                : error_response(answer.error(), wishes);
}

// Answers an operation over HTTP.
struct Respond {
  http::Respond respond;
  Wishes wishes;
  std::atomic<int64_t>& last_large_page_ms;

  void operator()(Result<std::string> answer) {
    if (answer && answer->size() > kLargePageBytes) last_large_page_ms = system_clock().unix_ms();
    respond(response_to(std::move(answer), wishes));
  }
  template <class Make>
  void later(Make make) {
    http::Response response;
    response.make = [wishes = wishes, kept = std::move(make)] {
      return response_to(kept(), wishes);
    };
    respond(std::move(response));
  }
};

using Operations = protocol::Operations<Respond>;

// The one of the two types that is meant, as a constant; empty for any other.
std::string_view json_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  if (content_type == kJsonType) return kJsonType;
  return content_type == kPlainJsonType ? kPlainJsonType : std::string_view();
}

Wishes wishes_of(const http::Request& request) {
  return {.content_type = json_type(request.header("content-type")),
          .gzip = accepts_gzip(request.header("accept-encoding"))};
}

// The refusal of an operation that needs no more than its headers; else sets `run`.
std::optional<http::Response> refusal_of(const http::Request& request, const Wishes& wishes,
                                         Operations::Run& run) {
  if (wishes.content_type.empty()) {
    return make_response(404, "text/plain", std::string(kNoOperation));
  }
  run = Operations::find_target(request.header("x-amz-target"));
  if (run == nullptr) {
    return error_response({.code = Code::kUnknownOperation, .message = ""}, wishes);
  }
  if (const auto checked = check_authorization(request); !checked) {
    return error_response(checked.error(), wishes);
  }
  return std::nullopt;
}

// SDKs send the request again after a pause.
http::Response stopping_response(const Wishes& wishes = {}) {
  return error_response(
      {.code = Code::kServiceUnavailable, .message = "The server is stopping. Try again."}, wishes,
      Logged::kNo);
}

http::Response foreign_response(const Error& error) {
  return make_response(403, kJsonType, wire::error_to_json(error));
}

// What reading a body takes: copies of its texts, and for each of its elements what a JSON parser
// and a tree need. Blocks of one size are counted with vector instructions.
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

// What the largest response of an operation takes, if that is much: its items in binary form, and
// as JSON in a buffer that grows.
std::size_t response_bytes(std::string_view target) {
  constexpr std::size_t kCopies = 4;
  constexpr std::size_t kPageBytes = 1UL << 20;
  constexpr std::size_t kBatchBytes = 16UL << 20;
  constexpr std::size_t kTransactionBytes = 4UL << 20;
  constexpr std::size_t kStatementsBytes = 25 * (400UL << 10);
  if (target.ends_with(".BatchGetItem")) return kCopies * kBatchBytes;
  if (target.ends_with(".TransactGetItems")) return kCopies * kTransactionBytes;
  if (target.ends_with(".ExecuteTransaction")) return kCopies * kTransactionBytes;
  if (target.ends_with(".BatchExecuteStatement")) return kCopies * kStatementsBytes;
  return reads_pages(target) ? kCopies * kPageBytes : 0;
}

}  // namespace

std::optional<http::Response> DynamoDbService::screen(const http::Request& head) const {
  if (verifier_ == nullptr) {
    if (const auto local = hosts_.check(head); !local) return foreign_response(local.error());
  }
  if (head.method != "POST") return make_response(404, "text/plain", std::string(kNoOperation));
  const Wishes wishes = wishes_of(head);
  Operations::Run run = nullptr;
  if (auto refusal = refusal_of(head, wishes, run)) return refusal;
  if (is_stopping()) return stopping_response(wishes);
  if (verifier_ == nullptr) return std::nullopt;
  const auto checked = verifier_->check_claims(head, system_clock().unix_ms());
  if (!checked) return error_response(checked.error(), wishes);
  return std::nullopt;
}

bool DynamoDbService::aside(const http::Request& request) const {
  if (request.body.size() > kSmallBytes || !request.header("content-encoding").empty()) return true;
  const std::string_view target = request.header("x-amz-target");
  // Small pages are best read on the event loops. Large ones would hold up others there.
  constexpr int64_t kWhileMs = 1000;
  if (reads_pages(target)) return system_clock().unix_ms() - last_large_page_ms_ < kWhileMs;
  return response_bytes(target) > 0;
}

std::size_t DynamoDbService::demand(const http::Request& request) {
  constexpr std::size_t kUnfoldedCopies = 8;  // of a text whose elements are not known yet
  std::size_t bytes = response_bytes(request.header("x-amz-target"));
  if (!request.header("content-encoding").empty()) {
    bytes += kUnfoldedCopies * std::min(claimed_size(request.body), kBodyBytesMax);
  }
  if (request.body.size() > kSmallBytes) bytes += reading_bytes(request.body);
  return bytes;
}

void DynamoDbService::handle(const http::Request& request, http::Respond respond) {
  if (verifier_ == nullptr) {
    if (const auto local = hosts_.check(request); !local) {
      return respond(foreign_response(local.error()));
    }
  }
  const auto origin = request.header("origin");
  const std::string_view allowed = origin.empty() || verifier_ == nullptr ? origin : kAnyOrigin;
  if (request.method == "OPTIONS" && !origin.empty()) return respond(preflight(request, allowed));
  if (!allowed.empty()) respond = with_origin(allowed, std::move(respond));
  if (request.method == "POST") return handle_operation(request, std::move(respond));
  const auto path = request.target.substr(0, request.target.find('?'));
  if (request.method == "GET" || request.method == "HEAD") return respond(page(path));
  respond(make_response(404, "text/plain", std::string(kNoOperation)));
}

http::Response DynamoDbService::page(std::string_view path) const {
  const auto text = [](int status, std::string body) {
    return make_response(status, "text/plain", std::move(body));
  };
  if (path == "/health/live") return text(200, "live\n");
  const bool asks_readiness = path == "/health/ready";
  if (path != "/" && !asks_readiness) return text(404, std::string(kNoOperation));
  if (asks_readiness && is_stopping()) return text(503, "not ready: the server is stopping\n");
  const StoreHealth health = engine_.store().health();
  if (health.writable) return text(200, std::string(asks_readiness ? kReady : kHealth));
  return text(503, (asks_readiness ? "not ready: " : "unhealthy: ") + health.reason + "\n");
}

void DynamoDbService::handle_operation(const http::Request& request, http::Respond respond) {
  const Wishes wishes = wishes_of(request);
  Operations::Run run = nullptr;
  if (auto refusal = refusal_of(request, wishes, run)) return respond(std::move(*refusal));
  if (is_stopping()) return respond(stopping_response(wishes));
  const auto refuse = [&](const Error& error) { respond(error_response(error, wishes)); };
  if (verifier_ != nullptr) {
    const auto verified = verifier_->verify(request, system_clock().unix_ms());
    if (!verified) return refuse(verified.error());
  }
  const protocol::Context context{.engine = engine_, .waiting = &waiting_};
  const std::string_view encoding = request.header("content-encoding");
  if (encoding.empty() || encoding == "identity") {
    return run(context, request.body, Respond{std::move(respond), wishes, last_large_page_ms_});
  }
  std::string body;
  const GunzipOutcome outcome =
      encoding == "gzip" ? gunzip(request.body, kBodyBytesMax, body) : GunzipOutcome::kInvalid;
  if (outcome == GunzipOutcome::kTooLarge) return respond(too_large());
  if (outcome == GunzipOutcome::kInvalid) {
    return refuse({.code = Code::kSerialization, .message = ""});
  }
  run(context, body, Respond{std::move(respond), wishes, last_large_page_ms_});
}

http::Response DynamoDbService::malformed() {
  return error_response({.code = Code::kSerialization, .message = "The request is no valid HTTP"});
}

http::Response DynamoDbService::overloaded() {
  return error_response({.code = Code::kServiceUnavailable,
                         .message = "Too many large requests are under way. Try again."});
}

http::Response DynamoDbService::too_large() {
  return make_response(
      413, kJsonType,
      R"({"__type":"com.amazon.coral.service#RequestEntityTooLargeException","message":"Request body )"
      R"(is larger than the limit of )" +
          std::to_string(kBodyBytesMax) + R"( bytes"})");
}

}  // namespace stator::server

// SPDX-License-Identifier: Apache-2.0
#include "server/dynamodb_service.h"

#include <libdeflate.h>

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
constexpr std::size_t kCompressedBytesMin = 1024;  // less is not worth it
constexpr std::string_view kHealth = "healthy: dynamodb.us-east-1.amazonaws.com ";
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

http::Response error_response(const Error& error, const Wishes& wishes = {}) {
  const int status = wire::http_status(error.code);
  if (status >= 500) log_failure(error);
  return make_response(status, wishes.content_type, wire::error_to_json(error), wishes.gzip);
}

// ---- Browsers
// Where signatures are verified any page may ask, as it may ask the service. Where they are not,
// only a page served from this machine may use the database, and none from elsewhere that its user
// happens to visit.

bool is_local_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const auto rest = origin.substr(scheme.size());
    for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"}) {
      if (rest == host || (rest.starts_with(host) && rest[host.size()] == ':')) return true;
    }
  }
  return false;
}

void allow_origin(http::HeaderLines& headers, std::string_view origin) {
  headers.add("Access-Control-Allow-Origin", origin);
  headers.add("Access-Control-Expose-Headers", "x-amzn-RequestId,x-amz-crc32");
  headers.add("Vary", "Origin");
}

http::Response preflight(const http::Request& request, bool allowed) {
  http::Response response = make_response(200, "text/plain", "");
  if (!allowed) return response;
  allow_origin(response.headers, request.header("origin"));
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
    allow_origin(response.headers, kept);
    inner(std::move(response));
  };
}

// ---- Operations

// Answers an operation over HTTP.
struct Respond {
  http::Respond respond;
  Wishes wishes;

  void operator()(Result<std::string> answer) {
    respond(answer ? make_response(200, wishes.content_type, std::move(*answer), wishes.gzip)
                   : error_response(answer.error(), wishes));
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

}  // namespace

void DynamoDbService::handle(const http::Request& request, http::Respond respond) {
  const auto origin = request.header("origin");
  const bool allowed = !origin.empty() && (verifier_ != nullptr || is_local_origin(origin));
  if (request.method == "OPTIONS" && !origin.empty()) return respond(preflight(request, allowed));
  if (allowed) respond = with_origin(origin, std::move(respond));
  if (request.method == "POST") return handle_operation(request, std::move(respond));
  const auto path = request.target.substr(0, request.target.find('?'));
  if ((request.method == "GET" || request.method == "HEAD") && path == "/") {
    const StoreHealth health = engine_.store().health();
    if (health.writable) return respond(make_response(200, "text/plain", std::string(kHealth)));
    return respond(make_response(503, "text/plain", "unhealthy: " + health.reason + "\n"));
  }
  respond(make_response(404, "text/plain", std::string(kNoOperation)));
}

void DynamoDbService::handle_operation(const http::Request& request, http::Respond respond) {
  const Wishes wishes{.content_type = json_type(request.header("content-type")),
                      .gzip = accepts_gzip(request.header("accept-encoding"))};
  if (wishes.content_type.empty()) {
    return respond(make_response(404, "text/plain", std::string(kNoOperation)));
  }
  const auto refuse = [&](const Error& error) { respond(error_response(error, wishes)); };
  const Operations::Run run = Operations::find_target(request.header("x-amz-target"));
  if (run == nullptr) return refuse({.code = Code::kUnknownOperation, .message = ""});
  if (const auto checked = check_authorization(request); !checked) return refuse(checked.error());
  if (verifier_ != nullptr) {
    const auto verified = verifier_->verify(request, system_clock().unix_ms());
    if (!verified) return refuse(verified.error());
  }
  const protocol::Context context{.engine = engine_, .waiting = &waiting_};
  const std::string_view encoding = request.header("content-encoding");
  if (encoding.empty() || encoding == "identity") {
    return run(context, request.body, Respond{std::move(respond), wishes});
  }
  std::string body;
  const GunzipOutcome outcome =
      encoding == "gzip" ? gunzip(request.body, kBodyBytesMax, body) : GunzipOutcome::kInvalid;
  if (outcome == GunzipOutcome::kTooLarge) return respond(too_large());
  if (outcome == GunzipOutcome::kInvalid) {
    return refuse({.code = Code::kSerialization, .message = ""});
  }
  run(context, body, Respond{std::move(respond), wishes});
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

// SPDX-License-Identifier: Apache-2.0
#include "server/dynamodb_service.h"

#include <libdeflate.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "api/wire.h"
#include "base/clock.h"
#include "protocol/operations.h"
#include "server/authorization.h"
#include "server/request_id.h"

namespace stator::server {
namespace {

constexpr std::string_view kJsonType = "application/x-amz-json-1.0";
constexpr std::string_view kHealth = "healthy: dynamodb.us-east-1.amazonaws.com ";
constexpr std::string_view kNoOperation = "<UnknownOperationException/>\n";

http::Response make_response(int status, std::string_view content_type, std::string body) {
  char digits[10];
  const uint32_t checksum = libdeflate_crc32(0, body.data(), body.size());
  const auto digits_end = std::to_chars(digits, digits + sizeof digits, checksum).ptr;
  const RequestId id;
  return {.status = status,
          .headers = {{"Server", "Server"},
                      {"Content-Type", content_type},
                      {"x-amzn-RequestId", id.text()},
                      {"x-amz-crc32", {digits, static_cast<std::size_t>(digits_end - digits)}}},
          .body = std::move(body)};
}

// The answer hides what failed inside; whoever runs the server is told, at most once a second.
void log_failure(const Error& error) {
  static std::atomic<int64_t> last_second = 0;
  const int64_t second = system_clock().unix_ms() / 1000;
  if (last_second.exchange(second) == second) return;
  static const auto logger = spdlog::stderr_logger_mt("stator");
  logger->error("{}: {}", code_name(error.code), error.message);
}

http::Response error_response(const Error& error) {
  const int status = wire::http_status(error.code);
  if (status >= 500) log_failure(error);
  return make_response(status, kJsonType, wire::error_to_json(error));
}

// ---- Browsers
// A page served from this machine may use the database; one from elsewhere that its user happens to
// visit may not, since no signature is verified.

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

http::Response preflight(std::string_view origin) {
  http::Response response{.status = 200};
  if (!is_local_origin(origin)) return response;
  allow_origin(response.headers, origin);
  response.headers.add("Access-Control-Allow-Methods", "GET,POST,OPTIONS");
  response.headers.add("Access-Control-Allow-Headers",
                       "Authorization,Content-Type,X-Amz-Content-Sha256,X-Amz-Date,"
                       "X-Amz-Security-Token,X-Amz-Target,X-Amz-User-Agent,X-Amzn-Trace-Id,"
                       "Amz-Sdk-Invocation-Id,Amz-Sdk-Request");
  response.headers.add("Access-Control-Max-Age", "3600");
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

  void operator()(Result<std::string> answer) {
    respond(answer ? make_response(200, kJsonType, std::move(*answer))
                   : error_response(answer.error()));
  }
};

using Operations = protocol::Operations<Respond>;

bool is_json_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  return content_type == kJsonType || content_type == "application/json";
}

}  // namespace

void DynamoDbService::handle(const http::Request& request, http::Respond respond) {
  const auto origin = request.header("origin");
  if (request.method == "OPTIONS") return respond(preflight(origin));
  if (is_local_origin(origin)) respond = with_origin(origin, std::move(respond));
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
  if (!is_json_type(request.header("content-type"))) {
    return respond(make_response(404, "text/plain", std::string(kNoOperation)));
  }
  const Operations::Run run = Operations::find_target(request.header("x-amz-target"));
  if (run == nullptr)
    return respond(error_response({.code = Code::kUnknownOperation, .message = ""}));
  if (const auto checked = check_authorization(request); !checked) {
    return respond(error_response(checked.error()));
  }
  if (verifier_ != nullptr) {
    const auto verified = verifier_->verify(request, system_clock().unix_ms());
    if (!verified) return respond(error_response(verified.error()));
  }
  run({.engine = engine_, .waiting = &waiting_}, request.body, Respond{std::move(respond)});
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

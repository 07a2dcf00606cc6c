// SPDX-License-Identifier: Apache-2.0
// CurlTransport: sends signed requests to an endpoint. API requests share persistent connections.
//
// Thread safety: any thread can call each method.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "stator/call_limits.h"
#include "stator/http_client.h"

namespace stator {

struct HttpResponse {
  int status = 0;
  std::string body;
  std::string crc32;     // the x-amz-crc32 header; empty if absent
  std::string examined;  // the header of protocol::kExaminedHeader; empty if absent
};

enum class TransportFailure {
  kNotSent,    // no connection: the request cannot have taken effect
  kBroken,     // sent, possibly in part, without a complete response
  kTimedOut,   // sent, without a complete response in time
  kRefused,    // not sent, and a repetition would fail too: for example a bad certificate
  kOverLimit,  // sent, but the response is larger than any response of the API
};

struct TransportError {
  TransportFailure failure = TransportFailure::kNotSent;
  std::string message;
};

// Call it before the first transport is created. Errors: kInvalidArgument if the endpoint is not an
// http or https URL with a host; kIo if libcurl cannot be loaded.
Result<void> check_endpoint(const std::string& endpoint);

class CurlTransport {
 public:
  explicit CurlTransport(const HttpClientOptions& options);
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport();

  // `target` is the value of X-Amz-Target. Sends at most once: a kept connection that was closed is
  // replaced before sending; one that closes without a response is kBroken. `limits` can be null.
  std::expected<HttpResponse, TransportError> post(std::string_view target, std::string_view body,
                                                   const CallLimits* limits);
  // GET of a path below the endpoint, or PUT if `body` is not null. Sends at most once.
  std::expected<HttpResponse, TransportError> exchange(std::string_view path,
                                                       const std::string* body);

 private:
  class Handle;

  std::unique_ptr<Handle> take();
  void give_back(std::unique_ptr<Handle> handle);

  HttpClientOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace stator

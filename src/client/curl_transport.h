// SPDX-License-Identifier: Apache-2.0
// CurlTransport: one signed POST to an endpoint, on connections that are kept and shared.
//
// Thread safety: post() may be called from any thread at once.
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

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::string crc32;     // the x-amz-crc32 header; empty if absent
  std::string examined;  // the header of protocol::kExaminedHeader; empty if absent
};

enum class TransportFailure {
  kNotSent,    // no connection: the request cannot have taken effect
  kBroken,     // sent, perhaps in part, and no whole answer came
  kTimedOut,   // sent, and no whole answer came in time
  kRefused,    // not sent, and will fail the same way again: a bad certificate
  kOverLimit,  // sent, and the answer is larger than any that the service gives
};

struct TransportError {
  TransportFailure failure = TransportFailure::kNotSent;
  std::string message;
};

// kInvalidArgument for an endpoint that is no http or https URL with a host, kIo where
// libcurl cannot be loaded. Comes before the first transport.
Result<void> check_endpoint(const std::string& endpoint);

class CurlTransport {
 public:
  explicit CurlTransport(const HttpClientOptions& options);
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport();

  // `target` is the value of X-Amz-Target. Sends at most once: a kept connection that is found
  // closed is replaced before, one that ends without an answer is kBroken. `limits` may be null.
  std::expected<HttpAnswer, TransportError> post(std::string_view target, std::string_view body,
                                                 const CallLimits* limits);

 private:
  class Handle;

  std::unique_ptr<Handle> take();
  void give_back(std::unique_ptr<Handle> handle);

  HttpClientOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace stator

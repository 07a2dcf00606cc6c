// SPDX-License-Identifier: Apache-2.0
// Readiness: a server's response to GET /health/ready.
#pragma once

#include <chrono>
#include <string>

#include "stator/result.h"

namespace stator {

struct Readiness {
  bool ready = false;
  std::string text;  // the first line: "ready", or the reason
};

struct ReadinessOptions {
  std::string endpoint;  // an http or https URL
  std::chrono::milliseconds timeout{3'000};
  // PEM files, for a server that requires a client certificate. Empty: none.
  std::string client_certificate = {};
  std::string client_key = {};
};

// Asks once, without checking the server's certificate: the request contains no secret, and
// certificates rarely contain the address by which a machine checks its own server.
// Errors: kInvalidArgument for a malformed endpoint; kIo if the client certificate or libcurl
// cannot be used; kUnavailable without a response in time.
Result<Readiness> ask_readiness(const ReadinessOptions& options);

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// Readiness: the answer of a server's GET /health/ready.
#pragma once

#include <chrono>
#include <string>

#include "stator/result.h"

namespace stator {

struct Readiness {
  bool ready = false;
  std::string text;  // "ready", or the reason
};

struct ReadinessOptions {
  std::string endpoint;  // an http or https URL
  std::chrono::milliseconds timeout{3'000};
  // For a server that asks for one, in PEM. Empty: none.
  std::string client_certificate = {};
  std::string client_key = {};
};

// The server's certificate is not checked: nothing secret is sent, and it is rarely made out to the
// address at which a machine checks its own server. Errors: kInvalidArgument for another endpoint;
// kIo for a client certificate that cannot be used, and if libcurl cannot be loaded; kUnavailable
// without an answer in time.
Result<Readiness> ask_readiness(const ReadinessOptions& options);

}  // namespace stator

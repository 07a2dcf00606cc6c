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

// `endpoint` is an http or https URL. The certificate is not checked: nothing secret is sent, and
// it is rarely made out to the address at which a machine checks its own server. Errors:
// kInvalidArgument for another endpoint; kUnavailable without an answer in time; kIo if libcurl
// cannot be loaded.
Result<Readiness> ask_readiness(const std::string& endpoint, std::chrono::milliseconds timeout);

}  // namespace stator

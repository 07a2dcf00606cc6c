// SPDX-License-Identifier: Apache-2.0
// Checks that a request carries the parts of a signature, as DynamoDB asks before anything else.
// The signature itself is not verified: any is accepted, so the server listens on loopback only.
#pragma once

#include "http/server.h"
#include "stator/result.h"

namespace stator::server {

// kMissingAuthenticationToken, kIncompleteSignature or kInvalidSignature with the service's text.
Result<void> check_authorization(const http::Request& request);

}  // namespace stator::server

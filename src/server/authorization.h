// SPDX-License-Identifier: Apache-2.0
// Checks that a request carries the parts of a signature, as DynamoDB asks before anything else.
// Whether the signature is right is SignatureVerifier's to say.
#pragma once

#include "http/server.h"
#include "stator/result.h"

namespace stator::server {

// kMissingAuthenticationToken, kIncompleteSignature or kInvalidSignature with the service's text.
Result<void> check_authorization(const http::Request& request);

}  // namespace stator::server

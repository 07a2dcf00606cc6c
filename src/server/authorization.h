// SPDX-License-Identifier: Apache-2.0
// Checks that a request contains the parts of a signature, as DynamoDB does before all other
// checks. SignatureVerifier verifies the signature.
#pragma once

#include "http/server.h"
#include "stator/result.h"

namespace stator::server {

// Errors: kMissingAuthenticationToken, kIncompleteSignature or kInvalidSignature with DynamoDB's
// message.
Result<void> check_authorization(const http::Request& request);

}  // namespace stator::server

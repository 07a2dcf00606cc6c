// SPDX-License-Identifier: Apache-2.0
// SignatureVerifier: checks the Signature Version 4 in a request's headers, which must cover its
// host, its date and, if present, its target.
//
// Thread safety: any thread.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/atomic_snapshot.h"
#include "http/server.h"
#include "server/credentials.h"
#include "stator/result.h"

namespace stator::server {

struct SigningKey {
  std::string id;
  std::shared_ptr<const AccessKey> key;
};

class SignatureVerifier {
 public:
  explicit SignatureVerifier(Credentials credentials) { replace(std::move(credentials)); }

  // Replaces the accepted keys. An unchanged key keeps the counts of its limits.
  void replace(Credentials credentials);

  // Returns the key that signed. The parts of the header must be present (authorization.h).
  // Errors, with DynamoDB's messages: kUnrecognizedClient for an unknown access key or a session
  // token; kInvalidSignature for a wrong signature, another service's scope or a time more than 15
  // minutes off; kIncompleteSignature for a malformed credential or date.
  Result<SigningKey> verify(const http::Request& request, int64_t now_ms) const;
  // The checks that do not need the body; does not check the signature itself.
  Result<void> check_claims(const http::Request& head, int64_t now_ms) const;

  std::size_t cached_keys() const;

 private:
  using Key = std::string;
  struct Claims;

  struct KeyRing;

  static Result<Claims> claims_of(const KeyRing& ring, const http::Request& request,
                                  int64_t now_ms);

  AtomicSnapshot<KeyRing> ring_;
};

}  // namespace stator::server

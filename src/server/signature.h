// SPDX-License-Identifier: Apache-2.0
// SignatureVerifier: checks the Signature Version 4 in a request's headers, which must cover its
// host, its date and, if there is one, its target.
//
// Thread safety: every method may be called from any threads at once.
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

  // From now on others are accepted. A key that stays as it is keeps the counts of its limits.
  void replace(Credentials credentials);

  // kUnrecognizedClient for another access key or a session token, kInvalidSignature for a wrong
  // signature, another service's scope or a time more than 15 minutes off, kIncompleteSignature for
  // a credential or date of another form, with the service's texts. The parts of the header must be
  // there. Returns the key that signed.
  Result<SigningKey> verify(const http::Request& request, int64_t now_ms) const;
  // The same as far as it needs no body: the signature itself is not checked.
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

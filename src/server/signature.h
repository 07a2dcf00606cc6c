// SPDX-License-Identifier: Apache-2.0
// SignatureVerifier: checks the Signature Version 4 in a request's headers, which must cover its
// host, its date and, if there is one, its target.
//
// Thread safety: verify may be called from any threads at once.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "http/server.h"
#include "server/credentials.h"
#include "stator/result.h"

namespace stator::server {

class SignatureVerifier {
 public:
  explicit SignatureVerifier(Credentials credentials) : credentials_(std::move(credentials)) {}

  // kUnrecognizedClient for another access key or a session token, kInvalidSignature for a wrong
  // signature, another service's scope or a time more than 15 minutes off, kIncompleteSignature for
  // a credential or date of another form, with the service's texts. The parts of the header must be
  // there.
  Result<void> verify(const http::Request& request, int64_t now_ms) const;
  // The same as far as it needs no body: the signature itself is not checked.
  Result<void> check_claims(const http::Request& head, int64_t now_ms) const;

  std::size_t cached_keys() const;

 private:
  using Key = std::array<unsigned char, 32>;
  struct Claims;

  Result<Claims> claims_of(const http::Request& request, int64_t now_ms) const;
  std::optional<Key> cached_key(const std::string& credential) const;

  const Credentials credentials_;
  // Deriving a key costs four times a signature, and it stays the same for a day. Only keys that
  // have signed a request are kept.
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, Key> keys_;  // by the header's whole credential
};

}  // namespace stator::server

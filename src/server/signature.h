// SPDX-License-Identifier: Apache-2.0
// SignatureVerifier: checks the Signature Version 4 in a request's headers, which must cover its
// host, date and target.
//
// Thread safety: verify may be called from any threads at once.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
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

  // kUnrecognizedClient for another access key, kInvalidSignature for a wrong signature, another
  // service's scope or a time more than 15 minutes off, kIncompleteSignature for a credential or
  // date of another form, with the service's texts. The parts of the header must be there.
  Result<void> verify(const http::Request& request, int64_t now_ms) const;

 private:
  using Key = std::array<unsigned char, 32>;

  Result<Key> signing_key(std::string_view credential) const;

  const Credentials credentials_;
  // Deriving a key costs four times a signature, and it stays the same for a day.
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, Key> keys_;  // by the header's whole credential
};

}  // namespace stator::server

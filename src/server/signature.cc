// SPDX-License-Identifier: Apache-2.0
#include "server/signature.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/sha256.h"

namespace stator::server {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::chrono::minutes kSkewMax{15};
constexpr std::size_t kCachedKeysMax = 1'000;

std::vector<std::string_view> split(std::string_view text, char divider) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(divider);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// AKID/20260131/us-east-1/dynamodb/aws4_request
struct Credential {
  std::string_view access_key;
  std::string_view scope;                 // the text after the access key
  std::array<std::string_view, 4> parts;  // of the scope
};

// Parses from the end, because an access key id can contain a slash.
std::optional<Credential> parse_credential(std::string_view text) {
  Credential credential;
  std::string_view rest = text;
  for (std::size_t i = credential.parts.size(); i-- > 0;) {
    const std::size_t slash = rest.rfind('/');
    if (slash == rest.npos) return std::nullopt;
    credential.parts[i] = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  credential.access_key = rest;
  credential.scope = text.substr(rest.size() + 1);
  return credential;
}

struct Authorization {
  std::string_view credential;
  std::string_view signed_headers;
  std::string_view signature;
};

Authorization parse(std::string_view header) {
  Authorization parsed;
  const std::pair<std::string_view, std::string_view*> parts[] = {
      {"Credential=", &parsed.credential},
      {"SignedHeaders=", &parsed.signed_headers},
      {"Signature=", &parsed.signature}};
  header.remove_prefix(std::min(header.size(), header.find(' ')));
  for (std::string_view field : split(header, ',')) {
    field.remove_prefix(std::min(field.size(), field.find_first_not_of(' ')));
    for (const auto& [name, value] : parts) {
      if (field.starts_with(name)) *value = field.substr(name.size());
    }
  }
  return parsed;
}

// Appends the value without blanks at its ends, and with one space for each sequence of blanks.
void append_header_value(std::string& out, std::string_view value) {
  bool blank = false;
  bool begun = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      blank = begun;
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    begun = true;
    out += c;
  }
}

// The path of every DynamoDB request is "/". SDKs send a query's parameters already sorted.
std::string canonical_request(const http::Request& request, std::string_view signed_headers,
                              const std::vector<std::string_view>& names) {
  const std::size_t mark = request.target.find('?');
  std::string text;
  text.reserve(512);
  text.append(request.method).append("\n").append(request.target.substr(0, mark)).append("\n");
  if (mark != request.target.npos) text.append(request.target.substr(mark + 1));
  text += '\n';
  for (const std::string_view name : names) {
    text.append(name).append(":");
    append_header_value(text, request.header(name));
    text += '\n';
  }
  text.append("\n").append(signed_headers).append("\n");
  text += hex(sha256({request.body}));
  return text;
}

std::string amz_date(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

// "20260131T235959Z"; absent for any other form.
std::optional<std::chrono::sys_seconds> parse_amz_date(std::string_view text) {
  constexpr std::string_view kForm = "00000000T000000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool fits = kForm[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == kForm[i];
    if (!fits) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = 0;
    for (const char c : text.substr(at, length)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day date(std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(4, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(6, 2))));
  constexpr int kLastHour = 23;
  constexpr int kLastOfSixty = 59;
  const bool of_a_day =
      number(9, 2) <= kLastHour && number(11, 2) <= kLastOfSixty && number(13, 2) <= kLastOfSixty;
  if (!date.ok() || !of_a_day) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(number(9, 2)) +
         std::chrono::minutes(number(11, 2)) + std::chrono::seconds(number(13, 2));
}

Result<void> check_time(std::string_view date, int64_t now_ms) {
  const auto time = parse_amz_date(date);
  if (!time) {
    return fail(Code::kIncompleteSignature, "Date must be in ISO-8601 'basic format'. Got '" +
                                                std::string(date) +
                                                "'. See http://en.wikipedia.org/wiki/ISO_8601");
  }
  const std::chrono::sys_seconds now{
      std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds(now_ms))};
  if (*time < now - kSkewMax) {
    return fail(Code::kInvalidSignature,
                fmt::format("Signature expired: {} is now earlier than {} ({} - 15 min.)", date,
                            amz_date(now - kSkewMax), amz_date(now)));
  }
  if (*time > now + kSkewMax) {
    return fail(Code::kInvalidSignature,
                fmt::format("Signature not yet current: {} is still later than {} ({} + 15 min.)",
                            date, amz_date(now + kSkewMax), amz_date(now)));
  }
  return {};
}

}  // namespace

// The signature in a request's headers.
struct SignatureVerifier::Claims {
  Authorization given;
  Credential credential;
  const AccessKey* key = nullptr;
  std::string_view date;
};

// The signing keys of one version of the credentials. Deriving a key costs as much as four
// signatures, and the key stays the same for a day. Only keys that have signed a request are
// cached.
struct SignatureVerifier::KeyRing {
  explicit KeyRing(Credentials of) : credentials(std::move(of)) {}

  std::optional<Key> derived(const std::string& credential) const {
    const std::shared_lock lock(mutex);
    const auto found = keys.find(credential);
    if (found == keys.end()) return std::nullopt;
    return found->second;
  }
  void keep(const std::string& credential, const Key& key) const {
    const std::unique_lock lock(mutex);
    if (keys.size() >= kCachedKeysMax) keys.clear();
    keys.emplace(credential, key);
  }

  const Credentials credentials;
  mutable std::shared_mutex mutex;
  mutable std::unordered_map<std::string, Key> keys;  // by the header's whole credential
};

void SignatureVerifier::replace(Credentials credentials) {
  if (const auto before = ring_.get()) {
    for (auto& [id, key] : credentials) {
      const auto known = before->credentials.find(id);
      if (known == before->credentials.end() || !key.limiter) continue;
      if (known->second.limits == key.limits) key.limiter = known->second.limiter;
    }
  }
  ring_.set(std::make_shared<const KeyRing>(std::move(credentials)));
}

Result<SignatureVerifier::Claims> SignatureVerifier::claims_of(const KeyRing& ring,
                                                               const http::Request& request,
                                                               int64_t now_ms) {
  const std::string_view header = request.header("authorization");
  if (header.empty()) {
    return fail(Code::kInvalidSignature, "Requests signed in their query string are not supported");
  }
  Claims claims{.given = parse(header), .date = request.header("x-amz-date")};
  if (!header.starts_with(kAlgorithm)) {
    return fail(
        Code::kIncompleteSignature,
        "Unsupported AWS 'algorithm': '" + std::string(header.substr(0, header.find(' '))) + "'. ");
  }
  const std::optional<Credential> parsed = parse_credential(claims.given.credential);
  if (!parsed) {
    return fail(Code::kIncompleteSignature,
                "Credential must have at least 5 elements separated by '/'. Got '" +
                    std::string(claims.given.credential) + "'");
  }
  claims.credential = *parsed;
  if (parsed->parts[1].empty()) {
    return fail(Code::kInvalidSignature, "Credential should be scoped to a valid region. ");
  }
  if (parsed->parts[2] != "dynamodb" || parsed->parts[3] != "aws4_request") {
    return fail(Code::kInvalidSignature,
                "Credential should be scoped to correct service: 'dynamodb'. ");
  }
  const auto known = ring.credentials.find(parsed->access_key);
  // No key belongs to a session, so every session token is invalid.
  if (known == ring.credentials.end() || !request.header("x-amz-security-token").empty()) {
    return fail(Code::kUnrecognizedClient,
                "The security token included in the request is invalid.");
  }
  claims.key = &known->second;
  STATOR_RETURN_IF_ERROR(check_time(claims.date, now_ms));
  return claims;
}

std::size_t SignatureVerifier::cached_keys() const {
  const auto ring = ring_.get();
  const std::shared_lock lock(ring->mutex);
  return ring->keys.size();
}

Result<void> SignatureVerifier::check_claims(const http::Request& head, int64_t now_ms) const {
  STATOR_RETURN_IF_ERROR(claims_of(*ring_.get(), head, now_ms));
  return {};
}

Result<SigningKey> SignatureVerifier::verify(const http::Request& request, int64_t now_ms) const {
  const auto ring = ring_.get();
  STATOR_ASSIGN_OR_RETURN(const Claims claims, claims_of(*ring, request, now_ms));
  const auto& [access_key, scope, parts] = claims.credential;
  const std::string credential(claims.given.credential);
  std::optional<Key> key = ring->derived(credential);
  const bool derived = !key;
  if (derived) {
    key = hmac_sha256("AWS4" + claims.key->secret, parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) key = hmac_sha256(*key, parts[i]);
  }
  const std::vector<std::string_view> names = split(claims.given.signed_headers, ';');
  std::string to_sign;
  to_sign.append(kAlgorithm)
      .append("\n")
      .append(claims.date)
      .append("\n")
      .append(scope)
      .append("\n");
  to_sign += hex(sha256({canonical_request(request, claims.given.signed_headers, names)}));
  const std::string expected = hex(hmac_sha256(*key, to_sign));
  const std::string_view given = claims.given.signature;
  const auto is_signed = [&](std::string_view name) { return std::ranges::count(names, name) > 0; };
  const bool targeted = !request.header("x-amz-target").empty();
  const bool covered =
      is_signed("host") && is_signed("x-amz-date") && (is_signed("x-amz-target") || !targeted);
  const bool same = expected.size() == given.size() &&
                    CRYPTO_memcmp(expected.data(), given.data(), expected.size()) == 0;
  if (!same || !covered || !scope.starts_with(claims.date.substr(0, 8))) {
    return fail(Code::kInvalidSignature,
                "The request signature we calculated does not match the signature you provided. "
                "Check your AWS Secret Access Key and signing method. Consult the service "
                "documentation for details.");
  }
  if (derived) ring->keep(credential, *key);
  return SigningKey{.id = std::string(access_key),
                    .key = std::shared_ptr<const AccessKey>(ring, claims.key)};
}

}  // namespace stator::server

// SPDX-License-Identifier: Apache-2.0
// The supported condition keys and the types of their values.
//
// A policy with any other key is rejected: if the key were ignored, a Deny could have no effect.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stator::policy {

enum class Key : uint8_t {
  // Of the caller.
  kPrincipalAccount,
  kPrincipalArn,
  kPrincipalType,
  kUserId,
  kUsername,
  // Of the connection and the request.
  kCurrentTime,
  kEpochTime,
  kReferer,
  kRequestedRegion,
  kResourceAccount,
  kSecureTransport,
  kSourceIp,
  kUserAgent,
  // Of tags.
  kRequestTag,  // with the tag's key
  kTagKeys,
  // Of the operation.
  kAttributes,
  kEnclosingOperation,
  kFullTableScan,
  kLeadingKeys,
  kReturnConsumedCapacity,
  kReturnValues,
  kSelect,
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::kSelect) + 1;

using KeySet = std::bitset<kKeyCount>;

enum class KeyKind { kText, kBoolean, kTime, kAddress, kArn };

// A key of a policy: "aws:RequestTag/team" has the tag "team".
struct KeyName {
  Key key = Key::kUsername;
  std::string tag = {};
};

// Names are not case-sensitive. Absent for an unsupported key.
std::optional<KeyName> find_key(std::string_view name);
std::string_view name_of(Key key);
KeyKind kind_of(Key key);
// Whether a request can have several values of it.
bool is_multivalued(Key key);

}  // namespace stator::policy

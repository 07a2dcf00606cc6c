// SPDX-License-Identifier: Apache-2.0
#include "policy/condition_keys.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace stator::policy {
namespace {

struct KeyEntry {
  Key key;
  std::string_view name;
  KeyKind kind = KeyKind::kText;
  bool multivalued = false;
};

// In the order of the enumeration.
constexpr std::array<KeyEntry, kKeyCount> kKeys = {{
    {Key::kPrincipalAccount, "aws:PrincipalAccount"},
    {Key::kPrincipalArn, "aws:PrincipalArn", KeyKind::kArn},
    {Key::kPrincipalType, "aws:PrincipalType"},
    {Key::kUserId, "aws:userid"},
    {Key::kUsername, "aws:username"},
    {Key::kCurrentTime, "aws:CurrentTime", KeyKind::kTime},
    {Key::kEpochTime, "aws:EpochTime", KeyKind::kTime},
    {Key::kReferer, "aws:referer"},
    {Key::kRequestedRegion, "aws:RequestedRegion"},
    {Key::kResourceAccount, "aws:ResourceAccount"},
    {Key::kSecureTransport, "aws:SecureTransport", KeyKind::kBoolean},
    {Key::kSourceIp, "aws:SourceIp", KeyKind::kAddress},
    {Key::kUserAgent, "aws:UserAgent"},
    {Key::kRequestTag, "aws:RequestTag"},
    {Key::kTagKeys, "aws:TagKeys", KeyKind::kText, true},
    {Key::kAttributes, "dynamodb:Attributes", KeyKind::kText, true},
    {Key::kEnclosingOperation, "dynamodb:EnclosingOperation"},
    {Key::kFullTableScan, "dynamodb:FullTableScan", KeyKind::kBoolean},
    {Key::kLeadingKeys, "dynamodb:LeadingKeys", KeyKind::kText, true},
    {Key::kReturnConsumedCapacity, "dynamodb:ReturnConsumedCapacity"},
    {Key::kReturnValues, "dynamodb:ReturnValues"},
    {Key::kSelect, "dynamodb:Select"},
}};
static_assert([] {
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    if (static_cast<std::size_t>(kKeys[i].key) != i) return false;
  }
  return true;
}());

const KeyEntry& entry_of(Key key) {
  return kKeys[static_cast<std::size_t>(key)];
}

}  // namespace

std::optional<KeyName> find_key(std::string_view name) {
  const std::string_view whole = name.substr(0, name.find('/'));
  const auto found = std::ranges::find_if(kKeys, [&](const KeyEntry& entry) {
    return std::ranges::equal(entry.name, whole, {}, ascii_lower, ascii_lower);
  });
  if (found == kKeys.end()) return std::nullopt;
  const bool has_tag = whole.size() + 1 < name.size();
  if (has_tag != (found->key == Key::kRequestTag)) return std::nullopt;
  if (!has_tag && whole.size() != name.size()) return std::nullopt;
  return KeyName{.key = found->key,
                 .tag = has_tag ? std::string(name.substr(whole.size() + 1)) : ""};
}

std::string_view name_of(Key key) {
  return entry_of(key).name;
}

KeyKind kind_of(Key key) {
  return entry_of(key).kind;
}

bool is_multivalued(Key key) {
  return entry_of(key).multivalued;
}

}  // namespace stator::policy

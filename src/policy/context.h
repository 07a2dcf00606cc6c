// SPDX-License-Identifier: Apache-2.0
// The input of policy decisions: the caller, the action, the resource, and the values of condition
// keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/condition_keys.h"

namespace stator::policy {

// The caller and its connection.
struct Caller {
  std::string account;
  std::string username;
  std::string arn;        // of the user
  std::string user_id;    // the access key's id
  std::string source_ip;  // without a port
  std::string region;
  std::string user_agent;
  std::string referer;  // empty: absent
  bool secure = false;  // TLS
  int64_t now_ms = 0;
};

// Values of a key in a request. Borrows them.
class KeyValues {
 public:
  KeyValues() = default;  // the key is absent
  explicit KeyValues(std::string_view value) : one_(value), size_(1) {}
  explicit KeyValues(std::span<const std::string> values) : many_(values), size_(values.size()) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t i) const { return many_.empty() ? one_ : many_[i]; }

 private:
  std::string_view one_;
  std::span<const std::string> many_;
  std::size_t size_ = 0;
};

// One action on one resource. A key without values is absent.
struct Context {
  const Caller& caller;
  std::string action;    // "dynamodb:GetItem"
  std::string resource;  // an ARN, or "*"
  // Keys with one value.
  std::optional<std::string> enclosing_operation = {};
  std::optional<std::string> full_table_scan = {};
  std::optional<std::string> return_consumed_capacity = {};
  std::optional<std::string> return_values = {};
  std::optional<std::string> select = {};
  // Keys with several values.
  std::vector<std::string> attributes = {};
  std::vector<std::string> leading_keys = {};
  std::vector<std::string> tag_keys = {};
  std::map<std::string, std::string, std::less<>> request_tags = {};

  // Returns the values of a key. `scratch` stores a computed value and must outlive the result.
  KeyValues values(const KeyName& key, std::string& scratch) const;
};

}  // namespace stator::policy

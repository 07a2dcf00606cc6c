// SPDX-License-Identifier: Apache-2.0
// A condition of a policy statement: an operator, a key, and values.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "policy/context.h"
#include "policy/pattern.h"
#include "stator/result.h"
#include "stator/value.h"

namespace stator::policy {

// A range of IP addresses. IPv4 addresses are compared in their IPv6 form.
struct AddressRange {
  std::array<uint8_t, 16> address = {};
  int bits = 0;  // length of the prefix

  // "203.0.113.0/24", "2001:db8::/32", or a single address; absent for any other text.
  static std::optional<AddressRange> parse(std::string_view text);
  bool contains(const AddressRange& other) const;
  std::string text() const;  // in the form of IPv6
};

class Condition {
 public:
  // `operation` is "StringEquals", "ForAllValues:StringLikeIfExists", …; a value is a string, a
  // boolean or a number. Errors: kInvalidArgument for an unknown operator, key or value, or an
  // invalid combination.
  static Result<Condition> parse(std::string_view operation, std::string_view key,
                                 const std::vector<std::string>& values, Variables variables);

  bool holds(const Context& context) const;
  Key key() const { return key_.key; }
  // The operator that parse() accepts for this condition in a document with policy variables.
  std::string operation() const;
  const KeyName& key_name() const { return key_; }
  std::vector<std::string> values() const;

 private:
  enum class Family { kText, kNumber, kTime, kBoolean, kAddress, kArn, kNull };
  enum class Order { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };
  enum class Quantifier { kOne, kAll, kAny };
  using Operand = std::variant<Pattern, ArnPattern, Number, int64_t, bool, AddressRange>;

  struct Operator {
    std::string_view name;
    Family family;
    bool negated = false;
    Order order = Order::kEqual;
    Wildcards wildcards = Wildcards::kNone;
    LetterCase letters = LetterCase::kExact;
  };
  // Null for an unknown name.
  static const Operator* find_operator(std::string_view name);
  static Result<Operand> parse_operand(const Operator& operation, std::string_view text,
                                       Variables variables);
  bool fits(std::string_view value, const Context& context) const;
  bool matches(const Operand& operand, std::string_view value, const Context& context) const;

  const Operator* operator_ = nullptr;
  Quantifier quantifier_ = Quantifier::kOne;
  bool if_exists_ = false;
  KeyName key_;
  std::vector<Operand> operands_;
};

}  // namespace stator::policy

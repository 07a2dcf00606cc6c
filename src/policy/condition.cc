// SPDX-License-Identifier: Apache-2.0
#include "policy/condition.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <utility>

#include "policy/times.h"

namespace stator::policy {
namespace {

constexpr int kAddressBits = 128;
constexpr int kIpv4Offset = 96;  // offset of an IPv4 address in its IPv6 form

Failure refused_condition(std::string text) {
  return fail(Code::kInvalidArgument, std::move(text));
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string address(text.substr(0, slash));
  if (address.find('\0') != address.npos) return std::nullopt;  // inet_pton would stop there
  AddressRange range;
  int offset = 0;
  if (address.find(':') != address.npos) {
    if (inet_pton(AF_INET6, address.c_str(), range.address.data()) != 1) return std::nullopt;
  } else {
    offset = kIpv4Offset;
    range.address[10] = range.address[11] = 0xff;
    if (inet_pton(AF_INET, address.c_str(), range.address.data() + offset / 8) != 1) {
      return std::nullopt;
    }
  }
  range.bits = kAddressBits;
  if (slash == text.npos) return range;
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), range.bits);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (range.bits < 0 || range.bits > kAddressBits - offset) return std::nullopt;
  range.bits += offset;
  return range;
}

bool AddressRange::contains(const AddressRange& other) const {
  if (other.bits < bits) return false;
  for (int bit = 0; bit < bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if (((address[byte] ^ other.address[byte]) & mask) != 0) return false;
  }
  return true;
}

std::string AddressRange::text() const {
  char buffer[INET6_ADDRSTRLEN];
  return fmt::format("{}/{}", inet_ntop(AF_INET6, address.data(), buffer, sizeof buffer), bits);
}

const Condition::Operator* Condition::find_operator(std::string_view name) {
  static constexpr Operator kOperators[] = {
      {.name = "StringEquals", .family = Family::kText},
      {.name = "StringNotEquals", .family = Family::kText, .negated = true},
      {.name = "StringEqualsIgnoreCase", .family = Family::kText, .letters = LetterCase::kIgnored},
      {.name = "StringNotEqualsIgnoreCase",
       .family = Family::kText,
       .negated = true,
       .letters = LetterCase::kIgnored},
      {.name = "StringLike", .family = Family::kText, .wildcards = Wildcards::kMatch},
      {.name = "StringNotLike",
       .family = Family::kText,
       .negated = true,
       .wildcards = Wildcards::kMatch},
      {.name = "NumericEquals", .family = Family::kNumber},
      {.name = "NumericNotEquals", .family = Family::kNumber, .negated = true},
      {.name = "NumericLessThan", .family = Family::kNumber, .order = Order::kLess},
      {.name = "NumericLessThanEquals", .family = Family::kNumber, .order = Order::kLessOrEqual},
      {.name = "NumericGreaterThan", .family = Family::kNumber, .order = Order::kGreater},
      {.name = "NumericGreaterThanEquals",
       .family = Family::kNumber,
       .order = Order::kGreaterOrEqual},
      {.name = "DateEquals", .family = Family::kTime},
      {.name = "DateNotEquals", .family = Family::kTime, .negated = true},
      {.name = "DateLessThan", .family = Family::kTime, .order = Order::kLess},
      {.name = "DateLessThanEquals", .family = Family::kTime, .order = Order::kLessOrEqual},
      {.name = "DateGreaterThan", .family = Family::kTime, .order = Order::kGreater},
      {.name = "DateGreaterThanEquals", .family = Family::kTime, .order = Order::kGreaterOrEqual},
      {.name = "Bool", .family = Family::kBoolean},
      {.name = "IpAddress", .family = Family::kAddress},
      {.name = "NotIpAddress", .family = Family::kAddress, .negated = true},
      {.name = "ArnEquals", .family = Family::kArn},
      {.name = "ArnLike", .family = Family::kArn},
      {.name = "ArnNotEquals", .family = Family::kArn, .negated = true},
      {.name = "ArnNotLike", .family = Family::kArn, .negated = true},
      {.name = "Null", .family = Family::kNull},
  };
  const auto found = std::ranges::find(kOperators, name, &Operator::name);
  return found == std::end(kOperators) ? nullptr : found;
}

Result<Condition::Operand> Condition::parse_operand(const Operator& operation,
                                                    std::string_view text, Variables variables) {
  const auto invalid = [&] {
    return refused_condition(fmt::format("'{}' is not a value for {}", text, operation.name));
  };
  switch (operation.family) {
    case Family::kText: {
      STATOR_ASSIGN_OR_RETURN(
          Pattern pattern, Pattern::parse(text, operation.wildcards, variables, operation.letters));
      return Operand(std::move(pattern));
    }
    case Family::kArn: {
      STATOR_ASSIGN_OR_RETURN(ArnPattern pattern, ArnPattern::parse(text, variables));
      return Operand(std::move(pattern));
    }
    case Family::kNumber: {
      const auto number = Number::parse(text);
      if (!number) return invalid();
      return Operand(*number);
    }
    case Family::kTime: {
      const auto time = parse_time(text);
      if (!time) return invalid();
      return Operand(*time);
    }
    case Family::kAddress: {
      const auto range = AddressRange::parse(text);
      if (!range) return invalid();
      return Operand(*range);
    }
    case Family::kBoolean:
    case Family::kNull: {
      const auto value = parse_boolean(text);
      if (!value) return invalid();
      return Operand(*value);
    }
  }
  return invalid();
}

Result<Condition> Condition::parse(std::string_view operation, std::string_view key,
                                   const std::vector<std::string>& values, Variables variables) {
  Condition condition;
  std::string_view name = operation;
  if (take_prefix(name, "ForAllValues:")) {
    condition.quantifier_ = Quantifier::kAll;
  } else if (take_prefix(name, "ForAnyValue:")) {
    condition.quantifier_ = Quantifier::kAny;
  }
  condition.if_exists_ = take_suffix(name, "IfExists");
  const Operator* const found = find_operator(name);
  const bool is_null = found != nullptr && found->family == Family::kNull;
  if (found == nullptr ||
      (is_null && (condition.if_exists_ || condition.quantifier_ != Quantifier::kOne))) {
    return refused_condition(fmt::format("condition operator '{}' is not supported", operation));
  }
  condition.operator_ = found;
  auto known = find_key(key);
  if (!known) return refused_condition(fmt::format("condition key '{}' is not supported", key));
  condition.key_ = std::move(*known);
  const KeyKind kind = kind_of(condition.key_.key);
  const bool fitting = [&] {
    switch (found->family) {
      case Family::kText:
      case Family::kNull:
        return true;
      case Family::kNumber:
        return kind == KeyKind::kText || kind == KeyKind::kTime;
      case Family::kTime:
        return kind == KeyKind::kTime;
      case Family::kBoolean:
        return kind == KeyKind::kBoolean;
      case Family::kAddress:
        return kind == KeyKind::kAddress;
      case Family::kArn:
        return kind == KeyKind::kArn;
    }
    return false;
  }();
  if (!fitting) {
    return refused_condition(
        fmt::format("condition operator '{}' does not fit the key '{}'", operation, key));
  }
  if (is_multivalued(condition.key_.key) && condition.quantifier_ == Quantifier::kOne && !is_null) {
    return refused_condition(
        fmt::format("condition key '{}' has several values; use ForAllValues:{} or ForAnyValue:{}",
                    key, name, name));
  }
  if (values.empty()) {
    return refused_condition(fmt::format("condition key '{}' has no values", key));
  }
  for (const std::string& value : values) {
    STATOR_ASSIGN_OR_RETURN(Operand operand, parse_operand(*found, value, variables));
    condition.operands_.push_back(std::move(operand));
  }
  return condition;
}

namespace {

template <class Order>
bool is_ordered(std::strong_ordering compared, Order order) {
  switch (order) {
    case Order::kEqual:
      return compared == 0;
    case Order::kLess:
      return compared < 0;
    case Order::kLessOrEqual:
      return compared <= 0;
    case Order::kGreater:
      return compared > 0;
    case Order::kGreaterOrEqual:
      return compared >= 0;
  }
  return false;
}

}  // namespace

bool Condition::matches(const Operand& operand, std::string_view value,
                        const Context& context) const {
  switch (operator_->family) {
    case Family::kText:
      return std::get<Pattern>(operand).matches(value, context);
    case Family::kArn:
      return std::get<ArnPattern>(operand).matches(value, context);
    case Family::kNumber: {
      // A time is compared as its seconds.
      std::string seconds;
      if (kind_of(key_.key) == KeyKind::kTime) {
        seconds = std::to_string(parse_time(value).value_or(0) / 1000);
        value = seconds;
      }
      const auto number = Number::parse(value);
      return number && is_ordered(*number <=> std::get<Number>(operand), operator_->order);
    }
    case Family::kTime: {
      const auto time = parse_time(value);
      return time && is_ordered(*time <=> std::get<int64_t>(operand), operator_->order);
    }
    case Family::kBoolean:
      return parse_boolean(value) == std::get<bool>(operand);
    case Family::kAddress: {
      const auto address = AddressRange::parse(value);
      return address && std::get<AddressRange>(operand).contains(*address);
    }
    case Family::kNull:
      break;
  }
  return false;
}

// Whether a value of the request matches any of the policy's values, or none of them for a negated
// operator.
bool Condition::fits(std::string_view value, const Context& context) const {
  const bool any = std::ranges::any_of(
      operands_, [&](const Operand& operand) { return matches(operand, value, context); });
  return any != operator_->negated;
}

bool Condition::holds(const Context& context) const {
  std::string scratch;
  const KeyValues values = context.values(key_, scratch);
  if (operator_->family == Family::kNull) {
    return std::ranges::any_of(operands_, [&](const Operand& operand) {
      return std::get<bool>(operand) == values.empty();
    });
  }
  if (values.empty()) {
    if (if_exists_ || quantifier_ == Quantifier::kAll) return true;
    return quantifier_ == Quantifier::kOne && operator_->negated;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool fit = fits(values[i], context);
    if (quantifier_ == Quantifier::kAny && fit) return true;
    if (quantifier_ != Quantifier::kAny && !fit) return false;
  }
  return quantifier_ != Quantifier::kAny;
}

std::string Condition::operation() const {
  constexpr std::string_view kQuantifiers[] = {"", "ForAllValues:", "ForAnyValue:"};
  return fmt::format("{}{}{}", kQuantifiers[static_cast<std::size_t>(quantifier_)], operator_->name,
                     if_exists_ ? "IfExists" : "");
}

std::vector<std::string> Condition::values() const {
  struct Print {
    std::string operator()(const Pattern& pattern) const { return pattern.text(); }
    std::string operator()(const ArnPattern& pattern) const { return pattern.text(); }
    std::string operator()(const Number& number) const { return number.to_string(); }
    std::string operator()(int64_t unix_ms) const { return exact_time_text(unix_ms); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(const AddressRange& range) const { return range.text(); }
  };
  std::vector<std::string> texts;
  texts.reserve(operands_.size());
  for (const Operand& operand : operands_) texts.push_back(std::visit(Print(), operand));
  return texts;
}

}  // namespace stator::policy

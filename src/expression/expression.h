// SPDX-License-Identifier: Apache-2.0
// Expressions as the engine uses them: parsed, bound to names and values, and evaluated on items in
// binary form.
//
// parse() returns DynamoDB's kValidation messages ("Invalid ConditionExpression: …"). Evaluating a
// condition never fails: operands of wrong types make it false, as in DynamoDB.
// Thread safety: parsed expressions are immutable.
// Lifetime: they copy the placeholders that they need; only evaluation borrows items.
// Grammar: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stator/requests.h"
#include "value/encoded.h"

namespace stator {

namespace expression {
struct ConditionNode;
struct UpdateTree;
struct ProjectionColumn;
enum class Comparator;
}  // namespace expression

// ExpressionAttributeNames and ExpressionAttributeValues of one request, with a record of the used
// ones. Borrows both maps. Null: the parameter is absent.
class Placeholders {
 public:
  Placeholders(const Names* names, const Values* values) : names_(names), values_(values) {}

  // Checks only the maps: syntax of keys, emptiness, validity of attribute values.
  Result<void> validate() const;

  // The name or value of a placeholder, which is marked as used; null if it is not defined.
  const std::string* name(std::string_view token);
  const AttributeValue* value(std::string_view token);

  // Call after parsing every expression. Errors: kValidation that lists unused placeholders.
  Result<void> check_all_used() const;

 private:
  const Names* names_;
  const Values* values_;
  std::set<std::string, std::less<>> used_;
};

// kEnforcedWithSize: as kEnforced; some messages also contain the expression's size. kLifted: for
// expressions translated from legacy parameters, which have their own limits.
enum class ExpressionLimits { kEnforced, kEnforcedWithSize, kLifted };

enum class ConditionRole { kCondition, kFilter };  // decides the parameter named in messages

class Condition {
 public:
  static Result<Condition> parse(std::string_view text, ConditionRole role,
                                 Placeholders& placeholders,
                                 ExpressionLimits limits = ExpressionLimits::kEnforced);
  static Condition of(expression::ConditionNode root);  // bound and checked
  Condition(Condition&&) noexcept;
  Condition& operator=(Condition&&) noexcept;
  ~Condition();

  // An absent item has no attributes.
  bool matches(const std::optional<ItemView>& item) const;
  // Names of the top-level attributes in the condition.
  std::set<std::string, std::less<>> attributes() const;
  // Attributes with nested paths: "a" for a.b and a[0].
  std::vector<std::string> opened_attributes() const;

 private:
  struct Impl;
  explicit Condition(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class ProjectionExpression {
 public:
  static Result<ProjectionExpression> parse(std::string_view text, Placeholders& placeholders,
                                            ExpressionLimits limits = ExpressionLimits::kEnforced);
  // Whole top-level attributes by name: AttributesToGet, index projections.
  static ProjectionExpression of_attributes(const std::vector<std::string>& names);
  // Values from anywhere in the item as its top-level attributes; the names are distinct.
  static ProjectionExpression of_columns(const std::vector<expression::ProjectionColumn>& columns);
  ProjectionExpression(ProjectionExpression&&) noexcept;
  ProjectionExpression& operator=(ProjectionExpression&&) noexcept;
  ~ProjectionExpression();

  EncodedItem apply(ItemView item) const;
  std::set<std::string, std::less<>> attributes() const;  // top level
  std::vector<std::string> opened_attributes() const;

 private:
  struct Impl;
  explicit ProjectionExpression(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Update {
 public:
  static Result<Update> parse(std::string_view text, Placeholders& placeholders,
                              ExpressionLimits limits = ExpressionLimits::kEnforced);
  static Update of(expression::UpdateTree tree);  // bound and checked
  Update(Update&&) noexcept;
  Update& operator=(Update&&) noexcept;
  ~Update();

  // Returns the updated item. If `old` is absent, updates an item with only `key`; then the result
  // is absent if the update only removes. Operands read the old image.
  // Errors: kValidation if a path or an operand does not fit the item.
  Result<std::optional<EncodedItem>> apply(const std::optional<ItemView>& old,
                                           const Item& key) const;
  // For UPDATED_OLD and UPDATED_NEW: the updated paths with their values in `item`.
  EncodedItem updated_part(ItemView item) const;
  std::set<std::string, std::less<>> attributes() const;  // top-level names that it writes
  std::vector<std::string> opened_attributes() const;     // of paths that it writes or reads
  // The values that SET or ADD assigns to top-level attributes, if independent of the item.
  struct Assigned {
    AttributeType type = AttributeType::kNull;
    const AttributeValue* value = nullptr;  // null: computed from the item
  };
  std::optional<Assigned> assigned(std::string_view attribute) const;

 private:
  struct Impl;
  explicit Update(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A key condition, resolved against a key schema.
struct KeyCondition {
  enum class Operator {
    kEqual,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kBetween,
    kBeginsWith
  };
  struct Range {
    Operator op = Operator::kEqual;
    AttributeValue operand;
    AttributeValue upper;  // kBetween only
  };

  std::vector<AttributeValue> hash;   // one for each HASH element, in schema order
  std::vector<AttributeValue> equal;  // equality on the first RANGE elements, in schema order
  std::optional<Range> range;         // on the RANGE element after those; never kEqual

  // Errors: kValidation for conditions on other attributes, missing or repeated conditions,
  // operators that keys do not allow, and operands whose type is not the attribute's.
  static Result<KeyCondition> parse(std::string_view text, Placeholders& placeholders,
                                    const KeySchema& schema,
                                    const std::vector<AttributeDefinition>& attributes,
                                    ExpressionLimits limits = ExpressionLimits::kEnforced);
  // The checks of parse() that do not depend on the schema.
  static Result<void> check(std::string_view text, Placeholders& placeholders,
                            ExpressionLimits limits = ExpressionLimits::kEnforced);
  // The operator of a comparison; `reversed` if the key is on its right side. Absent for <>.
  static std::optional<Operator> operator_of(expression::Comparator comparator, bool reversed);
};

// The condition of a vector search: equalities of top-level attributes, joined by AND.
struct SearchCondition {
  std::map<std::string, AttributeValue, std::less<>> equal;

  // Errors: kValidation for any other operator, and for two conditions on one attribute.
  static Result<SearchCondition> parse(std::string_view text, Placeholders& placeholders);
};

}  // namespace stator

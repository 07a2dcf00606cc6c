// SPDX-License-Identifier: Apache-2.0
// Any text as a PartiQL statement. If it parses, its printed form parses too and has the same
// meaning. Its plan consists of conditions, updates and items that the engine can execute.
#include "base/check.h"
#include "expression/expression.h"
#include "partiql/parser.h"
#include "partiql/planner.h"
#include "partiql/printer.h"

namespace {

using namespace stator;
using stator::partiql::Plan;

constexpr std::size_t kParametersMax = 64;

const Item& item() {
  static const Item all = {{"a", "text and more"},
                           {"b", Binary{std::string("\0\xff\1", 3)}},
                           {"n", 8},
                           {"o", false},
                           {"u", nullptr},
                           {"s", StringSet{"te", "text"}},
                           {"t", NumberSet{7, -1}},
                           {"l", List{7, Map{{"k", List{"x", 1}}}, "text"}},
                           {"m", Map{{"k", Map{{"k", 7}}}, {"s", StringSet{"x"}}}}};
  return all;
}

// All are equal, because FROM … SET is printed as UPDATE, with its parameters in another order.
std::vector<AttributeValue> parameters(std::size_t count, std::size_t choice) {
  const auto chosen =
      std::next(item().begin(), static_cast<std::ptrdiff_t>(choice % item().size()));
  return std::vector<AttributeValue>(count, chosen->second);
}

void check_condition(Plan& plan, Plan& again) {
  STATOR_CHECK(plan.where.has_value() == again.where.has_value());
  if (!plan.where) return;
  static const EncodedItem encoded = encode_item(item());
  const Condition condition = Condition::of(std::move(*plan.where));
  const Condition same = Condition::of(std::move(*again.where));
  for (const auto& found : {std::optional(ItemView(encoded)), std::optional<ItemView>()}) {
    STATOR_CHECK(condition.matches(found) == same.matches(found));
  }
  STATOR_CHECK(condition.attributes() == same.attributes());
}

void check_update(Plan& plan, Plan& again) {
  static const EncodedItem encoded = encode_item(item());
  const Update update = Update::of(std::move(plan.update));
  const Update same = Update::of(std::move(again.update));
  const auto changed = update.apply(ItemView(encoded), {{"a", "key"}});
  const auto changed_again = same.apply(ItemView(encoded), {{"a", "key"}});
  STATOR_CHECK(changed.has_value() == changed_again.has_value());
  if (!changed) return;
  STATOR_CHECK(*changed == *changed_again);
  STATOR_CHECK(changed->has_value() && validate_item(**changed));  // the item exists
}

void check_columns(const Plan& plan, const Plan& again) {
  STATOR_CHECK(plan.columns.size() == again.columns.size());
  if (plan.columns.empty()) return;
  static const EncodedItem encoded = encode_item(item());
  const auto part = ProjectionExpression::of_columns(plan.columns).apply(ItemView(encoded));
  STATOR_CHECK(validate_item(part));
  STATOR_CHECK(part == ProjectionExpression::of_columns(again.columns).apply(ItemView(encoded)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto statement = partiql::parse(text);
  if (!statement) return 0;
  const std::string printed = partiql::print(*statement);
  const auto again = partiql::parse(printed);
  // Printing adds parentheses, so a chain of operators can be nested too deep.
  if (!again && again.error().message.find("nested too deeply") != std::string::npos) return 0;
  STATOR_CHECK(again && partiql::print(*again) == printed);
  if (statement->parameters > kParametersMax) return 0;
  const std::vector<AttributeValue> values = parameters(statement->parameters, size);
  auto plan = partiql::plan(text, values);
  auto same = partiql::plan(printed, values);
  STATOR_CHECK(plan.has_value() == same.has_value());
  if (!plan) return 0;
  STATOR_CHECK(plan->kind == same->kind && plan->table == same->table &&
               plan->index == same->index && plan->returning == same->returning);
  STATOR_CHECK(plan->item == same->item);
  STATOR_CHECK(validate_item(encode_item(plan->item)));
  check_columns(*plan, *same);
  check_condition(*plan, *same);
  if (plan->kind == partiql::StatementKind::kUpdate) check_update(*plan, *same);
  return 0;
}

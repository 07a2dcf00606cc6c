// SPDX-License-Identifier: Apache-2.0
#include "policy/printer.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "api/json/item_json.h"
#include "base/ascii.h"

namespace stator::policy {
namespace {

// A different combination of upper and lower case for each number: names of keys are not
// case-sensitive, and a document cannot repeat a member.
std::string spelled(std::string_view name, std::size_t number) {
  std::string text(name);
  for (char& c : text) {
    if (!is_ascii_letter(c)) continue;
    if (number % 2 == 1) c = static_cast<char>(c ^ ('a' ^ 'A'));
    number /= 2;
  }
  return text;
}

template <class T>
List texts_of(const std::vector<T>& patterns) {
  List texts;
  for (const T& pattern : patterns) texts.emplace_back(pattern.text());
  return texts;
}

Item principal_of(const Statement& statement) {
  List texts;
  if (statement.everyone) texts.emplace_back("*");
  for (const std::string& account : statement.accounts) texts.emplace_back(account);
  for (const std::string& user : statement.users) texts.emplace_back(user);
  // Principals of other kinds match nobody.
  if (texts.empty()) return {{"Service", "none"}};
  return {{"AWS", std::move(texts)}};
}

Item conditions_of(const Statement& statement) {
  // Conditions with the same operator and key are sorted, because their keys get new spellings.
  std::map<std::string,
           std::map<std::pair<Key, std::string>, std::multiset<std::vector<std::string>>>>
      operators;
  for (const Condition& condition : statement.conditions) {
    const KeyName& key = condition.key_name();
    operators[condition.operation()][{key.key, key.tag}].insert(condition.values());
  }
  Item result;
  for (const auto& [name, by_key] : operators) {
    Item keys;
    for (const auto& [key, conditions] : by_key) {
      std::size_t number = 0;
      for (const std::vector<std::string>& values : conditions) {
        const std::string tag = key.second.empty() ? "" : "/" + key.second;
        keys.emplace(spelled(name_of(key.first), number++) + tag,
                     List(values.begin(), values.end()));
      }
    }
    result.emplace(name, std::move(keys));
  }
  return result;
}

}  // namespace

std::string print(const Policy& policy) {
  List statements;
  for (const Statement& statement : policy.statements()) {
    Item item = {{"Effect", statement.effect == Effect::kAllow ? "Allow" : "Deny"}};
    if (!statement.sid.empty()) item.emplace("Sid", statement.sid);
    if (policy.kind() == PolicyKind::kResource) item.emplace("Principal", principal_of(statement));
    item.emplace(statement.other_actions ? "NotAction" : "Action", texts_of(statement.actions));
    item.emplace(statement.other_resources ? "NotResource" : "Resource",
                 texts_of(statement.resources));
    if (!statement.conditions.empty()) item.emplace("Condition", conditions_of(statement));
    statements.emplace_back(std::move(item));
  }
  return wire::item_to_plain_json(
      {{"Version", "2012-10-17"}, {"Statement", std::move(statements)}});
}

}  // namespace stator::policy

// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "api/json/json_strict.h"
#include "base/ascii.h"

namespace stator::policy {
namespace {

Failure refused(std::string text) {
  return fail(Code::kInvalidArgument, std::move(text));
}

bool is_account_id(std::string_view text) {
  constexpr std::size_t kDigits = 12;
  return text.size() == kDigits && std::ranges::all_of(text, is_ascii_digit);
}

Result<void> check_members(const Item& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object) {
    if (std::ranges::find(known, name) == known.end()) {
      return refused(fmt::format("element '{}' is not supported", name));
    }
  }
  return {};
}

// A string, or a list of strings. Booleans and numbers are values of conditions only.
Result<std::vector<std::string>> texts_of(std::string_view element, const AttributeValue& value,
                                          bool scalars = false) {
  std::vector<std::string> texts;
  const auto add = [&](const AttributeValue& one) {
    if (const auto* text = one.get_if<std::string>()) {
      texts.push_back(*text);
    } else if (const auto* boolean = one.get_if<bool>(); scalars && boolean != nullptr) {
      texts.emplace_back(*boolean ? "true" : "false");
    } else if (const auto* number = one.get_if<Number>(); scalars && number != nullptr) {
      texts.push_back(number->to_string());
    } else {
      return false;
    }
    return true;
  };
  const auto* list = value.get_if<List>();
  const bool valid = list == nullptr ? add(value) : std::ranges::all_of(*list, add);
  if (!valid || texts.empty()) {
    return refused(fmt::format("'{}' must be a string or a list of strings", element));
  }
  return texts;
}

Result<Pattern> parse_action(std::string_view action) {
  const auto fits = [](char c) { return is_ascii_alphanumeric(c) || c == '-'; };
  const std::size_t colon = action.find(':');
  const std::string_view name = colon == action.npos ? "" : action.substr(colon + 1);
  const bool valid =
      action == "*" ||
      (colon != 0 && !name.empty() && std::ranges::all_of(action.substr(0, colon), fits) &&
       std::ranges::all_of(name, [&](char c) { return fits(c) || c == '*' || c == '?'; }));
  if (!valid) {
    return refused(fmt::format("'{}' is not an action; expected '*' or SERVICE:NAME", action));
  }
  return Pattern::parse(action, Wildcards::kMatch, Variables::kRefused, LetterCase::kIgnored);
}

// One of two elements, of which a statement has exactly one.
struct Choice {
  const AttributeValue* value = nullptr;
  std::string_view name = {};
  bool other = false;
};
Result<Choice> choose(const Item& object, std::string_view name, std::string_view other) {
  const auto found = object.find(name);
  const auto found_other = object.find(other);
  if ((found == object.end()) == (found_other == object.end())) {
    return refused(fmt::format("a statement needs either '{}' or '{}'", name, other));
  }
  if (found != object.end()) return Choice{.value = &found->second, .name = name};
  return Choice{.value = &found_other->second, .name = other, .other = true};
}

Result<void> read_actions(Statement& statement, const Item& object) {
  STATOR_ASSIGN_OR_RETURN(const Choice choice, choose(object, "Action", "NotAction"));
  STATOR_ASSIGN_OR_RETURN(const auto texts, texts_of(choice.name, *choice.value));
  statement.other_actions = choice.other;
  for (const std::string& text : texts) {
    STATOR_ASSIGN_OR_RETURN(Pattern action, parse_action(text));
    statement.actions.push_back(std::move(action));
  }
  return {};
}

Result<void> read_resources(Statement& statement, const Item& object, Variables variables) {
  STATOR_ASSIGN_OR_RETURN(const Choice choice, choose(object, "Resource", "NotResource"));
  STATOR_ASSIGN_OR_RETURN(const auto texts, texts_of(choice.name, *choice.value));
  statement.other_resources = choice.other;
  for (const std::string& text : texts) {
    STATOR_ASSIGN_OR_RETURN(ArnPattern resource, ArnPattern::parse(text, variables));
    statement.resources.push_back(std::move(resource));
  }
  return {};
}

// "123456789012", "arn:aws:iam::123456789012:root", or the ARN of a user, a role or a session.
Result<void> add_principal(Statement& statement, std::string_view text) {
  constexpr std::string_view kArnStart = "arn:aws:";
  constexpr std::string_view kRoot = ":root";
  if (text == "*") {
    statement.everyone = true;
  } else if (is_account_id(text)) {
    statement.accounts.emplace_back(text);
  } else if (text.starts_with(kArnStart) && text.find_first_of("*?$") == text.npos) {
    const std::string_view owner =
        text.ends_with(kRoot) ? text.substr(0, text.size() - kRoot.size()) : "";
    const std::string_view account = owner.substr(owner.rfind(':') + 1);
    if (is_account_id(account)) {
      statement.accounts.emplace_back(account);
    } else {
      statement.users.emplace_back(text);
    }
  } else {
    return refused(
        fmt::format("'{}' is not a principal; expected '*', an account id or the ARN of "
                    "a user without wildcards",
                    text));
  }
  return {};
}

Result<void> read_principals(Statement& statement, const Item& object) {
  const auto found = object.find("Principal");
  if (found == object.end()) return refused("a statement of a resource policy needs 'Principal'");
  if (const auto* text = found->second.get_if<std::string>()) {
    if (*text != "*") return refused("'Principal' must be '*' or an object");
    return add_principal(statement, *text);
  }
  const auto* kinds = found->second.get_if<Item>();
  if (kinds == nullptr || kinds->empty()) return refused("'Principal' must be '*' or an object");
  // Stator has no services or federated users.
  STATOR_RETURN_IF_ERROR(check_members(*kinds, {"AWS", "Service", "Federated"}));
  for (const auto& [kind, value] : *kinds) {
    STATOR_ASSIGN_OR_RETURN(const auto texts, texts_of(kind, value));
    if (kind != "AWS") continue;
    for (const std::string& text : texts) STATOR_RETURN_IF_ERROR(add_principal(statement, text));
  }
  return {};
}

Result<void> read_conditions(Statement& statement, const Item& object, Variables variables) {
  const auto found = object.find("Condition");
  if (found == object.end()) return {};
  const auto* operators = found->second.get_if<Item>();
  if (operators == nullptr) return refused("'Condition' must be an object");
  for (const auto& [name, value] : *operators) {
    const auto* keys = value.get_if<Item>();
    if (keys == nullptr || keys->empty()) {
      return refused(fmt::format("'{}' must be an object of condition keys", name));
    }
    for (const auto& [key, values] : *keys) {
      STATOR_ASSIGN_OR_RETURN(const auto texts, texts_of(key, values, true));
      STATOR_ASSIGN_OR_RETURN(Condition condition, Condition::parse(name, key, texts, variables));
      statement.conditions.push_back(std::move(condition));
    }
  }
  return {};
}

Result<Statement> read_statement(const Item& object, PolicyKind kind, Variables variables) {
  Statement statement;
  if (object.contains("NotPrincipal")) {
    return refused(
        "'NotPrincipal' is not supported; use a condition on aws:PrincipalArn with ArnNotEquals");
  }
  if (kind == PolicyKind::kIdentity) {
    if (object.contains("Principal")) return refused("an identity policy has no 'Principal'");
  } else {
    STATOR_RETURN_IF_ERROR(read_principals(statement, object));
  }
  STATOR_RETURN_IF_ERROR(check_members(object, {"Sid", "Effect", "Principal", "Action", "NotAction",
                                                "Resource", "NotResource", "Condition"}));
  if (const auto sid = object.find("Sid"); sid != object.end()) {
    const auto* text = sid->second.get_if<std::string>();
    if (text == nullptr) return refused("'Sid' must be a text");
    statement.sid = *text;
  }
  const auto effect = object.find("Effect");
  const bool allows = effect != object.end() && effect->second == AttributeValue("Allow");
  if (!allows && (effect == object.end() || effect->second != AttributeValue("Deny"))) {
    return refused("'Effect' must be 'Allow' or 'Deny'");
  }
  statement.effect = allows ? Effect::kAllow : Effect::kDeny;
  STATOR_RETURN_IF_ERROR(read_actions(statement, object));
  STATOR_RETURN_IF_ERROR(read_resources(statement, object, variables));
  STATOR_RETURN_IF_ERROR(read_conditions(statement, object, variables));
  return statement;
}

// In documents of the older version, variables would be literal text, so they are rejected there.
Result<Variables> version_of(const Item& document) {
  constexpr std::string_view kNewer = "2012-10-17";
  constexpr std::string_view kOlder = "2008-10-17";
  const auto version = document.find("Version");
  if (version == document.end() || version->second == AttributeValue(kOlder)) {
    return Variables::kRefused;
  }
  if (version->second == AttributeValue(kNewer)) return Variables::kReplaced;
  return refused("'Version' must be '2012-10-17'");
}

}  // namespace

Result<Policy> Policy::parse(std::string_view json, PolicyKind kind) {
  if (json.size() > kPolicyBytesMax) {
    return refused(fmt::format("the policy is larger than {} bytes", kPolicyBytesMax));
  }
  STATOR_ASSIGN_OR_RETURN(const Item document, wire::read_strict_object(json));
  STATOR_RETURN_IF_ERROR(check_members(document, {"Version", "Id", "Statement"}));
  STATOR_ASSIGN_OR_RETURN(const Variables variables, version_of(document));
  const auto found = document.find("Statement");
  if (found == document.end()) return refused("the policy has no 'Statement'");
  const List one{found->second};
  const auto* list = found->second.get_if<List>();
  const List& statements = list == nullptr ? one : *list;
  if (statements.empty()) return refused("the policy has no statements");
  Policy policy;
  policy.kind_ = kind;
  std::set<std::string> sids;
  for (const AttributeValue& value : statements) {
    const std::size_t number = policy.statements_.size() + 1;
    const auto* object = value.get_if<Item>();
    if (object == nullptr) return refused(fmt::format("statement {} must be an object", number));
    auto statement = read_statement(*object, kind, variables);
    if (!statement)
      return refused(fmt::format("statement {}: {}", number, statement.error().message));
    statement->number = number;
    if (!statement->sid.empty() && !sids.insert(statement->sid).second) {
      return refused(fmt::format("statement {}: Sid '{}' is repeated", number, statement->sid));
    }
    for (const Condition& condition : statement->conditions) {
      policy.keys_.set(static_cast<std::size_t>(condition.key()));
    }
    policy.statements_.push_back(std::move(*statement));
  }
  return policy;
}

}  // namespace stator::policy

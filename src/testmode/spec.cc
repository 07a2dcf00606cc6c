// SPDX-License-Identifier: Apache-2.0
// Two tables drive the parser: one of members, with the function that reads each, and one of
// faults, with their limits and operations.
#include "testmode/spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "api/json/json_strict.h"

namespace stator::testmode {
namespace {

constexpr std::size_t kListMax = 100;
constexpr std::size_t kTextBytesMax = 1024;
constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

constexpr std::string_view kDataOperations[] = {"BatchExecuteStatement",
                                                "BatchGetItem",
                                                "BatchWriteItem",
                                                "DeleteItem",
                                                "ExecuteStatement",
                                                "ExecuteTransaction",
                                                "GetItem",
                                                "PutItem",
                                                "Query",
                                                "Scan",
                                                "SearchVectors",
                                                "TransactGetItems",
                                                "TransactWriteItems",
                                                "UpdateItem"};
constexpr std::string_view kConflicting[] = {
    "DeleteItem",       "ExecuteTransaction", "PutItem",
    "TransactGetItems", "TransactWriteItems", "UpdateItem"};
constexpr std::string_view kWithTokens[] = {"ExecuteTransaction", "TransactWriteItems"};
constexpr std::string_view kBatches[] = {"BatchGetItem", "BatchWriteItem"};

struct FaultFacts {
  Fault fault;
  std::string_view name;
  bool has_requests;                             // injected into requests, one by one
  int64_t ms_max;                                // 0: it takes no time
  std::span<const std::string_view> operations;  // the default; empty: all
  bool only_these;
};

constexpr auto kFaults = std::to_array<FaultFacts>({
    {Fault::kInternalError, "internal_error", true, 0, {}, false},
    {Fault::kThrottling, "throttling", true, 0, kDataOperations, false},
    {Fault::kTransactionConflict, "transaction_conflict", true, 0, kConflicting, true},
    {Fault::kTransactionInProgress, "transaction_in_progress", true, 0, kWithTokens, true},
    {Fault::kDelay, "delay", true, kMinuteMs, {}, false},
    {Fault::kUnprocessed, "unprocessed", true, 0, kBatches, true},
    {Fault::kReadLag, "read_lag", false, kMinuteMs, {}, false},
    {Fault::kIndexLag, "index_lag", false, kMinuteMs, {}, false},
    {Fault::kCreating, "creating", false, 10 * kMinuteMs, {}, false},
    {Fault::kProvisionedThroughput, "provisioned_throughput", false, 0, {}, false},
});

const FaultFacts& facts_of(Fault fault) {
  return *std::ranges::find(kFaults, fault, &FaultFacts::fault);
}

constexpr std::pair<std::string_view, Code> kThrottlingErrors[] = {
    {"ProvisionedThroughputExceededException", Code::kProvisionedThroughputExceeded},
    {"RequestLimitExceeded", Code::kRequestLimitExceeded},
    {"ThrottlingException", Code::kThrottling}};
constexpr std::string_view kLimits[] = {"AccountLimitExceeded", "KeyRangeThroughputExceeded",
                                        "MaxOnDemandThroughputExceeded",
                                        "ProvisionedThroughputExceeded"};

Failure expected(std::string_view what) {
  return fail(Code::kInvalidArgument, "expected " + std::string(what));
}

template <class Names>
std::string list_of(const Names& names) {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

Result<int64_t> integer(const AttributeValue& value, int64_t min, int64_t max) {
  const auto* number = value.get_if<Number>();
  const auto integer = number == nullptr ? std::nullopt : number->to_int64();
  if (integer && *integer >= min && *integer <= max) return *integer;
  if (max == kUnlimited) return expected("an integer of at least " + std::to_string(min));
  return expected("an integer from " + std::to_string(min) + " to " + std::to_string(max));
}

Result<std::vector<std::string>> texts(const AttributeValue& value) {
  const auto* list = value.get_if<List>();
  const std::string wanted = "a list of 1 to " + std::to_string(kListMax) + " strings of 1 to " +
                             std::to_string(kTextBytesMax) + " bytes";
  if (list == nullptr || list->empty() || list->size() > kListMax) return expected(wanted);
  std::vector<std::string> result;
  for (const AttributeValue& element : *list) {
    const auto* text = element.get_if<std::string>();
    if (text == nullptr || text->empty() || text->size() > kTextBytesMax) return expected(wanted);
    result.push_back(*text);
  }
  return result;
}

// The context in which a member is read.
struct Place {
  const FaultFacts& facts;
  std::span<const std::string_view> operations;
};

Result<void> set_operations(Rule& rule, const AttributeValue& value, const Place& place) {
  STATOR_ASSIGN_OR_RETURN(rule.operations, texts(value));
  const auto& known = place.facts.only_these ? place.facts.operations : place.operations;
  for (const std::string& name : rule.operations) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(
        Code::kInvalidArgument,
        "'" + name + "' is not an operation" +
            (place.facts.only_these ? " that this fault can have; expected " + list_of(known)
                                    : ""));
  }
  return {};
}

Result<void> set_tables(Rule& rule, const AttributeValue& value, const Place&) {
  STATOR_ASSIGN_OR_RETURN(rule.tables, texts(value));
  return {};
}

Result<void> set_first(Rule& rule, const AttributeValue& value, const Place&) {
  STATOR_ASSIGN_OR_RETURN(rule.first, integer(value, 1, kUnlimited));
  return {};
}

Result<void> set_last(Rule& rule, const AttributeValue& value, const Place&) {
  STATOR_ASSIGN_OR_RETURN(rule.last, integer(value, 1, kUnlimited));
  return {};
}

Result<void> set_probability(Rule& rule, const AttributeValue& value, const Place&) {
  const auto* number = value.get_if<Number>();
  if (number == nullptr || *number < Number(0) || *number > Number(1)) {
    return expected("a number from 0 to 1");
  }
  rule.probability = number->to_double();
  return {};
}

Result<void> set_applied(Rule& rule, const AttributeValue& value, const Place&) {
  const auto* applied = value.get_if<bool>();
  if (applied == nullptr) return expected("true or false");
  rule.applied = *applied;
  return {};
}

Result<void> set_error(Rule& rule, const AttributeValue& value, const Place&) {
  const auto* name = value.get_if<std::string>();
  for (const auto& [known, code] : kThrottlingErrors) {
    if (name == nullptr || *name != known) continue;
    rule.error = code;
    return {};
  }
  return expected(
      "ProvisionedThroughputExceededException, RequestLimitExceeded or "
      "ThrottlingException");
}

Result<void> set_limit(Rule& rule, const AttributeValue& value, const Place&) {
  const auto* name = value.get_if<std::string>();
  if (name == nullptr || std::ranges::find(kLimits, *name) == std::end(kLimits)) {
    return expected("one of " + list_of(kLimits));
  }
  rule.limit = *name;
  return {};
}

Result<void> set_burst(Rule& rule, const AttributeValue& value, const Place&) {
  STATOR_ASSIGN_OR_RETURN(rule.burst_seconds, integer(value, 1, kBurstSecondsMax));
  return {};
}

Result<void> set_ms(Rule& rule, const AttributeValue& value, const Place& place) {
  const auto* range = value.get_if<List>();
  if (place.facts.fault == Fault::kDelay && range != nullptr && range->size() == 2) {
    STATOR_ASSIGN_OR_RETURN(rule.ms, integer((*range)[0], 1, place.facts.ms_max));
    STATOR_ASSIGN_OR_RETURN(rule.ms_max, integer((*range)[1], rule.ms, place.facts.ms_max));
    return {};
  }
  STATOR_ASSIGN_OR_RETURN(rule.ms, integer(value, 1, place.facts.ms_max));
  rule.ms_max = rule.ms;
  return {};
}

struct Member {
  std::string_view name;
  bool (*applies)(const FaultFacts& facts);
  Result<void> (*set)(Rule& rule, const AttributeValue& value, const Place& place);
};

constexpr bool has_requests(const FaultFacts& facts) {
  return facts.has_requests;
}
constexpr bool throttles(const FaultFacts& facts) {
  return facts.fault == Fault::kThrottling;
}

constexpr auto kMembers = std::to_array<Member>({
    {"applied", [](const FaultFacts& of) { return of.fault == Fault::kInternalError; },
     set_applied},
    {"burst_seconds",
     [](const FaultFacts& of) { return of.fault == Fault::kProvisionedThroughput; }, set_burst},
    {"error", throttles, set_error},
    {"first", has_requests, set_first},
    {"last", has_requests, set_last},
    {"limit", throttles, set_limit},
    {"ms", [](const FaultFacts& of) { return of.ms_max > 0; }, set_ms},
    {"operations", has_requests, set_operations},
    {"probability", has_requests, set_probability},
    {"tables", [](const FaultFacts&) { return true; }, set_tables},
});

Failure at(std::string place, Error error) {
  error.message = std::move(place) + ": " + error.message;
  return Failure(std::move(error));
}

Result<Rule> read_rule(const AttributeValue& value, std::span<const std::string_view> operations) {
  const auto* object = value.get_if<Map>();
  if (object == nullptr) return fail(Code::kInvalidArgument, ": expected an object");
  const auto named = object->find("fault");
  const auto* name = named == object->end() ? nullptr : named->second.get_if<std::string>();
  const auto* facts =
      name == nullptr ? kFaults.end() : std::ranges::find(kFaults, *name, &FaultFacts::name);
  if (facts == kFaults.end()) {
    std::vector<std::string_view> names(kFaults.size());
    std::ranges::transform(kFaults, names.begin(), &FaultFacts::name);
    return fail(Code::kInvalidArgument, ".fault: expected one of " + list_of(names));
  }
  Rule rule{.fault = facts->fault};
  for (const std::string_view operation : facts->operations)
    rule.operations.emplace_back(operation);
  for (const auto& [member, text] : *object) {
    if (member == "fault") continue;
    const auto* known = std::ranges::find(kMembers, member, &Member::name);
    if (known == kMembers.end())
      return at("." + member, {.code = Code::kInvalidArgument, .message = "unknown member"});
    if (!known->applies(*facts)) {
      return at("." + member, {.code = Code::kInvalidArgument,
                               .message = "a rule for " + std::string(facts->name) +
                                          " does not have this member"});
    }
    if (auto set = known->set(rule, text, {*facts, operations}); !set) {
      return at("." + member, std::move(set).error());
    }
  }
  if (facts->ms_max > 0 && rule.ms == 0) {
    return fail(Code::kInvalidArgument, ".ms: missing; expected milliseconds");
  }
  if (rule.last < rule.first) return fail(Code::kInvalidArgument, ".last: is less than 'first'");
  return rule;
}

}  // namespace

Result<Spec> parse_spec(std::string_view json, std::span<const std::string_view> operations) {
  if (json.size() > kSpecBytesMax) {
    return fail(Code::kInvalidArgument,
                "the test mode is larger than " + std::to_string(kSpecBytesMax) + " bytes");
  }
  STATOR_ASSIGN_OR_RETURN(const Item object, wire::read_strict_object(json));
  Spec spec;
  for (const auto& [member, value] : object) {
    if (member == "seed") {
      auto seed = integer(value, 0, kUnlimited);
      if (!seed) return at(member, std::move(seed).error());
      spec.seed = *seed;
    } else if (member == "rules") {
      const auto* rules = value.get_if<List>();
      if (rules == nullptr || rules->size() > kRulesMax) {
        return fail(Code::kInvalidArgument,
                    "rules: expected a list of at most " + std::to_string(kRulesMax) + " rules");
      }
      for (std::size_t i = 0; i < rules->size(); ++i) {
        auto rule = read_rule((*rules)[i], operations);
        if (!rule) {
          return fail(Code::kInvalidArgument,
                      "rules[" + std::to_string(i) + "]" + rule.error().message);
        }
        if (rule->fault == Fault::kProvisionedThroughput &&
            std::ranges::find(spec.rules, rule->fault, &Rule::fault) != spec.rules.end()) {
          return fail(Code::kInvalidArgument, "rules[" + std::to_string(i) +
                                                  "].fault: a second rule for "
                                                  "provisioned_throughput; expected at most one");
        }
        spec.rules.push_back(std::move(*rule));
      }
    } else {
      return fail(Code::kInvalidArgument, member + ": unknown member");
    }
  }
  return spec;
}

bool is_data_operation(std::string_view name) {
  return std::ranges::binary_search(kDataOperations, name);
}

Item to_item(const Rule& rule) {
  const FaultFacts& facts = facts_of(rule.fault);
  Item item{{"fault", std::string(facts.name)}};
  if (!rule.operations.empty()) {
    item["operations"] = List(rule.operations.begin(), rule.operations.end());
  }
  if (!rule.tables.empty()) item["tables"] = List(rule.tables.begin(), rule.tables.end());
  if (rule.first != 1) item["first"] = rule.first;
  if (rule.last != kUnlimited) item["last"] = rule.last;
  if (rule.probability != 1) {
    item["probability"] = Number::from_double(rule.probability).value_or(Number());
  }
  if (rule.applied) item["applied"] = true;
  if (rule.fault == Fault::kThrottling) {
    item["error"] = std::string(
        std::ranges::find(kThrottlingErrors, rule.error, &std::pair<std::string_view, Code>::second)
            ->first);
    if (!rule.limit.empty()) item["limit"] = rule.limit;
  }
  if (rule.fault == Fault::kProvisionedThroughput) item["burst_seconds"] = rule.burst_seconds;
  if (rule.ms_max > rule.ms) {
    item["ms"] = List{rule.ms, rule.ms_max};
  } else if (rule.ms > 0) {
    item["ms"] = rule.ms;
  }
  return item;
}

}  // namespace stator::testmode

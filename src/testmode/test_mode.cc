// SPDX-License-Identifier: Apache-2.0
#include "testmode/test_mode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "api/json/item_json.h"
#include "base/mix.h"
#include "base/random.h"
#include "engine/core/arns.h"
#include "engine/errors/messages.h"
#include "engine/jobs/job_engine.h"

namespace stator::testmode {
namespace {

constexpr std::string_view kProvisionedExceeded =
    "The level of configured provisioned throughput for the table was exceeded. Consider "
    "increasing your provisioning level with the UpdateTable API.";
constexpr std::string_view kTableThrottled =
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "
    "scaling your table or index so please try again shortly. If exceptions persist, check if you "
    "have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html";
constexpr std::string_view kAccountExceeded =
    "Throughput exceeds the current throughput limit for your account. Please contact AWS Support "
    "at https://aws.amazon.com/support to request a limit increase";
constexpr std::string_view kInProgress =
    "The transaction with the given request token is already in progress.";
constexpr std::string_view kInjected = "injected by test mode";  // over HTTP, for the log only
constexpr std::string_view kKeyRangeExceeded = "KeyRangeThroughputExceeded";

// Maps the bits to one of 2^53 equally likely numbers in [0, 1).
double fraction(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// The parts of a batch that are withheld by chance: at least one, not all.
std::vector<bool> withheld_by_chance(std::size_t parts, uint64_t bits) {
  const auto next = [&] { return bits = mix(bits); };
  std::vector<std::size_t> order(parts);
  for (std::size_t i = 0; i < parts; ++i) order[i] = i;
  for (std::size_t i = parts; i > 1; --i) std::swap(order[i - 1], order[next() % i]);
  order.resize(1 + next() % (parts - 1));
  std::vector<bool> withheld(parts);
  for (const std::size_t part : order) withheld[part] = true;
  return withheld;
}

// Removes the withheld parts from the tables of a batch. `parts_of` returns the list of a table's
// parts, `kept_of` the list that receives the withheld ones.
template <class Tables, class PartsOf, class KeptOf>
void withhold_parts(Tables& tables, Injection& injection, PartsOf parts_of, KeptOf kept_of) {
  const std::vector<bool>& withheld = injection.withheld_parts;
  std::size_t part = 0;
  for (auto table = tables.begin(); table != tables.end();) {
    auto& parts = parts_of(table->second);
    const bool was_empty = parts.empty();
    std::remove_reference_t<decltype(parts)> rest;
    for (auto& each : parts) {
      (withheld[part++] ? kept_of(*table) : rest).push_back(std::move(each));
    }
    parts = std::move(rest);
    table = parts.empty() && !was_empty ? tables.erase(table) : std::next(table);
  }
  std::erase_if(injection.partitions,
                [&](const Partition& partition) { return withheld[partition.part]; });
}

// Withholds the parts from `first` to `end` for which no units are left.
void withhold_beyond(double units, double part_units, std::size_t first, std::size_t end,
                     std::vector<bool>& withheld) {
  for (std::size_t part = first; part < end; ++part) {
    if (withheld[part]) continue;
    if (units <= 0) withheld[part] = true;
    units -= part_units;
  }
}

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

struct Throttling {
  Code code;
  std::string_view message;
  std::string_view limit;
};

Throttling throttling_of(Code code) {
  switch (code) {
    case Code::kThrottling:
      return {code, kTableThrottled, kKeyRangeExceeded};
    case Code::kRequestLimitExceeded:
      return {code, kAccountExceeded, "AccountLimitExceeded"};
    default:
      return {Code::kProvisionedThroughputExceeded, kProvisionedExceeded,
              "ProvisionedThroughputExceeded"};
  }
}

// `table` can be empty.
Error throttling_error(const EngineCore& engine, const Rule& rule, const Target& target,
                       std::string_view table) {
  const Throttling throttling = throttling_of(rule.error);
  Error error{.code = throttling.code, .message = std::string(throttling.message)};
  if (table.empty()) return error;
  ThrottlingReason reason{.reason = target.index.empty() ? "Table" : "Index",
                          .resource = table_arn(engine, table)};
  reason.reason.append(target.reads ? "Read" : "Write");
  reason.reason.append(rule.limit.empty() ? throttling.limit : std::string_view(rule.limit));
  if (!target.index.empty()) reason.resource.append("/index/").append(target.index);
  error.detail = std::make_shared<ErrorDetail>(ErrorDetail{.throttling_reasons = {reason}});
  return error;
}

// The error of a write of one item (`parts` is 0), or of a transaction in which one of `parts`
// items conflicts.
Error conflict_error(std::size_t parts, uint64_t bits) {
  if (parts == 0) {
    return {.code = Code::kTransactionConflict, .message = messages::kTransactionConflict};
  }
  ErrorDetail detail;
  detail.reasons.resize(parts);
  CancellationReason& reason = detail.reasons[bits % parts];
  reason.code = "TransactionConflict";
  reason.message = messages::kTransactionConflict;
  return {.code = Code::kTransactionCanceled,
          .message = "",
          .detail = std::make_shared<ErrorDetail>(std::move(detail))};
}

int64_t random_seed() {
  const std::string bytes = random_bytes(sizeof(uint32_t));
  uint32_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

}  // namespace

Result<std::unique_ptr<TestMode>> TestMode::start(Engine& engine, Timer& timer, const Spec& spec) {
  std::unique_ptr<TestMode> mode(new TestMode(engine, timer));
  mode->plan_ = std::make_shared<Plan>(Plan{.seed = random_seed()});
  STATOR_RETURN_IF_ERROR(mode->replace(spec));
  if (!engine.is_shared()) engine.parts().lag = mode.get();
  return mode;
}

TestMode::~TestMode() {
  engine_.parts().lag = nullptr;
}

std::shared_ptr<const TestMode::Plan> TestMode::plan() const {
  const std::lock_guard lock(mutex_);
  return plan_;
}

std::shared_ptr<const CatalogSnapshot> TestMode::tables() const {
  return engine_.parts().catalog->snapshot();
}

Result<void> TestMode::replace(const Spec& spec) {
  auto next = std::make_shared<Plan>();
  for (const Rule& rule : spec.rules) {
    ActiveRule& active = *next->rules.emplace_back(std::make_unique<ActiveRule>());
    active.rule = rule;
    if (rule.fault == Fault::kProvisionedThroughput) {
      next->counts_units = true;
      active.units =
          std::make_shared<ProvisionedUnits>(*engine_.parts().options.clock, rule.burst_seconds);
    }
    if (rule.fault != Fault::kReadLag && rule.fault != Fault::kIndexLag) continue;
    LocalViews* const store = engine_.store().local_views();
    if (store == nullptr) {
      return fail(Code::kInvalidArgument,
                  "a store that several servers share has no read_lag or index_lag; use a "
                  "directory or memory");
    }
    active.views = std::make_unique<LaggedViews>(*store, *engine_.parts().options.clock, rule.ms);
    STATOR_RETURN_IF_ERROR(active.views->keep());
  }
  const std::lock_guard lock(mutex_);
  next->seed = spec.seed.value_or(plan_->seed);
  plan_ = std::move(next);
  return {};
}

std::string TestMode::to_json() const {
  const auto current = plan();
  List rules;
  for (const auto& active : current->rules) {
    Item rule = to_item(active->rule);
    rule["matched"] = active->matched.load();
    rule["injected"] = active->injected->load();
    rules.emplace_back(std::move(rule));
  }
  return wire::item_to_plain_json({{"seed", current->seed}, {"rules", std::move(rules)}});
}

bool TestMode::ActiveRule::concerns(std::string_view table) const {
  return rule.tables.empty() || std::ranges::find(rule.tables, table) != rule.tables.end();
}

bool TestMode::ActiveRule::concerns(const Target& target) const {
  if (!rule.operations.empty() &&
      std::ranges::find(rule.operations, target.operation) == rule.operations.end()) {
    return false;
  }
  return rule.tables.empty() ||
         std::ranges::any_of(target.tables, [&](const auto& table) { return concerns(table); });
}

std::optional<Error> TestMode::error_of(const Rule& rule, const Target& target,
                                        uint64_t bits) const {
  const EngineCore& engine = engine_.parts();
  const std::string_view table = target.tables.empty() ? "" : std::string_view(target.tables[0]);
  switch (rule.fault) {
    case Fault::kInternalError:
      return Error{.code = Code::kInternalServerError, .message = std::string(kInjected)};
    case Fault::kThrottling: {
      const auto named = std::ranges::find_first_of(target.tables, rule.tables);
      return throttling_error(engine, rule, target,
                              named == target.tables.end() ? table : std::string_view(*named));
    }
    case Fault::kTransactionConflict:
      return conflict_error(target.parts, bits);
    case Fault::kTransactionInProgress:
      return Error{.code = Code::kTransactionInProgress, .message = std::string(kInProgress)};
    case Fault::kUnprocessed:
      // DynamoDB rejects a batch of which nothing can be processed.
      if (target.parts > 1) return std::nullopt;
      return throttling_error(engine, {}, target, table);
    default:
      return std::nullopt;
  }
}

// A table counts as being created for `ms` after its creation.
void TestMode::check_creating(const ActiveRule& active, const Target& target,
                              Injection& injection) const {
  const auto known = tables();
  const int64_t now_ms = engine_.parts().now_ms();
  for (const std::string& name : target.tables) {
    const TablePtr* const table = active.concerns(name) ? known->find(name) : nullptr;
    if (table == nullptr) continue;
    const int64_t age_ms = now_ms - (*table)->definition().created_ms;
    if (age_ms < 0 || age_ms >= active.rule.ms) continue;
    if (target.operation == "DescribeTable") {
      injection.is_creating = true;
    } else if (is_data_operation(target.operation)) {
      injection.refusal = {.code = Code::kResourceNotFound, .message = messages::kResourceNotFound};
    } else if (is_any_of(target.operation, {"DeleteTable", "UpdateTable", "UpdateTimeToLive"})) {
      injection.refusal = {.code = Code::kResourceInUse,
                           .message = messages::table_being_created(name)};
    } else {
      return;
    }
    ++*active.injected;
    return;
  }
}

// A batch is refused only if all of its items lack units.
void TestMode::check_units(const ActiveRule& active, const Target& target, bool is_decided,
                           Injection& injection) const {
  if (!is_data_operation(target.operation)) return;
  const auto known = tables();
  std::optional<Error> shortage;  // the first one
  const auto lacks = [&](const std::string& table, const std::string& index, const Rule& as) {
    if (shortage) return;
    Target scarce = target;
    scarce.index = index;
    shortage = throttling_error(engine_.parts(), as, scarce, table);
  };
  std::vector<bool> withheld(target.batch.empty() ? 0 : target.parts);
  for (const Partition& partition : target.partitions) {
    const TablePtr* const table =
        active.concerns(partition.table) ? known->find(partition.table) : nullptr;
    if (table == nullptr) continue;
    injection.partitions.push_back(partition);
    if (active.units->left(partition, target.reads) > 0) continue;
    const bool is_provisioned = ProvisionedUnits::is_provisioned((*table)->definition());
    lacks(partition.table, partition.index,
          {.error = is_provisioned ? Code::kProvisionedThroughputExceeded : Code::kThrottling,
           .limit = std::string(kKeyRangeExceeded)});
    if (!withheld.empty()) withheld[partition.part] = true;
  }
  std::size_t end = 0;  // of the table's parts
  for (std::size_t i = 0; i < target.tables.size(); ++i) {
    const std::string& name = target.tables[i];
    const std::size_t first = end;
    if (!target.batch.empty()) end += target.batch[i].parts;
    const TablePtr* const table = active.concerns(name) ? known->find(name) : nullptr;
    if (table == nullptr) continue;
    injection.units = active.units;
    injection.reads = target.reads;
    injection.table_used = name;
    const auto left = active.units->left((*table)->definition(), target.index, target.reads);
    if (!left) continue;
    if (left->units <= 0) lacks(name, left->index, {});
    if (!withheld.empty()) {
      withhold_beyond(left->units, target.batch[i].part_units, first, end, withheld);
    }
  }
  const auto count = static_cast<std::size_t>(std::ranges::count(withheld, true));
  if (is_decided || (withheld.empty() ? !shortage : count == 0)) return;
  ++*active.injected;
  if (count < withheld.size()) {
    injection.withheld_parts = std::move(withheld);
    return;
  }
  injection.refusal = std::move(shortage);
  injection.units.reset();
}

void TestMode::decide(const Plan& current, const Target& target, Injection& injection) const {
  for (std::size_t i = 0; i < current.rules.size(); ++i) {
    ActiveRule& active = *current.rules[i];
    const Rule& rule = active.rule;
    if (active.views) {
      // If this fails, the read itself reports the error.
      static_cast<void>(active.views->keep());
      continue;
    }
    if (!active.concerns(target)) continue;
    const int64_t number = ++active.matched;
    const bool is_decided =
        injection.refusal || injection.error_after || !injection.withheld_parts.empty();
    if (rule.fault == Fault::kCreating) {
      if (!injection.refusal) check_creating(active, target, injection);
      continue;
    }
    if (active.units) {
      if (!injection.refusal) check_units(active, target, is_decided, injection);
      continue;
    }
    if (number < rule.first || number > rule.last) continue;
    const uint64_t bits =
        mix(mix(mix(static_cast<uint64_t>(current.seed)) + i) + static_cast<uint64_t>(number));
    if (fraction(bits) >= rule.probability) continue;
    const uint64_t more_bits = mix(bits);
    if (rule.fault == Fault::kDelay) {
      const auto span = static_cast<uint64_t>(rule.ms_max - rule.ms + 1);
      injection.delay +=
          std::chrono::milliseconds(rule.ms + static_cast<int64_t>(more_bits % span));
      ++*active.injected;
      continue;
    }
    if (is_decided) continue;
    auto error = error_of(rule, target, more_bits);
    if (!error) {
      injection.withheld_parts = withheld_by_chance(target.parts, more_bits);
    } else if (rule.applied) {
      injection.error_after = std::move(error);
      injection.lost = active.injected;
      continue;
    } else {
      injection.refusal = std::move(error);
    }
    ++*active.injected;
  }
}

void TestMode::withhold(BatchWriteItemRequest& request, Injection& injection) {
  withhold_parts(
      request.items, injection, [](auto& writes) -> auto& { return writes; },
      [&](auto& table) -> auto& { return injection.withheld_writes[table.first]; });
}

void TestMode::withhold(BatchGetItemRequest& request, Injection& injection) {
  withhold_parts(
      request.items, injection, [](auto& keys) -> auto& { return keys.keys; },
      [&](auto& table) -> auto& {
        const auto [at, is_new] = injection.withheld_keys.try_emplace(table.first, table.second);
        if (is_new) at->second.keys.clear();
        return at->second.keys;
      });
}

std::optional<Result<void>> TestMode::read(const Table& table, Of of, ViewBody body) {
  const Fault fault = of == Of::kGlobalIndex ? Fault::kIndexLag : Fault::kReadLag;
  const auto current = plan();
  for (const auto& active : current->rules) {
    if (active->rule.fault != fault || !active->concerns(table.name())) continue;
    ++active->matched;
    ++*active->injected;
    return active->views->read(body);
  }
  return std::nullopt;
}

}  // namespace stator::testmode

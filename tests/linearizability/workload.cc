// SPDX-License-Identifier: Apache-2.0
#include "linearizability/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace stator::test {
namespace {

constexpr int64_t kAbsent = -1;  // as a hint

using Kind = Action::Kind;

// The items of a group are in two tables alternately.
std::string table_of(const std::string& key) {
  return (key.back() - '0') % 2 == 0 ? "Even" : "Odd";
}

Item key_of(const Action& action) {
  return {{"pk", action.key}};
}

Value value_of(const std::optional<Item>& item) {
  if (!item) return std::nullopt;
  const auto found = item->find("v");
  const Number* number = found == item->end() ? nullptr : found->second.get_if<Number>();
  return number == nullptr ? 0 : number->to_int64().value_or(0);
}

std::optional<std::string> condition_of(const Action& action) {
  if (!action.expected) return std::nullopt;
  return *action.expected ? "v = :expected" : "attribute_not_exists(pk)";
}

std::optional<Values> values_of(const Action& action) {
  Values values;
  if (action.expected && *action.expected) values[":expected"] = **action.expected;
  if (action.kind == Kind::kAdd) values[":operand"] = action.operand;
  if (values.empty()) return std::nullopt;
  return values;
}

std::optional<std::string> update_of(const Action& action) {
  if (action.kind != Kind::kAdd) return std::nullopt;
  return "ADD v :operand";
}

constexpr auto kTellOnFailure = ReturnValuesOnConditionCheckFailure::kAllOld;

Result<WriteResult> write(Client& client, const Action& action) {
  const std::string table = table_of(action.key);
  switch (action.kind) {
    case Kind::kPut:
      return client.put_item({.table = table,
                              .item = {{"pk", action.key}, {"v", action.operand}},
                              .condition = condition_of(action),
                              .values = values_of(action),
                              .return_values = ReturnValues::kAllOld,
                              .on_condition_failure = kTellOnFailure});
    case Kind::kAdd:
      return client.update_item({.table = table,
                                 .key = key_of(action),
                                 .update = update_of(action),
                                 .condition = condition_of(action),
                                 .values = values_of(action),
                                 .return_values = ReturnValues::kAllNew,
                                 .on_condition_failure = kTellOnFailure});
    case Kind::kRead:
    case Kind::kErase:
      break;
  }
  return client.delete_item({.table = table,
                             .key = key_of(action),
                             .condition = condition_of(action),
                             .values = values_of(action),
                             .return_values = ReturnValues::kAllOld,
                             .on_condition_failure = kTellOnFailure});
}

// Each function adds the values in the response, or returns the error.
std::optional<Error> read_one(Client& client, Action& action) {
  const auto got = client.get_item(
      {.table = table_of(action.key), .key = key_of(action), .consistent_read = true});
  if (!got) return got.error();
  action.before = value_of(got->item);
  return std::nullopt;
}

std::optional<Error> write_one(Client& client, Operation& operation) {
  Action& action = operation.actions.front();
  const auto written = write(client, action);
  if (written) {
    (action.kind == Kind::kAdd ? action.after : action.before) = value_of(written->attributes);
    return std::nullopt;
  }
  if (written.error().code != Code::kConditionalCheckFailed) return written.error();
  operation.outcome = Outcome::kRefused;
  action.condition_failed = true;
  const auto& detail = written.error().detail;
  action.before = detail ? value_of(detail->item) : Value();
  return std::nullopt;
}

std::optional<Error> read_all(Client& client, Operation& operation) {
  // Reads of absent items between two items give writers time to write in between.
  constexpr std::size_t kApart = 30;
  TransactGetItemsRequest request;
  for (const Action& action : operation.actions) {
    request.items.push_back({.table = table_of(action.key), .key = key_of(action)});
    for (std::size_t i = 1; i < kApart; ++i) {
      request.items.push_back({.table = table_of(action.key),
                               .key = {{"pk", action.key + "/none/" + std::to_string(i)}}});
    }
  }
  const auto got = client.transact_get_items(request);
  if (!got) return got.error();
  for (std::size_t i = 0; i < operation.actions.size(); ++i) {
    operation.actions[i].before = value_of(got->items[i * kApart]);
  }
  return std::nullopt;
}

TransactAction transact_action(const Action& action) {
  switch (action.kind) {
    case Kind::kRead:
      return TransactAction::kConditionCheck;
    case Kind::kPut:
      return TransactAction::kPut;
    case Kind::kAdd:
      return TransactAction::kUpdate;
    case Kind::kErase:
      return TransactAction::kDelete;
  }
  return TransactAction::kConditionCheck;
}

std::optional<Error> write_all(Client& client, Operation& operation) {
  TransactWriteItemsRequest request;
  for (const Action& action : operation.actions) {
    TransactWriteItem& item =
        request.items.emplace_back(TransactWriteItem{.action = transact_action(action),
                                                     .table = table_of(action.key),
                                                     .item = key_of(action),
                                                     .update = update_of(action),
                                                     .condition = condition_of(action),
                                                     .values = values_of(action),
                                                     .on_condition_failure = kTellOnFailure});
    if (action.kind == Kind::kPut) item.item["v"] = action.operand;
  }
  const auto written = client.transact_write_items(request);
  if (written) return std::nullopt;
  const auto& detail = written.error().detail;
  if (written.error().code != Code::kTransactionCanceled || !detail ||
      detail->reasons.size() != operation.actions.size()) {
    return written.error();
  }
  for (const CancellationReason& reason : detail->reasons) {
    // The transaction was not executed, or failed for another reason.
    if (reason.code != "None" && reason.code != "ConditionalCheckFailed") return written.error();
  }
  operation.outcome = Outcome::kRefused;
  for (std::size_t i = 0; i < operation.actions.size(); ++i) {
    const CancellationReason& reason = detail->reasons[i];
    Action& action = operation.actions[i];
    action.condition_failed = reason.code != "None";
    if (action.condition_failed) action.before = value_of(reason.item);
  }
  return std::nullopt;
}

// Nothing was applied.
bool is_conflict(const Error& error) {
  if (error.code == Code::kTransactionConflict) return true;
  return error.code == Code::kTransactionCanceled && error.detail &&
         std::ranges::any_of(error.detail->reasons, [](const CancellationReason& reason) {
           return reason.code == "TransactionConflict";
         });
}

// The error of a server in the same process. Over HTTP, it is kOutcomeUnknown.
bool is_unknown(const Error& error) {
  return error.code == Code::kInternalServerError &&
         error.message.starts_with("the write might have been applied");
}

std::optional<Error> send(Client& client, Operation& operation) {
  Action& first = operation.actions.front();
  const bool looks = std::ranges::all_of(operation.actions, [](const Action& action) {
    return action.kind == Kind::kRead && !action.expected;
  });
  if (operation.actions.size() > 1) {
    return looks ? read_all(client, operation) : write_all(client, operation);
  }
  return looks ? read_one(client, first) : write_one(client, operation);
}

}  // namespace

int64_t monotonic_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void Lives::begin(std::shared_ptr<Client> client) {
  {
    const std::lock_guard lock(mutex_);
    clients_ = {std::move(client)};
  }
  changed_.notify_all();
}

void Lives::begin_endless(std::vector<std::shared_ptr<Client>> clients) {
  const std::lock_guard lock(mutex_);
  clients_ = std::move(clients);
  ends_ = false;
}

void Lives::end() {
  {
    const std::lock_guard lock(mutex_);
    clients_.clear();
    ended_ns_.push_back(monotonic_ns());
  }
  changed_.notify_all();
}

void Lives::give_up() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  changed_.notify_all();
}

Lives::Life Lives::current(std::size_t choice) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !clients_.empty() || given_up_; });
  return {.number = ended_ns_.size(),
          .client = clients_.empty() ? nullptr : clients_[choice % clients_.size()],
          .ends = ends_};
}

int64_t Lives::ended_ns(const Life& life) {
  std::unique_lock lock(mutex_);
  constexpr std::chrono::seconds kPatience(20);
  const bool ended =
      changed_.wait_for(lock, kPatience, [&] { return ended_ns_.size() > life.number; });
  return ended ? ended_ns_[life.number] : kNever;
}

Group::Group(const std::string& name) : last_seen(kItems) {
  for (std::size_t i = 0; i < kItems; ++i) {
    keys.push_back(name + "/" + std::to_string(i));
    last_seen[i] = kAbsent;
  }
}

std::vector<CreateTableRequest> workload_tables() {
  std::vector<CreateTableRequest> tables;
  for (const char* name : {"Even", "Odd"}) {
    tables.push_back({.table = name,
                      .attributes = {{"pk", ScalarType::kS}},
                      .key_schema = {{"pk", KeyType::kHash}},
                      .billing_mode = BillingMode::kPayPerRequest});
  }
  return tables;
}

Action Racer::choose_action(Group& group, std::size_t item, bool in_transaction) {
  Action action{.key = group.keys[item]};
  const auto choice = below(10);
  action.kind = choice < 4   ? Kind::kPut
                : choice < 7 ? Kind::kAdd
                : choice < 9 ? Kind::kErase
                             : Kind::kRead;
  // Values are unique, so that the checker knows which write a read has seen.
  constexpr int64_t kAdditionsMax = 10'000;
  action.operand = action.kind == Kind::kPut ? ++next_value_ * kAdditionsMax : 1;
  if ((in_transaction && action.kind == Kind::kRead) || below(2) == 0) {
    const int64_t hint = group.last_seen[item];
    action.expected = hint == kAbsent ? Value() : Value(hint);
  }
  if (!in_transaction && action.kind == Kind::kRead) action.expected.reset();
  return action;
}

Operation Racer::choose(Group& group) {
  std::vector<std::size_t> items(Group::kItems);
  std::iota(items.begin(), items.end(), 0);
  std::ranges::shuffle(items, random_);
  Operation operation;
  const auto choice = below(10);
  if (choice < 2) {
    operation.actions.push_back({.key = group.keys[items[0]]});
  } else if (choice < 4) {
    for (const std::size_t item : items) operation.actions.push_back({.key = group.keys[item]});
  } else if (choice < 7) {
    items.resize(2 + below(Group::kItems - 1));
    for (const std::size_t item : items) {
      operation.actions.push_back(choose_action(group, item, true));
    }
  } else {
    operation.actions.push_back(choose_action(group, items[0], false));
  }
  return operation;
}

void Racer::step() {
  Group& group = *groups_[below(groups_.size())];
  call(choose(group), group);
}

void Racer::look() {
  for (const auto& group : groups_) {
    Operation operation;
    for (const std::string& key : group->keys) operation.actions.push_back({.key = key});
    call(std::move(operation), *group);
  }
}

void Racer::call(Operation operation, Group& group) {
  const Lives::Life life = lives_.current(random_());
  if (life.client == nullptr) return;
  operation.called_ns = monotonic_ns();
  const auto error = send(*life.client, operation);
  operation.returned_ns = monotonic_ns();
  if (error) {
    // A server that does not respond or is stopping. With several servers, also conflicts.
    const bool unavailable = error->code == Code::kUnavailable ||
                             error->code == Code::kServiceUnavailable ||
                             (!life.ends && is_conflict(*error));
    const bool broken = unavailable || error->code == Code::kOutcomeUnknown ||
                        error->code == Code::kTimeout || (!life.ends && is_unknown(*error));
    if (broken) operation.returned_ns = life.ends ? lives_.ended_ns(life) : kNever;
    if (!broken || (life.ends && operation.returned_ns == kNever)) {
      complaints_ += std::string(code_name(error->code)) + " " + error->message + ": " +
                     to_string(operation) + "\n";
    }
    if (unavailable) return;  // the request was not sent, was rejected, or only read
    operation.outcome = Outcome::kUnknown;
  }
  remember(operation, group);
  history_.push_back(std::move(operation));
}

void Racer::remember(const Operation& operation, Group& group) {
  for (const Action& action : operation.actions) {
    Value now;
    if (action.after) {
      now = *action.after;
    } else if (operation.outcome == Outcome::kApplied && action.kind == Kind::kPut) {
      now = action.operand;
    } else if (action.before && action.kind == Kind::kRead) {
      now = *action.before;
    } else if (operation.outcome != Outcome::kApplied || action.kind != Kind::kErase) {
      continue;
    }
    const auto item = std::ranges::find(group.keys, action.key) - group.keys.begin();
    group.last_seen[static_cast<std::size_t>(item)] = now.value_or(kAbsent);
  }
}

std::vector<Operation> history_of(const std::vector<Racer>& racers) {
  std::vector<Operation> history;
  for (const Racer& racer : racers) {
    EXPECT_EQ(racer.complaints(), "");
    history.insert(history.end(), racer.history().begin(), racer.history().end());
  }
  return history;
}

void Rounds::add(const std::vector<Operation>& history) {
  operations += history.size();
  unknown +=
      static_cast<std::size_t>(std::ranges::count(history, Outcome::kUnknown, &Operation::outcome));
  const Verdict verdict = check_linearizable(history);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kLinearizable) << verdict.explanation;
}

}  // namespace stator::test

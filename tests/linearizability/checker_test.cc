// SPDX-License-Identifier: Apache-2.0
// The checker accepts linearizable histories and finds violations: planted ones of each kind, and
// thousands of tiny random histories for which every order is tried.
#include "linearizability/checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/from_environment.h"

namespace stator::test {
namespace {

using Kind = Action::Kind;

constexpr Value kNothing = std::nullopt;

Action read(const std::string& key, const Value& value) {
  return {.key = key, .kind = Kind::kRead, .before = value};
}
Action put(const std::string& key, int64_t value) {
  return {.key = key, .kind = Kind::kPut, .operand = value};
}
Action put_if(const std::string& key, const Value& expected, int64_t value) {
  return {.key = key, .kind = Kind::kPut, .operand = value, .expected = expected};
}
Action check(const std::string& key, const Value& expected) {
  return {.key = key, .expected = expected};
}
Action add(const std::string& key, int64_t by, const Value& after) {
  return {.key = key, .kind = Kind::kAdd, .operand = by, .after = after};
}
Action erase(const std::string& key) {
  return {.key = key, .kind = Kind::kErase};
}
Action failed(Action action) {
  action.condition_failed = true;
  return action;
}

Operation done(int64_t called, int64_t returned, std::vector<Action> actions) {
  return {.called_ns = called, .returned_ns = returned, .actions = std::move(actions)};
}
Operation refused(int64_t called, int64_t returned, std::vector<Action> actions) {
  Operation operation = done(called, returned, std::move(actions));
  operation.outcome = Outcome::kRefused;
  return operation;
}
Operation lost(int64_t called, std::vector<Action> actions, int64_t returned = kNever) {
  Operation operation = done(called, returned, std::move(actions));
  operation.outcome = Outcome::kUnknown;
  return operation;
}

void expect_linearizable(const std::vector<Operation>& history) {
  const Verdict verdict = check_linearizable(history);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kLinearizable) << verdict.explanation;
}
void expect_violated(const std::vector<Operation>& history) {
  const Verdict verdict = check_linearizable(history);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kViolated);
  EXPECT_NE(verdict.explanation, "");
}

TEST(Linearizability, AcceptsOneOperationAfterTheOther) {
  expect_linearizable({});
  expect_linearizable({done(1, 2, {read("a", kNothing)}), done(3, 4, {put("a", 7)}),
                       done(5, 6, {read("a", 7)}), done(7, 8, {add("a", 2, 9)}),
                       refused(9, 10, {failed(put_if("a", 7, 8))}), done(11, 12, {erase("a")}),
                       done(13, 14, {put_if("a", kNothing, 1)})});
}

TEST(Linearizability, AcceptsEitherResponseToAReadDuringAWrite) {
  expect_linearizable({done(1, 9, {put("a", 1)}), done(2, 3, {read("a", kNothing)}),
                       done(4, 5, {read("a", 1)}), done(6, 7, {read("a", 1)})});
}

TEST(Linearizability, FindsAValueThatIsTakenBackDuringItsWrite) {
  expect_violated(
      {done(1, 9, {put("a", 1)}), done(2, 3, {read("a", 1)}), done(4, 5, {read("a", kNothing)})});
}

TEST(Linearizability, FindsALostUpdate) {
  expect_violated({done(1, 4, {add("a", 1, 1)}), done(2, 5, {add("a", 1, 1)})});
  expect_violated({done(1, 2, {put("a", 1)}), done(3, 6, {put_if("a", 1, 2)}),
                   done(4, 5, {put_if("a", 1, 3)})});
}

TEST(Linearizability, FindsAStaleRead) {
  expect_violated(
      {done(1, 2, {put("a", 1)}), done(3, 4, {put("a", 2)}), done(5, 6, {read("a", 1)})});
}

TEST(Linearizability, AcceptsAWriteWithoutAResponseThatTookEffectOrDidNot) {
  const Operation unanswered = lost(1, {put("a", 1)});
  expect_linearizable({unanswered, done(2, 3, {read("a", 1)})});
  expect_linearizable({unanswered, done(2, 3, {read("a", kNothing)})});
  expect_linearizable({unanswered, done(2, 3, {read("a", kNothing)}), done(4, 5, {read("a", 1)})});
}

TEST(Linearizability, FindsAWriteThatTakesEffectAfterItsProcessDied) {
  expect_violated(
      {lost(1, {put("a", 1)}, 2), done(3, 4, {read("a", kNothing)}), done(5, 6, {read("a", 1)})});
}

TEST(Linearizability, FindsADirtyReadThatACrashTookBack) {
  expect_violated(
      {lost(1, {put("a", 1)}, 4), done(2, 3, {read("a", 1)}), done(5, 6, {read("a", kNothing)})});
  // A condition that failed because of the write shows the same violation.
  expect_violated({lost(1, {put("a", 1)}, 4), refused(2, 3, {failed(put_if("a", kNothing, 2))}),
                   done(5, 6, {read("a", kNothing)})});
}

TEST(Linearizability, FindsAnAcknowledgedWriteThatACrashLost) {
  expect_violated({done(1, 2, {add("a", 1, 1)}), lost(3, {add("a", 1, kNothing)}, 4),
                   done(5, 6, {read("a", kNothing)})});
}

TEST(Linearizability, FindsAHalvedTransaction) {
  const Operation both = lost(1, {put("a", 1), put("b", 1)}, 2);
  expect_linearizable({both, done(3, 4, {read("a", 1)}), done(5, 6, {read("b", 1)})});
  expect_violated({both, done(3, 4, {read("a", 1)}), done(5, 6, {read("b", kNothing)})});
}

TEST(Linearizability, FindsATransactionThatReadsTwoStates) {
  const Operation first = done(1, 2, {put("a", 1), put("b", 1)});
  const Operation second = done(3, 9, {put("a", 2), put("b", 2)});
  expect_linearizable({first, second, done(4, 5, {read("a", 1), read("b", 1)}),
                       done(6, 7, {read("a", 2), read("b", 2)})});
  expect_violated({first, second, done(4, 5, {read("a", 2), read("b", 1)})});
}

TEST(Linearizability, FindsSnapshotsThatGoBack) {
  expect_violated({done(1, 9, {put("a", 1)}), done(1, 9, {put("b", 1)}),
                   done(2, 3, {read("a", 1), read("b", kNothing)}),
                   done(4, 5, {read("a", kNothing), read("b", 1)})});
}

TEST(Linearizability, FindsWriteSkewBetweenTwoTransactions) {
  expect_violated({done(1, 4, {check("b", kNothing), put("a", 1)}),
                   done(2, 5, {check("a", kNothing), put("b", 1)})});
  expect_linearizable({done(1, 4, {check("b", kNothing), put("a", 1)}),
                       refused(2, 5, {failed(check("a", kNothing)), put("b", 1)})});
}

TEST(Linearizability, FindsRefusalsWithoutAReason) {
  const Operation first = done(1, 2, {put("a", 1)});
  expect_linearizable({first, refused(3, 4, {failed(check("a", 2)), check("b", kNothing)})});
  expect_violated({first, refused(3, 4, {failed(check("a", 1)), check("b", kNothing)})});
  expect_violated({first, refused(3, 4, {failed(check("a", 2)), failed(check("b", kNothing))})});
  expect_violated({first, refused(3, 4, {check("a", 1)})});
}

TEST(Linearizability, ChecksItemsApartThatNothingJoins) {
  std::vector<Operation> history;
  for (int64_t item = 0; item < 40; ++item) {
    for (int64_t i = 0; i < 4; ++i) {
      history.push_back(done(1, 100, {put("item " + std::to_string(item), i)}));
    }
    history.push_back(done(200, 201, {read("item " + std::to_string(item), 2)}));
  }
  expect_linearizable(history);
  history.push_back(done(300, 301, {read("item 17", 3)}));
  expect_violated(history);
}

TEST(Linearizability, ReportsHistoriesThatAreTooLargeToDecide) {
  std::vector<Operation> history;
  for (int64_t i = 1; i <= 16; ++i) history.push_back(done(1, 100, {add("a", i * i, {})}));
  for (Operation& operation : history) operation.actions.front().after.reset();
  history.push_back(done(200, 201, {read("a", -1)}));
  EXPECT_EQ(check_linearizable(history, 100).kind, Verdict::Kind::kUndecided);
}

// ---- All orders

bool precedes(const Operation& a, const Operation& b) {
  return a.returned_ns < b.called_ns;
}

// Reports whether the operations, in this order, have their responses. Follows the definition.
bool explains(const std::vector<const Operation*>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t later = i + 1; later < order.size(); ++later) {
      if (precedes(*order[later], *order[i])) return false;
    }
  }
  std::map<std::string, int64_t> items;
  const auto get = [&](const std::string& key) {
    return items.contains(key) ? Value(items[key]) : kNothing;
  };
  for (const Operation* operation : order) {
    bool holds = true;
    for (const Action& action : operation->actions) {
      const bool fails = action.expected && *action.expected != get(action.key);
      if (operation->outcome == Outcome::kRefused && fails != action.condition_failed) return false;
      if (action.before && *action.before != get(action.key)) return false;
      holds = holds && !fails;
    }
    if (operation->outcome == Outcome::kApplied && !holds) return false;
    if (operation->outcome == Outcome::kRefused && holds) return false;
    if (!holds) continue;
    for (const Action& action : operation->actions) {
      if (action.kind == Kind::kPut) items[action.key] = action.operand;
      if (action.kind == Kind::kAdd) items[action.key] += action.operand;
      if (action.kind == Kind::kErase) items.erase(action.key);
      if (action.after && *action.after != get(action.key)) return false;
    }
  }
  return true;
}

bool some_order_explains(const std::vector<Operation>& history) {
  std::vector<std::size_t> indexes(history.size());
  for (unsigned executed = 0; executed < 1U << history.size(); ++executed) {
    bool possible = true;
    for (std::size_t i = 0; i < history.size(); ++i) {
      possible &= history[i].outcome == Outcome::kUnknown || ((executed >> i) & 1U) != 0;
    }
    if (!possible) continue;
    std::iota(indexes.begin(), indexes.end(), 0);
    do {
      std::vector<const Operation*> order;
      for (const std::size_t i : indexes) {
        if (((executed >> i) & 1U) != 0) order.push_back(&history[i]);
      }
      if (explains(order)) return true;
    } while (std::ranges::next_permutation(indexes).found);
  }
  return false;
}

// Few keys, few values and short times, so that about half of the histories are linearizable.
class TinyHistories {
 public:
  explicit TinyHistories(uint64_t seed) : random_(seed) {}

  std::vector<Operation> next() {
    std::vector<Operation> history;
    for (std::size_t i = 0, count = 1 + below(6); i < count; ++i) {
      Operation operation{.called_ns = static_cast<int64_t>(below(10))};
      operation.returned_ns = operation.called_ns + static_cast<int64_t>(below(8));
      const auto outcome = below(8);
      if (outcome == 0) operation.outcome = Outcome::kRefused;
      if (outcome == 1) operation.outcome = Outcome::kUnknown;
      if (outcome == 1 && below(2) == 0) operation.returned_ns = kNever;
      operation.actions.push_back(action("a", operation.outcome));
      if (below(3) == 0) operation.actions.push_back(action("b", operation.outcome));
      history.push_back(std::move(operation));
    }
    return history;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  Value value() {
    const auto number = below(4);
    return number == 0 ? kNothing : Value(static_cast<int64_t>(number));
  }
  Action action(const std::string& key, Outcome outcome) {
    static constexpr Kind kKinds[] = {Kind::kRead, Kind::kPut, Kind::kPut, Kind::kAdd,
                                      Kind::kErase};
    Action made{.key = key, .kind = kKinds[below(5)]};
    made.operand = static_cast<int64_t>(1 + below(2));
    const bool is_refused = outcome == Outcome::kRefused;
    if (is_refused || below(4) == 0) made.expected = value();
    if (is_refused) made.condition_failed = below(4) != 0;
    if (outcome == Outcome::kUnknown) return made;
    if (made.kind == Kind::kRead || below(4) == 0) made.before = value();
    if (!is_refused && made.kind == Kind::kAdd && below(2) == 0) made.after = value();
    return made;
  }

  std::mt19937_64 random_;
};

TEST(Linearizability, AgreesWithTryingEveryOrder) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  TinyHistories histories(seed);
  int linearizable = 0;
  constexpr int kHistories = 20000;
  for (int i = 0; i < kHistories && !HasFailure(); ++i) {
    const std::vector<Operation> history = histories.next();
    const bool expected = some_order_explains(history);
    linearizable += expected ? 1 : 0;
    std::string text;
    for (const Operation& operation : history) text += to_string(operation) + "\n";
    EXPECT_EQ(check_linearizable(history).kind == Verdict::Kind::kLinearizable, expected) << text;
  }
  EXPECT_GT(linearizable, kHistories / 10);
  EXPECT_LT(linearizable, kHistories * 9 / 10);
}

}  // namespace
}  // namespace stator::test

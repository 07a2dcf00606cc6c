// SPDX-License-Identifier: Apache-2.0
// A configuration is the set of placed operations and the resulting items. From each one, the next
// operation can be any that no unplaced operation precedes. An operation with an unknown outcome
// can remain unplaced. It cannot come after an operation that was called after it had returned.
#include "linearizability/checker.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace stator::test {
namespace {

using State = std::vector<Value>;

// An operation with its keys as indexes into the state.
struct Step {
  const Operation* operation = nullptr;
  std::vector<std::size_t> items;
  bool required = true;
  bool only_looks = false;
};

bool agrees(const std::optional<Value>& told, const Value& real) {
  return !told || *told == real;
}

Value after(const Action& action, const Value& before) {
  switch (action.kind) {
    case Action::Kind::kRead:
      return before;
    case Action::Kind::kPut:
      return action.operand;
    case Action::Kind::kAdd:
      return before.value_or(0) + action.operand;
    case Action::Kind::kErase:
      return std::nullopt;
  }
  return before;
}

// The state after the step. Absent if the step cannot be next, because its response would differ.
std::optional<State> applied(const Step& step, const State& state) {
  const Operation& operation = *step.operation;
  bool refused = false;
  for (std::size_t i = 0; i < step.items.size(); ++i) {
    const Action& action = operation.actions[i];
    const bool fails = action.expected && *action.expected != state[step.items[i]];
    refused |= fails;
    if (operation.outcome == Outcome::kRefused && fails != action.condition_failed) return {};
    if (!agrees(action.before, state[step.items[i]])) return {};
  }
  // If the outcome is unknown, being rejected is equal to never being executed.
  if (refused != (operation.outcome == Outcome::kRefused)) return {};
  if (refused) return state;
  State next = state;
  for (std::size_t i = 0; i < step.items.size(); ++i) {
    Value& item = next[step.items[i]];
    item = after(operation.actions[i], item);
    if (!agrees(operation.actions[i].after, item)) return {};
  }
  return next;
}

class Search {
 public:
  // `steps` must be sorted by their calls.
  Search(std::vector<Step> steps, std::size_t items, std::size_t configurations_max)
      : steps_(std::move(steps)),
        placed_(steps_.size(), '\0'),
        state_(items),
        configurations_max_(configurations_max),
        required_left_(std::ranges::count(steps_, true, &Step::required)) {}

  Verdict::Kind run() {
    if (explore(std::numeric_limits<int64_t>::min())) return Verdict::Kind::kLinearizable;
    return exhausted_ ? Verdict::Kind::kUndecided : Verdict::Kind::kViolated;
  }

  std::string explain() const {
    std::string text = "placed in the longest order found:\n";
    for (const std::size_t i : longest_) text += "    " + to_string(*steps_[i].operation) + "\n";
    text += "  and then none of these could be next:\n";
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (std::ranges::find(longest_, i) == longest_.end()) {
        text += "    " + to_string(*steps_[i].operation) + "\n";
      }
    }
    return text;
  }

 private:
  const Operation& operation(std::size_t i) const { return *steps_[i].operation; }

  // Returns true if an order of all is found. `last_call_ns`: the latest call of a placed
  // operation.
  bool explore(int64_t last_call_ns) {
    if (order_.size() > longest_.size()) longest_ = order_;
    if (required_left_ == 0) return true;
    if (!visited_.insert(fingerprint()).second) return false;
    exhausted_ |= visited_.size() > configurations_max_;
    if (exhausted_) return false;

    int64_t first_return_ns = kNever;  // of the required unplaced operations
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < steps_.size() && operation(i).called_ns <= first_return_ns; ++i) {
      if (placed_[i] != 0 || operation(i).returned_ns < last_call_ns) continue;
      next.push_back(i);
      if (steps_[i].required) {
        first_return_ns = std::min(first_return_ns, operation(i).returned_ns);
      }
    }
    for (const std::size_t i : next) {
      auto after = applied(steps_[i], state_);
      if (!after) continue;
      if (place(i, std::move(*after), last_call_ns)) return true;
      // A step that never changes anything can come now instead of later. Every step that it would
      // exclude was called before it, and has been tried.
      if (steps_[i].only_looks) return false;
    }
    return false;
  }

  bool place(std::size_t i, State after, int64_t last_call_ns) {
    placed_[i] = '\1';
    order_.push_back(i);
    required_left_ -= steps_[i].required ? 1 : 0;
    state_.swap(after);
    const bool found = explore(std::max(last_call_ns, operation(i).called_ns));
    state_.swap(after);
    required_left_ += steps_[i].required ? 1 : 0;
    order_.pop_back();
    placed_[i] = '\0';
    return found;
  }

  std::string fingerprint() const {
    std::string bytes = placed_;
    for (const Value& item : state_) {
      const int64_t number = item.value_or(0);
      bytes.push_back(item ? '\1' : '\0');
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    return bytes;
  }

  const std::vector<Step> steps_;
  std::string placed_;  // one byte per step
  State state_;
  const std::size_t configurations_max_;
  int64_t required_left_;
  bool exhausted_ = false;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> longest_;
  std::unordered_set<std::string> visited_;
};

// Groups the operations that shared keys connect. Each group is sorted by call.
std::vector<std::vector<const Operation*>> groups_of(const std::vector<Operation>& history) {
  std::map<std::string, std::string> joined_to;
  const auto root = [&](std::string at) {
    while (joined_to.try_emplace(at, at).first->second != at) at = joined_to[at];
    return at;
  };
  for (const Operation& operation : history) {
    for (const Action& action : operation.actions) {
      joined_to[root(action.key)] = root(operation.actions.front().key);
    }
  }
  std::map<std::string, std::vector<const Operation*>> groups;
  for (const Operation& operation : history) {
    if (operation.actions.empty()) continue;
    groups[root(operation.actions.front().key)].push_back(&operation);
  }
  std::vector<std::vector<const Operation*>> all;
  for (auto& [key, group] : groups) {
    std::ranges::stable_sort(group, {}, &Operation::called_ns);
    all.push_back(std::move(group));
  }
  return all;
}

bool only_looks(const Operation& operation) {
  return operation.outcome == Outcome::kRefused ||
         std::ranges::all_of(operation.actions, [](const Action& action) {
           return action.kind == Action::Kind::kRead;
         });
}

Verdict check_group(const std::vector<const Operation*>& group, std::size_t configurations_max) {
  std::map<std::string, std::size_t> indexes;
  std::vector<Step> steps;
  for (const Operation* operation : group) {
    const bool required = operation->outcome != Outcome::kUnknown;
    if (!required && only_looks(*operation)) continue;
    Step& step = steps.emplace_back(Step{.operation = operation,
                                         .items = {},
                                         .required = required,
                                         .only_looks = only_looks(*operation)});
    for (const Action& action : operation->actions) {
      step.items.push_back(indexes.try_emplace(action.key, indexes.size()).first->second);
    }
  }
  Search search(std::move(steps), indexes.size(), configurations_max);
  const Verdict::Kind kind = search.run();
  if (kind == Verdict::Kind::kLinearizable) return {};
  return {.kind = kind, .explanation = search.explain()};
}

std::string to_string(const Value& value) {
  return value ? std::to_string(*value) : "nothing";
}

std::string to_string(const Action& action) {
  static constexpr const char* kNames[] = {"read", "put", "add", "erase"};
  std::string text = kNames[static_cast<std::size_t>(action.kind)];
  text += " " + action.key;
  if (action.kind == Action::Kind::kPut || action.kind == Action::Kind::kAdd) {
    text += " " + std::to_string(action.operand);
  }
  if (action.expected) text += " if " + to_string(*action.expected);
  if (action.condition_failed) text += " (failed)";
  if (action.before) text += " was " + to_string(*action.before);
  if (action.after) text += " is " + to_string(*action.after);
  return text;
}

}  // namespace

std::string to_string(const Operation& operation) {
  static constexpr const char* kNames[] = {"applied", "refused", "unknown"};
  std::string text = std::to_string(operation.called_ns) + " to ";
  text += operation.returned_ns == kNever ? "never" : std::to_string(operation.returned_ns);
  text += std::string(" ") + kNames[static_cast<std::size_t>(operation.outcome)] + ":";
  for (const Action& action : operation.actions) text += " [" + to_string(action) + "]";
  return text;
}

Verdict check_linearizable(const std::vector<Operation>& history, std::size_t configurations_max) {
  Verdict undecided;
  for (const auto& group : groups_of(history)) {
    Verdict verdict = check_group(group, configurations_max);
    if (verdict.kind == Verdict::Kind::kViolated) return verdict;
    if (verdict.kind == Verdict::Kind::kUndecided) undecided = std::move(verdict);
  }
  return undecided;
}

}  // namespace stator::test

// SPDX-License-Identifier: Apache-2.0
// A naive table, and conditions and updates both as text and as code.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/client.h"

namespace stator::test {

// A condition for the database (text), and for the model (code).
struct ModelCondition {
  std::optional<std::string> text;  // absent: no condition
  Values values;
  std::function<bool(const Item* item)> holds;  // null: there is no item
};

// The same for an update. `apply` returns false, without a change, if the update does not fit the
// item.
struct ModelUpdate {
  std::string text;
  Values values;
  std::function<bool(Item& item)> apply;
  bool only_removes = false;  // so it does not create an item
};

using ModelKey = std::pair<std::string, int>;  // pk, sk

// One table with the keys pk (text) and sk (number), the sparse index ByGroup (group, n).
class ModelTable {
 public:
  const Item* find(const ModelKey& key) const;
  void put(const ModelKey& key, Item item) { items_[key] = std::move(item); }
  void erase(const ModelKey& key) { items_.erase(key); }

  // In key order: the items of one partition with low <= sk <= high, and those of the whole table.
  std::vector<Item> partition(const std::string& pk, int low, int high, bool forward) const;
  std::vector<Item> all() const;
  // The items of one group of the index with n in range, in the order of n.
  std::vector<Item> group(const std::string& group, int low, int high) const;

 private:
  std::map<ModelKey, Item> items_;
};

Item key_item(const ModelKey& key);
std::vector<ModelCondition> model_conditions(int number);
std::vector<ModelUpdate> model_updates(int number, const std::string& text);

}  // namespace stator::test

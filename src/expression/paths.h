// SPDX-License-Identifier: Apache-2.0
// Finding, gathering and comparing document paths.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "expression/tree.h"
#include "stator/result.h"
#include "value/encoded.h"

namespace stator::expression {

// The value at a bound path; absent where a step leads nowhere.
std::optional<ValueView> find(ItemView item, const Path& path);

inline const std::string& top_level_name(const Path& path) {
  return std::get<PathName>(path.front()).text;
}

// Adds the attributes that paths look into.
void gather_opened(const Path& path, std::vector<std::string>& names);
void gather_opened(const Operand& operand, std::vector<std::string>& names);
void gather_opened(const ConditionNode& node, std::vector<std::string>& names);

// kValidation where one path is another or lies in it, or where two take one value for a map and
// for a list: the one that comes first is path one. Sorting brings such paths side by side.
Result<void> check_apart(const std::vector<Path>& paths);

// Paths merged by their common beginnings: what a projection keeps of a value.
class PathTree {
 public:
  static PathTree of(const std::vector<Path>& paths);

  EncodedItem project(ItemView item) const;

 private:
  void add(const Path& path, std::size_t step);
  // What is kept of `value`; absent where nothing is.
  std::optional<AttributeValue> keep(ValueView value) const;

  bool whole_ = false;
  std::map<std::string, PathTree, std::less<>> attributes_;
  std::map<uint32_t, PathTree> elements_;
};

}  // namespace stator::expression

// SPDX-License-Identifier: Apache-2.0
// Finds, collects and compares document paths.
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

// The value at a bound path; absent if it does not exist.
std::optional<ValueView> find(ItemView item, const Path& path);

inline const std::string& top_level_name(const Path& path) {
  return std::get<PathName>(path.front()).text;
}

// Adds the top-level attribute of each nested path.
void gather_opened(const Path& path, std::vector<std::string>& names);
void gather_opened(const Operand& operand, std::vector<std::string>& names);
void gather_opened(const ConditionNode& node, std::vector<std::string>& names);

// Errors: kValidation if a path equals or contains another, or if two paths use the same value as a
// map and as a list. The earlier one is "path one" in the message. Sorting makes such paths
// adjacent.
Result<void> check_apart(const std::vector<Path>& paths);

// Paths merged by their common prefixes, to project values.
class PathTree {
 public:
  static PathTree of(const std::vector<Path>& paths);

  EncodedItem project(ItemView item) const;

 private:
  void add(const Path& path, std::size_t step);
  // The projected part of `value`; absent if it is empty.
  std::optional<AttributeValue> keep(ValueView value) const;

  bool whole_ = false;
  std::map<std::string, PathTree, std::less<>> attributes_;
  std::map<uint32_t, PathTree> elements_;
};

}  // namespace stator::expression

// SPDX-License-Identifier: Apache-2.0
// Parses untrusted YAML (and so JSON) into a plain tree with line numbers and tags.
//
// Bounds: 1 MB of text, 100,000 nodes with aliases written out, 64 levels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator::cli {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 0;        // from 1
  std::string tag;     // "!Ref"; empty without an explicit tag
  std::string scalar;  // kScalar: the text, whatever its type
  std::vector<YamlNode> list;
  std::vector<YamlEntry> map;  // in the document's order, keys unique

  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  // The value of a key in a map, or null.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  YamlNode value;
};

// Errors: kInvalidArgument with the line if the text is not YAML or exceeds the bounds.
Result<YamlNode> read_yaml(const std::string& text);

}  // namespace stator::cli

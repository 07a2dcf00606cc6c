// SPDX-License-Identifier: Apache-2.0
// YAML (and so JSON) from a stranger, as a plain tree that knows its lines and tags.
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
  std::string tag;     // "!Ref"; empty where there is none of the document's own
  std::string scalar;  // kScalar: the text, whatever its type
  std::vector<YamlNode> list;
  std::vector<YamlEntry> map;  // in the document's order, keys unique

  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  // A map's value; null where there is none.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  YamlNode value;
};

// kInvalidArgument with the line for text that is no YAML or beyond the bounds.
Result<YamlNode> read_yaml(const std::string& text);

}  // namespace stator::cli

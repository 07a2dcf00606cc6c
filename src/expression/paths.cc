// SPDX-License-Identifier: Apache-2.0
#include "expression/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "expression/messages.h"
#include "expression/printer.h"

namespace stator::expression {
namespace {

// Orders elements before attributes: if paths use a value as a list and as a map, two of them are
// adjacent.
bool step_less(const PathStep& a, const PathStep& b) {
  if (a.index() != b.index()) return a.index() > b.index();
  if (const auto* name = std::get_if<PathName>(&a)) return name->text < std::get<PathName>(b).text;
  return std::get<uint32_t>(a) < std::get<uint32_t>(b);
}

Failure not_apart(const char* text, const Path& one, const Path& two) {
  return fail(Code::kValidation, fmt::format(fmt::runtime(text), describe(one), describe(two)));
}

}  // namespace

std::optional<ValueView> find(ItemView item, const Path& path) {
  std::optional<ValueView> value = item.find(top_level_name(path));
  for (std::size_t step = 1; value && step < path.size(); ++step) {
    if (const auto* name = std::get_if<PathName>(&path[step])) {
      if (value->type() != AttributeType::kM) return std::nullopt;
      value = value->attribute(name->text);
    } else {
      if (value->type() != AttributeType::kL) return std::nullopt;
      value = value->element(std::get<uint32_t>(path[step]));
    }
  }
  return value;
}

void gather_opened(const Path& path, std::vector<std::string>& names) {
  if (path.size() > 1) names.push_back(top_level_name(path));
}

void gather_opened(const Operand& operand, std::vector<std::string>& names) {
  if (operand.kind == OperandKind::kPath) gather_opened(operand.path, names);
  for (const Operand& part : operand.operands) gather_opened(part, names);
}

void gather_opened(const ConditionNode& node, std::vector<std::string>& names) {
  for (const ConditionNode& child : node.children) gather_opened(child, names);
  for (const Operand& operand : node.operands) gather_opened(operand, names);
}

Result<void> check_apart(const std::vector<Path>& paths) {
  if (paths.size() < 2) return {};
  std::vector<std::size_t> sorted(paths.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(paths[a], paths[b], step_less);
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Path& shorter = paths[sorted[i - 1]];
    const auto [end, differs] = std::ranges::mismatch(shorter, paths[sorted[i]]);
    const bool overlaps = end == shorter.end();
    if (!overlaps && end->index() == differs->index()) continue;
    const auto [first, second] = std::minmax(sorted[i - 1], sorted[i]);
    return not_apart(overlaps ? message::kOverlap : message::kConflict, paths[first],
                     paths[second]);
  }
  return {};
}

PathTree PathTree::of(const std::vector<Path>& paths) {
  PathTree tree;
  for (const Path& path : paths) tree.add(path, 0);
  return tree;
}

void PathTree::add(const Path& path, std::size_t step) {
  if (step == path.size()) {
    whole_ = true;
  } else if (const auto* name = std::get_if<PathName>(&path[step])) {
    attributes_[name->text].add(path, step + 1);
  } else {
    elements_[std::get<uint32_t>(path[step])].add(path, step + 1);
  }
}

std::optional<AttributeValue> PathTree::keep(ValueView value) const {
  if (whole_) return decode_value(value);
  if (value.type() == AttributeType::kM && !attributes_.empty()) {
    Map kept;
    for (const auto& [name, below] : attributes_) {
      const auto inner = value.attribute(name);
      if (!inner) continue;
      if (auto part = below.keep(*inner)) kept.emplace(name, std::move(*part));
    }
    if (!kept.empty()) return kept;
  }
  if (value.type() == AttributeType::kL && !elements_.empty()) {
    List kept;
    ElementCursor cursor = value.elements();
    uint32_t next = 0;
    for (const auto& [index, below] : elements_) {
      std::optional<ValueView> inner;
      do {
        inner = cursor.next();
      } while (inner && next++ < index);
      if (!inner) break;
      if (auto part = below.keep(*inner)) kept.push_back(std::move(*part));
    }
    if (!kept.empty()) return kept;
  }
  return std::nullopt;
}

EncodedItem PathTree::project(ItemView item) const {
  ItemBuilder builder;
  for (const auto& [name, below] : attributes_) {
    const auto value = item.find(name);
    if (!value) continue;
    if (below.whole_) {
      builder.add(name, *value);
    } else if (const auto part = below.keep(*value)) {
      const std::string encoded = encode_value(*part);
      builder.add(name, ValueView(encoded));
    }
  }
  return std::move(builder).finish();
}

}  // namespace stator::expression

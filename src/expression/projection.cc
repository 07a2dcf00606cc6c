// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "expression/binder.h"
#include "expression/expression.h"
#include "expression/parser.h"
#include "expression/paths.h"

namespace stator {

struct ProjectionExpression::Impl {
  explicit Impl(const expression::ProjectionTree& paths) : tree(expression::PathTree::of(paths)) {
    for (const expression::Path& path : paths) {
      names.insert(expression::top_level_name(path));
      expression::gather_opened(path, opened);
    }
  }
  expression::PathTree tree;
  std::map<std::string, expression::Path> columns;  // by name; replace the tree if not empty
  std::set<std::string, std::less<>> names;
  std::vector<std::string> opened;
};

ProjectionExpression::ProjectionExpression(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProjectionExpression::ProjectionExpression(ProjectionExpression&&) noexcept = default;
ProjectionExpression& ProjectionExpression::operator=(ProjectionExpression&&) noexcept = default;
ProjectionExpression::~ProjectionExpression() = default;

Result<ProjectionExpression> ProjectionExpression::parse(std::string_view text,
                                                         Placeholders& placeholders,
                                                         ExpressionLimits limits) {
  auto paths = expression::parse_projection(text, limits);
  if (!paths) return expression::invalid("ProjectionExpression", paths.error());
  if (auto bound = expression::bind(*paths, placeholders); !bound) {
    return expression::invalid("ProjectionExpression", bound.error());
  }
  return ProjectionExpression(std::make_unique<Impl>(*paths));
}

ProjectionExpression ProjectionExpression::of_attributes(const std::vector<std::string>& names) {
  expression::ProjectionTree paths;
  for (const std::string& name : names) paths.push_back({expression::PathName{name}});
  return ProjectionExpression(std::make_unique<Impl>(paths));
}

ProjectionExpression ProjectionExpression::of_columns(
    const std::vector<expression::ProjectionColumn>& columns) {
  expression::ProjectionTree paths;
  for (const auto& column : columns) paths.push_back(column.path);
  auto impl = std::make_unique<Impl>(paths);
  for (const auto& column : columns) impl->columns.emplace(column.name, column.path);
  return ProjectionExpression(std::move(impl));
}

EncodedItem ProjectionExpression::apply(ItemView item) const {
  if (impl_->columns.empty()) return impl_->tree.project(item);
  ItemBuilder builder;
  for (const auto& [name, path] : impl_->columns) {
    if (const auto value = expression::find(item, path)) builder.add(name, *value);
  }
  return std::move(builder).finish();
}

std::set<std::string, std::less<>> ProjectionExpression::attributes() const {
  return impl_->names;
}

std::vector<std::string> ProjectionExpression::opened_attributes() const {
  return impl_->opened;
}

}  // namespace stator

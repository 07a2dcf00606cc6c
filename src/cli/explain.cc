// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <optional>

#include "api/json/item_json.h"
#include "cli/item_output.h"
#include "cli/key_arguments.h"
#include "cli/statements.h"
#include "cli/table_access.h"
#include "engine/query/statement_plan.h"
#include "partiql/planner.h"

namespace stator::cli {
namespace {

std::string access_text(const partiql::Plan& plan, const TableDescription& table,
                        const KeySchema& schema) {
  const std::string source = plan.index
                                 ? fmt::format("index {} of table {}", *plan.index, table.table)
                                 : fmt::format("table {}", table.table);
  if (!plan.reads()) return fmt::format("writes one item of {} by its key", source);
  // The engine refuses statements on an index whose key has several HASH attributes.
  const auto named = plan.where ? partitions_named(*plan.where, schema.front().name) : std::nullopt;
  if (!named) {
    return fmt::format("Scan: reads all of {}, since WHERE does not list values of {}", source,
                       schema.front().name);
  }
  return fmt::format("Query: reads partitions of {} by {}", source, key_text(table, schema));
}

// Returns std::nullopt once a page does not report its part.
template <class T>
std::optional<T> sum(const std::optional<T>& total, const std::optional<T>& part) {
  if (!total || !part) return std::nullopt;
  return *total + *part;
}

// The cost of a SELECT run to its end. Members are std::nullopt if the server does not report them.
struct Cost {
  std::size_t items = 0;
  int pages = 0;
  std::optional<int64_t> examined = 0;
  std::optional<double> units = 0;
  std::chrono::milliseconds time{0};
};

Result<Cost> run(Client& client, std::string_view statement, bool consistent) {
  const auto start = std::chrono::steady_clock::now();
  Cost cost;
  const ExecuteStatementRequest request{.statement = std::string(statement),
                                        .consistent_read = consistent,
                                        .return_capacity = ReturnConsumedCapacity::kTotal};
  STATOR_RETURN_IF_ERROR(run_statement(client, request, [&](ExecuteStatementResult& page) {
    cost.items += page.items.size();
    cost.examined = sum(cost.examined, page.examined);
    cost.units =
        sum(cost.units, page.capacity ? std::optional(page.capacity->total.units) : std::nullopt);
    ++cost.pages;
  }));
  cost.time = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  return cost;
}

std::string to_text(const std::string& plan, const std::optional<Cost>& cost) {
  constexpr std::size_t kWidthMax = 400;
  std::vector<std::vector<std::string>> lines = {{"plan", plan}};
  if (cost) {
    lines.push_back({"items", fmt::format("{} in {} {}", cost->items, cost->pages,
                                          cost->pages == 1 ? "page" : "pages")});
    lines.push_back({"examined", cost->examined ? fmt::format("{}", *cost->examined) : "unknown"});
    lines.push_back(
        {"capacity", cost->units ? fmt::format("{} read units", *cost->units) : "unknown"});
    lines.push_back({"time", fmt::format("{} ms", cost->time.count())});
  }
  return aligned(lines, kWidthMax);
}

std::string to_json_line(const std::string& plan, const std::optional<Cost>& cost) {
  std::string line = wire::item_to_plain_json({{"plan", plan}});
  line.pop_back();  // the closing brace
  if (cost) {
    line += fmt::format(R"(,"items":{},"pages":{})", cost->items, cost->pages);
    if (cost->examined) line += fmt::format(R"(,"examined":{})", *cost->examined);
    if (cost->units) line += fmt::format(R"(,"read_units":{})", *cost->units);
    line += fmt::format(R"(,"ms":{})", cost->time.count());
  }
  return line + "}\n";
}

}  // namespace

std::optional<std::string_view> statement_to_explain(std::string_view text) {
  constexpr std::string_view kWord = "explain";
  constexpr std::string_view kBlank = " \t\r\n";
  const bool begins = text.size() > kWord.size() && kBlank.find(text[kWord.size()]) != text.npos &&
                      std::ranges::equal(text.substr(0, kWord.size()), kWord, {},
                                         [](unsigned char c) { return std::tolower(c); });
  if (!begins) return std::nullopt;
  return text.substr(std::min(text.size(), text.find_first_not_of(kBlank, kWord.size())));
}

Result<void> print_explanation(Client& client, std::string_view statement,
                               const ExplainOptions& options) {
  STATOR_ASSIGN_OR_RETURN(const partiql::Plan plan, partiql::plan(statement, {}));
  STATOR_ASSIGN_OR_RETURN(const DescribeTableResult described,
                          client.describe_table({.table = plan.table}));
  STATOR_ASSIGN_OR_RETURN(const KeySchema schema,
                          key_schema_of(described.table, plan.index.value_or("")));
  std::optional<Cost> cost;
  if (plan.reads()) {
    STATOR_ASSIGN_OR_RETURN(cost, run(client, statement, options.consistent));
  }
  const std::string access = access_text(plan, described.table, schema);
  std::fputs((options.json ? to_json_line(access, cost) : to_text(access, cost)).c_str(), stdout);
  return {};
}

}  // namespace stator::cli

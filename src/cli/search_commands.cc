// SPDX-License-Identifier: Apache-2.0
// stator query, scan: items of a table or an index.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/commands.h"
#include "cli/expression_flags.h"
#include "cli/item_output.h"
#include "cli/key_arguments.h"
#include "cli/table_access.h"

namespace stator::cli {
namespace {

struct SearchFlags {
  EndpointFlags where;
  std::string table;
  std::string index;
  std::vector<std::string> key;
  std::string begins_with;
  std::string from;
  std::string to;
  ExpressionFlags expressions;
  std::string output;
  int64_t limit = 0;  // items to print; 0: all
  bool reverse = false;
  bool consistent = false;
  bool count = false;
  bool json = false;
};

// The limit of the next page, so that printing ten items does not read a whole page.
std::optional<int64_t> page_limit(const SearchFlags& flags, int64_t printed) {
  if (flags.limit == 0) return std::nullopt;
  // A filter removes some of the items read.
  constexpr int64_t kLeastExamined = 100;
  const int64_t left = flags.limit - printed;
  return flags.expressions.filter.empty() ? left : std::max(left, kLeastExamined);
}

// Prints the pages that `next` returns, and on a terminal their cost.
template <class Request>
int print_pages(const SearchFlags& flags, const std::vector<std::string>& first, Request request,
                const std::function<Result<PageResult>(const Request&)>& next) {
  const auto start = std::chrono::steady_clock::now();
  int64_t printed = 0;
  int64_t examined = 0;
  double units = 0;
  {
    const bool lines = flags.json && flags.output.empty();
    ItemOutput output(stdout, lines ? "lines" : flags.output, first);
    do {
      request.limit = page_limit(flags, printed);
      auto page = next(request);
      if (!page) return report(page.error());
      examined += page->scanned_count;
      if (page->capacity) units += page->capacity->total.units;
      if (flags.count) printed += page->count;
      if (flags.limit != 0) printed = std::min(printed, flags.limit);
      for (Item& item : page->items) {
        if (flags.limit != 0 && printed == flags.limit) break;
        output.add(std::move(item));
        ++printed;
      }
      request.exclusive_start_key = std::move(page->last_evaluated_key);
    } while (request.exclusive_start_key && (flags.limit == 0 || printed < flags.limit));
    if (flags.count) output.add({{"count", printed}, {"scanned_count", examined}});
  }
  if (isatty(STDERR_FILENO) == 1) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
    const std::string line = fmt::format("{} items of {} read, {} capacity units, {} ms\n", printed,
                                         examined, units, ms.count());
    std::fputs(line.c_str(), stderr);
  }
  return kSuccess;
}

// A key condition. Its names and values begin with "stator_", so that they do not conflict with the
// user's.
class KeyCondition {
 public:
  explicit KeyCondition(const TableDescription& table) : table_(table) {}

  Result<void> add(const std::string& attribute, const char* form, const std::string& text) {
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, key_value(table_, attribute, text));
    const std::string number = std::to_string(values_.size());
    const std::string name = "#stator_" + number;
    const std::string parameter = ":stator_" + number;
    text_ += (text_.empty() ? "" : " AND ") + fmt::format(fmt::runtime(form), name, parameter);
    names_.emplace(name, attribute);
    values_.emplace(parameter, std::move(value));
    return {};
  }
  void write_to(QueryRequest& request) && {
    request.key_condition = std::move(text_);
    if (!request.names) request.names.emplace();
    if (!request.values) request.values.emplace();
    request.names->merge(names_);
    request.values->merge(values_);
  }

 private:
  const TableDescription& table_;
  std::string text_;
  Names names_;
  Values values_;
};

Result<void> add_sort_conditions(const SearchFlags& flags, const std::string& attribute,
                                 KeyCondition& condition) {
  if (!flags.begins_with.empty()) {
    return condition.add(attribute, "begins_with({}, {})", flags.begins_with);
  }
  if (!flags.from.empty()) STATOR_RETURN_IF_ERROR(condition.add(attribute, "{} >= {}", flags.from));
  if (!flags.to.empty()) STATOR_RETURN_IF_ERROR(condition.add(attribute, "{} <= {}", flags.to));
  return {};
}

Result<QueryRequest> query_request(const SearchFlags& flags, const TableDescription& table) {
  STATOR_ASSIGN_OR_RETURN(const KeySchema schema, key_schema_of(table, flags.index));
  const auto partition_attributes =
      static_cast<std::size_t>(std::ranges::count(schema, KeyType::kHash, &KeySchemaElement::type));
  if (flags.key.size() < partition_attributes || flags.key.size() > schema.size()) {
    return fail(Code::kInvalidArgument, "the key is " + key_text(table, schema) + "; give " +
                                            std::to_string(partition_attributes) + " to " +
                                            std::to_string(schema.size()) + " values");
  }
  KeyCondition condition(table);
  for (std::size_t i = 0; i < flags.key.size(); ++i) {
    STATOR_RETURN_IF_ERROR(condition.add(schema[i].name, "{} = {}", flags.key[i]));
  }
  const bool has_range = !flags.begins_with.empty() || !flags.from.empty() || !flags.to.empty();
  if (has_range && flags.key.size() == schema.size()) {
    return fail(Code::kInvalidArgument,
                "all key attributes have a value; a range needs a sort key without one");
  }
  if (has_range) {
    STATOR_RETURN_IF_ERROR(add_sort_conditions(flags, schema[flags.key.size()].name, condition));
  }
  STATOR_ASSIGN_OR_RETURN(std::optional<Values> values, flags.expressions.values());
  QueryRequest request{.table = flags.table,
                       .names = flags.expressions.names(),
                       .values = std::move(values),
                       .forward = !flags.reverse};
  std::move(condition).write_to(request);
  return request;
}

// Sets the members that both requests have.
template <class Request>
void set_common(const SearchFlags& flags, Request& request) {
  request.index = optional_text(flags.index);
  request.filter = optional_text(flags.expressions.filter);
  request.projection = optional_text(flags.expressions.projection);
  request.consistent_read = flags.consistent;
  if (flags.count) request.select = Select::kCount;
  request.return_capacity = ReturnConsumedCapacity::kTotal;
}

std::vector<std::string> key_names(const TableDescription& table) {
  std::vector<std::string> names;
  for (const KeySchemaElement& element : table.key_schema) names.push_back(element.name);
  return names;
}

int query(const SearchFlags& flags) {
  return with_table(flags.where, flags.table, [&](Client& client, const TableDescription& table) {
    auto request = query_request(flags, table);
    if (!request) return report(request.error());
    set_common(flags, *request);
    return print_pages<QueryRequest>(flags, key_names(table), std::move(*request),
                                     [&](const QueryRequest& page) { return client.query(page); });
  });
}

int scan(const SearchFlags& flags) {
  const auto values = flags.expressions.values();
  if (!values) return report(values.error());
  return with_table(flags.where, flags.table, [&](Client& client, const TableDescription& table) {
    ScanRequest request{
        .table = flags.table, .names = flags.expressions.names(), .values = *values};
    set_common(flags, request);
    return print_pages<ScanRequest>(flags, key_names(table), std::move(request),
                                    [&](const ScanRequest& page) { return client.scan(page); });
  });
}

CLI::App* add_reader(CLI::App& app, Invocation& invocation, const char* name,
                     const char* description, const std::shared_ptr<SearchFlags>& flags,
                     int (*action)(const SearchFlags&)) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("table", flags->table, "The table")->required();
  add_endpoint_flags(*command, flags->where);
  command->add_option("--index", flags->index, "Of this index of the table")->type_name("NAME");
  add_filter_flag(*command, flags->expressions);
  add_projection_flag(*command, flags->expressions);
  add_names_flag(*command, flags->expressions);
  add_values_flag(*command, flags->expressions);
  command->add_option("--limit", flags->limit, "Print at most this many items. Default: all")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command->add_flag("--consistent", flags->consistent, "Read the latest versions");
  command->add_flag("--count", flags->count, "Print the number of items instead");
  add_output_flag(*command, flags->output);
  add_json_flag(*command, flags->json);
  command->callback([&invocation, flags, action] {
    invocation.run = [flags, action] { return action(*flags); };
  });
  return command;
}

}  // namespace

void add_query(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<SearchFlags>();
  CLI::App* command =
      add_reader(app, invocation, "query",
                 "Print the items of a partition, in the order of the sort key", flags, query);
  command
      ->add_option("key", flags->key, "The partition key's value, and the sort key's for one item")
      ->type_name("VALUE")
      ->required()
      ->expected(1, 8);
  auto* begins_with =
      command->add_option("--begins-with", flags->begins_with, "Sort keys that begin with this");
  begins_with->type_name("PREFIX");
  command->add_option("--from", flags->from, "Sort keys of at least this value")
      ->type_name("VALUE")
      ->excludes(begins_with);
  command->add_option("--to", flags->to, "Sort keys of at most this value")
      ->type_name("VALUE")
      ->excludes(begins_with);
  command->add_flag("--reverse", flags->reverse, "From the highest sort key to the lowest");
}

void add_scan(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<SearchFlags>();
  add_reader(app, invocation, "scan", "Print the items of a table", flags, scan);
}

}  // namespace stator::cli

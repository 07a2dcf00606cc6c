// SPDX-License-Identifier: Apache-2.0
// stator search: the items whose vectors are nearest to a vector.
#include "cli/vector_search.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "api/json/item_json.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/expression_flags.h"
#include "cli/item_output.h"

namespace stator::cli {
namespace {

struct SearchFlags {
  EndpointFlags where;
  std::string table;
  std::string index;
  std::string vector;  // JSON
  ExpressionFlags expressions;
  std::string output;
  int64_t top = 10;
  bool exact = false;
  bool json = false;
};

int search(const SearchFlags& flags) {
  auto vector = vector_in(flags.vector);
  if (!vector) return report(vector.error());
  auto values = flags.expressions.values();
  if (!values) return report(values.error());
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  const bool lines = flags.json && flags.output.empty();
  const auto printed = print_search(**client,
                                    {.table = flags.table,
                                     .index = flags.index,
                                     .vector = std::move(*vector),
                                     .top_k = flags.top,
                                     .condition = optional_text(flags.expressions.filter),
                                     .projection = optional_text(flags.expressions.projection),
                                     .names = flags.expressions.names(),
                                     .values = std::move(*values),
                                     .exact = flags.exact},
                                    lines ? "lines" : flags.output);
  return printed ? kSuccess : report(printed.error());
}

}  // namespace

Result<std::vector<float>> vector_in(const std::string& json) {
  const auto read = wire::item_from_plain_json(R"({"vector":)" + json + "}");
  const List* list = read && read->size() == 1 ? read->at("vector").get_if<List>() : nullptr;
  const auto refused = [] {
    return fail(Code::kInvalidArgument,
                "the vector must be a list of numbers in JSON, such as [0.25, -1]");
  };
  if (list == nullptr) return refused();
  std::vector<float> vector;
  for (const AttributeValue& component : *list) {
    const auto* number = component.get_if<Number>();
    if (number == nullptr) return refused();
    vector.push_back(static_cast<float>(number->to_double()));
    if (!std::isfinite(vector.back())) return refused();
  }
  return vector;
}

Result<void> print_search(Client& client, const SearchVectorsRequest& request,
                          const std::string& format) {
  STATOR_ASSIGN_OR_RETURN(SearchVectorsResult found, client.search_vectors(request));
  ItemOutput output(stdout, format, {"score"});
  for (SearchResult& result : found.results) {
    output.add({{"score", Number::from_double(double{result.score}).value()},
                {"item", std::move(result.item)}});
  }
  return {};
}

void add_search(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<SearchFlags>();
  CLI::App* command =
      app.add_subcommand("search", "Print the items whose vectors are nearest to a vector");
  command->add_option("table", flags->table, "The table")->required();
  command->add_option("index", flags->index, "Its vector index")->required();
  command
      ->add_option("vector", flags->vector, "Numbers in JSON, as many as the index has dimensions")
      ->required();
  add_endpoint_flags(*command, flags->where);
  command->add_option("--top", flags->top, "How many items, 1 to 100")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--where", flags->expressions.filter,
                   "Equalities of the search schema's attributes, such as 'tenant = :t'")
      ->type_name("EXPRESSION");
  command->add_flag("--exact", flags->exact, "Compare all vectors, even if there are many");
  add_projection_flag(*command, flags->expressions);
  add_names_flag(*command, flags->expressions);
  add_values_flag(*command, flags->expressions);
  add_output_flag(*command, flags->output);
  add_json_flag(*command, flags->json);
  command->callback([&invocation, flags] { invocation.run = [flags] { return search(*flags); }; });
}

}  // namespace stator::cli

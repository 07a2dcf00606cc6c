// SPDX-License-Identifier: Apache-2.0
// stator sql: PartiQL statements from the command line or standard input.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/explain.h"
#include "cli/item_output.h"
#include "cli/statements.h"

namespace stator::cli {
namespace {

struct SqlFlags {
  EndpointFlags where;
  std::string statement = "-";
  std::string output;
  bool consistent = false;
  bool json = false;
};

constexpr std::size_t kInputMaxMb = 16;

int run_sql(const SqlFlags& flags) {
  std::string text = flags.statement;
  if (text == "-") {
    auto input = read_standard_input(kInputMaxMb);
    if (!input) return report(input.error());
    text = std::move(*input);
  }
  const std::vector<std::string> statements = split_statements(text);
  if (statements.empty()) return report_usage("the statement is empty");
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  for (const std::string& statement : statements) {
    if (const auto explained = statement_to_explain(statement)) {
      const auto printed = print_explanation(**client, *explained,
                                             {.consistent = flags.consistent, .json = flags.json});
      if (!printed) return report(printed.error());
      continue;
    }
    ItemOutput output(stdout, flags.json && flags.output.empty() ? "lines" : flags.output);
    const auto ran =
        run_statement(**client, {.statement = statement, .consistent_read = flags.consistent},
                      [&](ExecuteStatementResult& page) {
                        for (Item& item : page.items) output.add(std::move(item));
                      });
    if (!ran) return report(ran.error());
  }
  return kSuccess;
}

}  // namespace

void add_sql(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<SqlFlags>();
  CLI::App* command = app.add_subcommand("sql", "Run PartiQL statements");
  command
      ->add_option("statement", flags->statement,
                   "The statements, with ; between them; - is standard input")
      ->capture_default_str();
  add_endpoint_flags(*command, flags->where);
  command->add_flag("--consistent", flags->consistent, "Read the latest versions");
  add_output_flag(*command, flags->output);
  add_json_flag(*command, flags->json);
  command->callback([&invocation, flags] { invocation.run = [flags] { return run_sql(*flags); }; });
}

}  // namespace stator::cli

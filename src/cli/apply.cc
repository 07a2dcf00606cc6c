// SPDX-License-Identifier: Apache-2.0
// stator apply: creates and changes tables to match a template. Impossible changes are detected
// before anything is changed, so such an error leaves all tables unchanged.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "api/json/item_json.h"
#include "api/validation/validate.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/table_plan.h"
#include "cli/template.h"
#include "fmt/format.h"
#include "stator/recipes/common.h"

namespace stator::cli {
namespace {

constexpr std::size_t kTemplateBytesMax = 1'000'000;  // as in CloudFormation

struct ApplyFlags {
  EndpointFlags where;
  std::string path;
  std::vector<std::string> parameters;
  bool dry_run = false;
  bool json = false;
};

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

Result<std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin
                                                               : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return fail(Code::kIo, std::strerror(errno));
  std::string text(kTemplateBytesMax + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return fail(Code::kIo, std::strerror(errno));
  if (text.size() > kTemplateBytesMax) {
    return fail(Code::kIo, "larger than " + std::to_string(kTemplateBytesMax) + " bytes");
  }
  return text;
}

Result<TemplateParameters> read_parameters(const ApplyFlags& flags) {
  TemplateParameters parameters = {{"AWS::Region", flags.where.region},
                                   {"AWS::AccountId", "000000782867"},
                                   {"AWS::Partition", "aws"}};
  for (const std::string& given : flags.parameters) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Code::kInvalidArgument,
                  "--parameter: invalid '" + given + "'; expected NAME=VALUE");
    }
    parameters[given.substr(0, equals)] = given.substr(equals + 1);
  }
  return parameters;
}

// Reads tags only for templates with tags, because reading them requires a permission.
ReadTags tags_of(const TemplateTable& table) {
  return table.request.tags.empty() ? ReadTags::kNo : ReadTags::kYes;
}

// Returns std::nullopt if the table does not exist.
Result<std::optional<std::vector<TableStep>>> plan_for(Client& client, const TemplateTable& table) {
  const auto found = read_state(client, table.request.table, tags_of(table));
  if (!found) {
    if (found.error().code == Code::kResourceNotFound) {
      return std::optional<std::vector<TableStep>>();
    }
    return Failure(found.error());
  }
  STATOR_ASSIGN_OR_RETURN(std::vector<TableStep> steps, steps_to(table, *found));
  return std::optional(std::move(steps));
}

Result<void> carry_out(Client& client, const std::string& table,
                       const std::vector<TableStep>& steps) {
  for (const TableStep& step : steps) {
    auto done = carry_out(client, table, step);
    if (!done) return fail(done.error().code, step.what + ": " + done.error().message);
  }
  return wait_until_active(client, table);
}

// Creates the table, then applies the settings that CreateTable cannot set.
Result<std::vector<TableStep>> create(Client& client, const TemplateTable& table) {
  STATOR_RETURN_IF_ERROR(create_table_if_missing(client, table.request));
  STATOR_ASSIGN_OR_RETURN(const TableState state,
                          read_state(client, table.request.table, tags_of(table)));
  STATOR_ASSIGN_OR_RETURN(std::vector<TableStep> steps, steps_to(table, state));
  STATOR_RETURN_IF_ERROR(carry_out(client, table.request.table, steps));
  return steps;
}

void print_outcome(const ApplyFlags& flags, const TemplateTable& table, std::string_view outcome,
                   const std::vector<TableStep>& steps) {
  List changes;
  std::string line = fmt::format("{}\t{}", table.request.table, outcome);
  for (const TableStep& step : steps) {
    line += (changes.empty() ? "\t" : "; ") + step.what;
    changes.emplace_back(step.what);
  }
  if (flags.json) {
    List ignored(table.ignored.begin(), table.ignored.end());
    line = wire::item_to_plain_json({{"resource", table.resource},
                                     {"table", table.request.table},
                                     {"outcome", outcome},
                                     {"changes", std::move(changes)},
                                     {"not_applied", std::move(ignored)}});
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  if (flags.json) return;
  for (const std::string& property : table.ignored) {
    std::fprintf(stderr, "stator: note: %s: %s is not applied\n", table.resource.c_str(),
                 property.c_str());
  }
}

// `steps`: std::nullopt if the table does not exist.
Result<void> apply_table(const ApplyFlags& flags, Client& client, const TemplateTable& table,
                         const std::optional<std::vector<TableStep>>& steps) {
  if (flags.dry_run) {
    const std::string_view outcome = !steps ? "missing" : steps->empty() ? "unchanged" : "differs";
    print_outcome(flags, table, outcome, steps.value_or(std::vector<TableStep>()));
    return {};
  }
  if (!steps) {
    STATOR_ASSIGN_OR_RETURN(const std::vector<TableStep> further, create(client, table));
    print_outcome(flags, table, "created", further);
    return {};
  }
  STATOR_RETURN_IF_ERROR(carry_out(client, table.request.table, *steps));
  print_outcome(flags, table, steps->empty() ? "unchanged" : "updated", *steps);
  return {};
}

int apply_tables(const ApplyFlags& flags, const std::vector<TemplateTable>& tables) {
  const auto refuse = [&](const TemplateTable& table, Error error) {
    error.message = flags.path + ": " + table.resource + ": " + error.message;
    return report(error);
  };
  for (const TemplateTable& table : tables) {
    if (auto valid = validate(table.request); !valid) {
      return refuse(table, std::move(valid).error());
    }
  }
  auto client = open_client(flags.where);
  if (!client) return report(client.error());
  std::vector<std::optional<std::vector<TableStep>>> plans;
  for (const TemplateTable& table : tables) {
    auto plan = plan_for(**client, table);
    if (!plan) return refuse(table, std::move(plan).error());
    plans.push_back(*std::move(plan));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (auto done = apply_table(flags, **client, tables[i], plans[i]); !done) {
      return refuse(tables[i], std::move(done).error());
    }
  }
  return kSuccess;
}

int apply(const ApplyFlags& flags) {
  const auto refuse = [&](const std::string& message) {
    return report({.code = Code::kIo, .message = flags.path + ": " + message});
  };
  const auto parameters = read_parameters(flags);
  if (!parameters) return report(parameters.error());
  const auto text = read_file(flags.path);
  if (!text) return refuse(text.error().message);
  const auto tables = read_template(*text, *parameters);
  if (!tables) return refuse(tables.error().message);
  if (tables->empty()) return refuse("the template defines no tables");
  return apply_tables(flags, *tables);
}

}  // namespace

void add_apply(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* command = app.add_subcommand(
      "apply", "Create and change tables as a CloudFormation or SAM template defines them");
  command
      ->add_option("template", flags->path,
                   "The template, YAML or JSON; - for standard input. A table without a TableName "
                   "gets its resource's name")
      ->required();
  add_endpoint_flags(*command, flags->where);
  command
      ->add_option("--parameter", flags->parameters,
                   "A parameter's value, instead of its default; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", flags->dry_run, "Print the differences without changing anything");
  add_json_flag(*command, flags->json);
  command->callback([&invocation, flags] { invocation.run = [flags] { return apply(*flags); }; });
}

}  // namespace stator::cli

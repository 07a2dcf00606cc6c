// SPDX-License-Identifier: Apache-2.0
// stator apply: creates the tables of a template that are missing. Everything is checked before
// anything is created, so that a refusal leaves all as it was.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>

#include "api/validate.h"
#include "api/wire.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/template.h"
#include "stator/recipes/common.h"

namespace stator::cli {
namespace {

constexpr std::size_t kTemplateBytesMax = 1'000'000;  // as the service

struct Flags {
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

Result<TemplateParameters> read_parameters(const Flags& flags) {
  TemplateParameters parameters = {{"AWS::Region", flags.where.region},
                                   {"AWS::AccountId", "000000000000"},
                                   {"AWS::Partition", "aws"}};
  for (const std::string& given : flags.parameters) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Code::kInvalidArgument, "--parameter: '" + given + "' is no NAME=VALUE");
    }
    parameters[given.substr(0, equals)] = given.substr(equals + 1);
  }
  return parameters;
}

template <class T, class Less>
bool same_in_any_order(std::vector<T> a, std::vector<T> b, Less less) {
  std::ranges::sort(a, less);
  std::ranges::sort(b, less);
  return a == b;
}

bool same_attributes(const CreateTableRequest& wanted, const TableDescription& found) {
  return same_in_any_order(
      wanted.attributes, found.attributes,
      [](const AttributeDefinition& a, const AttributeDefinition& b) { return a.name < b.name; });
}

// Which part of an index differs; empty: none. Capacity counts only where the template gives one.
std::string difference(const IndexDefinition& wanted, const IndexDefinition& found) {
  if (wanted.key_schema != found.key_schema) return "key schema";
  if (wanted.projection.type != found.projection.type ||
      !same_in_any_order(wanted.projection.non_key_attributes, found.projection.non_key_attributes,
                         std::less<>())) {
    return "projection";
  }
  if (wanted.throughput && wanted.throughput != found.throughput) return "throughput";
  if (wanted.on_demand_throughput && wanted.on_demand_throughput != found.on_demand_throughput) {
    return "on-demand throughput";
  }
  return "";
}

std::string difference(const std::optional<std::vector<IndexDefinition>>& wanted,
                       const std::vector<IndexDescription>& found) {
  const std::vector<IndexDefinition> all = wanted.value_or(std::vector<IndexDefinition>());
  for (const IndexDefinition& index : all) {
    const auto there = std::ranges::find_if(
        found, [&](const IndexDescription& other) { return other.definition.name == index.name; });
    if (there == found.end()) return "it has no index " + index.name;
    const std::string part = difference(index, there->definition);
    if (!part.empty()) return "the index " + index.name + " has another " + part;
  }
  for (const IndexDescription& index : found) {
    const bool is_wanted = std::ranges::any_of(
        all, [&](const IndexDefinition& other) { return other.name == index.definition.name; });
    if (!is_wanted) return "it has the index " + index.definition.name + ", the template does not";
  }
  return "";
}

// Why the table is not what the template says; empty: it is.
std::string difference(const CreateTableRequest& wanted, const TableDescription& found) {
  if (wanted.key_schema != found.key_schema) return "it has another key schema";
  for (const std::string& part : {difference(wanted.global_indexes, found.global_indexes),
                                  difference(wanted.local_indexes, found.local_indexes)}) {
    if (!part.empty()) return part;
  }
  if (!same_attributes(wanted, found)) return "it has other attribute definitions";
  if (wanted.billing_mode.value_or(BillingMode::kProvisioned) != found.billing_mode) {
    return "it has another billing mode";
  }
  if (wanted.throughput && *wanted.throughput != found.throughput) {
    return "it has another provisioned throughput";
  }
  if (wanted.on_demand_throughput && wanted.on_demand_throughput != found.on_demand_throughput) {
    return "it has another on-demand throughput";
  }
  if (wanted.table_class.value_or(TableClass::kStandard) !=
      found.table_class.value_or(TableClass::kStandard)) {
    return "it has another table class";
  }
  if (wanted.deletion_protection.value_or(false) != found.deletion_protection) {
    return found.deletion_protection ? "it is protected from deletion"
                                     : "it is not protected from deletion";
  }
  return "";
}

enum class Plan { kCreate, kLeave };

Result<Plan> plan_for(Client& client, const TemplateTable& table) {
  auto found = client.describe_table({.table = table.request.table});
  if (!found) {
    if (found.error().code == Code::kResourceNotFound) return Plan::kCreate;
    return failure_of(std::move(found));
  }
  const std::string reason = difference(table.request, found->table);
  if (reason.empty()) return Plan::kLeave;
  return fail(Code::kConflict, "the table " + table.request.table +
                                   " is there and differs from the template: " + reason);
}

void tell(const Flags& flags, const TemplateTable& table, const std::string& outcome) {
  std::string line = table.request.table + "\t" + outcome;
  if (flags.json) {
    List ignored(table.ignored.begin(), table.ignored.end());
    line = wire::item_to_plain_json({{"resource", table.resource},
                                     {"table", table.request.table},
                                     {"outcome", outcome},
                                     {"not_applied", std::move(ignored)}});
  }
  std::printf("%s\n", line.c_str());
  if (flags.json) return;
  for (const std::string& property : table.ignored) {
    std::fprintf(stderr, "stator: note: %s: %s is not applied\n", table.resource.c_str(),
                 property.c_str());
  }
}

int apply_tables(const Flags& flags, const std::vector<TemplateTable>& tables) {
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
  std::vector<Plan> plans;
  for (const TemplateTable& table : tables) {
    auto plan = plan_for(**client, table);
    if (!plan) return refuse(table, std::move(plan).error());
    plans.push_back(*plan);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (plans[i] == Plan::kLeave) {
      tell(flags, tables[i], "unchanged");
      continue;
    }
    if (flags.dry_run) {
      tell(flags, tables[i], "missing");
      continue;
    }
    auto created = create_table_if_missing(**client, tables[i].request);
    if (!created) return refuse(tables[i], std::move(created).error());
    tell(flags, tables[i], "created");
  }
  return kSuccess;
}

int apply(const Flags& flags) {
  const auto refuse = [&](const std::string& message) {
    return report({.code = Code::kIo, .message = flags.path + ": " + message});
  };
  const auto parameters = read_parameters(flags);
  if (!parameters) return report(parameters.error());
  const auto text = read_file(flags.path);
  if (!text) return refuse(text.error().message);
  const auto tables = read_template(*text, *parameters);
  if (!tables) return refuse(tables.error().message);
  if (tables->empty()) return refuse("the template has no tables, nothing to do");
  return apply_tables(flags, *tables);
}

}  // namespace

void add_apply(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "apply", "Create the tables of a CloudFormation or SAM template that are missing");
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
  command->add_flag("--dry-run", flags->dry_run, "Say what is missing, create nothing");
  command->add_flag("--json", flags->json, "One JSON object a line, for scripts");
  command->callback([&invocation, flags] { invocation.run = [flags] { return apply(*flags); }; });
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// stator test-mode: prints or replaces the rules of a server's test mode.
#include "cli/test_mode.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/profile_file.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "client/test_mode_rules.h"

namespace stator::cli {
namespace {

struct TestModeFlags {
  std::optional<std::string> rules = {};
  EndpointFlags endpoint = {};
};

int run_test_mode(const TestModeFlags& flags) {
  std::optional<std::string> rules;
  if (flags.rules) {
    auto read = read_test_mode(*flags.rules);
    if (!read) return report(read.error());
    rules = std::move(*read);
  }
  const auto server = server_named(flags.endpoint);
  if (!server) return report(server.error());
  const auto response = exchange_test_mode(*server, rules);
  if (!response) return report(response.error());
  std::puts(response->c_str());
  return kSuccess;
}

}  // namespace

Result<std::string> read_test_mode(const std::string& given) {
  if (given.starts_with('{')) return given;
  return read_profile_file(given);
}

void add_test_mode(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<TestModeFlags>();
  CLI::App* command =
      app.add_subcommand("test-mode", "Print or replace the rules of a server's test mode");
  command
      ->add_option("rules", flags->rules,
                   "Rules in JSON, or a file of them (docs/testing.md); '{}' deletes all. Default: "
                   "the rules stay")
      ->type_name("JSON|FILE");
  add_server_flags(*command, *command, flags->endpoint);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_test_mode(*flags); }; });
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/examples.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "base/check.h"

namespace stator::cli {
namespace {

struct Example {
  std::string_view command;
  std::string_view arguments;
};

constexpr Example kExamples[] = {
    {"serve", "--data /var/lib/stator --port 8000"},
    {"health", "http://127.0.0.1:8000"},
    {"test-mode", R"('{"rules":[{"fault":"throttling","tables":["Orders"],"last":2}]}')"},
    {"tables", "--endpoint https://dynamodb.eu-west-1.amazonaws.com"},
    {"describe", "Orders"},
    {"get", "Orders ann 2024-05-01"},
    {"put",
     R"(Orders '{"customer":"ann","at":"2024-05-01","price":12.5}' --if 'attribute_not_exists(customer)')"},
    {"delete", "Orders ann 2024-05-01 --if 'price < :p' --value ':p=20'"},
    {"query",
     "Orders ann --from 2024-05 --filter 'price > :p' --value ':p=10' --reverse --limit 5"},
    {"scan", "Orders --output csv > orders.csv"},
    {"search", "Texts meaning '[0.12, -0.5, 0.3]' --where 'lang = :l' --value ':l=en' --top 5"},
    {"sql", R"("SELECT * FROM Orders WHERE customer = 'ann' AND price > 10")"},
    {"shell", "--data ./stator-data"},
    {"bench", "--clients 32 --operations put,get"},
    {"apply", "template.yml --dry-run"},
    {"toggle save", "door on --at 2024-05-01T12:00:00Z --event e1"},
    {"toggle latest", "door"},
    {"toggle as-of", "door 2024-05-01T12:00:00Z"},
    {"toggle history", "door --from 2024-05-01T00:00:00Z --limit 10"},
    {"toggle consume", "events.jsonl --checkpoint events.position"},
    {"lock run", "nightly --wait 10m -- ./rebuild.sh"},
    {"lock ls", "--expired"},
    {"lock show", "nightly"},
    {"lock break", "nightly"},
    {"lock permits", "license 5"},
    {"feed post", "ann 'Nice weather'"},
    {"feed edit", "ann 018f3406-9e00-7000-8000-000000000001 'Nice weather here'"},
    {"feed read", "bob --limit 20"},
    {"feed retract", "ann 018f3406-9e00-7000-8000-000000000001"},
    {"feed trim", "bob --keep 1000"},
    {"feed follow", "bob ann --backfill 20"},
    {"feed unfollow", "bob ann"},
    {"feed followers", "ann"},
    {"feed deliver", "--json"},
    {"feed worker", "--nats nats://127.0.0.1:4222"},
    {"sensor add", "gas-1 --city Berlin --building B2 --floor 3 --room 301 --type gas"},
    {"sensor get", "gas-1"},
    {"sensor move", "gas-1 --city Berlin --building B2 --floor 4 --room 401"},
    {"sensor decommission", "gas-1"},
    {"sensor record", "gas-1 21.5 --at 2024-05-01T12:00:00Z --unit C"},
    {"sensor latest", "gas-1 --limit 5"},
    {"sensor readings", "gas-1 --from 2024-05-01T00:00:00Z"},
    {"sensor summarize", "gas-1 --by day"},
    {"sensor rollups", "gas-1 --by hour"},
    {"sensor settings", "--retention 90d"},
    {"sensor at", "--city Berlin --building B2"},
    {"sensor import", "gas-1 readings.csv --time date --value temperature"},
    {"export", "Orders ./exports"},
    {"import", "Orders orders.csv --key customer:S at:S"},
    {"copy",
     "./stator-data https://dynamodb.eu-west-1.amazonaws.com --to-region eu-west-1 --checkpoint "
     "copy.position"},
    {"backup", "--data ./stator-data /mnt/monday"},
    {"restore", "/mnt/monday ./stator-data"},
    {"verify", "./stator-data"},
    {"recover", "./stator-data"},
    {"cluster init", "--store postgresql://stator@db.example/stator"},
    {"cluster status", "--store postgresql://stator@db.example/stator"},
    {"cluster upgrade", "--store postgresql://stator@db.example/stator"},
    {"policy check",
     "--policy reader.json --action dynamodb:GetItem --resource Orders --leading-key ann"},
    {"completion", "bash > ~/.local/share/bash-completion/completions/stator"},
};

void add_examples_below(CLI::App& command, const std::string& path) {
  const auto subcommands = command.get_subcommands(
      [](const CLI::App* subcommand) { return !subcommand->get_name().empty(); });
  for (CLI::App* subcommand : subcommands) {
    const std::string separator = path.empty() ? "" : " ";
    add_examples_below(*subcommand, path + separator + subcommand->get_name());
  }
  if (!subcommands.empty()) return;
  for (const Example& example : kExamples) {
    if (example.command != path) continue;
    const std::string footer = command.get_footer();
    command.footer(fmt::format("{}{}Example: stator {} {}", footer, footer.empty() ? "" : "\n",
                               path, example.arguments));
    return;
  }
  STATOR_CHECK(false && "a command without an example");
}

}  // namespace

void add_examples(CLI::App& app) {
  add_examples_below(app, "");
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// stator verify: checks a data directory or a backup for damage.
#include "cli/verify.h"
#include "api/json/item_json.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "storage/stores.h"

namespace stator::cli {
namespace {

struct VerifyFlags {
  std::string directory;
  bool json = false;
};

void print_json(const VerifyFlags& flags, const VerifyReport& report) {
  List findings;
  for (const Finding& finding : report.findings) {
    findings.emplace_back(Map{{"kind", std::string(finding.kind)}, {"message", finding.message}});
  }
  const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
  const Item item{{"directory", flags.directory},
                  {"sound", report.is_sound()},
                  {"findings", std::move(findings)},
                  {"finding_count", number(report.finding_count)},
                  {"tables", number(report.tables)},
                  {"items", number(report.items)},
                  {"index_entries", number(report.index_entries)},
                  {"changes", number(report.changes)},
                  {"tokens", number(report.tokens)},
                  {"uncounted", List(report.uncounted.begin(), report.uncounted.end())}};
  std::printf("%s\n", wire::item_to_plain_json(item).c_str());
}

void print_text(const VerifyReport& report) {
  print_findings(report);
  for (const std::string& table : report.uncounted) {
    std::printf(
        "note: table '%s' was not closed cleanly; its items are counted when it is next "
        "described\n",
        table.c_str());
  }
  std::printf("checked %llu tables, %llu items, %llu index entries, %llu changes, %llu tokens\n",
              static_cast<unsigned long long>(report.tables),
              static_cast<unsigned long long>(report.items),
              static_cast<unsigned long long>(report.index_entries),
              static_cast<unsigned long long>(report.changes),
              static_cast<unsigned long long>(report.tokens));
}

int run_verify(const VerifyFlags& flags) {
  const auto checked = verify_directory(flags.directory);
  if (!checked) return report(checked.error());
  if (flags.json) {
    print_json(flags, *checked);
  } else {
    print_text(*checked);
  }
  if (checked->is_sound()) return kSuccess;
  std::fflush(stdout);
  return report({.code = Code::kCorruption,
                 .message = "'" + flags.directory + "' is damaged, in " +
                            std::to_string(checked->finding_count) +
                            " findings; restore it from a backup"});
}

}  // namespace

Result<VerifyReport> verify_directory(const std::filesystem::path& directory) {
  STATOR_ASSIGN_OR_RETURN(const auto store,
                          open_rocks_store({.path = directory, .read_only = true}));
  std::optional<Progress> progress;
  std::string_view last;
  return verify(*store, [&](std::string_view doing, uint64_t done, uint64_t total) {
    if (doing != last)
      progress.emplace(std::string(doing), ProgressUnit::kBytes, static_cast<int64_t>(total));
    last = doing;
    progress->advance_to(static_cast<int64_t>(done));
  });
}

void print_findings(const VerifyReport& report) {
  for (const Finding& finding : report.findings) {
    std::printf("%.*s: %s\n", static_cast<int>(finding.kind.size()), finding.kind.data(),
                finding.message.c_str());
  }
  if (report.finding_count > report.findings.size()) {
    std::printf("and %llu more\n",
                static_cast<unsigned long long>(report.finding_count - report.findings.size()));
  }
}

void add_verify(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = app.add_subcommand(
      "verify", "Check a data directory or a backup completely, without changing it");
  command
      ->add_option("directory", flags->directory,
                   "The directory; no process may have it open. Checked are the files' checksums, "
                   "every item, every index entry both ways, counters, changes, tokens and stray "
                   "rows")
      ->type_name("DIR")
      ->required();
  add_json_flag(*command, flags->json);
  command->footer("Exit status: 0 if nothing is wrong, otherwise 1.");
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_verify(*flags); }; });
}

}  // namespace stator::cli

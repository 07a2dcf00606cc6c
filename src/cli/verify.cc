// SPDX-License-Identifier: Apache-2.0
// stator verify: checks a data directory, a backup or a database for damage.
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
#include "cli/store_flags.h"
#include "storage/postgres/postgres_cluster.h"
#include "storage/postgres/postgres_store.h"
#include "storage/stores.h"

namespace stator::cli {
namespace {

struct VerifyFlags {
  std::string directory;
  StoreFlags store;
  bool json = false;
};

void print_json(const char* kind, const std::string& name, const VerifyReport& report) {
  List findings;
  for (const Finding& finding : report.findings) {
    findings.emplace_back(Map{{"kind", std::string(finding.kind)}, {"message", finding.message}});
  }
  const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
  const Item item{{kind, name},
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

VerifyReport verify_with_progress(TransactStore& store, std::optional<LogPosition> end = {}) {
  std::optional<Progress> progress;
  std::string_view last;
  const auto advance = [&](std::string_view doing, uint64_t done, uint64_t total) {
    if (doing != last)
      progress.emplace(std::string(doing), ProgressUnit::kBytes, static_cast<int64_t>(total));
    last = doing;
    progress->advance_to(static_cast<int64_t>(done));
  };
  return verify(store, advance, end);
}

// Finding a safe position commits, and a new connection prepares statements that write, so both
// must happen before the pause.
Result<VerifyReport> verify_database(PostgresStoreOptions options) {
  options.read_connections = 1;
  STATOR_ASSIGN_OR_RETURN(const auto store, open_postgres_store(options));
  STATOR_RETURN_IF_ERROR(store->safe_position());
  STATOR_ASSIGN_OR_RETURN(const auto pause, pause_postgres_writes(options));
  VerifyReport checked = verify_with_progress(*store, LogPosition{UINT64_MAX});
  if (!pause->holds()) {
    return fail(Code::kUnavailable,
                "the connection that kept others from writing was lost; verify again");
  }
  return checked;
}

int run_verify(const VerifyFlags& flags) {
  NamedStore store;
  if (flags.directory.empty()) {
    auto named = named_store(flags.store);
    if (!named) return report(named.error());
    store = *std::move(named);
    if (store.url.empty()) {
      return report({.code = Code::kInvalidArgument,
                     .message = "nothing to verify; name a directory, or give --store"});
    }
  }
  const bool is_directory = store.url.empty();
  const std::string& name = is_directory ? flags.directory : store.name;
  const auto checked = is_directory
                           ? verify_directory(flags.directory)
                           : verify_database({.dsn = store.url, .schema = flags.store.schema});
  if (!checked) return report(checked.error());
  if (flags.json) {
    print_json(is_directory ? "directory" : "store", name, *checked);
  } else {
    print_text(*checked);
  }
  if (checked->is_sound()) return kSuccess;
  std::fflush(stdout);
  return report({.code = Code::kCorruption,
                 .message = "'" + name + "' is damaged, in " +
                            std::to_string(checked->finding_count) +
                            " findings; restore it from a backup"});
}

}  // namespace

Result<VerifyReport> verify_directory(const std::filesystem::path& directory) {
  STATOR_ASSIGN_OR_RETURN(const auto store,
                          open_rocks_store({.path = directory, .read_only = true}));
  return verify_with_progress(*store);
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
      "verify", "Check a data directory, a backup or a database completely, without changing it");
  CLI::Option* const directory =
      command
          ->add_option("directory", flags->directory,
                       "The directory; no process may have it open. Checked are the files' "
                       "checksums, every item, every index entry both ways, counters, changes, "
                       "tokens and stray rows")
          ->type_name("DIR");
  const StoreOptions store = add_store_flags(*command, flags->store);
  directory->excludes(store.store)->excludes(store.schema);
  add_json_flag(*command, flags->json);
  command->footer(
      "While a database is verified, requests of its servers can wait, and fail after some "
      "seconds.\n"
      "Exit status: 0 if nothing is wrong, otherwise 1.");
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_verify(*flags); }; });
}

}  // namespace stator::cli

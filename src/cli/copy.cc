// SPDX-License-Identifier: Apache-2.0
// stator copy: copies tables from one backend to another and verifies the result.
//
// All checks are made before anything is changed. Then each table is copied in this order:
// definition, items, comparison, settings.
#include <fmt/format.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "api/json/item_json.h"
#include "cli/commands.h"
#include "cli/compare_items.h"
#include "cli/copy_checkpoint.h"
#include "cli/copy_definition.h"
#include "cli/copy_items.h"
#include "cli/endpoint.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/table_access.h"
#include "stator/database.h"

namespace stator::cli {
namespace {

constexpr std::size_t kDifferencesPrinted = 100;  // of each table
constexpr std::chrono::seconds kSaveEvery{1};

struct EndFlags {
  std::string name;
  std::string schema = StoreFlags().schema;
  std::string profile;
  std::string region;
};

struct CopyFlags {
  EndFlags from;
  EndFlags to;
  std::vector<std::string> tables;  // names or patterns; empty: all
  std::string prefix;
  int segments = 8;
  int64_t rate = 0;
  std::string checkpoint;
  bool resume = false;
  bool dry_run = false;
  bool verify = false;
  bool no_verify = false;
  bool json = false;
};

struct CopyEnd {
  EndpointFlags where;
  std::string name;  // normalized, to find out whether both ends are the same
  bool is_directory() const { return !where.data.empty(); }
};

struct PlannedCopy {
  CopiedTable table;
  std::string outcome;  // of --dry-run: "create", "fill" or "resume"
  const TableDescription& source() const { return table.source; }
  const std::string& target_name() const { return table.wanted.request.table; }
};

template <class T>
Result<T> of_end(const char* end, Result<T> result) {
  if (!result) return fail(result.error().code, std::string(end) + ": " + result.error().message);
  return result;
}

Result<CopyEnd> find_end(const EndFlags& flags) {
  STATOR_ASSIGN_OR_RETURN(EndpointFlags where, backend_named(flags.name));
  CopyEnd end{.where = std::move(where), .name = flags.name};
  end.where.profile = flags.profile;
  end.where.region = flags.region;
  const bool is_database = !end.where.store.url.empty();
  if (!is_database && flags.schema != StoreFlags().schema) {
    return fail(Code::kInvalidArgument,
                "a schema needs a PostgreSQL database, but '" + flags.name + "' is not one");
  }
  if (flags.schema.empty()) {
    return fail(Code::kInvalidArgument,
                "invalid schema name ''; use 1 to 63 lower-case letters, digits and '_'");
  }
  end.where.store.schema = flags.schema;
  if (end.is_directory()) {
    // Absolute first: otherwise the name would change when the directory is created.
    std::error_code error;
    auto path = std::filesystem::absolute(flags.name, error);
    if (!error) path = std::filesystem::weakly_canonical(path, error);
    if (error) return fail(Code::kIo, "'" + flags.name + "': " + error.message());
    end.name = path.string();
  }
  while (end.name.size() > 1 && end.name.ends_with('/')) end.name.pop_back();
  if (is_database) end.name += ' ' + flags.schema;
  return end;
}

Result<bool> has_items(Client& client, const std::string& table) {
  ScanRequest request{.table = table, .limit = 1, .consistent_read = true};
  do {
    STATOR_ASSIGN_OR_RETURN(PageResult page, client.scan(request));
    if (!page.items.empty()) return true;
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (request.exclusive_start_key);
  return false;
}

bool is_same_table(const TableDescription& a, const TableDescription& b) {
  return !a.id.empty() && a.id == b.id && a.arn == b.arn && a.created_ms == b.created_ms;
}

const char* name_of(ItemDifference::Kind kind) {
  switch (kind) {
    case ItemDifference::Kind::kMissing:
      return "missing";
    case ItemDifference::Kind::kExtra:
      return "extra";
    case ItemDifference::Kind::kChanged:
      break;
  }
  return "changed";
}

class Copy {
 public:
  Copy(const CopyFlags& flags, std::stop_token stop) : flags_(flags), stop_(std::move(stop)) {}

  // Fails if a table differs or a setting was refused, after all tables are done.
  Result<void> run() {
    STATOR_ASSIGN_OR_RETURN(const CopyEnd from, of_end("source", find_end(flags_.from)));
    STATOR_ASSIGN_OR_RETURN(const CopyEnd to, of_end("target", find_end(flags_.to)));
    if (from.name == to.name && (from.is_directory() || flags_.prefix.empty())) {
      return fail(Code::kInvalidArgument, "the source and the target are the same");
    }
    both_are_servers_ = !from.is_directory() && !to.is_directory();
    STATOR_ASSIGN_OR_RETURN(
        checkpoint_,
        CopyCheckpoint::load(flags_.checkpoint, from.name + '\n' + to.name + '\n' + flags_.prefix));
    STATOR_ASSIGN_OR_RETURN(from_, of_end("source", open_client(from.where, Missing::kFail)));
    STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> names, tables_to_copy());
    STATOR_ASSIGN_OR_RETURN(to_, of_end("target", open_target(to)));
    std::vector<PlannedCopy> plan;
    for (const std::string& name : names) {
      STATOR_ASSIGN_OR_RETURN(PlannedCopy copy, plan_copy(name));
      plan.push_back(std::move(copy));
    }
    for (const PlannedCopy& copy : plan) {
      if (flags_.dry_run) {
        print(copy, copy.outcome, {.source_items = copy.source().item_count},
              copy.table.wanted.ignored);
      } else if (flags_.verify) {
        STATOR_RETURN_IF_ERROR(verify_table(copy));
      } else {
        STATOR_RETURN_IF_ERROR(copy_table(copy));
      }
    }
    for (const std::string& note : notes_) std::fprintf(stderr, "%s\n", one_line(note).c_str());
    return conclude(plan.size());
  }

 private:
  Result<std::unique_ptr<Client>> open_target(const CopyEnd& to) const {
    std::error_code ignored;
    if (flags_.dry_run && to.is_directory() && !std::filesystem::exists(to.name, ignored)) {
      STATOR_ASSIGN_OR_RETURN(Database no_tables, Database::open());
      return std::make_unique<Database>(std::move(no_tables));
    }
    return open_client(to.where, flags_.verify ? Missing::kFail : Missing::kCreate);
  }

  Result<std::vector<std::string>> tables_to_copy() const {
    std::vector<std::string> all;
    STATOR_RETURN_IF_ERROR(of_end(
        "source", for_each_table(*from_, [&](const std::string& table) { all.push_back(table); })));
    if (all.empty()) return fail(Code::kResourceNotFound, "source: there are no tables");
    if (flags_.tables.empty()) return all;
    std::vector<std::string> chosen;
    for (const std::string& pattern : flags_.tables) {
      const auto matches = [&](const std::string& table) {
        return fnmatch(pattern.c_str(), table.c_str(), 0) == 0;
      };
      if (std::ranges::none_of(all, matches)) {
        return fail(Code::kResourceNotFound, "source: no table matches '" + pattern + "'");
      }
      std::ranges::copy_if(all, std::back_inserter(chosen), matches);
    }
    std::ranges::sort(chosen);
    chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
    return chosen;
  }

  Result<PlannedCopy> plan_copy(const std::string& name) const {
    STATOR_ASSIGN_OR_RETURN(
        CopiedTable table, of_end("source", read_copied_table(*from_, name, flags_.prefix + name)));
    PlannedCopy copy{.table = std::move(table), .outcome = "create"};
    auto found = read_state(*to_, copy.target_name(), ReadTags::kNo);
    if (!found && found.error().code == Code::kResourceNotFound && !flags_.verify) return copy;
    STATOR_ASSIGN_OR_RETURN(const TableState target, of_end("target", std::move(found)));
    if (flags_.verify) {
      if (target.table.key_schema == copy.source().key_schema) return copy;
      return fail(Code::kConflict,
                  "target: table '" + copy.target_name() + "' has another key schema");
    }
    if (both_are_servers_ && is_same_table(copy.source(), target.table)) {
      return fail(Code::kInvalidArgument,
                  "table '" + name + "' is the same at the source and the target");
    }
    STATOR_RETURN_IF_ERROR(of_end("target", check_same_definition(copy.table, target)));
    const bool is_begun = checkpoint_->find(copy.source(), target.table) != nullptr;
    STATOR_ASSIGN_OR_RETURN(const bool is_filled,
                            of_end("target", has_items(*to_, copy.target_name())));
    if (is_filled && !is_begun && !flags_.resume) {
      return fail(Code::kConflict,
                  "target: table '" + copy.target_name() +
                      "' has items; to put the source's items into it, give --resume");
    }
    copy.outcome = is_filled ? "resume" : "fill";
    return copy;
  }

  Result<void> copy_table(const PlannedCopy& copy) {
    STATOR_ASSIGN_OR_RETURN(const TableDescription target,
                            of_end("target", create_copy(*to_, copy.table)));
    const ScanPositions* const begun = checkpoint_->find(copy.source(), target);
    ScanPositions reached =
        begun != nullptr ? *begun : ScanPositions(static_cast<std::size_t>(flags_.segments));
    STATOR_RETURN_IF_ERROR(checkpoint_->save(copy.source(), target, reached));
    STATOR_RETURN_IF_ERROR(copy_all_items(copy, target, reached));
    Comparison compared{.source_items = items_in(reached)};
    if (!flags_.no_verify) {
      STATOR_ASSIGN_OR_RETURN(compared, compare(copy));
    }
    STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> refused,
                            of_end("target", copy_settings(*to_, copy.table)));
    settings_refused_ += refused.size();
    std::vector<std::string> not_copied = copy.table.wanted.ignored;
    not_copied.insert(not_copied.end(), refused.begin(), refused.end());
    print(copy, flags_.no_verify ? "copied" : outcome_of(compared), compared, not_copied);
    return {};
  }

  Result<void> copy_all_items(const PlannedCopy& copy, const TableDescription& target,
                              ScanPositions& reached) {
    Progress progress("copy " + copy.source().table, ProgressUnit::kItems,
                      copy.source().item_count);
    auto saved = std::chrono::steady_clock::now();
    auto copied = copy_items({*from_, copy.source().table, *to_, copy.target_name()},
                             copy.source().key_schema, reached,
                             {.rate = flags_.rate,
                              .stop = stop_,
                              .advanced = [&](const ScanPositions& positions) -> Result<void> {
                                progress.advance_to(items_in(positions));
                                reached = positions;
                                const auto now = std::chrono::steady_clock::now();
                                if (now - saved < kSaveEvery) return {};
                                saved = now;
                                return checkpoint_->save(copy.source(), target, reached);
                              }});
    STATOR_RETURN_IF_ERROR(checkpoint_->save(copy.source(), target, reached));
    if (copied || copied.error().code != Code::kCancelled) return copied;
    return fail(Code::kCancelled, checkpoint_->is_kept()
                                      ? "stopped; the same command resumes from there"
                                      : "stopped; with --resume, the command copies again");
  }

  Result<void> verify_table(const PlannedCopy& copy) {
    STATOR_ASSIGN_OR_RETURN(const Comparison compared, compare(copy));
    print(copy, outcome_of(compared), compared, {});
    return {};
  }

  Result<Comparison> compare(const PlannedCopy& copy) {
    const std::string& name = copy.source().table;
    std::vector<ItemDifference> differences;
    std::optional<Progress> progress;
    std::string last;
    auto compared = compare_items({*from_, name, *to_, copy.target_name()},
                                  {.segments = flags_.segments,
                                   .rate = flags_.rate,
                                   .key_schema = copy.source().key_schema,
                                   .time_to_live = copy.table.wanted.time_to_live,
                                   .stop = stop_,
                                   .differs =
                                       [&](ItemDifference difference) {
                                         if (differences.size() < kDifferencesPrinted) {
                                           differences.push_back(std::move(difference));
                                         }
                                       },
                                   .advanced =
                                       [&](const std::string& what, int64_t items) {
                                         if (what != last) {
                                           progress.emplace(what + " " + name, ProgressUnit::kItems,
                                                            copy.source().item_count);
                                         }
                                         last = what;
                                         progress->advance_to(items);
                                       }});
    progress.reset();
    for (const ItemDifference& difference : differences) print(name, difference);
    if (compared && compared->differences > 0) ++tables_differing_;
    return compared;
  }

  static const char* outcome_of(const Comparison& compared) {
    return compared.differences == 0 ? "equal" : "differs";
  }

  void print(const std::string& table, const ItemDifference& difference) const {
    const std::string key = wire::item_to_json(difference.key);
    if (flags_.json) {
      std::puts(wire::item_to_plain_json({{"table", table},
                                          {"difference", name_of(difference.kind)},
                                          {"key", wire::item_from_plain_json(key).value()}})
                    .c_str());
    } else {
      std::puts(one_line(fmt::format("{}\t{}\t{}", table, name_of(difference.kind), key)).c_str());
    }
  }

  void print(const PlannedCopy& copy, const std::string& outcome, const Comparison& compared,
             const std::vector<std::string>& not_copied) {
    const std::string& table = copy.source().table;
    if (flags_.json) {
      std::puts(
          wire::item_to_plain_json({{"table", table},
                                    {"target", copy.target_name()},
                                    {"outcome", outcome},
                                    {"items", compared.source_items},
                                    {"differences", compared.differences},
                                    {"expired", compared.expired},
                                    {"not_copied", List(not_copied.begin(), not_copied.end())}})
              .c_str());
    } else {
      std::string line = fmt::format("{}\t{}\t{} items", table, outcome, compared.source_items);
      if (compared.differences > 0) line += fmt::format(", {} differences", compared.differences);
      if (compared.expired > 0) line += fmt::format(", {} expired", compared.expired);
      std::puts(line.c_str());
      for (const std::string& note : not_copied) {
        notes_.push_back(fmt::format("stator: note: {}: not copied: {}", table, note));
      }
    }
    std::fflush(stdout);
  }

  Result<void> conclude(std::size_t tables) {
    if (flags_.dry_run) return {};
    if (tables_differing_ > 0) {
      // With the positions, the next copy would skip the items that differ.
      if (!flags_.verify) STATOR_RETURN_IF_ERROR(checkpoint_->remove());
      return fail(Code::kConflict,
                  fmt::format("{} of {} tables differ; if nothing else writes to them, --resume "
                              "copies their items again",
                              tables_differing_, tables));
    }
    if (settings_refused_ > 0) {
      return fail(Code::kConflict,
                  fmt::format("all items are copied, but the target refused {} settings",
                              settings_refused_));
    }
    return flags_.verify ? Result<void>() : checkpoint_->remove();
  }

  const CopyFlags& flags_;
  std::stop_token stop_;
  std::unique_ptr<Client> from_;
  std::unique_ptr<Client> to_;
  bool both_are_servers_ = false;
  std::optional<CopyCheckpoint> checkpoint_;
  std::vector<std::string> notes_;
  int64_t tables_differing_ = 0;
  std::size_t settings_refused_ = 0;
};

int run_copy(const CopyFlags& flags) {
  const StopSignals stop;
  const auto done = Copy(flags, stop.token()).run();
  return done ? kSuccess : report(done.error());
}

void add_copy_ends(CLI::App& command, CopyFlags& flags) {
  command
      .add_option(
          "from", flags.from.name,
          "The source: a data directory, opened in this process, or the URL of a server or of "
          "a PostgreSQL database (without a password: see docs/cluster.md)")
      ->type_name("FROM")
      ->required();
  command.add_option("to", flags.to.name, "The target; a directory is created if it is missing")
      ->type_name("TO")
      ->required();
  command
      .add_option("tables", flags.tables,
                  "Names of tables, or patterns with * and ?; default: all tables")
      ->type_name("TABLE");
  command
      .add_option("--from-schema", flags.from.schema,
                  "The schema of the tables, if the source is a PostgreSQL database")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--to-schema", flags.to.schema, "The same, of the target")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--from-profile", flags.from.profile,
                  "AWS profile with the credentials and the region of the source. Default: as for "
                  "other commands")
      ->type_name("NAME");
  command.add_option("--to-profile", flags.to.profile, "The same, of the target")
      ->type_name("NAME");
  command.add_option("--from-region", flags.from.region, "Region of the signatures for the source")
      ->type_name("REGION");
  command.add_option("--to-region", flags.to.region, "Region of the signatures for the target")
      ->type_name("REGION");
}

}  // namespace

void add_copy(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CopyFlags>();
  CLI::App* command = app.add_subcommand(
      "copy", "Copy tables to another directory, server or database, and compare both sides");
  add_copy_ends(*command, *flags);
  command->add_option("--prefix", flags->prefix, "Beginning of the target tables' names")
      ->type_name("PREFIX");
  command
      ->add_option("--segments", flags->segments,
                   "Parts of a table that are read and written at the same time, 1 to 64. A copy "
                   "that resumes keeps its number")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, kSegmentsMax).description(""))
      ->capture_default_str();
  command
      ->add_option("--rate", flags->rate,
                   "The most items per second that are copied, and that are read from each side to "
                   "compare them. Default: no limit")
      ->type_name("ITEMS")
      ->check(CLI::Range(1, 1'000'000'000).description(""));
  CLI::Option* const checkpoint =
      command
          ->add_option("--checkpoint", flags->checkpoint,
                       "File that stores the positions: the same command resumes from there. It is "
                       "deleted when everything is copied")
          ->type_name("FILE");
  CLI::Option* const resume = command->add_flag(
      "--resume", flags->resume,
      "Also put items into tables that already have some. Existing items with the same keys are "
      "replaced; others stay, and are reported as differences");
  CLI::Option* const no_verify =
      command->add_flag("--no-verify", flags->no_verify, "Do not compare the items afterwards");
  CLI::Option* const dry_run = command->add_flag(
      "--dry-run", flags->dry_run, "Print what would be done, without changing anything");
  command
      ->add_flag("--verify", flags->verify,
                 "Only compare the items of both sides, without changing anything")
      ->excludes(checkpoint)
      ->excludes(resume)
      ->excludes(no_verify)
      ->excludes(dry_run);
  add_json_flag(*command, flags->json);
  command->footer(
      "Nothing should write to the source during the copy: a write may be copied or not, and the "
      "comparison reports it.\n"
      "Exit status: 0 if all items are equal and all settings are copied, otherwise 1.");
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_copy(*flags); }; });
}

}  // namespace stator::cli

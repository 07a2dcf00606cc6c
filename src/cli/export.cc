// SPDX-License-Identifier: Apache-2.0
// stator export: writes a table's items as the files of a DynamoDB full export.
//
// `_progress`, next to the manifests, lists the complete files and the last key in them: the same
// command resumes from there. It is deleted once the manifests are written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "transfer/export_lines.h"
#include "transfer/export_manifests.h"

namespace stator::cli {
namespace {

constexpr int64_t kFileBytes = 64L << 20;  // of lines in one data file
constexpr std::size_t kProgressBytesMax = 64UL << 20;

struct ExportFlags {
  EndpointFlags where;
  std::string table;
  std::string directory;
  std::string format = "json";
  bool json = false;
};

class Export {
 public:
  Export(Client& client, transfer::Bucket bucket, const TableDescription& table,
         transfer::DataFormat format)
      : client_(client), bucket_(std::move(bucket)), table_(table) {
    summary_ = {.table_arn = table.arn, .table_id = table.id, .format = format};
  }

  Result<void> run(const std::stop_token& stop) {
    STATOR_ASSIGN_OR_RETURN(const bool goes_on, resume());
    if (!goes_on) STATOR_RETURN_IF_ERROR(begin());
    Progress progress("export", ProgressUnit::kItems, table_.item_count);
    while (!scanned_) {
      STATOR_RETURN_IF_ERROR(write_file(progress, stop));
      STATOR_RETURN_IF_ERROR(save());
    }
    summary_.ended_ms = system_clock().unix_ms();
    summary_.billed_bytes = table_.size_bytes;
    STATOR_RETURN_IF_ERROR(transfer::write_manifests(bucket_, summary_, files_));
    bucket_.remove(progress_key());
    return {};
  }

  const transfer::ExportSummary& summary() const { return summary_; }
  std::size_t files() const { return files_.size(); }

 private:
  std::string progress_key() const { return transfer::export_directory(summary_) + "/_progress"; }

  void name_it(const std::string& id) {
    summary_.id = id;
    summary_.arn = table_.arn + "/export/" + id;
  }

  Result<void> begin() {
    summary_.started_ms = summary_.time_ms = system_clock().unix_ms();
    name_it(fmt::format("{:014}-{}", summary_.started_ms, random_uuid().substr(0, 8)));
    STATOR_RETURN_IF_ERROR(bucket_.write(transfer::export_directory(summary_) + "/_started", ""));
    return save();
  }

  // Finds an unfinished export of this table and format. Returns false if there is none.
  Result<bool> resume() {
    STATOR_ASSIGN_OR_RETURN(const auto keys, bucket_.keys("AWSDynamoDB/"));
    for (const std::string& key : keys) {
      if (!key.ends_with("/_progress")) continue;
      STATOR_ASSIGN_OR_RETURN(const Item kept, load(key));
      if (text_of(kept, "table") != table_.id ||
          text_of(kept, "format") != transfer::name_of(summary_.format)) {
        continue;
      }
      name_it(text_of(kept, "id"));
      summary_.started_ms = summary_.time_ms = integer_of(kept, "started");
      for (const AttributeValue& value : list_of(kept, "files")) {
        const Item& file = as_map(value);
        files_.push_back({.key = text_of(file, "key"),
                          .items = integer_of(file, "items"),
                          .md5 = text_of(file, "md5"),
                          .etag = text_of(file, "etag")});
        summary_.items += files_.back().items;
      }
      scanned_ = boolean_of(kept, "scanned");
      if (!files_.empty() && !scanned_) {
        STATOR_ASSIGN_OR_RETURN(after_, wire::item_from_json(text_of(kept, "after")));
      }
      return true;
    }
    return false;
  }

  Result<Item> load(const std::string& key) const {
    STATOR_ASSIGN_OR_RETURN(const auto source, bucket_.read(key));
    std::string text;
    std::vector<char> buffer(64UL << 10);
    while (true) {
      STATOR_ASSIGN_OR_RETURN(const std::size_t count, source->read(buffer));
      if (count == 0) return wire::item_from_plain_json(text);
      text.append(buffer.data(), count);
      if (text.size() > kProgressBytesMax) {
        return fail(Code::kInvalidArgument, "'" + key + "' is larger than 64 MiB");
      }
    }
  }

  Result<void> save() const {
    List files;
    for (const transfer::DataFile& file : files_) {
      files.emplace_back(
          Item{{"key", file.key}, {"items", file.items}, {"md5", file.md5}, {"etag", file.etag}});
    }
    const Item kept{{"id", summary_.id},
                    {"table", table_.id},
                    {"format", transfer::name_of(summary_.format)},
                    {"started", summary_.started_ms},
                    {"files", std::move(files)},
                    {"after", after_ ? wire::item_to_json(*after_) : ""},
                    {"scanned", scanned_}};
    return bucket_.write(progress_key(), wire::item_to_plain_json(kept));
  }

  Result<void> write_file(Progress& progress, const std::stop_token& stop) {
    const auto part = static_cast<int64_t>(files_.size());
    STATOR_ASSIGN_OR_RETURN(const auto file, transfer::DataFileWriter::create(
                                                 bucket_, transfer::data_key(summary_, part)));
    while (!scanned_ && file->line_bytes() < kFileBytes) {
      if (stop.stop_requested()) {
        return fail(Code::kCancelled,
                    "stopped; the same command resumes after the last complete file");
      }
      STATOR_ASSIGN_OR_RETURN(const PageResult page, client_.scan({.table = table_.table,
                                                                   .consistent_read = true,
                                                                   .exclusive_start_key = after_}));
      for (const Item& item : page.items) {
        STATOR_RETURN_IF_ERROR(file->add(transfer::line_of(summary_.format, item)));
      }
      summary_.items += static_cast<int64_t>(page.items.size());
      after_ = page.last_evaluated_key;
      scanned_ = !after_;
      progress.advance_to(summary_.items);
    }
    STATOR_ASSIGN_OR_RETURN(transfer::DataFile written, file->finish());
    files_.push_back(std::move(written));
    return {};
  }

  Client& client_;
  transfer::Bucket bucket_;
  const TableDescription& table_;
  transfer::ExportSummary summary_;
  std::vector<transfer::DataFile> files_;
  std::optional<Item> after_;
  bool scanned_ = false;
};

Result<void> export_table(const ExportFlags& flags, const std::stop_token& stop) {
  STATOR_ASSIGN_OR_RETURN(const auto client, open_client(flags.where));
  STATOR_ASSIGN_OR_RETURN(const DescribeTableResult described,
                          client->describe_table({.table = flags.table}));
  STATOR_RETURN_IF_ERROR(make_directories(flags.directory));
  STATOR_ASSIGN_OR_RETURN(auto bucket, transfer::Bucket::open(flags.directory));
  Export run(
      *client, std::move(bucket), described.table,
      flags.format == "ion" ? transfer::DataFormat::kIon : transfer::DataFormat::kDynamoDbJson);
  STATOR_RETURN_IF_ERROR(run.run(stop));
  const transfer::ExportSummary& summary = run.summary();
  const std::string manifest = transfer::manifest_key(summary);
  const std::string line =
      flags.json
          ? wire::item_to_plain_json({{"manifest", manifest},
                                      {"items", summary.items},
                                      {"files", static_cast<int64_t>(run.files())}})
          : fmt::format("exported {} items in {} files: {}", summary.items, run.files(), manifest);
  std::printf("%s\n", line.c_str());
  return {};
}

}  // namespace

void add_export(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command =
      app.add_subcommand("export", "Write a table's items in the files of a DynamoDB export to S3");
  command->add_option("table", flags->table, "The table")->type_name("TABLE")->required();
  command
      ->add_option("directory", flags->directory,
                   "Parent directory of AWSDynamoDB/ID/, created if missing. The same command "
                   "resumes a run that was stopped")
      ->type_name("DIR")
      ->required();
  add_endpoint_flags(*command, flags->where);
  command->add_option("--format", flags->format, "DynamoDB JSON or Ion text, both in gzip")
      ->type_name("json|ion")
      ->check(CLI::IsMember({"json", "ion"}).description(""))
      ->capture_default_str();
  add_json_flag(*command, flags->json);
  command->callback([&invocation, flags] {
    invocation.run = [flags] {
      const StopSignals stop;
      const auto done = export_table(*flags, stop.token());
      return done ? kSuccess : report(done.error());
    };
  });
}

}  // namespace stator::cli

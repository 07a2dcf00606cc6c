// SPDX-License-Identifier: Apache-2.0
// stator import: puts items from files of DynamoDB exports, or from other files in these formats,
// into a table.
//
// Items are written in batches, in the order of the files. Items that occur twice, or were stored
// by an earlier run, are put again, so the same command can always be repeated.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ranges>
#include <span>
#include <sstream>
#include <string>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/table_access.h"
#include "stator/recipes/common.h"
#include "stator/recipes/time.h"
#include "transfer/bucket.h"
#include "transfer/item_reader.h"

namespace stator::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchItems = 25;
constexpr int64_t kCheckpointItems = 1'000;
constexpr int64_t kErrorsReported = 20;

struct ImportFlags {
  EndpointFlags where;
  std::string table;
  std::string source;
  std::string format;
  std::string compression;
  std::string delimiter = ",";
  std::vector<std::string> header;
  std::vector<std::string> keys;  // NAME:TYPE
  std::string checkpoint;
  bool json = false;
};

struct ImportedItems {
  int64_t items = 0;
  int64_t errors = 0;
};

// The position of the import: all items before `position` of `file`, and of all files before it,
// are stored.
struct ItemsReached {
  std::string file;
  uint64_t position = 0;
  ImportedItems imported;
};

class FileCheckpoint {
 public:
  FileCheckpoint(std::string path, std::string table)
      : path_(std::move(path)), table_(std::move(table)) {}

  Result<ItemsReached> load() const {
    ItemsReached reached;
    std::error_code error;
    if (path_.empty() || !fs::exists(path_, error)) return reached;
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    const auto kept = wire::item_from_plain_json(text.str());
    if (!kept || text_of(*kept, "table") != table_) {
      return fail(Code::kInvalidArgument, "'" + path_ +
                                              "' is not a checkpoint of this import; use another " +
                                              "file, or remove it");
    }
    return ItemsReached{
        .file = text_of(*kept, "file"),
        .position = static_cast<uint64_t>(integer_of(*kept, "position")),
        .imported = {.items = integer_of(*kept, "items"), .errors = integer_of(*kept, "errors")}};
  }

  Result<void> save(const ItemsReached& reached) const {
    if (path_.empty()) return {};
    const std::string text = wire::item_to_plain_json({{"table", table_},
                                                       {"file", reached.file},
                                                       {"position", reached.position},
                                                       {"items", reached.imported.items},
                                                       {"errors", reached.imported.errors}});
    return transfer::replace_file(fs::absolute(path_), text + "\n");
  }

 private:
  std::string path_;
  std::string table_;
};

// Counts the bytes read from a source.
class CountedSource final : public transfer::ByteSource {
 public:
  CountedSource(std::unique_ptr<ByteSource> source, int64_t& count)
      : source_(std::move(source)), count_(count) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    auto bytes = source_->read(buffer);
    if (bytes) count_ += static_cast<int64_t>(*bytes);
    return bytes;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  int64_t& count_;
};

class Import {
 public:
  Import(Client& client, const ImportFlags& flags, const TableDescription& table)
      : client_(client), flags_(flags), table_(table), checkpoint_(flags.checkpoint, table.id) {
    csv_.delimiter = flags.delimiter[0];
    csv_.header = flags.header;
    for (const AttributeDefinition& attribute : table.attributes) {
      csv_.key_types.emplace(attribute.name, attribute.type);
    }
  }

  Result<ImportedItems> run(const transfer::Bucket& bucket, const std::vector<std::string>& files,
                            const std::stop_token& stop) {
    STATOR_ASSIGN_OR_RETURN(reached_, checkpoint_.load());
    int64_t total = 0;
    for (const std::string& file : files) total += static_cast<int64_t>(bucket.size(file));
    Progress progress("import", ProgressUnit::kBytes, total);
    for (const std::string& file : files) {
      if (file < reached_.file) {
        bytes_read_ += static_cast<int64_t>(bucket.size(file));
        continue;
      }
      if (file != reached_.file) reached_.position = 0;
      reached_.file = file;
      auto source = bucket.read(file);
      if (!source) return failure_of(std::move(source));
      STATOR_RETURN_IF_ERROR(import_file(
          std::make_unique<CountedSource>(std::move(*source), bytes_read_), progress, stop));
    }
    return reached_.imported;
  }

 private:
  Result<void> import_file(std::unique_ptr<transfer::ByteSource> source, Progress& progress,
                           const std::stop_token& stop) {
    const transfer::FileKind kind = transfer::kind_of_file(reached_.file);
    const auto format = transfer::format_named(flags_.format);
    const auto compression = transfer::compression_named(flags_.compression);
    STATOR_ASSIGN_OR_RETURN(
        const auto reader,
        transfer::read_items(
            std::move(source),
            format ? *format : kind.format.value_or(transfer::DataFormat::kDynamoDbJson),
            compression.value_or(kind.compression), csv_, reached_.position));
    int64_t saved = reached_.imported.items;
    for (transfer::Found found = {}; found != transfer::Found::kEnd;) {
      found = reader->next();
      if (found == transfer::Found::kItem) batch_.push_back(std::move(reader->item()));
      if (found == transfer::Found::kNoItem || found == transfer::Found::kDamaged) {
        if (reader->error().code == Code::kIo) return Failure(reader->error());
        report_error(reader->error().message);
      }
      if (batch_.size() < kBatchItems && found != transfer::Found::kEnd) continue;
      STATOR_RETURN_IF_ERROR(flush(stop));
      reached_.position = reader->position();
      progress.advance_to(bytes_read_);
      const bool stopped = stop.stop_requested();
      if (stopped || found == transfer::Found::kEnd ||
          reached_.imported.items - saved >= kCheckpointItems) {
        STATOR_RETURN_IF_ERROR(checkpoint_.save(reached_));
        saved = reached_.imported.items;
      }
      if (stopped) return cancelled();
    }
    return {};
  }

  Failure cancelled() const {
    return fail(Code::kCancelled, flags_.checkpoint.empty()
                                      ? "stopped; the same command starts over"
                                      : "stopped; the same command resumes from there");
  }

  void report_error(const std::string& message) {
    ++reached_.imported.errors;
    if (++reported_ > kErrorsReported + 1) return;
    std::fprintf(stderr, "%s\n",
                 one_line(reported_ > kErrorsReported ? "further errors are only counted"
                                                      : reached_.file + ": " + message)
                     .c_str());
  }

  // A batch must not contain a key twice. Keeps the last item with each key, as single puts would.
  Result<void> flush(const std::stop_token& stop) {
    std::vector<WriteRequest> writes;
    std::vector<Item> keys;
    for (Item& item : std::views::reverse(batch_)) {
      Item key = key_of(table_.key_schema, item);
      if (std::ranges::find(keys, key) != keys.end() && key.size() == table_.key_schema.size()) {
        ++reached_.imported.items;
        continue;
      }
      keys.push_back(std::move(key));
      writes.push_back({.put = std::move(item)});
    }
    batch_.clear();
    return write(std::move(writes), stop);
  }

  Result<void> write(std::vector<WriteRequest> writes, const std::stop_token& stop) {
    for (auto pause = kFirstPause; !writes.empty(); pause = std::min(pause * 2, kLastPause)) {
      const auto count = static_cast<int64_t>(writes.size());
      auto written = client_.batch_write_item({.items = {{table_.table, writes}}});
      if (!written && written.error().code == Code::kValidation) {
        return write_one_by_one(std::move(writes));
      }
      if (!written) return failure_of(std::move(written));
      writes.clear();
      if (const auto left = written->unprocessed.find(table_.table);
          left != written->unprocessed.end()) {
        writes = std::move(left->second);
      }
      reached_.imported.items += count - static_cast<int64_t>(writes.size());
      if (!writes.empty() && !system_time().sleep(pause, stop)) return cancelled();
    }
    return {};
  }

  // Puts the items one by one, and reports those that the table rejects.
  Result<void> write_one_by_one(std::vector<WriteRequest> writes) {
    for (WriteRequest& write : writes) {
      auto put = client_.put_item({.table = table_.table, .item = std::move(*write.put)});
      if (put) {
        ++reached_.imported.items;
      } else if (put.error().code == Code::kValidation) {
        report_error(put.error().message);
      } else {
        return failure_of(std::move(put));
      }
    }
    return {};
  }

  static constexpr std::chrono::milliseconds kFirstPause{20};
  static constexpr std::chrono::milliseconds kLastPause{2'000};

  Client& client_;
  const ImportFlags& flags_;
  const TableDescription& table_;
  transfer::CsvOptions csv_;
  FileCheckpoint checkpoint_;
  int64_t bytes_read_ = 0;  // from all files, before decompression
  ItemsReached reached_;
  std::vector<Item> batch_;
  int64_t reported_ = 0;
};

// Whether a file contains items, according to its name. Manifests and checksums of an export do
// not.
bool holds_items(const std::string& key, bool any_format) {
  const std::string name = key.substr(key.rfind('/') + 1);
  for (const char* ending : {".md5", ".checksum", ".part"}) {
    if (name.ends_with(ending)) return false;
  }
  return !name.starts_with("_") && !name.starts_with("manifest-") && !name.starts_with(".") &&
         (any_format || transfer::kind_of_file(name).format);
}

Result<TableDescription> find_table(Client& client, const ImportFlags& flags) {
  if (!flags.keys.empty()) {
    CreateTableRequest request{.table = flags.table, .billing_mode = BillingMode::kPayPerRequest};
    for (const std::string& key : flags.keys) {
      const std::size_t colon = key.rfind(':');
      const std::string type = colon == std::string::npos ? "" : key.substr(colon + 1);
      if (colon == 0 || (type != "S" && type != "N" && type != "B")) {
        return fail(Code::kInvalidArgument, "--key takes NAME:S, NAME:N or NAME:B, not " + key);
      }
      const std::string name = key.substr(0, colon);
      request.attributes.push_back({name, type == "S"   ? ScalarType::kS
                                          : type == "N" ? ScalarType::kN
                                                        : ScalarType::kB});
      request.key_schema.push_back(
          {name, request.key_schema.empty() ? KeyType::kHash : KeyType::kRange});
    }
    STATOR_RETURN_IF_ERROR(create_table_if_missing(client, request));
  }
  auto described = client.describe_table({.table = flags.table});
  if (described) return std::move(described->table);
  if (described.error().code != Code::kResourceNotFound) return failure_of(std::move(described));
  return fail(Code::kResourceNotFound,
              "table '" + flags.table + "' does not exist; to create it, give its key: --key pk:S");
}

Result<ImportedItems> import_files(const ImportFlags& flags, const std::stop_token& stop) {
  std::error_code error;
  const bool is_directory = fs::is_directory(flags.source, error);
  const fs::path source = fs::canonical(flags.source, error);
  if (error) {
    return fail(Code::kIo, "could not open '" + flags.source + "': " + error.message());
  }
  STATOR_ASSIGN_OR_RETURN(const auto bucket,
                          transfer::Bucket::open(is_directory ? source : source.parent_path()));
  std::vector<std::string> files = {source.filename().string()};
  if (is_directory) {
    STATOR_ASSIGN_OR_RETURN(files, bucket.keys(""));
    std::erase_if(files,
                  [&](const std::string& key) { return !holds_items(key, !flags.format.empty()); });
  }
  if (files.empty()) {
    return fail(Code::kInvalidArgument, "no item files in '" + flags.source +
                                            "'; expected .json, .ion or .csv, then .gz, .zst or "
                                            "neither");
  }
  STATOR_ASSIGN_OR_RETURN(const auto client, open_client(flags.where));
  STATOR_ASSIGN_OR_RETURN(const TableDescription table, find_table(*client, flags));
  return Import(*client, flags, table).run(bucket, files, stop);
}

int run_import(const ImportFlags& flags) {
  const StopSignals stop;
  const auto imported = import_files(flags, stop.token());
  if (!imported) return report(imported.error());
  const std::string line =
      flags.json
          ? wire::item_to_plain_json({{"items", imported->items}, {"errors", imported->errors}})
          : fmt::format("imported {} items, {} errors", imported->items, imported->errors);
  std::printf("%s\n", line.c_str());
  return imported->errors == 0 ? kSuccess : kFailure;
}

}  // namespace

void add_import(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command =
      app.add_subcommand("import", "Put items from export files or CSV files into a table");
  command->add_option("table", flags->table, "The table")->type_name("TABLE")->required();
  command
      ->add_option(
          "source", flags->source,
          "A file, or a directory with subdirectories. The format follows from file names: .json "
          "(DynamoDB JSON), .ion (text) or .csv, then .gz, .zst or neither")
      ->type_name("PATH")
      ->required();
  add_endpoint_flags(*command, flags->where);
  command->add_option("--format", flags->format, "Format of all files, regardless of their names")
      ->type_name("DYNAMODB_JSON|ION|CSV")
      ->check(CLI::IsMember({"DYNAMODB_JSON", "ION", "CSV"}).description(""));
  command
      ->add_option("--compression", flags->compression,
                   "Compression of all files, regardless of their names")
      ->type_name("NONE|GZIP|ZSTD")
      ->check(CLI::IsMember({"NONE", "GZIP", "ZSTD"}).description(""));
  command->add_option("--delimiter", flags->delimiter, "Separator of CSV fields")
      ->type_name("CHARACTER")
      ->check(CLI::IsMember({",", ";", ":", "|", "\t", " "}).description(""))
      ->capture_default_str();
  command
      ->add_option("--header", flags->header,
                   "Names of the CSV columns, if the first line does not name them")
      ->type_name("NAME,…")
      ->delimiter(',');
  command
      ->add_option("--key", flags->keys,
                   "Partition key, then sort key: creates the table if it is missing")
      ->type_name("NAME:S|N|B")
      ->expected(1, 2);
  command
      ->add_option("--checkpoint", flags->checkpoint,
                   "File that stores the position, to resume from")
      ->type_name("FILE");
  add_json_flag(*command, flags->json);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_import(*flags); }; });
}

}  // namespace stator::cli

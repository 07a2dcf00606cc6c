// SPDX-License-Identifier: Apache-2.0
#include "engine/imports.h"

#include <map>
#include <vector>

#include "api/document.h"
#include "api/validate.h"
#include "engine/admin_jobs.h"
#include "engine/admin_messages.h"
#include "engine/index_maintenance.h"
#include "engine/item_rules.h"
#include "engine/messages.h"
#include "engine/records.h"
#include "transfer/bucket.h"
#include "transfer/item_reader.h"

namespace stator {
namespace {

using admin::JobFailure;

// Of one transaction, so that it does not fill the store's queue.
constexpr std::size_t kBatchItems = 256;
constexpr std::size_t kBatchBytes = 1UL << 20;

// Of one import; the service writes them to CloudWatch.
constexpr int64_t kReportedErrors = 100;

class Import {
 public:
  Import(Engine::Impl& engine, const std::string& id)
      : engine_(engine), id_(id), key_(record_key(RecordKind::kImport, id)) {}

  // A store that fails is tried again by the next start.
  Result<void> run() {
    STATOR_TRY(record_, Records(*engine_.store).get(key_));
    const std::string name = text_of(record_, "Table");
    const auto snapshot = engine_.catalogue->snapshot();
    const auto found = snapshot->restoring.find(name);
    std::optional<JobFailure> failure;
    if (found != snapshot->restoring.end() &&
        found->second->definition().id == text_of(record_, "TableId")) {
      table_ = found->second;
      STATOR_TRY(failure, import_objects());
      STATOR_CHECK_OK(engine_.catalogue->finish_restore(name));
    } else if (!has_table(*snapshot, name)) {
      failure = {"InternalServerError", messages::kImportNotBegun};
    }
    if (!failure && integer_of(record_, "Errors") > 0) {
      failure = {"ItemValidationError", messages::kItemsNotImported};
    }
    return Records(*engine_.store).change(key_, [&](Item& record) -> Result<void> {
      if (!record.empty()) admin::end_job(record, engine_.now_ms(), failure);
      return {};
    });
  }

 private:
  bool has_table(const CatalogueSnapshot& snapshot, const std::string& name) const {
    const TablePtr* table = snapshot.find(name);
    return table != nullptr && (*table)->definition().id == text_of(record_, "TableId");
  }

  transfer::CsvOptions csv_options() const {
    transfer::CsvOptions csv;
    const Item& given = map_of(map_of(map_of(record_, "Request"), "InputFormatOptions"), "Csv");
    if (given.contains("Delimiter")) csv.delimiter = text_of(given, "Delimiter")[0];
    for (const AttributeValue& name : list_of(given, "HeaderList")) {
      csv.header.push_back(as_text(name));
    }
    for (const AttributeDefinition& attribute : table_->definition().settings.attributes) {
      csv.key_types.emplace(attribute.name, attribute.type);
    }
    return csv;
  }

  // What keeps it from reading them all.
  Result<std::optional<JobFailure>> import_objects() {
    const Item& source = map_of(map_of(record_, "Request"), "S3BucketSource");
    const auto bucket =
        transfer::Bucket::open(engine_.options.buckets, text_of(source, "S3Bucket"));
    if (!bucket) return admin::no_such_bucket();
    const auto keys = bucket->keys(text_of(source, "S3KeyPrefix"));
    if (!keys && keys.error().code == Code::kLimitExceeded) {
      return JobFailure{.code = "S3TooManyObjects", .message = messages::kTooManyObjects};
    }
    if (!keys) return admin::bucket_access_denied();
    const std::string reached = text_of(record_, "File");
    for (const std::string& key : *keys) {
      if (key < reached) continue;
      if (key != reached) {
        record_["File"] = key;
        record_["Position"] = 0;
      }
      STATOR_CHECK_OK(import_object(*bucket, key));
    }
    return std::nullopt;
  }

  Result<void> import_object(const transfer::Bucket& bucket, const std::string& key) {
    const Item& request = map_of(record_, "Request");
    const transfer::DataFormat format = *transfer::format_named(text_of(request, "InputFormat"));
    const auto position = static_cast<uint64_t>(integer_of(record_, "Position"));
    const auto reader = [&]() -> Result<std::unique_ptr<transfer::ItemReader>> {
      STATOR_TRY(auto bytes, bucket.read(key));
      return transfer::read_items(
          std::move(bytes), format,
          *transfer::compression_named(text_of(request, "InputCompressionType")), csv_options(),
          position);
    }();
    if (!reader) {
      count_error(position, reader.error().message);
      return end_object(position);
    }
    while (true) {
      if (engine_.jobs.stopping()) return fail(Code::kCancelled, "the engine stops");
      const uint64_t begin = (*reader)->position();
      const transfer::Found found = (*reader)->next();
      if (found == transfer::Found::kEnd) return end_object((*reader)->position());
      const auto taken =
          found == transfer::Found::kItem ? take((*reader)->item()) : Failure((*reader)->error());
      if (!taken) count_error(begin, taken.error().message);
      // As with the service, what is no item takes the rest of its object along. A row of CSV
      // stands for itself.
      if (found == transfer::Found::kNoItem && format != transfer::DataFormat::kCsv) {
        return end_object((*reader)->position());
      }
      if (batch_.size() >= kBatchItems || batch_bytes_ >= kBatchBytes) {
        STATOR_CHECK_OK(flush((*reader)->position()));
      }
    }
  }

  // The next that goes on begins behind this object: its key is less than that.
  Result<void> end_object(uint64_t position) {
    record_["File"] = text_of(record_, "File") + '\0';
    return flush(position);
  }

  void add(std::string_view counter, int64_t more) {
    record_[std::string(counter)] = integer_of(record_, counter) + more;
  }
  void count_error(uint64_t position, std::string_view reason) {
    add("Processed", 1);
    add("Errors", 1);
    const int64_t errors = integer_of(record_, "Errors");
    if (!engine_.options.report || errors > kReportedErrors) return;
    std::string line = messages::item_not_imported(id_, text_of(record_, "File"), position, reason);
    if (errors == kReportedErrors) line += messages::kLastReported;
    engine_.options.report(line);
  }

  // Of two items with one key, the later stays.
  Result<void> take(const Item& item) {
    STATOR_CHECK_OK(validate(PutItemRequest{.table = table_->name(), .item = item}));
    STATOR_CHECK_OK(check_item(*table_, item));
    EncodedItem encoded = encode_item(item);
    if (item_size_bytes(ItemView(encoded)) > kItemBytesMax) {
      return fail(Code::kValidation, messages::kItemTooLarge);
    }
    add("Processed", 1);
    add("Imported", 1);
    batch_bytes_ += encoded.size();
    batch_.insert_or_assign(item_row_key(table_->secret(), table_->key(), item),
                            std::move(encoded));
    return {};
  }

  // Writes the batch, and how far it has come with it.
  Result<void> flush(uint64_t position) {
    add("Bytes", static_cast<int64_t>(position) - integer_of(record_, "Position"));
    record_["Position"] = position;
    std::vector<std::string> keys = {key_};
    for (const auto& [key, item] : batch_) keys.push_back(key);
    STATOR_TRY(const auto transaction, engine_.store->begin());
    STATOR_TRY(const auto rows, transaction->get_for_update(keys));
    std::size_t at = 0;
    for (const auto& [key, item] : batch_) {
      const std::optional<std::string>& before = rows[++at];
      transaction->put(key, item);
      apply_index_changes(
          index_changes(*table_, before ? std::optional(ItemView(*before)) : std::nullopt,
                        ItemView(item)),
          *transaction);
    }
    transaction->put(key_, encode_item(record_));
    CommitResult result = commit_and_wait(*transaction);
    if (result.outcome != CommitOutcome::kCommitted) return Failure(std::move(result.error));
    batch_.clear();
    batch_bytes_ = 0;
    return {};
  }

  Engine::Impl& engine_;
  std::string id_;
  std::string key_;
  Item record_;
  TablePtr table_;
  std::map<std::string, EncodedItem> batch_;
  std::size_t batch_bytes_ = 0;
};

}  // namespace

void start_import(Engine::Impl& engine, const std::string& id) {
  engine.jobs.post([&engine, id] { static_cast<void>(Import(engine, id).run()); });
}

}  // namespace stator

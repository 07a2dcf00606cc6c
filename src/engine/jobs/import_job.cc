// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/import_job.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "api/admin/document.h"
#include "api/validation/validate.h"
#include "engine/catalog/records.h"
#include "engine/core/leased_job.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"
#include "engine/items/index_maintenance.h"
#include "engine/items/item_limits.h"
#include "engine/items/key_checks.h"
#include "engine/jobs/job_records.h"
#include "transfer/bucket.h"
#include "transfer/item_reader.h"

namespace stator {
namespace {

using admin::JobFailure;

// Per transaction, so that it does not fill the store's queue.
constexpr std::size_t kBatchItems = 256;
constexpr std::size_t kImportBatchBytes = 1UL << 20;
// Limits of what is read for one transaction, in case few records are items of the table.
constexpr std::size_t kExaminedRecords = 2048;
constexpr uint64_t kExaminedBytes = 1UL << 20;

// Per import; DynamoDB writes them to CloudWatch.
constexpr int64_t kReportedErrors = 100;

class Import final : public Job {
 public:
  Import(JobEngine& engine, JobLease& lease, const std::string& id)
      : engine_(engine), lease_(lease), id_(id), key_(record_key(RecordKind::kImport, id)) {}

  Result<JobState> step() override {
    if (!begun_) STATOR_RETURN_IF_ERROR(begin());
    if (table_ && !bucket_ && !failure_) STATOR_RETURN_IF_ERROR(list_objects());
    if (flush_) {
      STATOR_RETURN_IF_ERROR(flush());
      return JobState::kMore;
    }
    if (bucket_ && next_key_ < keys_.size()) return read_batch(keys_[next_key_]);
    STATOR_RETURN_IF_ERROR(finish());
    return JobState::kDone;
  }

  // The table remains, with the items imported so far.
  Result<void> abandon(const Error& why) override {
    if (!begun_) STATOR_RETURN_IF_ERROR(begin());
    failure_ = admin::internal_failure(why);
    return finish();
  }

 private:
  // The position in the object after the current batch.
  struct Flush {
    uint64_t position = 0;
    bool ends_object = false;
  };

  Result<void> begin() {
    STATOR_RETURN_IF_ERROR(engine_.catalog->refresh());
    STATOR_ASSIGN_OR_RETURN(record_, Records(*engine_.store).get(key_));
    const std::string name = text_of(record_, "Table");
    const auto snapshot = engine_.catalog->snapshot();
    // An earlier version of Stator can have stopped between the commits of the table and of the
    // record.
    const auto found = snapshot->restoring.find(name);
    if (found != snapshot->restoring.end() &&
        found->second->definition().id == text_of(record_, "TableId")) {
      table_ = found->second;
    } else if (!has_table(*snapshot, name)) {
      failure_ = {"InternalServerError", messages::kImportNotBegun};
    }
    begun_ = true;
    return {};
  }

  Result<void> finish() {
    if (!failure_ && integer_of(record_, "Errors") > 0) {
      failure_ = {"ItemValidationError", messages::kItemsNotImported};
    }
    const auto end = [&](Item& record) -> Result<void> {
      if (!record.empty()) admin::end_job(record, engine_.now_ms(), failure_);
      return {};
    };
    if (!table_) return Records(lease_).change(key_, end);
    // In one commit, because only this attempt knows the failure.
    const RecordChange import{.key = key_, .change = end};
    return engine_.catalog->finish_restore(table_->name(), &lease_, &import);
  }

  bool has_table(const CatalogSnapshot& snapshot, const std::string& name) const {
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

  // Sets the bucket or the reason why the import fails. Errors: temporary ones.
  Result<void> list_objects() {
    const Item& source = map_of(map_of(record_, "Request"), "S3BucketSource");
    auto bucket = transfer::Bucket::open(engine_.options.buckets, text_of(source, "S3Bucket"));
    auto keys = bucket ? bucket->keys(text_of(source, "S3KeyPrefix"))
                       : Result<std::vector<std::string>>(Failure(bucket.error()));
    if (!keys) {
      if (is_passing(keys.error())) return failure_of(std::move(keys));
      failure_ = admin::failure_for(keys.error());
      return {};
    }
    bucket_.emplace(std::move(*bucket));
    keys_ = std::move(*keys);
    const auto reached = std::ranges::lower_bound(keys_, text_of(record_, "File"));
    next_key_ = static_cast<std::size_t>(reached - keys_.begin());
    return {};
  }

  bool is_csv() const { return text_of(map_of(record_, "Request"), "InputFormat") == "CSV"; }

  Result<void> begin_object(const std::string& key) {
    if (key != text_of(record_, "File")) {
      record_["File"] = key;
      record_["Position"] = 0;
    }
    const Item& request = map_of(record_, "Request");
    STATOR_ASSIGN_OR_RETURN(auto bytes, bucket_->read(key));
    STATOR_ASSIGN_OR_RETURN(
        reader_, transfer::read_items(
                     std::move(bytes), *transfer::format_named(text_of(request, "InputFormat")),
                     *transfer::compression_named(text_of(request, "InputCompressionType")),
                     csv_options(), static_cast<uint64_t>(integer_of(record_, "Position"))));
    return {};
  }

  // Reads the object until the batch is complete. After a temporary error of the object, the batch
  // is what was read before it; without such records, the error is returned.
  Result<JobState> read_batch(const std::string& key) {
    if (!reader_) {
      if (auto begun = begin_object(key); !begun) {
        if (is_passing(begun.error())) return failure_of(std::move(begun));
        const auto position = static_cast<uint64_t>(integer_of(record_, "Position"));
        count_error(position, begun.error().message);
        flush_ = Flush{.position = position, .ends_object = true};
        return JobState::kMore;
      }
    }
    const uint64_t first = reader_->position();
    for (std::size_t records = 1; !flush_; ++records) {
      const uint64_t begin = reader_->position();
      const transfer::Found found = reader_->next();
      if (found == transfer::Found::kDamaged && is_passing(reader_->error())) {
        const Error error = reader_->error();
        reader_.reset();
        if (begin == first) return Failure(error);
        flush_ = Flush{.position = begin};
        return JobState::kMore;
      }
      if (found == transfer::Found::kNothing && reader_->position() == first) {
        return JobState::kRetrying;  // still on the way to the position to resume at
      }
      if (found == transfer::Found::kItem) {
        if (auto taken = take(reader_->item()); !taken) count_error(begin, taken.error().message);
      } else if (found == transfer::Found::kNoItem || found == transfer::Found::kDamaged) {
        count_error(begin, reader_->error().message);
      }
      // As in DynamoDB, a record that is not an item ends its object. An invalid CSV row is only
      // skipped.
      const bool ends = found == transfer::Found::kEnd || found == transfer::Found::kDamaged ||
                        (found == transfer::Found::kNoItem && !is_csv());
      const uint64_t position = reader_->position();
      if (ends || batch_.size() >= kBatchItems || batch_bytes_ >= kImportBatchBytes ||
          records == kExaminedRecords || position - first >= kExaminedBytes) {
        flush_ = Flush{.position = position, .ends_object = ends};
      }
    }
    return JobState::kMore;
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
    engine_.options.report(LogLevel::kWarning, line);
  }

  // The later of two items with the same key replaces the earlier one.
  Result<void> take(const Item& item) {
    STATOR_RETURN_IF_ERROR(validate(PutItemRequest{.table = table_->name(), .item = item}));
    STATOR_RETURN_IF_ERROR(check_item(*table_, item));
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

  // Writes the batch and the new position. Can be repeated.
  Result<void> flush() {
    add("Bytes", static_cast<int64_t>(flush_->position) - integer_of(record_, "Position"));
    record_["Position"] = flush_->position;
    Item record = record_;
    // Object keys are read in order. The smallest key after this one is the key plus a zero byte.
    if (flush_->ends_object) record["File"] = text_of(record_, "File") + '\0';
    std::vector<std::string> keys = {key_};
    for (const auto& [key, item] : batch_) keys.push_back(key);
    const auto change = [&](GuardedRows rows, Batch& batch) -> Result<void> {
      std::size_t at = 0;
      for (const auto& [key, item] : batch_) {
        const std::optional<std::string>& before = rows[++at];
        batch.put(key, item);
        auto changes = index_changes(
            *table_, before ? std::optional(ItemView(*before)) : std::nullopt, ItemView(item));
        apply_index_changes(changes, batch);
      }
      put_record(batch, key_, record);
      return {};
    };
    STATOR_RETURN_IF_ERROR(lease_.commit(keys, change, table_->schema()));
    record_ = std::move(record);
    batch_.clear();
    batch_bytes_ = 0;
    if (flush_->ends_object) {
      reader_.reset();
      ++next_key_;
    }
    flush_.reset();
    return {};
  }

  JobEngine& engine_;
  JobLease& lease_;
  std::string id_;
  std::string key_;
  Item record_;
  TablePtr table_;
  bool begun_ = false;
  std::optional<JobFailure> failure_;
  std::optional<transfer::Bucket> bucket_;
  std::vector<std::string> keys_;
  std::size_t next_key_ = 0;                      // of the current object, or the next one
  std::unique_ptr<transfer::ItemReader> reader_;  // of the current object, if it is open
  std::map<std::string, EncodedItem> batch_;
  std::size_t batch_bytes_ = 0;
  std::optional<Flush> flush_;  // set if the batch is complete
};

}  // namespace

void start_import(JobEngine& engine, const std::string& id) {
  start_leased(engine, admin::job_name(admin::kImportJobs, id),
               record_work(record_key(RecordKind::kImport, id)),
               [&](JobLease& lease) { return std::make_unique<Import>(engine, lease, id); });
}

}  // namespace stator

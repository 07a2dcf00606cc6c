// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/export_job.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "api/admin/document.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/core/leased_job.h"
#include "engine/errors/admin_messages.h"
#include "engine/jobs/export_filter.h"
#include "engine/jobs/job_records.h"
#include "engine/streams/point_in_time.h"
#include "transfer/export_lines.h"
#include "transfer/export_manifests.h"

namespace stator {
namespace {

constexpr int64_t kBilledLeast = 10'000'000;  // minimum for an incremental export

transfer::ExportSummary summary_of(const JobEngine& engine, const std::string& id,
                                   const Item& record) {
  const Item& request = map_of(record, "Request");
  const std::string table = text_of(record, "Table");
  transfer::ExportSummary summary{
      .arn = admin::job_arn(engine, admin::kExportJobs, table, id),
      .id = id,
      .table_arn = table_arn(engine, table),
      .table_id = text_of(record, "TableId"),
      .bucket = text_of(request, "S3Bucket"),
      .prefix = text_of(request, "S3Prefix"),
      .has_prefix = request.contains("S3Prefix"),
      .encryption = text_of(request, "S3SseAlgorithm"),
      .format = transfer::format_named(text_of(request, "ExportFormat"))
                    .value_or(transfer::DataFormat::kDynamoDbJson),
      .started_ms = integer_of(record, "StartedMs"),
      .time_ms = integer_of(request, "ExportTime"),
  };
  if (request.contains("S3SseKmsKeyId")) summary.key_id = text_of(request, "S3SseKmsKeyId");
  if (const Item& increment = map_of(request, "IncrementalExportSpecification");
      !increment.empty()) {
    summary.increment = {.from_ms = integer_of(increment, "ExportFromTime"),
                         .to_ms = integer_of(increment, "ExportToTime"),
                         .view = text_of(increment, "ExportViewType")};
  }
  return summary;
}

class Export final : public Job {
 public:
  Export(JobEngine& engine, JobLease& lease, std::string id)
      : engine_(engine),
        lease_(lease),
        id_(std::move(id)),
        key_(record_key(RecordKind::kExport, id_)) {}

  Result<JobState> step() override {
    if (!bucket_) STATOR_RETURN_IF_ERROR(begin());
    if (record_.empty()) return JobState::kDone;
    if (record_.contains("StampLimit")) {
      STATOR_RETURN_IF_ERROR(find_commit_versions());
      return JobState::kMore;
    }
    if (!read_all_) {
      auto written = write_some();
      if (!written) {
        drop_file();
        is_behind_ = true;
      }
      STATOR_RETURN_IF_ERROR(std::move(written));
      return is_behind_ ? JobState::kRetrying : JobState::kMore;
    }
    STATOR_RETURN_IF_ERROR(keep_end());
    STATOR_RETURN_IF_ERROR(transfer::write_manifests(*bucket_, summary_, files_));
    STATOR_RETURN_IF_ERROR(end(std::nullopt));
    return JobState::kDone;
  }

  void rest() override { drop_file(); }

  Result<void> abandon(const Error& error) override {
    drop_file();
    return end(admin::failure_for(error));
  }

 private:
  // State at the start of the current file.
  struct FileStart {
    std::string after;
    int64_t items = 0;
    int64_t billed_bytes = 0;
  };

  Result<void> end(const std::optional<admin::JobFailure>& failure) {
    const auto close = [&](Item& record) -> Result<void> {
      for (const char* member :
           {"From", "Log", "Stamp", "ToStamp", "StampLimit", "Definition", "WrittenMs"}) {
        record.erase(member);
      }
      if (!failure) {
        record["Items"] = summary_.items;
        record["BilledBytes"] = summary_.billed_bytes;
      }
      admin::end_job(record, engine_.now_ms(), failure);
      return {};
    };
    return engine_.catalog->change_pinned(key_, close, &lease_);
  }

  Result<void> begin() {
    STATOR_ASSIGN_OR_RETURN(record_, Records(*engine_.store).get(key_));
    if (record_.empty()) return {};
    summary_ = summary_of(engine_, id_, record_);
    const Item& request = map_of(record_, "Request");
    STATOR_ASSIGN_OR_RETURN(auto bucket,
                            transfer::Bucket::open(engine_.options.buckets, summary_.bucket));
    if (request.contains("S3BucketOwner") &&
        text_of(request, "S3BucketOwner") != engine_.options.account) {
      return fail(Code::kAccessDenied, "the bucket has another owner");
    }
    if (summary_.encryption == "KMS") {
      return fail(Code::kInvalidArgument,
                  messages::key_not_found(summary_.key_id.value_or("alias/aws/s3")));
    }
    bucket.write_as(lease_.fence());
    STATOR_RETURN_IF_ERROR(bucket.write(transfer::export_directory(summary_) + "/_started", ""));
    STATOR_ASSIGN_OR_RETURN(TableDefinition decoded, table_in(record_));
    STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                            Table::make(std::move(decoded), engine_.catalog->secret()));
    if (request.contains("FilterSpecification")) {
      STATOR_ASSIGN_OR_RETURN(filter_,
                              ExportFilter::make(*table, map_of(request, "FilterSpecification")));
    }
    history_ = {.key = table->key(),
                .log = static_cast<SpaceId>(integer_of(record_, "Log")),
                .secret = engine_.catalog->secret()};
    bucket_.emplace(std::move(bucket));
    return {};
  }

  // Finds the commit versions to export: those from the first time on, and before the second.
  Result<void> find_commit_versions() {
    const Item& request = map_of(record_, "Request");
    const auto limit = static_cast<uint64_t>(integer_of(record_, "StampLimit"));
    int64_t time_ms = integer_of(request, "ExportTime");
    if (summary_.increment) {
      time_ms =
          (first_commit_version_ ? summary_.increment->to_ms : summary_.increment->from_ms) - 1;
    }
    if (!search_) search_.emplace(history_.log, time_ms, limit);
    STATOR_ASSIGN_OR_RETURN(const auto commit_version, search_->step(*engine_.store));
    if (!commit_version) return {};
    if (summary_.increment && !first_commit_version_) {
      first_commit_version_ = commit_version;
      search_.reset();
      return {};
    }
    return keep_commit_versions(first_commit_version_.value_or(*commit_version), *commit_version);
  }

  // Sets the time at which all files were written, for the manifests. The first owner that gets
  // here stores it, so that every owner writes the same manifests.
  Result<void> keep_end() {
    if (summary_.ended_ms != 0) return {};
    int64_t written_ms = 0;
    STATOR_RETURN_IF_ERROR(Records(lease_).change(key_, [&](Item& record) -> Result<void> {
      if (!record.contains("WrittenMs")) record["WrittenMs"] = engine_.now_ms();
      written_ms = integer_of(record, "WrittenMs");
      return {};
    }));
    if (summary_.increment) summary_.billed_bytes = std::max(summary_.billed_bytes, kBilledLeast);
    summary_.ended_ms = written_ms;
    return {};
  }

  Result<void> keep_commit_versions(uint64_t from, uint64_t to) {
    Item record = record_;
    record["Stamp"] = static_cast<int64_t>(from);
    if (summary_.increment) record["ToStamp"] = static_cast<int64_t>(to);
    record.erase("StampLimit");
    const auto replace = [&](Item& kept) -> Result<void> {
      kept = record;
      return {};
    };
    STATOR_RETURN_IF_ERROR(engine_.catalog->change_pinned(key_, replace, &lease_));
    record_ = std::move(record);
    return {};
  }

  Result<void> begin_file() {
    start_ = {.after = after_, .items = summary_.items, .billed_bytes = summary_.billed_bytes};
    STATOR_ASSIGN_OR_RETURN(file_, transfer::DataFileWriter::create(
                                       *bucket_, transfer::data_key(summary_, std::ssize(files_))));
    return {};
  }

  Result<void> finish_file() {
    // The rows were pinned while the lease was held, so the rows read so far are complete.
    STATOR_RETURN_IF_ERROR(lease_.confirm());
    STATOR_ASSIGN_OR_RETURN(transfer::DataFile written, file_->finish());
    files_.push_back(std::move(written));
    file_.reset();
    is_behind_ = false;
    return {};
  }

  void open_readers() {
    const auto commit_version = static_cast<uint64_t>(integer_of(record_, "Stamp"));
    if (summary_.increment) {
      changes_.emplace(*engine_.store, history_, commit_version,
                       static_cast<uint64_t>(integer_of(record_, "ToStamp")), after_);
    } else {
      items_.emplace(*engine_.store, history_, commit_version, after_);
    }
  }

  void close_readers() {
    items_.reset();
    changes_.reset();
  }

  // The current file will be written again from its start.
  void drop_file() {
    close_readers();
    if (!file_) return;
    file_.reset();
    after_ = start_.after;
    summary_.items = start_.items;
    summary_.billed_bytes = start_.billed_bytes;
  }

  Result<void> write_some() {
    if (!items_ && !changes_) open_readers();
    STATOR_ASSIGN_OR_RETURN(const bool more,
                            changes_ ? write_rows(*changes_) : write_rows(*items_));
    if (more) return {};
    if (!file_ && files_.empty()) STATOR_RETURN_IF_ERROR(begin_file());
    if (file_) STATOR_RETURN_IF_ERROR(finish_file());
    close_readers();
    read_all_ = true;
    return {};
  }

  // Returns false if there are no more rows. The end of a file depends only on the rows, not on how
  // many are read at a time.
  template <class Rows>
  Result<bool> write_rows(Rows& rows) {
    STATOR_ASSIGN_OR_RETURN(const auto some, rows.next());
    if (!some) return false;
    for (const auto& row : *some) {
      if (!file_) STATOR_RETURN_IF_ERROR(begin_file());
      STATOR_RETURN_IF_ERROR(write_row(row, *file_));
      after_ = row.row_key;
      if (file_->line_bytes() >= engine_.options.export_file_bytes) {
        STATOR_RETURN_IF_ERROR(finish_file());
      }
    }
    return true;
  }

  Result<void> write_row(const PastItem& row, transfer::DataFileWriter& file) {
    const ItemView item(row.item);
    if (filter_ && !filter_->reads(row.row_key)) return {};
    summary_.billed_bytes += static_cast<int64_t>(item_size_bytes(item));
    if (filter_ && !filter_->selects(item)) return {};
    ++summary_.items;
    return file.add(transfer::line_of(summary_.format, exported(item)));
  }

  Result<void> write_row(const PastChange& row, transfer::DataFileWriter& file) {
    if (!row.before && !row.after) return {};
    // A deleted item is filtered by its old image.
    const ItemView newest(row.after ? *row.after : *row.before);
    if (filter_ && (!filter_->reads(row.row_key) || !filter_->selects(newest))) return {};
    constexpr int64_t kMicroseconds = 1000;
    transfer::ItemChange change{.keys = decode_item(ItemView(row.key)),
                                .written_us = row.time_ms * kMicroseconds};
    const auto image = [&](const std::optional<EncodedItem>& item) -> std::optional<Item> {
      if (!item) return std::nullopt;
      summary_.billed_bytes += static_cast<int64_t>(item_size_bytes(ItemView(*item)));
      return exported(ItemView(*item));
    };
    if (summary_.increment->view == "NEW_AND_OLD_IMAGES") change.old_image = image(row.before);
    change.new_image = image(row.after);
    ++summary_.items;
    return file.add(transfer::line_of(summary_.format, change));
  }

  Item exported(ItemView item) const {
    if (!filter_) return decode_item(item);
    const EncodedItem projected = filter_->projected(item);
    return decode_item(ItemView(projected));
  }

  JobEngine& engine_;
  JobLease& lease_;
  std::string id_;
  std::string key_;
  Item record_;
  std::optional<transfer::Bucket> bucket_;  // set once the export has begun
  std::unique_ptr<ExportFilter> filter_;    // null: everything is exported
  transfer::ExportSummary summary_;
  TableHistory history_;
  std::optional<CommitVersionSearch> search_;
  std::optional<uint64_t> first_commit_version_;  // of an incremental export
  std::string after_;                             // the last row key that was written
  bool read_all_ = false;
  std::vector<transfer::DataFile> files_;  // finished ones
  FileStart start_;
  std::unique_ptr<transfer::DataFileWriter> file_;
  bool is_behind_ = false;          // from a failure until a file is finished
  std::optional<PastItems> items_;  // one of the two, while rows are read
  std::optional<PastChanges> changes_;
};

}  // namespace

void start_export(JobEngine& engine, const std::string& id) {
  start_leased(engine, admin::job_name(admin::kExportJobs, id),
               record_work(record_key(RecordKind::kExport, id)),
               [&](JobLease& lease) { return std::make_unique<Export>(engine, lease, id); });
}

std::string export_manifest(const JobEngine& engine, const std::string& id, const Item& record) {
  return transfer::manifest_key(summary_of(engine, id, record));
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "engine/exports.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "api/document.h"
#include "engine/admin_jobs.h"
#include "engine/admin_messages.h"
#include "engine/catalogue_codec.h"
#include "engine/export_filter.h"
#include "engine/point_in_time.h"
#include "engine/records.h"
#include "transfer/export_files.h"

namespace stator {
namespace {

constexpr int64_t kFileBytes = 64L << 20;     // of lines, in one data file
constexpr int64_t kBilledLeast = 10'000'000;  // of an incremental export

transfer::ExportSummary summary_of(const Engine::Impl& engine, const std::string& id,
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

class Export {
 public:
  Export(Engine::Impl& engine, std::string id)
      : engine_(engine), id_(std::move(id)), key_(record_key(RecordKind::kExport, id_)) {}

  // Where the engine stops meanwhile, the next start writes it again.
  Result<void> run() {
    STATOR_TRY(record_, Records(*engine_.store).get(key_));
    if (record_.empty()) return {};
    summary_ = summary_of(engine_, id_, record_);
    const auto written = write();
    if (!written && written.error().code == Code::kCancelled) return {};
    const auto history = history_of(record_);
    STATOR_CHECK_OK(Records(*engine_.store).change(key_, [&](Item& record) -> Result<void> {
      if (record.empty()) return {};
      for (const char* member : {"From", "Log", "Stamp", "ToStamp", "Definition"}) {
        record.erase(member);
      }
      if (written) {
        record["Items"] = summary_.items;
        record["BilledBytes"] = summary_.billed_bytes;
      }
      admin::end_job(record, engine_.now_ms(),
                     written ? std::nullopt : std::optional(why(written.error())));
      return {};
    }));
    if (history) engine_.catalogue->release(*history);
    return {};
  }

 private:
  static admin::JobFailure why(const Error& error) {
    switch (error.code) {
      case Code::kNotFound:
        return admin::no_such_bucket();
      case Code::kAccessDenied:
        return admin::bucket_access_denied();
      case Code::kInvalidArgument:
        return {.code = "KmsNotFoundException", .message = error.message};
      default:
        return {.code = "InternalServerError", .message = error.message};
    }
  }

  Result<void> write() {
    const Item& request = map_of(record_, "Request");
    STATOR_TRY(const auto bucket, transfer::Bucket::open(engine_.options.buckets, summary_.bucket));
    if (request.contains("S3BucketOwner") &&
        text_of(request, "S3BucketOwner") != engine_.options.account) {
      return fail(Code::kAccessDenied, "");
    }
    if (summary_.encryption == "KMS") {
      return fail(Code::kInvalidArgument,
                  messages::key_not_found(summary_.key_id.value_or("alias/aws/s3")));
    }
    STATOR_CHECK_OK(bucket.write(transfer::export_directory(summary_) + "/_started", ""));
    STATOR_TRY(TableDefinition decoded, table_in(record_));
    STATOR_TRY(const TablePtr table, Table::make(std::move(decoded), engine_.catalogue->secret()));
    if (request.contains("FilterSpecification")) {
      STATOR_TRY(filter_, ExportFilter::make(*table, map_of(request, "FilterSpecification")));
    }
    history_ = {.key = table->key(),
                .log = static_cast<SpaceId>(integer_of(record_, "Log")),
                .secret = engine_.catalogue->secret()};
    std::vector<transfer::DataFile> files;
    while (!read_all_) {
      STATOR_TRY(transfer::DataFile file, write_file(bucket, static_cast<int64_t>(files.size())));
      files.push_back(std::move(file));
    }
    if (summary_.increment) summary_.billed_bytes = std::max(summary_.billed_bytes, kBilledLeast);
    summary_.ended_ms = engine_.now_ms();
    return transfer::write_manifests(bucket, summary_, files);
  }

  // A view for each file, so that none is held for long.
  Result<transfer::DataFile> write_file(const transfer::Bucket& bucket, int64_t part) {
    STATOR_TRY(const auto file,
               transfer::DataFileWriter::create(bucket, transfer::data_key(summary_, part)));
    STATOR_TRY(const auto view, engine_.store->read_view());
    const auto stamp = static_cast<uint64_t>(integer_of(record_, "Stamp"));
    if (summary_.increment) {
      PastChanges changes(*view, history_, stamp,
                          static_cast<uint64_t>(integer_of(record_, "ToStamp")), after_);
      STATOR_CHECK_OK(write_rows(changes, *file));
    } else {
      PastItems items(*view, history_, stamp, after_);
      STATOR_CHECK_OK(write_rows(items, *file));
    }
    return file->finish();
  }

  template <class Rows>
  Result<void> write_rows(Rows& rows, transfer::DataFileWriter& file) {
    while (file.line_bytes() < kFileBytes) {
      if (engine_.jobs.stopping()) return fail(Code::kCancelled, "the engine stops");
      STATOR_TRY(const auto some, rows.next());
      read_all_ = some.empty();
      if (read_all_) break;
      for (const auto& row : some) STATOR_CHECK_OK(write_row(row, file));
      after_ = some.back().row_key;
    }
    return {};
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
    // Of what was deleted, the filter sees what it was.
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

  Engine::Impl& engine_;
  std::string id_;
  std::string key_;
  Item record_;
  std::unique_ptr<ExportFilter> filter_;  // null: all is exported
  transfer::ExportSummary summary_;
  TableHistory history_;
  std::string after_;  // the row key that the last of the files reaches
  bool read_all_ = false;
};

}  // namespace

void start_export(Engine::Impl& engine, const std::string& id) {
  engine.jobs.post([&engine, id] { static_cast<void>(Export(engine, id).run()); });
}

std::string export_manifest(const Engine::Impl& engine, const std::string& id, const Item& record) {
  return transfer::manifest_key(summary_of(engine, id, record));
}

}  // namespace stator

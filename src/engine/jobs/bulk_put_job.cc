// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/bulk_put_job.h"

#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "api/admin/document.h"
#include "api/model/utf8.h"
#include "engine/core/arns.h"
#include "engine/core/leased_job.h"
#include "engine/errors/admin_messages.h"
#include "engine/items/capacity.h"
#include "engine/items/collections.h"
#include "engine/jobs/bulk_input.h"
#include "engine/jobs/job_records.h"
#include "transfer/bulk_report.h"

namespace stator {
namespace {

// A transaction of this size takes no further puts: indexes and logs multiply the bytes of a put.
constexpr std::size_t kTransactionBytes = 8UL << 20;
// Limits of one file of a report.
constexpr int64_t kReportFileBytes = 8L << 20;
constexpr int64_t kReportFileLines = 10'000;
constexpr std::size_t kReportPageBytes = 1UL << 20;

// A type of output. Members of the job's record: the numbers of the first line outside a finished
// file and of the next line, the bytes between these lines, and the number of files.
struct Output {
  std::string_view type;
  char letter;
  std::string_view first;
  std::string_view next;
  std::string_view bytes;
  std::string_view files;
};
constexpr Output kErrors{.type = "ERROR",
                         .letter = 'e',
                         .first = "ErrorFirst",
                         .next = "ErrorNext",
                         .bytes = "ErrorBytes",
                         .files = "ErrorFiles"};
constexpr Output kUnmet{.type = "CONDITION_CHECK_FAILURE",
                        .letter = 'c',
                        .first = "UnmetFirst",
                        .next = "UnmetNext",
                        .bytes = "UnmetBytes",
                        .files = "UnmetFiles"};
constexpr std::array<const Output*, 2> kOutputs = {&kErrors, &kUnmet};
constexpr char kFileLetter = 'f';

void add_to(Item& record, std::string_view member, int64_t more) {
  record.insert_or_assign(std::string(member), integer_of(record, member) + more);
}

std::string numbered_key(const std::string& id, std::string_view letters, int64_t number) {
  std::string name = id;
  name += letters;
  append_big_endian(name, static_cast<uint64_t>(number));
  return record_key(RecordKind::kOutput, name);
}
std::string line_key(const std::string& id, const Output& output, int64_t number) {
  return numbered_key(id, {&output.letter, 1}, number);
}
std::string file_key(const std::string& id, const Output& output, int64_t number) {
  return numbered_key(id, std::string{kFileLetter, output.letter}, number);
}

bool wants(const Item& record, const Output& output) {
  const Item& given = map_of(map_of(record, "Request"), "OutputS3Configuration");
  return std::ranges::any_of(list_of(given, "OutputType"), [&](const AttributeValue& type) {
    return as_text(type) == output.type;
  });
}

// Replaces bytes that are not UTF-8: file names can contain any bytes.
std::string readable(std::string name) {
  if (wire::is_utf8(name)) return name;
  std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return name;
}

transfer::BulkReport report_of(const JobEngine& engine, const std::string& id, const Item& record) {
  const std::string table = text_of(record, "Table");
  const Item& output = map_of(map_of(record, "Request"), "OutputS3Configuration");
  transfer::BulkReport report{.arn = admin::job_arn(engine, admin::kBulkJobs, table, id),
                              .id = id,
                              .table_arn = table_arn(engine, table),
                              .table_id = text_of(record, "TableId"),
                              .bucket = text_of(output, "S3Bucket"),
                              .prefix = text_of(output, "S3KeyPrefix"),
                              .started_ms = integer_of(record, "StartedMs"),
                              .ended_ms = integer_of(record, "EndingMs"),
                              .processed = integer_of(record, "Processed"),
                              .written = integer_of(record, "Written"),
                              .failed = integer_of(record, "Failed"),
                              .unmet = integer_of(record, "Unmet")};
  return report;
}

// The outcome of one transaction with puts of a batch. The store can call for a decision more than
// once; each decision begins without effects.
class Attempt {
 public:
  Attempt(JobEngine& engine, const std::string& id, const BulkBatch& puts, std::size_t first,
          int64_t time_ms)
      : engine_(engine), id_(id), puts_(puts), first_(first), time_ms_(time_ms) {}

  void reset() {
    effects_.clear();
    units_ = 0;
  }
  // `rows`: one for each put from first_ on that has an action.
  void write(Item& record, GuardedRows rows, Batch& batch) {
    reset();
    Lines errors(id_, kErrors, record);
    Lines unmet(id_, kUnmet, record);
    int64_t failed_count = 0;
    int64_t unmet_count = 0;
    std::vector<int64_t> bytes;  // per table and index
    std::size_t row = 0;
    while (first_ + taken() < puts_.puts.size() && batch.bytes() < kTransactionBytes) {
      const BulkPut& put = puts_.puts[first_ + taken()];
      std::optional<WriteEffect>& effect = effects_.emplace_back();
      if (!put.action) {
        ++failed_count;
        errors.add(failed_put(put, put.error), batch);
        continue;
      }
      auto evaluated = evaluate_within_limit(engine_, *put.action, std::move(rows[row++]));
      if (evaluated) {
        effect = std::move(*evaluated);
        apply_effect(*put.action, *effect, time_ms_, batch);
        add_usage(*put.action->table, *effect, bytes);
      } else if (evaluated.error().code == Code::kConditionalCheckFailed) {
        ++unmet_count;
        unmet.add(failed_put(put, evaluated.error()), batch);
      } else {
        ++failed_count;
        errors.add(failed_put(put, evaluated.error()), batch);
      }
    }
    errors.keep(record);
    unmet.keep(record);
    const auto taken_count = static_cast<int64_t>(taken());
    add_to(record, "Processed", taken_count);
    add_to(record, "Failed", failed_count);
    add_to(record, "Unmet", unmet_count);
    add_to(record, "Written", taken_count - failed_count - unmet_count);
    add_usage(bytes, record);
    advance(record);
  }

  std::size_t taken() const { return effects_.size(); }
  double units() const { return units_; }
  int64_t time_ms() const { return time_ms_; }
  // Called after the commit.
  void count(uint64_t sequence) const {
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      const auto& action = puts_.puts[first_ + i].action;
      if (effects_[i]) count_effect(*action, *effects_[i], sequence);
    }
  }

 private:
  // The lines that a transaction adds to the report.
  class Lines {
   public:
    Lines(const std::string& id, const Output& output, const Item& record)
        : id_(id),
          output_(output),
          wanted_(wants(record, output)),
          next_(integer_of(record, output.next)),
          bytes_(integer_of(record, output.bytes)) {}
    void add(const transfer::FailedPut& put, Batch& batch) {
      if (!wanted_) return;
      std::string row = encode_item({{"Line", Binary{transfer::line_of(put)}}});
      bytes_ += static_cast<int64_t>(row.size());
      batch.put(line_key(id_, output_, next_++), std::move(row));
    }
    void keep(Item& record) const {
      record.insert_or_assign(std::string(output_.next), next_);
      record.insert_or_assign(std::string(output_.bytes), bytes_);
    }

   private:
    const std::string& id_;
    const Output& output_;
    const bool wanted_;
    int64_t next_;
    int64_t bytes_;
  };

  transfer::FailedPut failed_put(const BulkPut& put, const Error& error) const {
    transfer::FailedPut failed{
        .object = readable(puts_.object), .position = put.begin, .item = put.item};
    if (put.action) failed.item = decode_item(ItemView(put.action->item));
    if (error.code == Code::kConditionalCheckFailed) {
      if (error.detail) failed.existing = error.detail->item;
      return failed;
    }
    failed.code = error.code == Code::kItemCollectionSizeLimitExceeded
                      ? "ItemCollectionSizeLimitExceededException"
                      : "ValidationException";
    failed.message = error.message;
    return failed;
  }

  void add_usage(const Table& table, const WriteEffect& effect, std::vector<int64_t>& bytes) {
    bytes.resize(1 + table.indexes().size() + table.vector_indexes().size());
    units_ += effect.table_units();
    bytes[0] += static_cast<int64_t>(effect.after_bytes);
    for (const IndexChange& change : effect.index_changes) {
      units_ += change.write_units;
      if (!change.put_key) continue;
      bytes[1 + change.index] += change.entry_bytes;
    }
  }
  void add_usage(const std::vector<int64_t>& bytes, Item& record) const {
    if (bytes.empty()) return;
    add_to(record, "TableBytes", bytes[0]);
    const auto written =
        std::ranges::find_if(puts_.puts, [](const BulkPut& put) { return put.action.has_value(); });
    const Table& table = *written->action->table;
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      if (bytes[i] == 0) continue;
      const auto add_to_index = [&](const char* member, const std::string& index) {
        add_to(*record.try_emplace(member, Item()).first->second.get_if<Item>(), index, bytes[i]);
      };
      if (i > table.indexes().size()) {
        add_to_index("VectorIndexBytes",
                     table.vector_indexes()[i - 1 - table.indexes().size()].definition.name);
        continue;
      }
      const Index& index = table.indexes()[i - 1];
      add_to_index(index.local ? "LocalIndexBytes" : "GlobalIndexBytes", index.definition.name);
    }
  }

  void advance(Item& record) const {
    const bool ends = first_ + taken() == puts_.puts.size();
    const bool ends_object = ends && puts_.ends_object;
    // Object keys are read in order. The smallest key after this one is the key plus a zero byte.
    record["File"] = ends_object ? puts_.object + '\0' : puts_.object;
    record["Position"] =
        ends_object ? 0 : (ends ? puts_.end : puts_.puts[first_ + taken() - 1].end);
    if (ends_object) add_to(record, "DoneBytes", puts_.read_bytes);
    record["ObjectBytes"] = ends_object ? 0 : puts_.read_bytes;
  }

  JobEngine& engine_;
  const std::string& id_;
  const BulkBatch& puts_;
  const std::size_t first_;
  const int64_t time_ms_;
  std::deque<std::optional<WriteEffect>> effects_;  // of the puts from first_ on
  double units_ = 0;
};

class BulkPuts final : public Job {
 public:
  BulkPuts(JobEngine& engine, JobLease& lease, std::string id)
      : engine_(engine),
        lease_(lease),
        id_(std::move(id)),
        key_(record_key(RecordKind::kBulk, id_)) {}

  Result<JobState> step() override {
    auto state = take_step();
    if (!state) output_.reset();  // the outcome can be unknown: resume from the stored record
    return state;
  }

  std::chrono::milliseconds pause() override {
    constexpr int64_t kLongestMs = 1000;
    return std::chrono::milliseconds(
        std::clamp<int64_t>(due_ms_ - engine_.now_ms(), 0, kLongestMs));
  }

  void rest() override { close_input(); }

  // Written items remain. Finished files of the report remain too, without a manifest.
  Result<void> abandon(const Error& why) override {
    close_input();
    STATOR_RETURN_IF_ERROR(erase_output());
    return Records(lease_).change(key_, [&](Item& record) -> Result<void> {
      if (!record.empty()) admin::end_job(record, engine_.now_ms(), admin::failure_for(why));
      return {};
    });
  }

 private:
  Result<JobState> take_step() {
    if (!output_) STATOR_RETURN_IF_ERROR(begin());
    if (record_.empty()) return JobState::kDone;
    if (waits()) {  // unless it was cancelled
      STATOR_ASSIGN_OR_RETURN(record_, Records(*engine_.store).get(key_));
      if (waits()) return JobState::kMore;
    }
    const bool ending = record_.contains("Ending");
    for (const Output* output : kOutputs) {
      if (!is_file_due(*output, ending)) continue;
      STATOR_RETURN_IF_ERROR(land_all());
      STATOR_RETURN_IF_ERROR(write_file(*output));
      return JobState::kMore;
    }
    if (ending) {
      STATOR_RETURN_IF_ERROR(finish());
      return JobState::kDone;
    }
    return write_puts();
  }

  const Item& request() const { return map_of(record_, "Request"); }
  bool is_cancelling() const { return text_of(record_, "Status") == "CANCELLING"; }

  Result<void> begin() {
    close_input();
    STATOR_ASSIGN_OR_RETURN(record_, Records(*engine_.store).get(key_));
    if (record_.empty()) return {};
    const Item& output = map_of(request(), "OutputS3Configuration");
    STATOR_RETURN_IF_ERROR(check_owner(output));
    if (text_of(output, "S3SseAlgorithm") == "KMS") {
      const std::string key = text_of(output, "S3SseKmsKeyId");
      return fail(Code::kInvalidArgument,
                  messages::key_not_found(key.empty() ? "alias/aws/s3" : key));
    }
    STATOR_ASSIGN_OR_RETURN(
        auto bucket, transfer::Bucket::open(engine_.options.buckets, text_of(output, "S3Bucket")));
    bucket.write_as(lease_.fence());
    output_.emplace(std::move(bucket));
    return {};
  }

  Result<void> check_owner(const Item& bucket) const {
    const std::string owner = text_of(bucket, "S3BucketOwner");
    if (owner.empty() || owner == engine_.options.account) return {};
    return fail(Code::kAccessDenied, "the bucket has another owner");
  }

  // ---- Puts

  Result<void> open_input() {
    STATOR_ASSIGN_OR_RETURN(table_, bulk_table());
    transactions_ = integer_of(record_, "Transactions");
    const Item input = map_of(request(), "InputS3Configuration");  // the record changes below
    STATOR_RETURN_IF_ERROR(check_owner(input));
    STATOR_ASSIGN_OR_RETURN(
        auto bucket, transfer::Bucket::open(engine_.options.buckets, text_of(input, "S3Bucket")));
    STATOR_ASSIGN_OR_RETURN(auto keys, bucket.keys(text_of(input, "S3KeyPrefix")));
    if (!record_.contains("TotalBytes")) {
      int64_t total = 0;
      for (const std::string& key : keys) total += static_cast<int64_t>(bucket.size(key));
      STATOR_RETURN_IF_ERROR(
          change_record([&](Item& record) { record.emplace("TotalBytes", total); }));
    }
    const std::string reached = text_of(record_, "File");
    keys.erase(keys.begin(), std::ranges::lower_bound(keys, reached));
    const bool is_within = !keys.empty() && keys.front() == reached;
    input_.emplace(
        BulkSource{
            .bucket = std::move(bucket),
            .keys = std::move(keys),
            .format = *transfer::format_named(text_of(input, "InputFormat")),
            .compression = *transfer::compression_named(text_of(input, "InputCompressionType")),
            .position = is_within ? static_cast<uint64_t>(integer_of(record_, "Position")) : 0},
        table_);
    return {};
  }

  void close_input() {
    flights_.clear();  // waits for them
    batch_.reset();
    input_.reset();
    table_.reset();
  }

  // Returns the newest version of the table. Errors: kResourceNotFound if it was dropped, even if
  // another table has its name.
  Result<TablePtr> bulk_table() const {
    STATOR_RETURN_IF_ERROR(engine_.catalog->refresh());
    const auto snapshot = engine_.catalog->snapshot();
    const TablePtr* table = snapshot->find(text_of(record_, "Table"));
    if (table != nullptr && (*table)->definition().id == text_of(record_, "TableId")) return *table;
    return fail(Code::kResourceNotFound, messages::table_not_found(text_of(record_, "Table")));
  }

  // Whether the reader is still on the way to the position to resume at.
  bool is_before_position(const BulkBatch& batch) const {
    return batch.puts.empty() && !batch.ends_object && batch.object == text_of(record_, "File") &&
           batch.end == static_cast<uint64_t>(integer_of(record_, "Position"));
  }

  Result<JobState> write_puts() {
    if (is_cancelling()) return begin_ending();
    if (!input_) STATOR_RETURN_IF_ERROR(open_input());
    if (!batch_) {
      auto next = input_->next();
      if (!next) STATOR_RETURN_IF_ERROR(land_all());
      if (!next) return failure_of(std::move(next));
      if (!*next) return begin_ending();
      if (is_before_position(**next)) return JobState::kRetrying;
      batch_ = std::make_shared<const BulkBatch>(std::move(**next));
      first_ = 0;
    }
    take_off();
    while (flights_.size() >= flights_max()) STATOR_RETURN_IF_ERROR(land());
    return JobState::kMore;
  }

  // A transaction that can be waiting for the disk while the next one is decided on its result.
  struct Flight {
    Flight(JobEngine& engine, const std::string& id, std::shared_ptr<const BulkBatch> puts,
           std::size_t first, int64_t now_ms)
        : batch(std::move(puts)), attempt(engine, id, *batch, first, now_ms) {}
    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;
    ~Flight() {
      if (result.valid()) result.wait();
    }

    std::shared_ptr<const BulkBatch> batch;
    std::vector<std::string> keys;
    Attempt attempt;
    Result<Item> record = Item();  // as the transaction read it, then as it wrote it
    std::future<CommitResult> result = {};
  };

  // On a shared store, another transaction could commit in between. A rate limit needs the units of
  // each transaction before the next one.
  std::size_t flights_max() const {
    return engine_.is_shared || request().contains("MaxWriteRequestUnits") ? 1 : 2;
  }

  void take_off() {
    const int64_t now_ms = engine_.now_ms();
    auto& flight =
        *flights_.emplace_back(std::make_unique<Flight>(engine_, id_, batch_, first_, now_ms));
    flight.keys = {key_};
    for (std::size_t i = first_; i < batch_->puts.size(); ++i) {
      if (batch_->puts[i].action) flight.keys.push_back(batch_->puts[i].action->row_key);
    }
    const auto decide = [this, &flight, before = transactions_](GuardedRows rows) {
      Batch batch;
      flight.attempt.reset();
      flight.record = record_in(rows[0]);
      Result<Item>& record = flight.record;
      if (!record || record->empty() || text_of(*record, "Status") == "CANCELLING") return batch;
      if (integer_of(*record, "Transactions") != before) {
        record = fail(Code::kThrottling, "an earlier transaction of the job had another outcome");
        return batch;
      }
      flight.attempt.write(*record, rows.subspan(1), batch);
      record->insert_or_assign("Transactions", before + 1);
      put_record(batch, key_, *record);
      return batch;
    };
    std::promise<CommitResult> outcome;  // not in the flight, which can end within set_value()
    flight.result = outcome.get_future();
    if (engine_.is_shared) {
      outcome.set_value(lease_.transact(flight.keys, decide, table_->schema()));
    } else {
      auto done = [kept = std::move(outcome)](CommitResult result) mutable {
        kept.set_value(std::move(result));
      };
      engine_.store->transact(flight.keys, decide, std::move(done), table_->schema());
    }
    // The decision is made. If the commit fails, the job continues from the stored record.
    ++transactions_;
    first_ += flight.attempt.taken();
    if (first_ == batch_->puts.size()) batch_.reset();
  }

  // Waits for the oldest transaction in flight.
  Result<void> land() {
    const std::unique_ptr<Flight> flight = std::move(flights_.front());
    flights_.pop_front();
    CommitResult result = flight->result.get();
    const uint64_t sequence = result.sequence;
    auto landed = committed(std::move(result));
    if (landed && !flight->record) landed = failure_of(std::move(flight->record));
    STATOR_RETURN_IF_ERROR(std::move(landed));
    flight->attempt.count(sequence);
    spend(flight->attempt);
    record_ = std::move(*flight->record);
    return {};
  }
  Result<void> land_all() {
    while (!flights_.empty()) STATOR_RETURN_IF_ERROR(land());
    return {};
  }

  // ---- The rate limit of the request

  void spend(const Attempt& attempt) {
    const int64_t rate = integer_of(request(), "MaxWriteRequestUnits");
    if (rate == 0) return;
    constexpr double kSecondMs = 1000;
    cost_ms_ = static_cast<int64_t>(attempt.units() / static_cast<double>(rate) * kSecondMs);
    due_ms_ = attempt.time_ms() + cost_ms_;
  }
  // Also ends if the clock was set back.
  bool waits() const {
    const int64_t left_ms = due_ms_ - engine_.now_ms();
    return left_ms > 0 && left_ms <= cost_ms_ && !is_cancelling();
  }

  // ---- The report

  bool is_file_due(const Output& output, bool ending) const {
    const int64_t lines = integer_of(record_, output.next) - integer_of(record_, output.first);
    if (lines == 0) return false;
    return ending || lines >= kReportFileLines || integer_of(record_, output.bytes) >= file_bytes();
  }
  int64_t file_bytes() const {
    return std::min(kReportFileBytes, engine_.options.export_file_bytes);
  }

  // The end of a file depends only on the lines, so that each attempt writes the same file.
  Result<void> write_file(const Output& output) {
    const transfer::BulkReport report = report_of(engine_, id_, record_);
    const int64_t part = integer_of(record_, output.files);
    const int64_t first = integer_of(record_, output.first);
    STATOR_ASSIGN_OR_RETURN(auto file, transfer::DataFileWriter::create(
                                           *output_, report_key(report, output.type, part)));
    int64_t next = first;
    int64_t bytes = 0;
    while (next < integer_of(record_, output.next) && next - first < kReportFileLines &&
           bytes < file_bytes()) {
      STATOR_RETURN_IF_ERROR(copy_lines(output, first, next, bytes, *file));
    }
    // The lease was held until now, so no other engine has erased any of the lines.
    STATOR_RETURN_IF_ERROR(lease_.confirm());
    STATOR_ASSIGN_OR_RETURN(const transfer::DataFile written, file->finish());
    const auto change = [&](Item& record, Batch& batch) {
      if (integer_of(record, output.files) > part) return;  // an earlier call has committed
      record.insert_or_assign(std::string(output.files), part + 1);
      record.insert_or_assign(std::string(output.first), next);
      add_to(record, output.bytes, -bytes);
      for (int64_t line = first; line < next; ++line) batch.erase(line_key(id_, output, line));
      put_record(batch, file_key(id_, output, part),
                 {{"Type", std::string(output.type)},
                  {"Key", written.key},
                  {"Items", written.items},
                  {"Md5", written.md5},
                  {"Etag", written.etag}});
    };
    return change_record_and(change);
  }

  // Appends a page of lines, beginning at `next`, to the file.
  Result<void> copy_lines(const Output& output, int64_t first, int64_t& next, int64_t& bytes,
                          transfer::DataFileWriter& file) {
    std::vector<std::string> page;
    std::size_t page_bytes = 0;
    STATOR_RETURN_IF_ERROR(
        read_range(*engine_.store,
                   {.range = {.begin = line_key(id_, output, next),
                              .end = line_key(id_, output, integer_of(record_, output.next))}},
                   [&](std::string_view, std::string_view value) {
                     page.emplace_back(value);
                     return (page_bytes += value.size()) < kReportPageBytes;
                   }));
    if (page.empty()) {
      STATOR_RETURN_IF_ERROR(lease_.confirm());
      return fail(Code::kCorruption, "lines of the report are missing");
    }
    for (const std::string& row : page) {
      if (next - first == kReportFileLines || bytes >= file_bytes()) break;
      STATOR_ASSIGN_OR_RETURN(const Item line, record_in(row));
      const auto found = line.find("Line");
      const Binary* text = found == line.end() ? nullptr : found->second.get_if<Binary>();
      if (text == nullptr) return fail(Code::kCorruption, "a line of the report is damaged");
      STATOR_RETURN_IF_ERROR(file.add(text->bytes));
      bytes += static_cast<int64_t>(row.size());
      ++next;
    }
    return {};
  }

  // Erases the rows of the report, in steps.
  Result<void> erase_output() {
    const std::string begin = record_key(RecordKind::kOutput, id_);
    while (true) {
      Batch batch;
      std::size_t rows = 0;
      STATOR_RETURN_IF_ERROR(read_range(*engine_.store,
                                        {.range = {.begin = begin, .end = prefix_end(begin)}},
                                        [&](std::string_view key, std::string_view) {
                                          batch.erase(std::string(key));
                                          return ++rows < kReportFileLines;
                                        }));
      if (rows == 0) return {};
      STATOR_RETURN_IF_ERROR(lease_.write(std::move(batch)));
    }
  }

  // ---- Ending

  // Nothing is written to the table after this.
  Result<JobState> begin_ending() {
    STATOR_RETURN_IF_ERROR(land_all());
    close_input();
    STATOR_RETURN_IF_ERROR(change_record([&](Item& record) {
      record.emplace("Ending", true);
      record.emplace("EndingMs", engine_.now_ms());
    }));
    return JobState::kMore;
  }

  Result<void> finish() {
    std::vector<transfer::ReportFile> files;
    std::vector<std::string> rows;
    const std::string begin = record_key(RecordKind::kOutput, id_);
    Result<void> decoded;
    STATOR_RETURN_IF_ERROR(
        read_range(*engine_.store, {.range = {.begin = begin, .end = prefix_end(begin)}},
                   [&](std::string_view key, std::string_view value) {
                     auto file = record_in(std::string(value));
                     if (!file) {
                       decoded = failure_of(std::move(file));
                       return false;
                     }
                     rows.emplace_back(key);
                     files.push_back({.output_type = text_of(*file, "Type"),
                                      .file = {.key = text_of(*file, "Key"),
                                               .items = integer_of(*file, "Items"),
                                               .md5 = text_of(*file, "Md5"),
                                               .etag = text_of(*file, "Etag")}});
                     return true;
                   }));
    STATOR_RETURN_IF_ERROR(std::move(decoded));
    STATOR_RETURN_IF_ERROR(lease_.confirm());
    STATOR_RETURN_IF_ERROR(
        transfer::write_report(*output_, report_of(engine_, id_, record_), files));
    return change_record_and([&](Item& record, Batch& batch) {
      for (const std::string& row : rows) batch.erase(row);
      const bool is_cancelled = text_of(record, "Status") == "CANCELLING";
      std::optional<admin::JobFailure> failure;
      if (is_cancelled) {
        failure = {.code = "OperationCancelled", .message = messages::kBulkCancelled};
      }
      admin::end_job(record, engine_.now_ms(), failure);
      record["EndedMs"] = integer_of(record, "EndingMs");
      if (is_cancelled) {
        record["Status"] = "CANCELLED";
      } else if (integer_of(record, "Failed") > 0) {
        record["Status"] = "COMPLETED_WITH_ERRORS";
      }
    });
  }

  // ---- The record

  // Commits a change of the record. A cancellation can have changed the record too.
  template <class Change>
  Result<void> change_record_and(Change change) {
    const std::array<std::string, 1> keys = {key_};
    const auto replace = [&](GuardedRows rows, Batch& batch) -> Result<Item> {
      STATOR_ASSIGN_OR_RETURN(Item record, record_in(rows[0]));
      if (record.empty() || !is_open_job(record)) return record;
      change(record, batch);
      put_record(batch, key_, record);
      if (!is_open_job(record)) lease_.end_in(batch);
      return record;
    };
    STATOR_ASSIGN_OR_RETURN(record_, lease_.commit(keys, replace));
    return {};
  }
  template <class Change>
  Result<void> change_record(Change change) {
    return change_record_and([&](Item& record, Batch&) { change(record); });
  }

  JobEngine& engine_;
  JobLease& lease_;
  const std::string id_;
  const std::string key_;
  Item record_;
  std::optional<transfer::Bucket> output_;  // set once the job has begun
  TablePtr table_;                          // the table of the input
  std::optional<BulkInput> input_;
  std::shared_ptr<const BulkBatch> batch_;  // its puts from first_ on are not decided yet
  std::size_t first_ = 0;
  int64_t transactions_ = 0;                     // decided so far, according to the record
  std::deque<std::unique_ptr<Flight>> flights_;  // oldest first
  int64_t due_ms_ = 0;                           // when the next puts may be written
  int64_t cost_ms_ = 0;                          // of the last puts, at the rate of the request
};

}  // namespace

void start_bulk_puts(JobEngine& engine, const std::string& id) {
  start_leased(engine, admin::job_name(admin::kBulkJobs, id),
               record_work(record_key(RecordKind::kBulk, id)),
               [&](JobLease& lease) { return std::make_unique<BulkPuts>(engine, lease, id); });
}

void erase_expired_bulk_operations(JobEngine& engine) {
  const Records records(*engine.store);
  const auto operations = records.list(RecordKind::kBulk);
  if (!operations) return;
  for (const auto& [id, record] : *operations) {
    if (is_open_job(record)) continue;
    if (engine.now_ms() - integer_of(record, "StartedMs") < kBulkLifeMs) continue;
    static_cast<void>(records.put(record_key(RecordKind::kBulk, id), {}));
  }
}

}  // namespace stator

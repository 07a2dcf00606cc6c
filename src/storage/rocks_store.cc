// SPDX-License-Identifier: Apache-2.0
// Reads use RocksDB, which contains only durable rows: a batch enters its memtable after the log is
// synced. Guarded reads check the committer's queue first.
#include "storage/rocks_store.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>
#include <array>

#include "storage/data_directory.h"
#include "storage/lock_table.h"
#include "storage/read_rows.h"
#include "storage/rocks_committer.h"
#include "storage/rocks_files.h"
#include "storage/rocks_open.h"
#include "storage/split_range.h"

namespace stator {
namespace {

// If the disk fails a queued write, the rows that an attempt read from it are lost. The next
// attempt reads the stored rows.
constexpr int kAttemptsMax = 10;

constexpr uint64_t kLogBytesLeft = 4UL << 20;  // after a clean shutdown

std::string_view view_of(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

Result<bool> get_from(rocksdb::DB& db, const rocksdb::ReadOptions& options, std::string_view key,
                      ValueVisitor visit) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db.Get(options, db.DefaultColumnFamily(), key, &value);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return read_failure(status);
  visit(view_of(value));
  return true;
}

Result<void> scan_from(rocksdb::DB& db, rocksdb::ReadOptions options, const RangeRead& scan,
                       RowVisitor visit) {
  const rocksdb::Slice lower(scan.range.begin);
  const rocksdb::Slice upper(scan.range.end);
  options.iterate_lower_bound = &lower;
  if (!scan.range.end.empty()) options.iterate_upper_bound = &upper;
  constexpr std::size_t kManyRows = 10'000;
  if (scan.expected_rows >= kManyRows) options.readahead_size = 256UL << 10;
  const std::unique_ptr<rocksdb::Iterator> row(db.NewIterator(options));
  const bool forward = scan.direction == Direction::kForward;
  for (forward ? row->SeekToFirst() : row->SeekToLast(); row->Valid();
       forward ? row->Next() : row->Prev()) {
    if (!visit(view_of(row->key()), view_of(row->value()))) return {};
  }
  if (!row->status().ok()) return read_failure(row->status());
  return {};
}

class RocksReadView : public ReadView {
 public:
  explicit RocksReadView(rocksdb::DB& db) : db_(db) {}

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return get_from(db_, options_, key, visit);
  }
  Result<void> scan(const RangeRead& range, RowVisitor visit) override {
    return scan_from(db_, options_, range, visit);
  }

 protected:
  rocksdb::DB& db_;
  rocksdb::ReadOptions options_;
};

// The newest rows; each can be of another time.
class NewestRows final : public RocksReadView {
 public:
  NewestRows(rocksdb::DB& db, RowCache& rows) : RocksReadView(db), rows_(rows) {}

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    RowCache::Read read(rows_, key);
    if (read.visit(visit)) return true;
    return get_from(db_, options_, key, [&](std::string_view value) {
      visit(value);
      read.offer(value);
    });
  }

 private:
  RowCache& rows_;
};

// The rows at the time of its creation, for its whole lifetime.
class RocksSnapshot final : public RocksReadView {
 public:
  explicit RocksSnapshot(rocksdb::DB& db) : RocksReadView(db) {
    options_.snapshot = db.GetSnapshot();
  }
  RocksSnapshot(const RocksSnapshot&) = delete;
  RocksSnapshot& operator=(const RocksSnapshot&) = delete;
  ~RocksSnapshot() override { db_.ReleaseSnapshot(options_.snapshot); }
};

// RocksDB reads up to this many rows together, with fewer accesses to its filters and indexes.
constexpr std::size_t kRowsTogether = 32;

Result<void> get_together(rocksdb::DB& db, std::span<const rocksdb::Slice> keys,
                          FunctionRef<void(std::size_t, std::string_view)> visit) {
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db.MultiGet({}, db.DefaultColumnFamily(), keys.size(), keys.data(), values.data(),
              statuses.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!statuses[i].ok()) return read_failure(statuses[i]);
    visit(i, view_of(values[i]));
  }
  return {};
}

// Reads the newest versions of up to kRowsTogether rows, including queued ones. Raises `seen` to
// the highest sequence of a queued one.
Result<void> get_newest(rocksdb::DB& db, const RocksCommitter& committer,
                        std::span<const std::string> keys, uint64_t& seen, GuardedRows rows) {
  // Checks the queue first: a row that leaves it is already in RocksDB.
  std::array<rocksdb::Slice, kRowsTogether> stored;
  std::array<std::size_t, kRowsTogether> positions;
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (auto queued = committer.find(keys[i])) {
      seen = std::max(seen, queued->sequence);
      rows[i] = std::move(queued->value);
    } else {
      stored[count] = keys[i];
      positions[count++] = i;
    }
  }
  const auto keep = [&](std::size_t i, std::string_view value) { rows[positions[i]] = value; };
  if (count == 0) return {};
  if (count > 1) return get_together(db, std::span(stored).first(count), keep);
  auto found =
      get_from(db, {}, view_of(stored[0]), [&](std::string_view value) { keep(0, value); });
  return found ? Result<void>() : failure_of(std::move(found));
}

bool is_within(const std::filesystem::path& path, const std::filesystem::path& directory) {
  std::error_code error;
  auto at = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  for (; at.has_relative_path(); at = at.parent_path()) {
    if (std::filesystem::equivalent(at, directory, error)) return true;
  }
  return false;
}

class RocksStore final : public TransactStore, private StoreFiles, private LocalViews {
 public:
  RocksStore(DataDirectory directory, OpenedDatabase opened, const RocksStoreOptions& options)
      : directory_(std::move(directory)),
        path_(options.path),
        opened_(std::move(opened)),
        db_(opened_.db.get()),
        committer_(std::make_unique<RocksCommitter>(opened_, options)) {}
  RocksStore(const RocksStore&) = delete;
  RocksStore& operator=(const RocksStore&) = delete;

  // Leaves a short log, so that the next startup has little to replay.
  ~RocksStore() override {
    const bool writable = committer_->health().writable;
    committer_.reset();  // writes what is queued
    uint64_t bytes = 0;
    db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
    if (writable && bytes > kLogBytesLeft) {
      db_->Flush(flush_at_once()).PermitUncheckedError();
    }
    if (!opened_.file) return;
    if (writable) {
      opened_.progress.commit_versions_end = db_->GetLatestSequenceNumber() + 1;
      static_cast<void>(opened_.file->write(opened_.progress));
    }
    static_cast<void>(opened_.file->sync());
  }

  StoreCapabilities capabilities() const override { return {.key_bytes_max = 64UL << 10}; }
  StoreHealth health() const override { return committer_->health(); }
  StoreStats stats() const override {
    StoreStats stats = committer_->stats();
    using Properties = rocksdb::DB::Properties;
    db_->GetIntProperty(Properties::kBlockCacheUsage, &stats.cache_bytes);
    db_->GetIntProperty(Properties::kBlockCacheCapacity, &stats.cache_bytes_max);
    stats.cache_bytes += opened_.rows->bytes();
    stats.cache_bytes_max += opened_.rows->bytes_max();
    db_->GetIntProperty(Properties::kCurSizeAllMemTables, &stats.write_buffer_bytes);
    db_->GetIntProperty(Properties::kLiveSstFilesSize, &stats.file_bytes);
    db_->GetIntProperty(Properties::kEstimatePendingCompactionBytes,
                        &stats.pending_compaction_bytes);
    return stats;
  }
  Result<std::unique_ptr<ReadView>> view() override {
    STATOR_RETURN_IF_ERROR(directory_.check_process());
    return std::make_unique<RocksSnapshot>(*db_);
  }
  Result<NumberedView> numbered_view() override {
    STATOR_RETURN_IF_ERROR(directory_.check_process());
    NumberedView numbered;
    committer_->between_writes([&](uint64_t sequence) {
      numbered = {.view = std::make_unique<RocksSnapshot>(*db_), .sequence = sequence};
    });
    return numbered;
  }
  void observe(CommitObserver* observer) override { committer_->observe(observer); }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    CommitResult result;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      auto known = attempt_once(keys, decide, done, expected);
      if (!known) return;
      result = std::move(*known);
      if (result.outcome != CommitOutcome::kConflict) break;
    }
    done(std::move(result));
  }
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    std::optional<CommitResult> known;
    if (auto usable = directory_.check_process(); !usable) {
      known.emplace(CommitOutcome::kUnavailable, std::move(usable).error());
    } else {
      LockTable::Guard guard = locks_.lock(batch);
      known = committer_->commit(std::move(batch), 0, done, [&] { guard.release(); }, expected);
    }
    if (known) done(std::move(*known));
  }
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) override {
    STATOR_RETURN_IF_ERROR(directory_.check_process());
    return committer_->schema_row(key);
  }
  Result<uint64_t> schema_version(const SchemaRow& row) override { return row.newest(); }
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    if (auto usable = directory_.check_process(); !usable) return done(std::move(usable));
    if (needs_state(request)) {
      RocksSnapshot view(*db_);
      done(read_rows(view, request, visit));
    } else {
      NewestRows view(*db_, *opened_.rows);
      done(read_rows(view, request, visit));
    }
  }
  void with_view(ViewBody body, ReadDone done) override {
    Result<void> result = directory_.check_process();
    if (result) {
      RocksSnapshot view(*db_);
      result = body(view);
    }
    done(std::move(result));
  }
  Result<LogPosition> safe_position() override {
    return LogPosition{committer_->written_commit_version() + 1};
  }

  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return split_by_hash(range, parts);
  }

  Result<void> drop_range(const KeyRange& range) override {
    if (!range.end.empty() && range.end <= range.begin) return {};
    // RocksDB has no open end of a range. No partition begins with 21 bytes of 0xff.
    const std::string end =
        range.end.empty() ? std::string(kPartitionBytes + 1, '\xff') : range.end;
    rocksdb::WriteOptions options;
    options.sync = true;
    rocksdb::Status status;
    {
      const RowCache::RangeChange change(*opened_.rows, range);
      status = db_->DeleteRange(options, db_->DefaultColumnFamily(), range.begin, end);
    }
    if (!status.ok()) return fail(Code::kIo, "cannot drop rows: " + status.ToString());
    // Deletes whole files immediately, without the free space that a compaction needs.
    const rocksdb::Slice first(range.begin);
    const rocksdb::Slice last(end);
    const rocksdb::RangePtr files(&first, &last);
    rocksdb::DeleteFilesInRanges(db_, db_->DefaultColumnFamily(), &files, 1, /*include_end=*/false)
        .PermitUncheckedError();
    if (!opened_.space->has_room()) opened_.space->reclaim_soon();
    return {};
  }

  Result<void> checkpoint(const std::filesystem::path& directory) override {
    std::error_code error;
    if (is_within(directory, path_)) {
      return fail(Code::kInvalidArgument,
                  fmt::format("'{}' is within the data directory; choose a place apart from it",
                              directory.string()));
    }
    if (!std::filesystem::create_directory(directory, error)) {
      return fail(Code::kIo, fmt::format("cannot create '{}': {}", directory.string(),
                                         error ? error.message() : "it exists already"));
    }
    rocksdb::Checkpoint* made = nullptr;
    rocksdb::Status status = rocksdb::Checkpoint::Create(db_, &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    if (status.ok()) status = checkpoint->CreateCheckpoint((directory / kDatabaseName).string());
    Result<void> copied;
    if (status.ok()) {
      copied = mark_data_directory(directory);
      if (copied) copied = sync_directory(std::filesystem::absolute(directory).parent_path());
    } else {
      copied = fail(Code::kIo, fmt::format("cannot copy the data to '{}': {}", directory.string(),
                                           status.ToString()));
    }
    // An incomplete copy is useless, and would block the next one.
    if (!copied) std::filesystem::remove_all(directory, error);
    return copied;
  }

  void verify_files(DamageVisitor damaged, BytesVisitor progress) override {
    if (!opened_.log_damage.empty()) damaged(opened_.log_damage);
    verify_table_files(*db_, damaged, progress);
  }
  StoreFiles* files() override { return this; }
  LocalViews* local_views() override { return this; }

 private:
  // Returns no value if `done` was taken and will be called.
  std::optional<CommitResult> attempt_once(std::span<const std::string> keys, Decide& decide,
                                           CommitDone& done, SchemaVersions expected) {
    const auto refuse = [](Error error) {
      return CommitResult{CommitOutcome::kUnavailable, std::move(error)};
    };
    if (auto usable = directory_.check_process(); !usable) {
      return refuse(std::move(usable).error());
    }
    LockTable::Guard guard = locks_.lock(keys);
    GuardedValues values(keys.size());
    const GuardedRows rows = values.rows();
    uint64_t seen = 0;
    for (std::size_t i = 0; i < keys.size(); i += kRowsTogether) {
      const std::size_t count = std::min(kRowsTogether, keys.size() - i);
      auto read =
          get_newest(*db_, *committer_, keys.subspan(i, count), seen, rows.subspan(i, count));
      if (!read) return refuse(std::move(read).error());
    }
    return committer_->commit(decide(rows), seen, done, [&] { guard.release(); }, expected);
  }

  DataDirectory directory_;
  std::filesystem::path path_;
  OpenedDatabase opened_;
  rocksdb::DB* const db_;
  LockTable locks_;
  std::unique_ptr<RocksCommitter> committer_;
};

}  // namespace

Result<std::unique_ptr<TransactStore>> open_rocks_store_in(rocksdb::Env* env,
                                                           const RocksStoreOptions& options) {
  STATOR_ASSIGN_OR_RETURN(
      DataDirectory directory,
      DataDirectory::open(options.path, options.create_if_missing && !options.read_only));
  STATOR_ASSIGN_OR_RETURN(OpenedDatabase opened,
                          open_database(*env, options, directory.is_fresh()));
  if (directory.is_fresh()) STATOR_RETURN_IF_ERROR(mark_data_directory(options.path));
  return std::make_unique<RocksStore>(std::move(directory), std::move(opened), options);
}

Result<std::unique_ptr<TransactStore>> open_rocks_store(const RocksStoreOptions& options) {
  return open_rocks_store_in(rocksdb::Env::Default(), options);
}

}  // namespace stator

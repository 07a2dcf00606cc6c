// SPDX-License-Identifier: Apache-2.0
// Reads go to RocksDB, which holds nothing that is not yet durable: a batch enters its memtable
// only after the log is synced. Guarded reads look at the committer's queue first.
#include "storage/rocks_store.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>

#include "storage/cache_size.h"
#include "storage/data_directory.h"
#include "storage/lock_table.h"
#include "storage/rocks_committer.h"
#include "storage/rocks_files.h"
#include "storage/split_range.h"

namespace stator {
namespace {

constexpr uint64_t kLogBytesLeft = 4UL << 20;  // at a clean end

std::string_view view_of(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

Failure read_failure(const rocksdb::Status& status) {
  return fail(status.IsCorruption() ? Code::kCorruption : Code::kIo,
              "cannot read the data directory: " + status.ToString());
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

Result<void> scan_from(rocksdb::DB& db, rocksdb::ReadOptions options, const ScanOptions& scan,
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

class RocksReadView final : public ReadView {
 public:
  explicit RocksReadView(rocksdb::DB& db) : db_(db), snapshot_(db.GetSnapshot()) {
    options_.snapshot = snapshot_;
  }
  RocksReadView(const RocksReadView&) = delete;
  RocksReadView& operator=(const RocksReadView&) = delete;
  ~RocksReadView() override { db_.ReleaseSnapshot(snapshot_); }

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return get_from(db_, options_, key, visit);
  }
  Result<void> scan(const ScanOptions& options, RowVisitor visit) override {
    return scan_from(db_, options_, options, visit);
  }

 private:
  rocksdb::DB& db_;
  const rocksdb::Snapshot* snapshot_;
  rocksdb::ReadOptions options_;
};

class RocksTransaction final : public Transaction {
 public:
  RocksTransaction(rocksdb::DB& db, RocksCommitter& committer, LockTable& locks)
      : db_(db), committer_(committer), locks_(locks) {}

  Result<std::vector<std::optional<std::string>>> get_for_update(
      std::span<const std::string> keys) override {
    guard_.emplace(locks_.lock(keys));
    std::vector<std::optional<std::string>> values(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      STATOR_CHECK_OK(get(keys[i], [&](std::string_view value) { values[i] = value; }));
    }
    return values;
  }

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    // The queue first: what leaves it is in RocksDB by then.
    if (const auto queued = committer_.find(key)) {
      seen_ = std::max(seen_, queued->sequence);
      if (!queued->value) return false;
      visit(*queued->value);
      return true;
    }
    return get_from(db_, {}, key, visit);
  }

  void put(std::string_view key, std::string_view value) override { batch_.put(key, value); }
  void erase(std::string_view key) override { batch_.erase(key); }
  void put_stamped(std::string_view prefix, std::string_view suffix,
                   std::string_view value) override {
    batch_.put_stamped(prefix, suffix, value);
  }

  void commit(CommitDone done) override {
    committer_.commit(std::move(batch_), seen_, std::move(done), [this] { guard_.reset(); });
  }

 private:
  rocksdb::DB& db_;
  RocksCommitter& committer_;
  LockTable& locks_;
  std::optional<LockTable::Guard> guard_;
  Batch batch_;
  uint64_t seen_ = 0;  // the newest queued version that was read
};

bool is_within(const std::filesystem::path& path, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::weakly_canonical(path, error);
  for (; at.has_relative_path(); at = at.parent_path()) {
    if (std::filesystem::equivalent(at, directory, error)) return true;
  }
  return false;
}

struct OpenedDatabase {
  std::unique_ptr<rocksdb::DB> db;
  std::string log_damage = {};  // what is wrong with the log; empty: nothing that was looked for
};

class RocksStore final : public Store {
 public:
  RocksStore(DataDirectory directory, OpenedDatabase opened, const RocksStoreOptions& options)
      : directory_(std::move(directory)),
        path_(options.path),
        db_(std::move(opened.db)),
        log_damage_(std::move(opened.log_damage)),
        committer_(std::make_unique<RocksCommitter>(*db_, options)) {}
  RocksStore(const RocksStore&) = delete;
  RocksStore& operator=(const RocksStore&) = delete;

  // Leaves a short log, so that the next start has little to read back.
  ~RocksStore() override {
    const bool writable = committer_->health().writable;
    committer_.reset();  // writes what is queued
    uint64_t bytes = 0;
    db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
    if (writable && bytes > kLogBytesLeft) {
      db_->Flush(rocksdb::FlushOptions()).PermitUncheckedError();
    }
  }

  StoreCapabilities capabilities() const override {
    return {.key_bytes_max = 64UL << 10,
            .value_bytes_max = 64UL << 20,
            .transaction_bytes_max = 64UL << 20,
            .snapshot_spans_partitions = true};
  }
  StoreHealth health() const override { return committer_->health(); }
  // See RocksCommitter: a stamp is never ahead of the sequence number of the write that holds it.
  uint64_t last_stamp() const override { return db_->GetLatestSequenceNumber(); }

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return get_from(*db_, {}, key, visit);
  }
  Result<std::unique_ptr<ReadView>> read_view() override {
    return std::make_unique<RocksReadView>(*db_);
  }
  Result<std::unique_ptr<Transaction>> begin() override {
    return std::make_unique<RocksTransaction>(*db_, *committer_, locks_);
  }

  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return split_by_hash(range, parts);
  }

  Result<void> drop_range(const KeyRange& range) override {
    if (!range.end.empty() && range.end <= range.begin) return {};
    // RocksDB has no "to the end"; no partition begins with 21 bytes of 0xff.
    const std::string end =
        range.end.empty() ? std::string(kPartitionBytes + 1, '\xff') : range.end;
    rocksdb::WriteOptions options;
    options.sync = true;
    const rocksdb::Status status =
        db_->DeleteRange(options, db_->DefaultColumnFamily(), range.begin, end);
    if (!status.ok()) return fail(Code::kIo, "cannot drop rows: " + status.ToString());
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
    rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
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
    // What is left of half a copy is of no use, and would be in the way of the next one.
    if (!copied) std::filesystem::remove_all(directory, error);
    return copied;
  }

  void verify_files(DamageVisitor damaged, BytesVisitor progress) override {
    if (!log_damage_.empty()) damaged(log_damage_);
    verify_table_files(*db_, damaged, progress);
  }

 private:
  DataDirectory directory_;
  std::filesystem::path path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::string log_damage_;
  LockTable locks_;
  std::unique_ptr<RocksCommitter> committer_;
};

rocksdb::Options rocks_options(const RocksStoreOptions& options, rocksdb::Env* env) {
  rocksdb::Options rocks;
  rocks.env = env;
  rocks.write_buffer_size = options.write_buffer_bytes;
  rocks.max_background_jobs = 2;
  // Most keys are in no memtable, and its skip list would be a point read's largest cost.
  rocks.memtable_prefix_bloom_size_ratio = 0.015;
  rocks.memtable_whole_key_filtering = true;
  // Figures for RocksDB's own choices that would have every file read at each start.
  rocks.skip_stats_update_on_db_open = true;
  // A failed write stands until the data is opened anew: see RocksCommitter.
  rocks.max_bgerror_resume_count = 0;
  rocks.keep_log_file_num = 2;
  rocks.max_log_file_size = 4UL << 20;
  rocks.compression = rocksdb::kLZ4Compression;
  rocks.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  // A record torn at the end of the log is a write that was never acknowledged; what follows a
  // damaged one is not replayed.
  rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  const std::size_t cache_bytes =
      options.cache_bytes != 0 ? options.cache_bytes : cache_bytes_of(usable_memory_bytes());
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache_bytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.block_size = 16UL << 10;  // docs/decisions/0004-blocks-of-16-kb.md
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return rocks;
}

Failure open_failure(const std::filesystem::path& path, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  // kInvalidArgument: the database, or a file that it names, is not there.
  if (status.IsCorruption() || status.IsInvalidArgument()) {
    return fail(Code::kCorruption,
                fmt::format("the data directory '{}' is damaged ({}); restore it from a copy",
                            path.string(), text));
  }
  return fail(Code::kIo,
              fmt::format("cannot open the data directory '{}': {}", path.string(), text));
}

Result<OpenedDatabase> open_database(const RocksStoreOptions& options, bool fresh,
                                     rocksdb::Env* env) {
  rocksdb::Options rocks = rocks_options(options, env);
  // A directory that has held a database and holds none any more has lost it.
  rocks.create_if_missing = fresh;
  const std::string name = (options.path / kDatabaseName).string();
  OpenedDatabase opened;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status;
  if (options.read_only) {
    // Whoever only looks wants to know of more than a torn end.
    rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    status = rocksdb::DB::OpenForReadOnly(rocks, name, &db);
    if (status.IsCorruption()) {
      opened.log_damage = "the log cannot be read to its end: " + status.ToString();
      rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
      status = rocksdb::DB::OpenForReadOnly(rocks, name, &db);
    }
  } else {
    status = rocksdb::DB::Open(rocks, name, &db);
  }
  if (!status.ok()) return open_failure(options.path, status);
  opened.db.reset(db);
  return opened;
}

}  // namespace

Result<std::unique_ptr<Store>> open_rocks_store_in(rocksdb::Env* env,
                                                   const RocksStoreOptions& options) {
  STATOR_TRY(DataDirectory directory,
             DataDirectory::open(options.path, options.create_if_missing && !options.read_only));
  STATOR_TRY(OpenedDatabase opened, open_database(options, directory.is_fresh(), env));
  if (directory.is_fresh()) STATOR_CHECK_OK(mark_data_directory(options.path));
  return std::make_unique<RocksStore>(std::move(directory), std::move(opened), options);
}

Result<std::unique_ptr<Store>> open_rocks_store(const RocksStoreOptions& options) {
  return open_rocks_store_in(rocksdb::Env::Default(), options);
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// Opening changes files: it writes the log's rows to table files and deletes the log. So the log is
// checked before, and enough free space is made.
#include "storage/rocks_open.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "storage/cache_size.h"
#include "storage/data_directory.h"
#include "storage/rocks_log.h"

namespace stator {
namespace {

constexpr const char* kProgressName = "progress";

std::size_t cache_limit(const RocksStoreOptions& options) {
  return options.cache_bytes != 0 ? options.cache_bytes : cache_bytes_of(usable_memory_bytes());
}

rocksdb::Options rocks_options(std::size_t cache_bytes, rocksdb::Env& env,
                               const RocksSpace& space) {
  rocksdb::Options rocks;
  rocks.env = &env;
  const uint64_t write_buffer_bytes = space.sizes().write_buffer_bytes;
  rocks.write_buffer_size = write_buffer_bytes;
  rocks.target_file_size_base = write_buffer_bytes;
  rocks.level0_slowdown_writes_trigger = kLevel0FilesSlow;
  rocks.level0_stop_writes_trigger = kLevel0FilesMax;
  rocks.max_bytes_for_level_base = 4 * write_buffer_bytes;
  rocks.max_compaction_bytes = 8 * write_buffer_bytes;
  rocks.max_background_jobs = 2;
  // Most keys are in no memtable, and searching its skip list would be the main cost of a point
  // read.
  rocks.memtable_prefix_bloom_size_ratio = 0.015;
  rocks.memtable_whole_key_filtering = true;
  // These statistics of RocksDB would require reading every file at startup.
  rocks.skip_stats_update_on_db_open = true;
  // See RocksSpace::resume().
  rocks.max_bgerror_resume_count = 0;
  rocks.listeners.push_back(space.listener());
  rocks.keep_log_file_num = 2;
  rocks.max_log_file_size = 4UL << 20;
  rocks.compression = rocksdb::kLZ4Compression;
  rocks.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  // The part after the sound log was already checked by check_logs().
  rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache_bytes - row_cache_bytes_of(cache_bytes));
  // The cache includes the filters and indexes of all tables. A point read finds those of a pinned
  // table without a search of the cache.
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.block_size = 16UL << 10;  // docs/decisions/0004-blocks-of-16-kb.md
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return rocks;
}

Failure open_failure(const std::filesystem::path& path, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  // The last two: the database, or a file that it lists, does not exist.
  if (status.IsCorruption() || status.IsInvalidArgument() || status.IsPathNotFound()) {
    return fail(Code::kCorruption,
                fmt::format("the data directory '{}' is damaged ({}); restore it from a copy",
                            path.string(), text));
  }
  return fail(Code::kIo,
              fmt::format("cannot open the data directory '{}': {}", path.string(), text));
}

std::string boot_of(const RocksStoreOptions& options) {
  return options.boot.empty() ? boot_id() : options.boot;
}

struct Manifest {
  ManifestState state;
  std::set<std::string> tables;  // names of the table files that it lists
};

// If a database is opened read-only without logs, it has the state of its manifest.
Result<Manifest> read_manifest(const RocksStoreOptions& options, rocksdb::Options rocks) {
  rocks.listeners.clear();
  rocks.wal_dir = options.path.string();
  rocks.max_open_files = 16;
  rocksdb::DB* opened = nullptr;
  const std::string name = (options.path / kDatabaseName).string();
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(rocks, name, &opened);
  if (!status.ok()) return open_failure(options.path, status);
  const std::unique_ptr<rocksdb::DB> db(opened);
  Manifest manifest{.state = {.last_row = db->GetLatestSequenceNumber()}};
  db->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &manifest.state.first_log);
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    manifest.tables.insert(std::filesystem::path(file.name).filename().string());
  }
  return manifest;
}

Result<LogState> check_logs_of(const RocksStoreOptions& options, const ManifestState& manifest) {
  const auto progress = ProgressFile::read(options.path / kProgressName);
  if (!progress && progress.error().code != Code::kCorruption) return Failure(progress.error());
  STATOR_ASSIGN_OR_RETURN(LogState state,
                          check_logs(options.path / kDatabaseName, manifest,
                                     progress ? *progress : std::nullopt, boot_of(options)));
  if (!progress && state.damage.empty()) state.damage = progress.error().message;
  return state;
}

// Removes table files that a killed process left incomplete. RocksDB deletes them only after its
// recovery, which can need their space.
void remove_unlisted_tables(const std::filesystem::path& directory,
                            const std::set<std::string>& listed) {
  std::error_code error;
  std::vector<std::filesystem::path> unlisted;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".sst" && !listed.contains(path.filename().string())) {
      unlisted.push_back(path);
    }
  }
  for (const auto& path : unlisted) std::filesystem::remove(path, error);
}

Failure log_failure(const RocksStoreOptions& options, const std::string& damage) {
  return fail(Code::kCorruption,
              fmt::format("the log of data directory '{}' is damaged: {}; restore a backup, or run "
                          "`stator recover` to continue with the writes before the damage",
                          options.path.string(), damage));
}

uint64_t sound_bytes_of(const LogState& log) {
  uint64_t bytes = 0;
  for (const LogFile& file : log.files) bytes += file.sound_bytes;
  return bytes;
}

uint64_t copied_bytes(const LogState& log) {
  return log.sound_files > 0 ? log.files[log.sound_files - 1].bytes : 0;
}

// Sets aside damage that a loss of power can cause with durability `os`. Other damage is an error.
Result<void> accept_log(const RocksStoreOptions& options, LogState& state, RocksSpace& space) {
  if (state.damage.empty()) return {};
  if (!state.is_excused) return log_failure(options, state.damage);
  space.make_room(copied_bytes(state));
  STATOR_ASSIGN_OR_RETURN(const auto aside,
                          set_logs_aside(state, options.path / kDatabaseName, options.path));
  state.files.resize(state.sound_files);
  if (options.report) {
    options.report(fmt::format(
        "{}; the operating system restarted since, and durability is `os`: continuing with the "
        "writes before the damage, with the log kept in '{}'",
        state.damage, aside.string()));
  }
  return {};
}

Result<OpenedDatabase> open_to_read(OpenedDatabase opened, const RocksStoreOptions& options,
                                    const rocksdb::Options& rocks) {
  STATOR_ASSIGN_OR_RETURN(const Manifest manifest, read_manifest(options, rocks));
  STATOR_ASSIGN_OR_RETURN(const LogState log, check_logs_of(options, manifest.state));
  if (!log.damage.empty()) opened.log_damage = "the log is damaged: " + log.damage;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(rocks, (options.path / kDatabaseName).string(), &db);
  if (!status.ok()) return open_failure(options.path, status);
  opened.db.reset(db);
  return opened;
}

// Makes the next row's number at least `first`. RocksDB numbers only rows that it writes, so this
// erases a key that no row has. Synced, because the progress file then names the last row.
Result<void> number_rows_from(rocksdb::DB& db, uint64_t first, const std::filesystem::path& path) {
  constexpr uint64_t kErasuresMax = 1UL << 16;
  for (uint64_t next = db.GetLatestSequenceNumber() + 1; next < first;) {
    const uint64_t count = std::min(first - next, kErasuresMax);
    rocksdb::WriteBatch erasures;
    rocksdb::Status status;
    for (uint64_t i = 0; i < count && status.ok(); ++i) status = erasures.Delete("");
    rocksdb::WriteOptions synced;
    synced.sync = true;
    if (status.ok()) status = db.Write(synced, &erasures);
    if (!status.ok()) return open_failure(path, status);
    next += count;
  }
  return {};
}

}  // namespace

Result<OpenedDatabase> open_database(rocksdb::Env& env, const RocksStoreOptions& options,
                                     bool fresh) {
  auto space = std::make_unique<RocksSpace>(env, options);
  OpenedDatabase opened{.env = space->environment(), .space = std::move(space)};
  const std::size_t cache_bytes = cache_limit(options);
  opened.rows = std::make_unique<RowCache>(row_cache_bytes_of(cache_bytes));
  rocksdb::Options rocks = rocks_options(cache_bytes, *opened.env, *opened.space);
  if (options.read_only) return open_to_read(std::move(opened), options, rocks);
  LogState log;
  if (!fresh) {
    STATOR_ASSIGN_OR_RETURN(const Manifest manifest, read_manifest(options, rocks));
    STATOR_ASSIGN_OR_RETURN(log, check_logs_of(options, manifest.state));
    STATOR_RETURN_IF_ERROR(accept_log(options, log, *opened.space));
    remove_unlisted_tables(options.path / kDatabaseName, manifest.tables);
  }
  STATOR_RETURN_IF_ERROR(opened.space->prepare_opening(sound_bytes_of(log)));
  // A marked directory without a database has lost it.
  rocks.create_if_missing = fresh;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(rocks, (options.path / kDatabaseName).string(), &db);
  if (!status.ok()) return open_failure(options.path, status);
  opened.db.reset(db);
  const uint64_t last_row = db->GetLatestSequenceNumber();
  if (last_row < log.last_row) {
    return log_failure(options, fmt::format("row {} of {} is the last one that can be read",
                                            last_row, log.last_row));
  }
  opened.space->opened(*db);
  if (log.progress) {
    STATOR_RETURN_IF_ERROR(number_rows_from(*db, log.progress->unused_versions(), options.path));
  }
  STATOR_ASSIGN_OR_RETURN(ProgressFile file, ProgressFile::open(options.path / kProgressName));
  opened.file.emplace(std::move(file));
  opened.progress = {.last_row = db->GetLatestSequenceNumber(),
                     .commit_versions_end = db->GetLatestSequenceNumber() + 1,
                     .synced = options.durability == Durability::kSync,
                     .boot = boot_of(options)};
  STATOR_RETURN_IF_ERROR(opened.file->write(opened.progress));
  STATOR_RETURN_IF_ERROR(opened.file->sync());
  opened.space->restore_ballast();
  return opened;
}

Result<LogRecovery> recover_rocks_store(const std::filesystem::path& path) {
  RocksStoreOptions options{.path = path, .create_if_missing = false};
  LogRecovery recovery;
  {
    STATOR_ASSIGN_OR_RETURN(const DataDirectory directory, DataDirectory::open(path, false));
    RocksSpace space(*rocksdb::Env::Default(), options);
    STATOR_ASSIGN_OR_RETURN(const Manifest manifest,
                            read_manifest(options, rocks_options(cache_limit(options),
                                                                 *rocksdb::Env::Default(), space)));
    STATOR_ASSIGN_OR_RETURN(const LogState log, check_logs_of(options, manifest.state));
    if (log.damage.empty()) return recovery;
    recovery.damage = log.damage;
    space.make_room(copied_bytes(log));
    STATOR_ASSIGN_OR_RETURN(recovery.set_aside, set_logs_aside(log, path / kDatabaseName, path));
    const Progress before = log.progress.value_or(Progress{});
    STATOR_ASSIGN_OR_RETURN(ProgressFile progress, ProgressFile::open(path / kProgressName));
    STATOR_RETURN_IF_ERROR(progress.write({.last_row = log.last_row,
                                           .commit_versions_end = before.unused_versions(),
                                           .boot = boot_of(options)}));
    STATOR_RETURN_IF_ERROR(progress.sync());
  }
  STATOR_ASSIGN_OR_RETURN(const auto store, open_rocks_store(options));
  return recovery;
}

Failure read_failure(const rocksdb::Status& status) {
  return fail(status.IsCorruption() ? Code::kCorruption : Code::kIo,
              "cannot read the data directory: " + status.ToString());
}

}  // namespace stator

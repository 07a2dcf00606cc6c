// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_space.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <system_error>
#include <utility>

#include "storage/rocks_space_env.h"
#include "storage/rocks_zeroed_log.h"

namespace stator {
namespace {

constexpr uint64_t kMb = 1UL << 20;

// Maximum size of table files for this many unflushed bytes: keys and values, index and filters.
constexpr uint64_t flushed_bytes(uint64_t unflushed) {
  return unflushed + unflushed / 4;
}

// The ballast covers a compaction while less than this many reserves are free. So another program
// must write the rest within the interval to take that space.
constexpr uint64_t kShortReserves = 8;
constexpr auto kCoverInterval = std::chrono::seconds(1);

constexpr int kWriteBuffersMax = 3;              // RocksDB has two; a large write can exceed them
constexpr uint64_t kItemBytesMax = 400UL << 10;  // DynamoDB's limit

// A write is in the log, in a table file, and in the next level until a compaction ends.
constexpr uint64_t written_bytes(uint64_t bytes) {
  return 3 * bytes;
}

}  // namespace

rocksdb::FlushOptions flush_at_once() {
  rocksdb::FlushOptions options;
  options.allow_write_stall = true;
  return options;
}

RocksSpace::Sizes RocksSpace::sizes_for(uint64_t disk_bytes, const RocksStoreOptions& options) {
  Sizes sizes;
  sizes.write_buffer_bytes = std::min<uint64_t>(options.write_buffer_bytes,
                                                std::clamp(disk_bytes / 1024, 1 * kMb, 64 * kMb));
  sizes.base_bytes = std::clamp(disk_bytes / 16, 2 * kMb, 16 * kMb);
  sizes.compaction_bytes = uint64_t{kLevel0FilesMax + 4} * sizes.write_buffer_bytes;
  sizes.reserve_bytes = options.reserve_bytes != 0 ? options.reserve_bytes
                                                   : sizes.compaction_bytes + sizes.base_bytes;
  return sizes;
}

RocksSpace::RocksSpace(rocksdb::Env& env, const RocksStoreOptions& options)
    : env_(env),
      path_(options.path),
      synced_(options.durability == Durability::kSync),
      state_(std::make_shared<SpaceState>(env, options.path)),
      sizes_([&] {
        std::error_code error;
        const auto space = std::filesystem::space(options.path, error);
        return sizes_for(error ? UINT64_MAX : space.capacity, options);
      }()) {}

RocksSpace::~RocksSpace() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  ++state_->compactions;
  state_->compactions.notify_all();
  if (keeper_.joinable()) keeper_.join();
  if (follower_.joinable()) follower_.join();
}

std::shared_ptr<rocksdb::EventListener> RocksSpace::listener() const {
  return make_space_listener(state_);
}

std::unique_ptr<rocksdb::Env> RocksSpace::environment() const {
  const bool zeroed = synced_ && gains_from_zeros(path_);
  return make_space_env(env_, state_, sizes_.base_bytes / 16, zeroed);
}

uint64_t RocksSpace::unflushed_bytes() const {
  uint64_t bytes = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
  return bytes;
}

void RocksSpace::make_room(uint64_t bytes) {
  static_cast<void>(state_->ballast.make_room(bytes, Ballast::For::kAnything));
}

Result<void> RocksSpace::prepare_opening(uint64_t log_bytes) {
  const uint64_t needed = flushed_bytes(log_bytes) + sizes_.base_bytes / 2;
  aim_at(sizes_.base_bytes + flushed_bytes(log_bytes));
  if (state_->ballast.available_bytes() >= needed) return {};
  return fail(Code::kIo, fmt::format("the disk of '{}' is full: opening it needs {} MB free; free "
                                     "that much and try again",
                                     path_.string(), needed / kMb + 1));
}

void RocksSpace::opened(rocksdb::DB& db) {
  db_ = &db;
  cover_compaction();
  keeper_ = std::thread([this] { keep_space(); });
  follower_ = std::thread([this] { follow_compactions(); });
}

// In a thread that does nothing else: RocksDB 7 wakes a write that waits only when background work
// ends, so set_limits() also waits for the compaction that it starts, whether or not that has the
// space.
void RocksSpace::follow_compactions() {
  constexpr int kUnlimited = std::numeric_limits<int>::max();
  for (TableLimits limits;;) {
    const uint32_t seen = state_->compactions;
    if (stopping_) return;
    const bool ran_out = state_->compaction_ran_out;
    TableLimits next;
    if (ran_out) {
      next = {.slow = kUnlimited, .most = kUnlimited};
    } else if (level0_files() >= kLevel0FilesSlow) {
      next.most = limits.most;  // it cannot be lifted behind a write that waits because of it
    }
    // A flush that began before the limits were lifted restores them.
    if (next != limits || (ran_out && is_stopped())) set_limits(next);
    limits = next;
    state_->compactions.wait(seen);
  }
}

int RocksSpace::level0_files() const {
  std::string files;
  db_->GetProperty(rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &files);
  return files.empty() ? 0 : std::stoi(files);
}

bool RocksSpace::is_stopped() const {
  uint64_t stopped = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kIsWriteStopped, &stopped);
  return stopped != 0;
}

void RocksSpace::set_limits(const TableLimits& limits) {
  db_->SetOptions({{"level0_slowdown_writes_trigger", std::to_string(limits.slow)},
                   {"level0_stop_writes_trigger", std::to_string(limits.most)}})
      .PermitUncheckedError();
}

uint64_t RocksSpace::covered_bytes() const {
  return sizes_.base_bytes + flushed_bytes(unflushed_bytes());
}

// A compaction can use the part for it and a quarter of the base; deletes use only half.
void RocksSpace::aim_at(uint64_t bytes) {
  state_->ballast.aim_at(bytes + covered_compaction_bytes_, bytes - sizes_.base_bytes / 4);
}

void RocksSpace::cover_compaction() {
  Ballast& ballast = state_->ballast;
  const uint64_t free = ballast.free_bytes();
  if (free / kShortReserves >= sizes_.reserve_bytes) {
    covered_compaction_bytes_ = 0;
    restore_ballast();
    const uint64_t most =
        sizes_.base_bytes + flushed_bytes(kWriteBuffersMax * sizes_.write_buffer_bytes);
    if (ballast.bytes() > most) ballast.trim();
    return;
  }
  // No compaction writes more than all tables have. Other programs keep half of what is free.
  uint64_t tables = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &tables);
  const uint64_t now = ballast.bytes();
  const uint64_t held = now - std::min(now, covered_bytes());
  const uint64_t most = std::max(held, (held + free) / 2);
  const uint64_t bytes = std::min({tables, sizes_.compaction_bytes, most});
  covered_compaction_bytes_ = std::max<uint64_t>(covered_compaction_bytes_, bytes);
  restore_ballast();
}

void RocksSpace::restore_ballast() {
  const uint64_t covered = covered_bytes();
  aim_at(covered + sizes_.write_buffer_bytes / 4);  // in steps, because each one takes time
  if (state_->ballast.bytes() < covered + covered_compaction_bytes_) state_->ballast.restore();
}

RocksSpace::Admission RocksSpace::admit(uint64_t bytes, bool frees) {
  restore_ballast();
  const uint64_t covered = covered_bytes();
  const uint64_t available = state_->ballast.available_bytes();
  if (available >= sizes_.reserve_bytes + covered + written_bytes(bytes)) {
    return Admission::kAdmitted;
  }
  const uint64_t least = covered - sizes_.base_bytes / 2 + written_bytes(bytes);
  return frees && available >= least ? Admission::kAdmittedToFree : Admission::kRefused;
}

bool RocksSpace::has_room() const {
  return state_->ballast.available_bytes() >=
         sizes_.reserve_bytes + covered_bytes() + written_bytes(kItemBytesMax);
}

bool RocksSpace::ran_out() const {
  return state_->ran_out;
}

// RocksDB begins a new log only if rows of the old one are in memory.
bool RocksSpace::is_stuck() const {
  if (disk_failed_) return true;
  uint64_t rows = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kNumEntriesActiveMemTable, &rows);
  return (state_->log_failed && rows == 0) || (ran_out() && state_->flushes.forgot_one());
}

bool RocksSpace::resume() {
  if (is_stuck()) return false;
  const uint64_t needed = flushed_bytes(unflushed_bytes()) + sizes_.base_bytes / 2;
  if (state_->ballast.available_bytes() < needed) return false;
  state_->ran_out = false;
  const rocksdb::Status resumed = db_->Resume();
  if (resumed.ok()) return true;
  state_->ran_out = true;
  disk_failed_ = resumed.IsCorruption() || (resumed.IsIOError() && !resumed.IsNoSpace());
  return false;
}

void RocksSpace::reclaim_soon() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  wake_.notify_all();
}

void RocksSpace::keep_space() {
  constexpr int kPauseMax = 64;
  int pause = 0;  // intervals until a compaction that lacked space is repeated
  int waited = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, kCoverInterval, [&] { return (wanted_ && pause == 0) || stopping_; });
    if (stopping_) return;
    const bool is_wanted = std::exchange(wanted_, false);
    lock.unlock();
    cover_compaction();
    if (is_wanted || (pause > 0 && ++waited >= pause)) {
      const bool had_space = reclaim();
      pause = had_space ? 0 : is_wanted ? 1 : std::min(2 * pause, kPauseMax);
      waited = 0;
    }
    lock.lock();
  }
}

// False if it lacked space. After a failed write, nothing is flushed before resume().
bool RocksSpace::reclaim() {
  if (ran_out()) return false;
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.canceled = &stopping_;
  options.allow_write_stall = true;  // does not wait for compactions, which can lack free space
  rocksdb::Status status = db_->Flush(flush_at_once());
  if (status.ok()) status = db_->CompactRange(options, nullptr, nullptr);
  return !status.IsNoSpace();
}

}  // namespace stator

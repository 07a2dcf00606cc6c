// SPDX-License-Identifier: Apache-2.0
// The state of an item at a commit version is the old image of its first change from that version
// on. Without such a change, it is the current state. The log is ordered by commit version, and
// items are ordered by key. So the keys of changed items are collected first, as many as fit into
// memory. They are merged with the items of that part of the space. The log is read once per part,
// and then once per chunk of items for newer changes.
//
// Correctness without a single read view: the changes for a chunk are collected from the view in
// which the chunk was read, or from later ones. The commit version v is at most a safe position, so
// all earlier changes have been applied. If the chunk shows an item after a change from v on, its
// view contains the change. Changes of an item become visible in order, so the view also contains
// the first one, which is found. Otherwise the chunk shows the item as of v. A first change that
// only a later view contains has the same old image.
#include "engine/streams/point_in_time.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "engine/rows/stored_key.h"
#include "storage/read_values.h"

namespace stator {
namespace {

constexpr std::size_t kChangeBatchRows = 256;
constexpr std::size_t kChangeBatchBytes = 1UL << 20;
constexpr std::size_t kRowOverheadBytes = 104;

// The first row key for a reader that resumes after `after`.
std::string begin_behind(const TableHistory& history, std::string_view after) {
  if (after.empty()) return space_range(history.key.space).begin;
  return std::string(after) + '\0';
}

std::optional<EncodedItem> copy_of(const std::optional<ItemView>& image) {
  return image ? std::optional(EncodedItem(image->bytes())) : std::nullopt;
}

std::size_t bytes_of(const Change& change) {
  return (change.before ? change.before->bytes().size() : 0) +
         (change.after ? change.after->bytes().size() : 0);
}

// Changes that are read together. Limits their number and bytes.
class ChangeRead {
 public:
  explicit ChangeRead(const ChangedRows& rows) : store_(rows.store()), log_(rows.history().log) {}

  // With room for two images of each item of a batch.
  bool is_full() const {
    return keys_.size() >= kChangeBatchRows || bytes_ >= 2 * kChangeBatchBytes;
  }
  void add(std::string_view row_key, uint64_t commit_version, std::size_t bytes) {
    keys_.push_back(log_range(log_, log_partition_of(row_key), commit_version).begin);
    bytes_ += bytes;
  }
  Result<void> run() {
    STATOR_ASSIGN_OR_RETURN(values_, read_values(store_, keys_));
    return {};
  }
  std::size_t size() const { return keys_.size(); }
  // The returned change refers to this object.
  Result<Change> operator[](std::size_t number) const {
    const auto& value = values_[number];
    if (!value) return fail(Code::kCorruption, "a change is gone while its log is read");
    return read_change(keys_[number], *value);
  }

 private:
  TransactStore& store_;
  const SpaceId log_;
  std::vector<std::string> keys_;
  std::size_t bytes_ = 0;
  std::vector<std::optional<std::string>> values_;
};

}  // namespace

std::size_t ChangedRows::default_bytes() {
  constexpr uint64_t kLeast = 4UL << 20;
  constexpr uint64_t kMost = 64UL << 20;
  return std::clamp(usable_memory_bytes() / 16, kLeast, kMost);
}

Result<void> CommitVersionSearch::begin(ReadView& view) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<ShardBoundary> boundaries, read_boundaries(view, log_));
  from_ = 0;
  for (const ShardBoundary& boundary : boundaries) {
    if (boundary.time_ms <= time_ms_) from_ = boundary.commit_version;
    behind_ = boundary.commit_version + 1;
  }
  next_ = *from_;
  return {};
}

Result<std::optional<uint64_t>> CommitVersionSearch::step(TransactStore& store) {
  return with_view(store, [&](ReadView& view) { return step(view); });
}

Result<std::optional<uint64_t>> CommitVersionSearch::step(ReadView& view) {
  if (!from_) STATOR_RETURN_IF_ERROR(begin(view));
  std::size_t changes = 0;
  std::size_t bytes = 0;
  while (log_partition_ < kLogPartitions) {
    bool full = false;
    STATOR_RETURN_IF_ERROR(
        scan_changes(view, log_, log_partition_, next_, first_later_, [&](const Change& change) {
          behind_ = std::max(behind_, change.commit_version + 1);
          if (change.time_ms > time_ms_) {
            first_later_ = change.commit_version;
            return false;
          }
          next_ = change.commit_version + 1;
          bytes += bytes_of(change);
          full = ++changes == kChangesAtOnce || bytes >= kBytesAtOnce;
          return !full;
        }));
    if (full) return std::optional<uint64_t>();
    ++log_partition_;
    next_ = *from_;
  }
  return std::optional(std::min(first_later_, behind_));
}

Result<uint64_t> log_end(TransactStore& store) {
  STATOR_ASSIGN_OR_RETURN(const LogPosition safe, store.safe_position());
  return static_cast<uint64_t>(safe);
}

Result<uint64_t> commit_version_at(TransactStore& store, SpaceId log, int64_t time_ms) {
  STATOR_ASSIGN_OR_RETURN(const uint64_t end, log_end(store));
  CommitVersionSearch search(log, time_ms, end);
  while (true) {
    STATOR_ASSIGN_OR_RETURN(const auto found, search.step(store));
    if (found) return *found;
  }
}

// ---- ChangedRows

Result<ChangedRows::Load> ChangedRows::load(const std::string& begin) {
  if (!is_loading_) {
    const auto end_of = [&](unsigned log_partition) {
      return segment_range(history_.key.space, log_partition, kLogPartitions).end;
    };
    log_partition_ = 0;
    while (log_partition_ < kLogPartitions && begin >= end_of(log_partition_)) ++log_partition_;
    if (log_partition_ == kLogPartitions) return Load::kNone;
    is_loading_ = true;
    end_ = end_of(log_partition_);
    rows_.clear();
    bytes_ = 0;
    read_below_ = from_;
    next_.reset();
  }
  STATOR_ASSIGN_OR_RETURN(const bool all,
                          catch_up(begin, [](ReadView&) { return Result<void>(); }));
  is_loading_ = !all;
  return all ? Load::kAll : Load::kSome;
}

// Takes the position first: later changes are read again by the next call.
Result<bool> ChangedRows::catch_up(const std::string& begin, ViewBody look) {
  STATOR_ASSIGN_OR_RETURN(const uint64_t safe, log_end(store_));
  return with_view(store_, [&](ReadView& view) -> Result<bool> {
    STATOR_RETURN_IF_ERROR(look(view));
    if (history_.log == 0) return true;
    return collect(view, safe, begin);
  });
}

Result<bool> ChangedRows::collect(ReadView& view, uint64_t safe, const std::string& begin) {
  if (!next_) {
    next_ = read_below_;
    pass_safe_ = safe;
  }
  std::size_t changes = 0;
  std::size_t bytes = 0;
  bool full = false;
  STATOR_RETURN_IF_ERROR(
      scan_changes(view, history_.log, log_partition_, *next_, to_, [&](const Change& change) {
        const ItemView image = change.before ? *change.before : *change.after;
        std::string key = item_row_key(history_.secret, history_.key, image);
        if (key >= begin && key < end_) see(std::move(key), change);
        next_ = change.commit_version + 1;
        bytes += bytes_of(change);
        full = ++changes == CommitVersionSearch::kChangesAtOnce ||
               bytes >= CommitVersionSearch::kBytesAtOnce;
        return !full;
      }));
  if (full) return false;
  read_below_ = std::max(from_, pass_safe_);
  next_.reset();
  return true;
}

void ChangedRows::see(std::string key, const Change& change) {
  const std::size_t bytes = key.size() + kRowOverheadBytes;
  const auto [row, added] =
      rows_.try_emplace(std::move(key), CommitVersions{.first = change.commit_version});
  row->second.last = change.commit_version;
  row->second.bytes = std::max(row->second.bytes, bytes_of(change));
  if (!added) return;
  bytes_ += bytes;
  if (bytes_ <= bytes_max_ || rows_.size() < 2) return;
  const auto middle = std::next(rows_.begin(), std::ssize(rows_) / 2);
  end_ = middle->first;
  rows_.erase(middle, rows_.end());
  bytes_ = 0;
  for (const auto& [kept, commit_versions] : rows_) bytes_ += kept.size() + kRowOverheadBytes;
}

// ---- PastItems

PastItems::PastItems(TransactStore& store, const TableHistory& history, uint64_t commit_version,
                     std::string_view after, std::size_t bytes_max, ReadView* state)
    : state_(state),
      changed_(store, history, commit_version, UINT64_MAX, bytes_max),
      begin_(begin_behind(history, after)) {
  STATOR_CHECK(state == nullptr || history.log == 0);
}

Result<std::optional<std::vector<PastItem>>> PastItems::next() {
  const auto unfinished = [] { return std::optional(std::vector<PastItem>()); };
  if (changed_.is_loading() || begin_ >= changed_.end()) {
    STATOR_ASSIGN_OR_RETURN(const ChangedRows::Load loaded, changed_.load(begin_));
    if (loaded == ChangedRows::Load::kNone) return std::optional<std::vector<PastItem>>();
    if (loaded == ChangedRows::Load::kSome) return unfinished();
  }
  if (state_ != nullptr) {
    STATOR_RETURN_IF_ERROR(read_chunk(*state_));
  } else {
    STATOR_ASSIGN_OR_RETURN(const bool all, changed_.catch_up(begin_, [&](ReadView& view) {
      return chunk_ ? Result<void>() : read_chunk(view);
    }));
    if (!all) return unfinished();
  }
  STATOR_ASSIGN_OR_RETURN(std::vector<PastItem> past, merged(*std::exchange(chunk_, {})));
  return std::optional(std::move(past));
}

Result<void> PastItems::read_chunk(ReadView& view) {
  Chunk chunk{.items = {}, .all_read = true};
  std::size_t bytes = 0;
  STATOR_RETURN_IF_ERROR(view.scan(
      {.range = {.begin = begin_, .end = changed_.end()}, .expected_rows = kChangeBatchRows},
      [&](std::string_view key, std::string_view value) {
        chunk.items.push_back({std::string(key), EncodedItem(value)});
        bytes += value.size();
        chunk.all_read = chunk.items.size() < kChangeBatchRows && bytes < kChangeBatchBytes;
        return chunk.all_read;
      }));
  chunk_ = std::move(chunk);
  return {};
}

// Moves begin_ past the merged rows. If none is left, moves it to the end of the loaded part.
Result<std::vector<PastItem>> PastItems::merged(Chunk current) {
  // New changes can have moved the end of the part before the end of the chunk.
  auto& items = current.items;
  while (!items.empty() && items.back().row_key >= changed_.end()) {
    items.pop_back();
    current.all_read = true;
  }
  auto& changed = changed_.rows();
  ChangeRead changes(changed_);
  for (const auto& [row_key, commit_versions] : changed) {
    const bool is_behind = !current.all_read && row_key > items.back().row_key;
    if (is_behind || changes.is_full()) break;
    changes.add(row_key, commit_versions.first, commit_versions.bytes);
  }
  STATOR_RETURN_IF_ERROR(changes.run());
  std::vector<PastItem> past;
  std::size_t bytes = 0;
  std::size_t change_count = 0;
  auto item = items.begin();
  auto row = changed.begin();
  std::string begin = begin_;
  while (past.size() < kChangeBatchRows && bytes < kChangeBatchBytes) {
    const bool has_item = item != items.end();
    // There are more items, which belong before the remaining changes.
    if (!has_item && !current.all_read) break;
    if (!has_item && row == changed.end()) {
      begin = changed_.end();
      break;
    }
    if (row == changed.end() || (has_item && item->row_key < row->first)) {
      begin = item->row_key + '\0';
      bytes += item->item.size();
      past.push_back(std::move(*item++));
      continue;
    }
    if (change_count == changes.size()) break;
    if (has_item && item->row_key == row->first) ++item;
    STATOR_ASSIGN_OR_RETURN(const Change change, changes[change_count++]);
    begin = row->first + '\0';
    if (change.before) {
      bytes += change.before->bytes().size();
      past.push_back({row->first, EncodedItem(change.before->bytes())});
    }
    ++row;
  }
  changed.erase(changed.begin(), row);
  begin_ = std::move(begin);
  return past;
}

// ---- PastChanges

PastChanges::PastChanges(TransactStore& store, const TableHistory& history, uint64_t from,
                         uint64_t to, std::string_view after, std::size_t bytes_max)
    : changed_(store, history, from, to, bytes_max), begin_(begin_behind(history, after)) {}

Result<std::optional<std::vector<PastChange>>> PastChanges::next() {
  auto& rows = changed_.rows();
  if (changed_.is_loading() || rows.empty()) {
    if (!changed_.is_loading()) begin_ = std::max(begin_, changed_.end());
    STATOR_ASSIGN_OR_RETURN(const ChangedRows::Load loaded, changed_.load(begin_));
    if (loaded == ChangedRows::Load::kNone) return std::optional<std::vector<PastChange>>();
    if (loaded == ChangedRows::Load::kSome) return std::optional(std::vector<PastChange>());
  }
  ChangeRead read(changed_);
  for (auto row = rows.begin(); row != rows.end() && !read.is_full(); ++row) {
    read.add(row->first, row->second.first, row->second.bytes);
    read.add(row->first, row->second.last, row->second.bytes);
  }
  STATOR_RETURN_IF_ERROR(read.run());
  std::vector<PastChange> changes;
  auto row = rows.begin();
  for (std::size_t i = 0; i < read.size(); i += 2) {
    STATOR_ASSIGN_OR_RETURN(const Change first, read[i]);
    STATOR_ASSIGN_OR_RETURN(const Change last, read[i + 1]);
    changes.push_back(
        {.row_key = row++->first,
         .key = stored_key(last.before ? *last.before : *last.after, changed_.history().key),
         .time_ms = last.time_ms,
         .before = copy_of(first.before),
         .after = copy_of(last.after)});
  }
  rows.erase(rows.begin(), row);
  return std::optional(std::move(changes));
}

}  // namespace stator

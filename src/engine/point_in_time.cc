// SPDX-License-Identifier: Apache-2.0
// An item was, at a stamp, what its first change from there on found; without one it is what it is
// now. The changes lie by stamps and the items by keys: so the keys of what changed are gathered
// first, as many as the memory holds, and merged with the items of that part of the space. The log
// is read once for each part.
#include "engine/point_in_time.h"

#include <algorithm>
#include <utility>

namespace stator {
namespace {

constexpr std::size_t kBatchRows = 256;
constexpr std::size_t kBatchBytes = 1UL << 20;
constexpr std::size_t kRowOverheadBytes = 96;

// Where a reader that goes on behind `after` begins.
std::string begin_behind(const TableHistory& history, std::string_view after) {
  if (after.empty()) return space_range(history.key.space).begin;
  return std::string(after) + '\0';
}

EncodedItem key_of(const KeyShape& shape, ItemView item) {
  const auto is_key = [&](std::string_view name) {
    const auto named = [&](const AttributeDefinition& key) { return key.name == name; };
    return std::ranges::any_of(shape.hash, named) || std::ranges::any_of(shape.range, named);
  };
  ItemBuilder builder;
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    if (is_key(attribute->name)) builder.add(attribute->name, attribute->value);
  }
  return std::move(builder).finish();
}

std::optional<EncodedItem> copy_of(const std::optional<ItemView>& image) {
  return image ? std::optional(EncodedItem(image->bytes())) : std::nullopt;
}

}  // namespace

Result<uint64_t> stamp_at(ReadView& view, SpaceId log, int64_t time_ms) {
  STATOR_TRY(const std::vector<LogMark> marks, read_marks(view, log));
  uint64_t from = 0;
  uint64_t behind = 0;
  for (const LogMark& mark : marks) {
    if (mark.time_ms <= time_ms) from = mark.stamp;
    behind = mark.stamp + 1;
  }
  uint64_t first_later = UINT64_MAX;
  for (unsigned bucket = 0; bucket < kLogBuckets; ++bucket) {
    STATOR_CHECK_OK(scan_changes(view, log, bucket, from, first_later, [&](const Change& change) {
      behind = std::max(behind, change.stamp + 1);
      if (change.time_ms <= time_ms) return true;
      first_later = change.stamp;
      return false;
    }));
  }
  return std::min(first_later, behind);
}

// ---- ChangedRows

Result<bool> ChangedRows::load(const std::string& begin) {
  for (unsigned bucket = 0; bucket < kLogBuckets; ++bucket) {
    end_ = segment_range(history_.key.space, bucket, kLogBuckets).end;
    if (begin >= end_) continue;
    STATOR_CHECK_OK(collect(bucket, begin));
    return true;
  }
  return false;
}

Result<void> ChangedRows::collect(unsigned bucket, const std::string& begin) {
  rows_.clear();
  bytes_ = 0;
  if (history_.log == 0) return {};
  return scan_changes(view_, history_.log, bucket, from_, to_, [&](const Change& change) {
    const ItemView image = change.before ? *change.before : *change.after;
    std::string key = item_row_key(history_.secret, history_.key, image);
    if (key >= begin && key < end_) see(std::move(key), change.stamp);
    return true;
  });
}

void ChangedRows::see(std::string key, uint64_t stamp) {
  const std::size_t bytes = key.size() + kRowOverheadBytes;
  const auto [row, added] = rows_.try_emplace(std::move(key), Stamps{.first = stamp});
  row->second.last = stamp;
  if (!added) return;
  bytes_ += bytes;
  if (bytes_ <= bytes_max_ || rows_.size() < 2) return;
  const auto middle = std::next(rows_.begin(), std::ssize(rows_) / 2);
  end_ = middle->first;
  rows_.erase(middle, rows_.end());
  bytes_ = 0;
  for (const auto& [kept, stamps] : rows_) bytes_ += kept.size() + kRowOverheadBytes;
}

// The change borrows from `value`.
Result<Change> ChangedRows::read(const std::string& row_key, uint64_t stamp, std::string& value) {
  const std::string key = log_range(history_.log, log_bucket(row_key), stamp).begin;
  STATOR_TRY(const bool found, view_.get(key, [&](std::string_view bytes) { value = bytes; }));
  if (!found) return fail(Code::kCorruption, "A change is gone while its log is read");
  return read_change(key, value);
}

// ---- PastItems

PastItems::PastItems(ReadView& view, const TableHistory& history, uint64_t stamp,
                     std::string_view after, std::size_t bytes_max)
    : view_(view),
      changed_(view, history, stamp, UINT64_MAX, bytes_max),
      begin_(begin_behind(history, after)) {}

Result<std::vector<PastItem>> PastItems::next() {
  while (true) {
    if (begin_ >= changed_.end()) {
      STATOR_TRY(const bool more, changed_.load(begin_));
      if (!more) return std::vector<PastItem>();
    }
    STATOR_TRY(std::vector<PastItem> current, current_items());
    STATOR_TRY(std::vector<PastItem> past, merged(std::move(current)));
    if (!past.empty()) return past;
  }
}

Result<std::vector<PastItem>> PastItems::current_items() const {
  std::vector<PastItem> items;
  std::size_t bytes = 0;
  const KeyRange range{.begin = begin_, .end = changed_.end()};
  STATOR_CHECK_OK(view_.scan({.range = range, .expected_rows = kBatchRows},
                             [&](std::string_view key, std::string_view value) {
                               items.push_back({std::string(key), EncodedItem(value)});
                               bytes += value.size();
                               return items.size() < kBatchRows && bytes < kBatchBytes;
                             }));
  return items;
}

// Moves begin_ behind what has been merged: all of the part that is loaded where nothing is left.
Result<std::vector<PastItem>> PastItems::merged(std::vector<PastItem> current) {
  std::vector<PastItem> past;
  std::size_t bytes = 0;
  auto& changed = changed_.rows();
  auto item = current.begin();
  // Behind the last item that was read there may be more of them, and changes belong in between.
  const bool all_read = current.empty();
  while (past.size() < kBatchRows && bytes < kBatchBytes) {
    const bool has_item = item != current.end();
    if (!has_item && !all_read) return past;
    if (!has_item && changed.empty()) {
      begin_ = changed_.end();
      return past;
    }
    if (changed.empty() || (has_item && item->row_key < changed.begin()->first)) {
      begin_ = item->row_key + '\0';
      bytes += item->item.size();
      past.push_back(std::move(*item++));
      continue;
    }
    const auto row = changed.extract(changed.begin());
    if (has_item && item->row_key == row.key()) ++item;
    std::string value;
    STATOR_TRY(const Change change, changed_.read(row.key(), row.mapped().first, value));
    begin_ = row.key() + '\0';
    if (!change.before) continue;
    bytes += change.before->bytes().size();
    past.push_back({row.key(), EncodedItem(change.before->bytes())});
  }
  return past;
}

// ---- PastChanges

PastChanges::PastChanges(ReadView& view, const TableHistory& history, uint64_t from, uint64_t to,
                         std::string_view after, std::size_t bytes_max)
    : changed_(view, history, from, to, bytes_max), begin_(begin_behind(history, after)) {}

Result<std::vector<PastChange>> PastChanges::next() {
  std::vector<PastChange> changes;
  std::size_t bytes = 0;
  while (changes.size() < kBatchRows && bytes < kBatchBytes) {
    auto& rows = changed_.rows();
    if (rows.empty()) {
      begin_ = std::max(begin_, changed_.end());
      STATOR_TRY(const bool more, changed_.load(begin_));
      if (!more) break;
      continue;
    }
    const auto row = rows.extract(rows.begin());
    STATOR_TRY(PastChange change, read(row.key(), row.mapped()));
    bytes +=
        (change.before ? change.before->size() : 0) + (change.after ? change.after->size() : 0);
    changes.push_back(std::move(change));
  }
  return changes;
}

Result<PastChange> PastChanges::read(const std::string& row_key, ChangedRows::Stamps stamps) {
  std::string first_value;
  std::string last_value;
  STATOR_TRY(const Change first, changed_.read(row_key, stamps.first, first_value));
  STATOR_TRY(const Change last, changed_.read(row_key, stamps.last, last_value));
  return PastChange{.row_key = row_key,
                    .key = key_of(changed_.history().key, last.before ? *last.before : *last.after),
                    .time_ms = last.time_ms,
                    .before = copy_of(first.before),
                    .after = copy_of(last.after)};
}

}  // namespace stator

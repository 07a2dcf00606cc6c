// SPDX-License-Identifier: Apache-2.0
// One pass over the items computes, per index, the sum of keyed hashes of the expected entries. One
// pass over each index computes the sum of its entries. Equal sums mean equal entries, in any
// order. If the sums differ, a second pass over both looks up each row in the other.
#include <array>

#include "base/hex.h"
#include "base/random.h"
#include "engine/items/item_limits.h"
#include "engine/items/key_checks.h"
#include "engine/rows/older_keys.h"
#include "engine/rows/stored_key.h"
#include "engine/verify/verify_parts.h"

namespace stator {
namespace {

class EntrySum {
 public:
  explicit EntrySum(const Hash128& secret) : secret_(&secret) {}

  void add(std::string_view key, std::string_view value) {
    scratch_.clear();
    append_big_endian(scratch_, static_cast<uint64_t>(key.size()));
    scratch_ += key;
    scratch_ += value;
    const Hash128 hash = hash128(*secret_, scratch_);
    const std::string_view bytes(reinterpret_cast<const char*>(hash.data()), hash.size());
    sums_[0] += read_big_endian(bytes.substr(0, 8));
    sums_[1] += read_big_endian(bytes.substr(8));
    ++count_;
  }
  bool operator==(const EntrySum& other) const {
    return count_ == other.count_ && sums_ == other.sums_;
  }

 private:
  const Hash128* secret_;
  std::string scratch_;
  std::array<uint64_t, 2> sums_ = {};
  uint64_t count_ = 0;
};

Hash128 random_secret() {
  Hash128 secret{};
  const std::string bytes = random_bytes(secret.size());
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

class TableCheck {
 public:
  TableCheck(Verification& verification, const Table& table, const CatalogContents& catalog)
      : verification_(verification),
        table_(table),
        counters_(catalog.counters),
        has_older_keys_(catalog.has_older_keys) {}

  void run() {
    std::vector<EntrySum> expected(parts_.size(), EntrySum(sum_secret_));
    const bool all_items = check_items(expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Part& part = parts_[i];
      EntrySum found(sum_secret_);
      if (sum_entries(part, found) && all_items && found != expected[i]) {
        if (!table_.definition().is_unfinished(part.space)) find_missing(part);
        find_wrong(part);
      }
    }
    if (!counters_.contains(table_.key().space)) {
      verification_.report().uncounted.push_back(table_.name());
    }
  }

 private:
  // A derived part of a table: an index, a vector index or the TTL queue.
  struct Part {
    SpaceId space = 0;
    const Index* index = nullptr;
    const VectorIndex* vectors = nullptr;

    bool is_queue() const { return index == nullptr && vectors == nullptr; }
    bool is_complete() const { return index != nullptr ? index->complete : vectors->complete; }
  };
  struct Entry {
    std::string key;
    EncodedItem value;
  };

  static std::vector<Part> parts_of(const Table& table) {
    std::vector<Part> parts;
    for (const Index& index : table.indexes()) {
      parts.push_back({.space = index.key.space, .index = &index});
    }
    for (const VectorIndex& index : table.vector_indexes()) {
      parts.push_back({.space = index.shape.key.space, .vectors = &index});
    }
    if (table.expiry() != nullptr) parts.push_back({.space = table.expiry()->space});
    return parts;
  }

  Item key_of(ItemView item) const { return decode_item(ItemView(stored_key(item, table_.key()))); }
  std::string name() const { return "table '" + table_.name() + "'"; }
  std::string name(const Part& part) const {
    if (part.is_queue()) return name() + ", TTL queue";
    return name() + ", index '" +
           (part.index != nullptr ? part.index->definition.name : part.vectors->definition.name) +
           "'";
  }
  std::string name(ItemView item) const { return "the item " + to_debug_string(key_of(item)); }

  // Describes why a row is not an item of the table. Empty if it is one.
  std::string problem_of(std::string_view key, std::string_view value) const {
    if (const auto valid = validate_item(value); !valid) {
      return "row " + hex(key) + " is damaged: " + valid.error().message;
    }
    const ItemView item(value);
    if (const auto valid = check_key(table_.key(), key_of(item)); !valid) {
      return "row " + hex(key) + " has a wrong key: " + valid.error().message;
    }
    if (item_row_key(table_.secret(), table_.key(), item) != key) {
      return name(item) + " is in row " + hex(key) + ", where it does not belong";
    }
    if (const std::size_t bytes = item_size_bytes(item); bytes > kItemBytesMax) {
      return name(item) + " has " + std::to_string(bytes) + " bytes, more than an item may";
    }
    return {};
  }

  std::optional<std::string> index_key_of(const Index& index, ItemView item) const {
    return has_older_keys_ ? older_index_row_key(table_.secret(), table_.key(), index.key, item)
                           : index_row_key(table_.secret(), table_.key(), index.key, item);
  }
  std::optional<std::string> queue_key_of(std::string_view item_key, ItemView item) const {
    const ExpiryQueue& queue = *table_.expiry();
    if (!has_older_keys_) return expiry_row_key(queue, item, item_key);
    const auto seconds = expiry_seconds(queue, item);
    if (!seconds) return std::nullopt;
    return older_queue_row_key(queue.space, static_cast<uint64_t>(*seconds), item_key);
  }

  // The row of the item `item_key` in a part. Absent if the item has none.
  std::optional<Entry> entry_of(const Part& part, std::string_view item_key, ItemView item) const {
    if (part.vectors != nullptr) {
      auto row = part.vectors->row(table_.secret(), table_.key(), item);
      if (!row) return std::nullopt;
      return Entry{.key = std::move(row->key), .value = std::move(row->value)};
    }
    auto key =
        part.index != nullptr ? index_key_of(*part.index, item) : queue_key_of(item_key, item);
    if (!key) return std::nullopt;
    return Entry{.key = std::move(*key),
                 .value = part.index != nullptr ? part.index->project(item) : EncodedItem()};
  }

  bool check_items(std::vector<EntrySum>& expected) {
    KeptCounters counted;
    const SpaceId space = table_.key().space;
    const bool all_read = verification_.scan(
        space_range(space), "item", name(), [&](std::string_view key, std::string_view value) {
          const ItemView item(value);
          ++counted.items;
          counted.bytes += static_cast<int64_t>(item_size_bytes(item));
          if (const std::string problem = problem_of(key, value); !problem.empty()) {
            return verification_.add("item", name() + ": " + problem);
          }
          for (std::size_t i = 0; i < expected.size(); ++i) {
            if (const auto entry = entry_of(parts_[i], key, item)) {
              expected[i].add(entry->key, entry->value);
            }
          }
        });
    verification_.report().items += static_cast<uint64_t>(counted.items);
    if (all_read) compare_counters(space, name(), counted);
    return all_read;
  }

  bool sum_entries(const Part& part, EntrySum& found) {
    KeptCounters counted;
    const bool all_read = verification_.scan(
        space_range(part.space), "index", name(part),
        [&](std::string_view key, std::string_view value) {
          ++counted.items;
          if (part.index != nullptr) {
            counted.bytes += static_cast<int64_t>(item_size_bytes(ItemView(value)));
          } else if (part.vectors != nullptr) {
            counted.bytes += vector_entry_bytes(value);
          }
          found.add(key, value);
        });
    if (part.is_queue()) return all_read;
    verification_.report().index_entries += static_cast<uint64_t>(counted.items);
    if (all_read && part.is_complete()) compare_counters(part.space, name(part), counted);
    return all_read;
  }

  void compare_counters(SpaceId space, const std::string& where, const KeptCounters& counted) {
    const auto kept = counters_.find(space);
    if (kept == counters_.end() || !verification_.has_exact_counters()) return;
    const auto text = [](const KeptCounters& counters) {
      return std::to_string(counters.items) + " items of " + std::to_string(counters.bytes) +
             " bytes";
    };
    if (kept->second == counted) return;
    verification_.add("counter", where + ": the catalog says " + text(kept->second) +
                                     ", there are " + text(counted));
  }

  // Reports items without their entry.
  void find_missing(const Part& part) {
    const auto entry_key = [&](std::string_view key,
                               std::string_view value) -> std::optional<std::string> {
      if (!problem_of(key, value).empty()) return std::nullopt;
      auto entry = entry_of(part, key, ItemView(value));
      if (!entry) return std::nullopt;
      return std::move(entry->key);
    };
    verification_.scan_pairs(
        space_range(table_.key().space), "item", name(), {.key_of = entry_key, .kind = "index"},
        [&](const RowPair& pair) {
          if (!pair.other_key) return;
          if (pair.other && is_of(part, *pair.other_key, *pair.other, pair.key)) return;
          verification_.add("index", name(part) + ": " + name(ItemView(pair.value)) +
                                         " has no entry" +
                                         (pair.other ? "; another item's has its key" : ""));
        });
  }

  // Reports entries that do not match their item.
  void find_wrong(const Part& part) {
    const auto item_key = [&](std::string_view key,
                              std::string_view value) -> std::optional<std::string> {
      auto found = item_key_of(part, key, value);
      if (!found) return std::nullopt;
      return std::move(*found);
    };
    verification_.scan_pairs(space_range(part.space), "index", name(part),
                             {.key_of = item_key, .kind = "item"}, [&](const RowPair& pair) {
                               const std::string problem = problem_of_entry(part, pair);
                               if (!problem.empty())
                                 verification_.add("index", name(part) + ": " + problem);
                             });
  }

  // Returns the key of an entry's item. Errors: a description of a damaged entry.
  Result<std::string> item_key_of(const Part& part, std::string_view key,
                                  std::string_view value) const {
    if (part.vectors != nullptr) {
      STATOR_ASSIGN_OR_RETURN(const VectorRowView row,
                              VectorRowView::of(value, part.vectors->shape));
      return std::string(row.item_key());
    }
    if (part.index == nullptr) {
      const auto row = has_older_keys_ ? read_older_queue_row(key) : read_queue_row(key);
      if (!row) return fail(Code::kCorruption, "invalid TTL queue key");
      return std::string(row->row_key);
    }
    STATOR_RETURN_IF_ERROR(validate_item(value));
    return item_row_key(table_.secret(), table_.key(), ItemView(value));
  }

  // Reports whether an entry belongs to the item in row `item_key`. It does not if two items with
  // equal index keys have the same hash: one entry has then replaced the other.
  bool is_of(const Part& part, std::string_view key, std::string_view value,
             std::string_view item_key) const {
    const auto owner = item_key_of(part, key, value);
    return !owner || *owner == item_key;  // find_wrong() reports a damaged one
  }

  // `pair`: an entry and its item.
  std::string problem_of_entry(const Part& part, const RowPair& pair) const {
    const std::string entry_name = "entry " + hex(pair.key);
    if (!pair.other_key) {
      return entry_name + " is damaged: " + item_key_of(part, pair.key, pair.value).error().message;
    }
    if (!pair.other) {
      return entry_name + " is of " +
             (part.index != nullptr ? name(ItemView(pair.value))
                                    : "the item in row " + hex(*pair.other_key)) +
             ", which is not there";
    }
    // Damaged items are reported already; their entries cannot be computed.
    if (!problem_of(*pair.other_key, *pair.other).empty()) return {};
    const ItemView item(*pair.other);
    const auto entry = entry_of(part, *pair.other_key, item);
    if (!entry || entry->key != pair.key) {
      return entry_name + " is of " + name(item) + ", whose entry it is not";
    }
    if (entry->value != pair.value) {
      return "the entry of " + name(item) + " is not what the item holds";
    }
    return {};
  }

  Verification& verification_;
  const Table& table_;
  const std::map<SpaceId, KeptCounters>& counters_;
  const bool has_older_keys_;
  const std::vector<Part> parts_ = parts_of(table_);
  const Hash128 sum_secret_ = random_secret();
};

}  // namespace

void verify_table(Verification& verification, const Table& table, const CatalogContents& catalog) {
  TableCheck(verification, table, catalog).run();
}

}  // namespace stator

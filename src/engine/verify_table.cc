// SPDX-License-Identifier: Apache-2.0
// One pass over the items sums, for each index, a keyed hash of every entry that it should have;
// one over each index sums those that it has. Where the sums are equal so are the entries, in
// whatever order they came; where they are not, a second pass over both looks each up in the other.
#include <array>

#include "base/random.h"
#include "engine/item_rules.h"
#include "engine/verify_parts.h"

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

Item key_of(const KeyShape& shape, ItemView item) {
  Item key;
  for (const auto* attributes : {&shape.hash, &shape.range}) {
    for (const AttributeDefinition& attribute : *attributes) {
      if (const auto value = item.find(attribute.name)) {
        key.emplace(attribute.name, decode_value(*value));
      }
    }
  }
  return key;
}

class TableCheck {
 public:
  TableCheck(Verification& verification, ReadView& view, const Table& table,
             const std::map<SpaceId, KeptCounters>& counters)
      : verification_(verification), view_(view), table_(table), counters_(counters) {}

  void run() {
    std::vector<EntrySum> expected(table_.indexes().size(), EntrySum(sum_secret_));
    const bool all_items = check_items(expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Index& index = table_.indexes()[i];
      EntrySum found(sum_secret_);
      if (sum_entries(index, found) && all_items && found != expected[i]) {
        find_missing(index);
        find_wrong(index);
      }
    }
    if (!counters_.contains(table_.key().space)) {
      verification_.report().uncounted.push_back(table_.name());
    }
  }

 private:
  std::string name() const { return "table '" + table_.name() + "'"; }
  std::string name(const Index& index) const {
    return name() + ", index '" + index.definition.name + "'";
  }
  std::string name(ItemView item) const {
    return "the item " + to_debug_string(key_of(table_.key(), item));
  }

  // Why a row is no item of the table; empty: it is one.
  std::string problem_of(std::string_view key, std::string_view value) const {
    if (const auto valid = validate_item(value); !valid) {
      return "row " + hex(key) + " is damaged: " + valid.error().message;
    }
    const ItemView item(value);
    if (const auto valid = check_key(table_.key(), key_of(table_.key(), item)); !valid) {
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

  std::optional<std::string> entry_key(const Index& index, ItemView item) const {
    return index_row_key(table_.secret(), table_.key(), index.key, item);
  }

  bool check_items(std::vector<EntrySum>& expected) {
    KeptCounters counted;
    const SpaceId space = table_.key().space;
    const bool all_read = verification_.scan(
        view_, space_range(space), "item", name(),
        [&](std::string_view key, std::string_view value) {
          const ItemView item(value);
          ++counted.items;
          counted.bytes += static_cast<int64_t>(item_size_bytes(item));
          if (const std::string problem = problem_of(key, value); !problem.empty()) {
            return verification_.add("item", name() + ": " + problem);
          }
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const Index& index = table_.indexes()[i];
            if (const auto entry = entry_key(index, item)) {
              expected[i].add(*entry, index.project(item));
            }
          }
        });
    verification_.report().items += static_cast<uint64_t>(counted.items);
    if (all_read) compare_counters(space, name(), counted);
    return all_read;
  }

  bool sum_entries(const Index& index, EntrySum& found) {
    KeptCounters counted;
    const bool all_read = verification_.scan(
        view_, space_range(index.key.space), "index", name(index),
        [&](std::string_view key, std::string_view value) {
          ++counted.items;
          counted.bytes += static_cast<int64_t>(item_size_bytes(ItemView(value)));
          found.add(key, value);
        });
    verification_.report().index_entries += static_cast<uint64_t>(counted.items);
    if (all_read) compare_counters(index.key.space, name(index), counted);
    return all_read;
  }

  void compare_counters(SpaceId space, const std::string& where, const KeptCounters& counted) {
    const auto kept = counters_.find(space);
    if (kept == counters_.end()) return;
    const auto text = [](const KeptCounters& counters) {
      return std::to_string(counters.items) + " items of " + std::to_string(counters.bytes) +
             " bytes";
    };
    if (kept->second == counted) return;
    verification_.add("counter", where + ": the catalogue says " + text(kept->second) +
                                     ", there are " + text(counted));
  }

  // Items without their entry.
  void find_missing(const Index& index) {
    verification_.scan(view_, space_range(table_.key().space), "item", name(),
                       [&](std::string_view key, std::string_view value) {
                         if (!problem_of(key, value).empty()) return;
                         const auto entry = entry_key(index, ItemView(value));
                         if (!entry || verification_.get(view_, *entry, "index")) return;
                         verification_.add(
                             "index", name(index) + ": " + name(ItemView(value)) + " has no entry");
                       });
  }

  // Entries that are not those of their item.
  void find_wrong(const Index& index) {
    verification_.scan(view_, space_range(index.key.space), "index", name(index),
                       [&](std::string_view key, std::string_view value) {
                         const std::string problem = problem_of_entry(index, key, value);
                         if (!problem.empty())
                           verification_.add("index", name(index) + ": " + problem);
                       });
  }

  std::string problem_of_entry(const Index& index, std::string_view key, std::string_view value) {
    if (const auto valid = validate_item(value); !valid) {
      return "entry " + hex(key) + " is damaged: " + valid.error().message;
    }
    const ItemView entry(value);
    const std::string item_key = item_row_key(table_.secret(), table_.key(), entry);
    const auto bytes = verification_.get(view_, item_key, "item");
    if (!bytes) return "entry " + hex(key) + " is of " + name(entry) + ", which is not there";
    // A damaged item has been named, and nobody can say what its entries should be.
    if (!problem_of(item_key, *bytes).empty()) return {};
    const ItemView item(*bytes);
    if (entry_key(index, item) != key) {
      return "entry " + hex(key) + " is of " + name(entry) + ", whose entry it is not";
    }
    if (index.project(item) != value) {
      return "the entry of " + name(entry) + " is not what the item holds";
    }
    return {};
  }

  Verification& verification_;
  ReadView& view_;
  const Table& table_;
  const std::map<SpaceId, KeptCounters>& counters_;
  const Hash128 sum_secret_ = random_secret();
};

}  // namespace

void verify_table(Verification& verification, ReadView& view, const Table& table,
                  const std::map<SpaceId, KeptCounters>& counters) {
  TableCheck(verification, view, table, counters).run();
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cli/patience.h"
#include "cli/table_access.h"
#include "recipes/common/requests.h"
#include "value/encoded.h"
#include "value/key.h"

namespace stator::cli {
namespace {

// The number of items, and the sum of their keyed hashes. The order does not matter. The hash is
// keyed with random bytes, so nobody can choose items that cancel out.
struct ItemsDigest {
  int64_t items = 0;
  std::array<uint64_t, 2> sum = {};

  void add(const Hash128& secret, const Item& item) {
    const Hash128 hash = hash128(secret, encode_item(item));
    std::array<uint64_t, 2> halves{};
    std::memcpy(halves.data(), hash.data(), sizeof halves);
    add({.items = 1, .sum = halves});
  }
  void add(const ItemsDigest& other) {
    items += other.items;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other.sum[i];
  }
  bool operator==(const ItemsDigest&) const = default;
};

// Whether time to live can delete the item. As in DynamoDB, items that expired more than five years
// ago are not deleted.
bool is_expired(const Item& item, const std::string& attribute) {
  constexpr int64_t kFiveYearsSeconds = 5LL * 365 * 24 * 3600;
  const auto found = item.find(attribute);
  const Number* const number = found == item.end() ? nullptr : found->second.get_if<Number>();
  if (number == nullptr) return false;
  const int64_t now = Time::now().unix_seconds();
  return *number <= Number(now) && *number >= Number(now - kFiveYearsSeconds);
}

class ItemComparison {
 public:
  ItemComparison(const TablePair& tables, const CompareOptions& options)
      : tables_(tables), options_(options) {
    std::memcpy(secret_.data(), random_bytes(secret_.size()).data(), secret_.size());
  }

  Result<Comparison> run() {
    STATOR_ASSIGN_OR_RETURN(const ItemsDigest source,
                            digest(tables_.from, tables_.source, "verify source"));
    STATOR_ASSIGN_OR_RETURN(const ItemsDigest target,
                            digest(tables_.to, tables_.target, "verify target"));
    result_.source_items = source.items;
    result_.target_items = target.items;
    if (source == target) return result_;
    STATOR_RETURN_IF_ERROR(scan(tables_.from, tables_.source, "look up source items",
                                [this](const std::vector<Item>& page, const std::stop_token& stop) {
                                  return look_up(page, stop, tables_.to, tables_.target,
                                                 ItemDifference::Kind::kMissing);
                                }));
    STATOR_RETURN_IF_ERROR(scan(tables_.to, tables_.target, "look up target items",
                                [this](const std::vector<Item>& page, const std::stop_token& stop) {
                                  return look_up(page, stop, tables_.from, tables_.source,
                                                 ItemDifference::Kind::kExtra);
                                }));
    return result_;
  }

 private:
  Result<void> scan(Client& client, const std::string& table, const std::string& what,
                    decltype(TableScan::visit) visit) {
    Pace pace(options_.rate);
    return scan_table({.client = client,
                       .table = table,
                       .pace = &pace,
                       .stop = options_.stop,
                       .visit = std::move(visit),
                       .advanced = [&](const ScanPositions& positions) -> Result<void> {
                         options_.advanced(what, items_in(positions));
                         return {};
                       }},
                      ScanPositions(static_cast<std::size_t>(options_.segments)));
  }

  Result<ItemsDigest> digest(Client& client, const std::string& table, const std::string& what) {
    ItemsDigest all;
    STATOR_RETURN_IF_ERROR(
        scan(client, table, what, [&](const std::vector<Item>& page, const std::stop_token&) {
          ItemsDigest some;
          for (const Item& item : page) some.add(secret_, item);
          const std::scoped_lock lock(mutex_);
          all.add(some);
          return Result<void>();
        }));
    return all;
  }

  // Looks up items of one table in the other table. Items in both tables are compared only in one
  // direction.
  Result<void> look_up(const std::vector<Item>& page, const std::stop_token& stop, Client& client,
                       const std::string& table, ItemDifference::Kind absent) {
    for (std::size_t first = 0; first < page.size(); first += recipes::kBatchGets) {
      const std::size_t last = std::min(page.size(), first + recipes::kBatchGets);
      std::vector<Item> keys;
      for (std::size_t i = first; i < last; ++i)
        keys.push_back(key_of(options_.key_schema, page[i]));
      STATOR_ASSIGN_OR_RETURN(
          const std::vector<Item> items, with_patience(system_time(), stop, [&] {
            return recipes::get_batch(client, RetryPolicy(), system_time(), table, keys);
          }));
      std::map<EncodedItem, const Item*> found;
      for (const Item& item : items) {
        found.emplace(encode_item(key_of(options_.key_schema, item)), &item);
      }
      for (std::size_t i = first; i < last; ++i) {
        const auto other = found.find(encode_item(keys[i - first]));
        if (other == found.end()) {
          add(page[i], absent);
        } else if (absent == ItemDifference::Kind::kMissing && *other->second != page[i]) {
          add(page[i], ItemDifference::Kind::kChanged);
        }
      }
    }
    return {};
  }

  void add(const Item& item, ItemDifference::Kind kind) {
    const std::scoped_lock lock(mutex_);
    if (kind != ItemDifference::Kind::kChanged && is_expired(item, options_.time_to_live)) {
      ++result_.expired;
      return;
    }
    ++result_.differences;
    options_.differs({.kind = kind, .key = key_of(options_.key_schema, item)});
  }

  const TablePair& tables_;
  const CompareOptions& options_;
  Hash128 secret_{};
  std::mutex mutex_;  // guards the result, and the digest in progress
  Comparison result_;
};

}  // namespace

Result<Comparison> compare_items(const TablePair& tables, const CompareOptions& options) {
  return ItemComparison(tables, options).run();
}

}  // namespace stator::cli

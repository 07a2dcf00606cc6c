// SPDX-License-Identifier: Apache-2.0
#include "engine/items/collections.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "engine/catalog/counting.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

constexpr std::size_t kSpaceBytes = sizeof(SpaceId);

std::string hash_of(const WriteAction& action) {
  return action.row_key.substr(kSpaceBytes, kPartitionBytes - kSpaceBytes);
}

// The bytes that a write adds to the table and to each local index.
std::vector<int64_t> changes_of(const Table& table, const WriteEffect& effect) {
  std::vector<int64_t> bytes(1 + table.definition().local_spaces.size());
  bytes[0] = static_cast<int64_t>(effect.after_bytes) - static_cast<int64_t>(effect.before_bytes);
  for (const IndexChange& change : effect.index_changes) {
    if (change.index + 1 < bytes.size()) bytes[change.index + 1] += change.bytes_delta;
  }
  return bytes;
}

int64_t bytes_of(const Table& table) {
  int64_t bytes = 0;
  for (std::size_t i = 0; i <= table.definition().local_spaces.size(); ++i) {
    bytes += table.counters(i).totals().bytes;
  }
  return bytes;
}

class CollectionCount final : public Job {
 public:
  CollectionCount(TransactStore& store, std::shared_ptr<CollectionSizes> sizes, std::string hash,
                  std::vector<Table::Counted> parts)
      : sizes_(std::move(sizes)), hash_(std::move(hash)), recount_(store, std::move(parts)) {}
  CollectionCount(const CollectionCount&) = delete;
  CollectionCount& operator=(const CollectionCount&) = delete;
  ~CollectionCount() override {
    if (!done_) sizes_->forget(hash_);
  }

  Result<JobState> step() override {
    STATOR_ASSIGN_OR_RETURN(const JobState state, recount_.step());
    done_ = state == JobState::kDone;
    if (done_) sizes_->finish(hash_);
    return state;
  }
  void rest() override { recount_.reset(); }
  // The next write starts another count.
  Result<void> abandon(const Error&) override { return {}; }

 private:
  std::shared_ptr<CollectionSizes> sizes_;
  std::string hash_;
  Recount recount_;
  bool done_ = false;
};

void start_collection_count(ItemEngine& engine, const Table& table, const std::string& hash) {
  std::vector<SpaceId> spaces = table.definition().local_spaces;
  spaces.insert(spaces.begin(), table.key().space);
  const auto counters =
      table.collections()->begin(hash, spaces.size(), engine.options.collection_bytes_max / 64);
  if (counters.empty()) return;
  std::vector<Table::Counted> parts;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    std::string prefix;
    append_big_endian(prefix, spaces[i]);
    prefix += hash;
    std::string end = prefix_end(prefix);
    parts.push_back({.space = spaces[i],
                     .range = {.begin = std::move(prefix), .end = std::move(end)},
                     .counters = counters[i]});
  }
  engine.jobs.add("count of an item collection of table '" + table.name() + "'",
                  std::make_unique<CollectionCount>(*engine.store, table.collections(), hash,
                                                    std::move(parts)));
}

Result<void> check_collection(ItemEngine& engine, const WriteAction& action,
                              const WriteEffect& effect) {
  const Table& table = *action.table;
  if (!table.has_local_indexes()) return {};
  const auto changes = changes_of(table, effect);
  const int64_t growth = std::accumulate(changes.begin(), changes.end(), int64_t{0});
  if (growth <= 0) return {};
  if (table.needs_count()) {
    start_count(engine.jobs, *engine.store, table);
    return {};
  }
  const int64_t most = engine.options.collection_bytes_max;
  if (bytes_of(table) + growth <= most) return {};
  const std::string hash = hash_of(action);
  const auto bytes = table.collections()->bytes(hash);
  if (!bytes) {
    start_collection_count(engine, table, hash);
    return {};
  }
  if (*bytes + growth <= most) return {};
  return fail(Code::kItemCollectionSizeLimitExceeded, messages::kCollectionTooLarge);
}

}  // namespace

Result<WriteEffect> evaluate_within_limit(ItemEngine& engine, const WriteAction& action,
                                          std::optional<std::string> before) {
  STATOR_ASSIGN_OR_RETURN(WriteEffect effect, evaluate_write(action, std::move(before)));
  STATOR_RETURN_IF_ERROR(check_collection(engine, action, effect));
  return effect;
}

void count_collection(const WriteAction& action, const WriteEffect& effect, uint64_t sequence) {
  const Table& table = *action.table;
  if (!table.has_local_indexes()) return;
  table.collections()->add(hash_of(action), sequence, changes_of(table, effect));
}

std::optional<ItemCollectionMetrics> collection_metrics(const WriteAction& action) {
  const Table& table = *action.table;
  if (!table.has_local_indexes()) return std::nullopt;
  constexpr double kGb = 1 << 30;
  const auto bytes = table.collections()->bytes(hash_of(action));
  const double lower = std::floor(static_cast<double>(bytes.value_or(0)) / kGb);
  ItemCollectionMetrics metrics{.key = {}, .size_lower_gb = lower, .size_upper_gb = lower + 1};
  for (const AttributeDefinition& attribute : table.key().hash) {
    const auto found = action.key.find(attribute.name);
    if (found != action.key.end()) metrics.key.emplace(*found);
  }
  return metrics;
}

}  // namespace stator

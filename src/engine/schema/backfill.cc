// SPDX-License-Identifier: Apache-2.0
#include "engine/schema/backfill.h"

#include <algorithm>
#include <optional>

#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/counting.h"
#include "engine/core/leased_job.h"

namespace stator {
namespace {

// Limits of one transaction. It must not fill the store's queue or hold locks for long.
constexpr std::size_t kBatchRows = 32;
constexpr std::size_t kBatchBytes = 1UL << 20;
// Limit of rows read for one transaction, in case few of them have a row in the space.
constexpr std::size_t kExaminedRows = 2048;

struct Row {
  std::string key;
  EncodedItem value;
};

class Backfill final : public Job {
 public:
  Backfill(ItemEngine& engine, JobLease& lease, std::string table, SpaceId space)
      : engine_(engine), lease_(lease), name_(std::move(table)), space_(space) {}

  Result<JobState> step() override {
    STATOR_RETURN_IF_ERROR(engine_.catalog->refresh());
    const TablePtr table = current_table();
    if (table == nullptr) return JobState::kDone;
    if (!started_) STATOR_RETURN_IF_ERROR(read_position());
    if (!filled_) {
      STATOR_ASSIGN_OR_RETURN(const bool more, fill_batch(*table));
      filled_ = !more;
      return JobState::kMore;
    }
    if (!counted_) {
      STATOR_RETURN_IF_ERROR(count(*table));
      return JobState::kMore;
    }
    // The cursor can have passed rows of this job. Once the table is described as enabled, only
    // writes lower it.
    table->sweep_cursor().lower(0);
    STATOR_RETURN_IF_ERROR(finish());
    return JobState::kDone;
  }

  void rest() override {
    if (recount_) recount_->reset();
  }

  // Otherwise the index would stay incomplete until the next startup.
  bool gives_up() const override { return false; }

  // After damage, the space stays unfinished; the next startup resumes the job.
  Result<void> abandon(const Error&) override { return {}; }

 private:
  // Null if the space no longer needs a backfill.
  TablePtr current_table() const {
    const auto snapshot = engine_.catalog->snapshot();
    const TablePtr* table = snapshot->find(name_);
    if (table == nullptr || !(*table)->definition().is_unfinished(space_)) return nullptr;
    return *table;
  }

  std::string position_key() const { return catalog_row_key(CatalogRow::kBackfill, space_); }

  Result<void> read_position() {
    STATOR_RETURN_IF_ERROR(read_value(*engine_.store, position_key(),
                                      [&](std::string_view value) { position_ = value; }));
    started_ = true;
    return {};
  }

  // The row of an item in the space. Absent if the item has none.
  std::optional<Row> row_of(const Table& table, std::string_view item_key, ItemView item) const {
    if (table.expiry() != nullptr && table.expiry()->space == space_) {
      auto key = expiry_row_key(*table.expiry(), item, item_key);
      if (!key) return std::nullopt;
      return Row{.key = std::move(*key), .value = {}};
    }
    for (const VectorIndex& index : table.vector_indexes()) {
      if (index.shape.key.space != space_) continue;
      auto row = index.row(table.secret(), table.key(), item);
      if (!row) return std::nullopt;
      return Row{.key = std::move(row->key), .value = std::move(row->value)};
    }
    const Index& index = *std::ranges::find_if(
        table.indexes(), [&](const Index& other) { return other.key.space == space_; });
    auto key = index_row_key(table.secret(), table.key(), index.key, item);
    if (!key) return std::nullopt;
    return Row{.key = std::move(*key), .value = index.project(item)};
  }

  // Returns false if all items have been read.
  Result<bool> fill_batch(const Table& table) {
    std::vector<std::string> keys;
    std::string last;
    STATOR_ASSIGN_OR_RETURN(const bool more, next_items(table, keys, last));
    if (last.empty()) return false;
    STATOR_RETURN_IF_ERROR(write(table, keys, last));
    position_ = std::move(last);
    return more;
  }

  // Returns the keys of the next items that appear to have a row, and the key of the last item
  // read.
  Result<bool> next_items(const Table& table, std::vector<std::string>& keys,
                          std::string& last) const {
    KeyRange range = space_range(table.key().space);
    if (!position_.empty()) range.begin = position_ + '\0';
    std::size_t bytes = 0;
    std::size_t examined = 0;
    bool more = false;
    STATOR_RETURN_IF_ERROR(read_range(
        *engine_.store, {.range = std::move(range), .expected_rows = kExaminedRows},
        [&](std::string_view key, std::string_view value) {
          last = key;
          if (row_of(table, key, ItemView(value))) {
            keys.emplace_back(key);
            bytes += value.size();
          }
          more = ++examined == kExaminedRows || keys.size() == kBatchRows || bytes >= kBatchBytes;
          return !more;
        }));
    return more;
  }

  Result<void> write(const Table& table, const std::vector<std::string>& keys,
                     const std::string& last) const {
    const InFlightOperations::Pass pass(engine_.in_flight);
    const auto change = [&](GuardedRows items, Batch& batch) -> Result<void> {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!items[i]) continue;
        const auto row = row_of(table, keys[i], ItemView(*items[i]));
        if (row) batch.put(row->key, row->value);
      }
      batch.put(position_key(), last);
      return {};
    };
    return lease_.commit(keys, change, table.schema());
  }

  // Counts the entries, which no earlier count includes. A TTL queue is not counted.
  Result<void> count(const Table& table) {
    if (!recount_) {
      std::vector<Table::Counted> spaces = table.counted();
      std::erase_if(spaces, [&](const Table::Counted& other) { return other.space != space_; });
      counted_ = spaces.empty();
      if (counted_) return {};
      recount_.emplace(*engine_.store, std::move(spaces));
    }
    STATOR_ASSIGN_OR_RETURN(const JobState state, recount_->step());
    counted_ = state == JobState::kDone;
    return {};
  }

  Result<void> finish() const {
    const auto finished = engine_.catalog->update(
        name_, engine_.now_ms(),
        [&](TableDefinition& definition) -> Result<void> {
          std::erase(definition.unfinished, space_);
          return {};
        },
        {}, &lease_);
    if (finished || finished.error().code == Code::kResourceNotFound) return {};
    return Failure(finished.error());
  }

  ItemEngine& engine_;
  JobLease& lease_;
  std::string name_;
  SpaceId space_;
  bool started_ = false;
  bool filled_ = false;
  bool counted_ = false;
  std::string position_;  // the row key of the last item seen
  std::optional<Recount> recount_;
};

}  // namespace

void start_backfill(ItemEngine& engine, const std::string& table, SpaceId space) {
  const std::string name =
      "filling of space " + std::to_string(space) + " of table '" + table + "'";
  start_leased(engine, name, backfill_work(table, space), [&](JobLease& lease) {
    return std::make_unique<Backfill>(engine, lease, table, space);
  });
}

void resume_backfills(ItemEngine& engine) {
  const auto snapshot = engine.catalog->snapshot();
  for (const auto& [name, table] : snapshot->tables) {
    for (const SpaceId space : table->definition().unfinished) {
      if (engine.leases.is_free(backfill_work(name, space).key)) {
        start_backfill(engine, name, space);
      }
    }
  }
}

}  // namespace stator

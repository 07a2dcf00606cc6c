// SPDX-License-Identifier: Apache-2.0
#include "engine/backfill.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "engine/catalogue_rows.h"
#include "engine/counting.h"

namespace stator {
namespace {

// Of one transaction, so that it neither fills the store's queue nor holds its guards for long.
constexpr std::size_t kBatchRows = 32;
constexpr std::size_t kBatchBytes = 1UL << 20;
// Looked at for one transaction, where few of them have a row in the space.
constexpr std::size_t kExaminedRows = 2048;
// Batches before another backfill gets its turn.
constexpr int kBatchesPerTurn = 16;
constexpr std::chrono::milliseconds kPauseAfterFailure{50};

struct Row {
  std::string key;
  EncodedItem value;
};

class Backfill {
 public:
  Backfill(Engine::Impl& engine, std::string table, SpaceId space)
      : engine_(engine), name_(std::move(table)), space_(space) {}

  // A turn's work. True where there is more to do.
  bool run() {
    if (!started_ && !read_position()) return true;
    for (int i = 0; i < kBatchesPerTurn && !engine_.backfills.stopping(); ++i) {
      const TablePtr table = current_table();
      if (table == nullptr) return false;
      const Result<bool> more = fill_batch(*table);
      if (!more) {
        engine_.backfills.pause(kPauseAfterFailure);
        return true;
      }
      if (!*more) return !finish(*table);
    }
    return true;
  }

 private:
  // Null where the space is no longer to be filled.
  TablePtr current_table() const {
    const auto snapshot = engine_.catalogue->snapshot();
    const TablePtr* table = snapshot->find(name_);
    if (table == nullptr || !(*table)->definition().is_unfinished(space_)) return nullptr;
    return *table;
  }

  std::string position_key() const { return catalogue_row_key(CatalogueRow::kBackfill, space_); }

  bool read_position() {
    const auto found =
        engine_.store->get(position_key(), [&](std::string_view value) { position_ = value; });
    started_ = found.has_value();
    return started_;
  }

  // What the space holds of an item; absent: nothing.
  std::optional<Row> row_of(const Table& table, std::string_view item_key, ItemView item) const {
    if (table.expiry() != nullptr && table.expiry()->space == space_) {
      auto key = expiry_row_key(*table.expiry(), item, item_key);
      if (!key) return std::nullopt;
      return Row{.key = std::move(*key), .value = {}};
    }
    const Index& index = *std::ranges::find_if(
        table.indexes(), [&](const Index& other) { return other.key.space == space_; });
    auto key = index_row_key(table.secret(), table.key(), index.key, item);
    if (!key) return std::nullopt;
    return Row{.key = std::move(*key), .value = index.project(item)};
  }

  // False: every item has been seen.
  Result<bool> fill_batch(const Table& table) {
    std::vector<std::string> keys;
    std::string last;
    STATOR_TRY(const bool more, next_items(table, keys, last));
    if (last.empty()) return false;
    STATOR_CHECK_OK(write(table, keys, last));
    position_ = std::move(last);
    return more;
  }

  // The keys of the next items that seem to have a row, and of the last that was looked at.
  Result<bool> next_items(const Table& table, std::vector<std::string>& keys,
                          std::string& last) const {
    KeyRange range = space_range(table.key().space);
    if (!position_.empty()) range.begin = position_ + '\0';
    std::size_t bytes = 0;
    std::size_t examined = 0;
    bool more = false;
    STATOR_TRY(const auto view, engine_.store->read_view());
    STATOR_CHECK_OK(view->scan({.range = std::move(range), .expected_rows = kExaminedRows},
                               [&](std::string_view key, std::string_view value) {
                                 last = key;
                                 if (row_of(table, key, ItemView(value))) {
                                   keys.emplace_back(key);
                                   bytes += value.size();
                                 }
                                 more = ++examined == kExaminedRows || keys.size() == kBatchRows ||
                                        bytes >= kBatchBytes;
                                 return !more;
                               }));
    return more;
  }

  Result<void> write(const Table& table, const std::vector<std::string>& keys,
                     const std::string& last) const {
    const Gate::Pass pass(engine_.writes);
    STATOR_TRY(const auto transaction, engine_.store->begin());
    if (!keys.empty()) {
      STATOR_TRY(const auto items, transaction->get_for_update(keys));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!items[i]) continue;
        const auto row = row_of(table, keys[i], ItemView(*items[i]));
        if (row) transaction->put(row->key, row->value);
      }
    }
    transaction->put(position_key(), last);
    CommitResult result = commit_and_wait(*transaction);
    if (result.outcome == CommitOutcome::kCommitted) return {};
    return Failure(std::move(result.error));
  }

  bool finish(const Table& table) const {
    const std::vector<SpaceId> spaces = table.spaces();
    const auto position = std::ranges::find(spaces, space_) - spaces.begin();
    if (position < std::ssize(spaces) && !table.needs_count()) {
      const std::array<std::size_t, 1> positions = {static_cast<std::size_t>(position)};
      if (!recount(engine_, table, positions, engine_.backfills)) return false;
    }
    const auto finished = engine_.catalogue->update(
        name_, engine_.now_ms(), [&](TableDefinition& definition) -> Result<void> {
          std::erase(definition.unfinished, space_);
          return {};
        });
    return finished || finished.error().code == Code::kResourceNotFound;
  }

  Engine::Impl& engine_;
  std::string name_;
  SpaceId space_;
  bool started_ = false;
  std::string position_;  // the row key of the last item seen
};

void take_turn(Engine::Impl& engine, std::unique_ptr<Backfill> backfill) {
  engine.backfills.post([&engine, backfill = std::move(backfill)]() mutable {
    if (backfill->run()) take_turn(engine, std::move(backfill));
  });
}

}  // namespace

void start_backfill(Engine::Impl& engine, std::string table, SpaceId space) {
  take_turn(engine, std::make_unique<Backfill>(engine, std::move(table), space));
}

void resume_backfills(Engine::Impl& engine) {
  const auto snapshot = engine.catalogue->snapshot();
  for (const auto& [name, table] : snapshot->tables) {
    for (const SpaceId space : table->definition().unfinished) {
      start_backfill(engine, name, space);
    }
  }
}

}  // namespace stator

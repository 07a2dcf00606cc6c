// SPDX-License-Identifier: Apache-2.0
// Table: one version of a table, compiled from its definition.
//
// A changed definition makes a new version: another Table with the same spaces.
//
// Thread safety: immutable, except for counters, which all versions share and any thread can use.
// Writes: a write with one version of a table commits only while that version is the newest; see
// schema().
// Lifetime: each user of a table holds a TablePtr. When the last TablePtr to a version and to all
// earlier versions is released, no reader of this process uses their definitions. Then the rows of
// dropped spaces are erased.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rows/row_layout.h"
#include "engine/rows/ttl_queue.h"
#include "engine/rows/vector_row.h"
#include "stator/client.h"
#include "storage/schema_row.h"

namespace stator {

class CollectionSizes;

// The stored definition of a table. Spaces are in the order of the index definitions.
struct TableDefinition {
  CreateTableRequest settings;
  std::string id;  // a UUID
  int64_t created_ms = 0;
  SpaceId space = 0;
  std::vector<SpaceId> local_spaces = {};
  std::vector<SpaceId> global_spaces = {};
  std::vector<SpaceId> vector_spaces = {};
  // The queue of time to live, a space with a row for each item that expires. Absent: disabled.
  std::optional<ExpiryQueue> expiry = {};
  // Spaces with a backfill in progress: every write maintains them, but rows of older items can be
  // missing.
  std::vector<SpaceId> unfinished = {};
  std::optional<int64_t> on_demand_since_ms = {};  // absent: since its creation, or never
  std::optional<int64_t> table_class_changed_ms = {};
  ThroughputChanges throughput_changes = {};
  std::map<std::string, ThroughputChanges> index_throughput_changes = {};  // by index
  std::optional<RestoreSummary> restored = {};  // `in_progress` is not used here

  bool is_unfinished(SpaceId which) const { return std::ranges::count(unfinished, which) > 0; }
  // The spaces of the table, of all indexes, and of the queue.
  std::vector<SpaceId> all_spaces() const;
  // How long changes are kept for point-in-time recovery; 0: disabled.
  int64_t recovery_ms = 0;
  int64_t recovery_since_ms = 0;  // when the recording for recovery began; unused if disabled
  // The catalog sets these from settings.stream and recovery_ms.
  SpaceId log_space = 0;                         // the log that records changes, or 0
  std::optional<int64_t> latest_stream_ms = {};  // LoggedStream::created_ms, enabled or not
};

// The attributes of an item that an index contains.
struct ProjectedAttributes {
  bool all = true;
  std::vector<std::string> names = {};  // sorted, with the keys of index and table; unused if `all`

  bool contains(std::string_view attribute) const;
  EncodedItem of(ItemView item) const;
};

struct Index {
  IndexDefinition definition;
  bool local = false;
  KeyShape key;
  ProjectedAttributes projected;
  bool complete = true;  // false: the backfill is in progress; do not read the index

  bool projects_all() const { return projected.all; }
  bool projects(std::string_view attribute) const { return projected.contains(attribute); }
  EncodedItem project(ItemView item) const { return projected.of(item); }
};

struct VectorIndex {
  VectorIndexDefinition definition;
  VectorShape shape;
  ProjectedAttributes projected;  // includes the search schema, not always the vector
  bool complete = true;           // false: the backfill is in progress; do not read the index

  // The row of an item in the index; see vector_row().
  std::optional<VectorRow> row(const Hash128& secret, const KeyShape& table, ItemView item) const;
};

// The number and size of the rows of a space. A count makes them exact while writes continue: the
// counted view has the commits up to a sequence, and later commits are added.
//
// Thread safety: any thread.
class Counters {
 public:
  struct Totals {
    int64_t items = 0;
    int64_t bytes = 0;

    Totals& operator+=(const Totals& more) {
      items += more.items;
      bytes += more.bytes;
      return *this;
    }
    Totals& operator-=(const Totals& less) {
      items -= less.items;
      bytes -= less.bytes;
      return *this;
    }
    bool operator==(const Totals&) const = default;
  };

  // Returns the totals. Negative values, which are possible before the first count, are returned as
  // 0.
  Totals totals() const;
  // The counters and the last known value of the catalog's row; see catalog_counters.cc.
  struct Kept {
    Totals totals;                      // can be below 0
    std::optional<Totals> stored = {};  // the row when it was last read or written; absent: never
  };
  Kept kept() const;
  // Records that the row contains `stored`, which replaces the totals in `kept`. Does nothing if
  // another thread has called it since kept().
  void set_stored(const Kept& kept, Totals stored);
  // Adds the changes of a commit. `sequence` is that of the CommitResult.
  void add(uint64_t sequence, Totals change);

  // A count: call begin_count(), open the view, pass its sequence to set_base(), then pass the sum
  // of its rows to finish_count(). A later begin_count() cancels this one: then finish_count()
  // returns false and changes nothing.
  uint64_t begin_count();
  void set_base(uint64_t count, uint64_t sequence);
  bool finish_count(uint64_t count, Totals counted);

 private:
  struct Late {
    uint64_t sequence = 0;
    Totals change;
  };

  mutable std::mutex mutex_;
  Totals totals_;
  std::optional<Totals> stored_;
  uint64_t count_ = 0;  // the number of the last count
  bool is_counting_ = false;
  std::optional<uint64_t> base_;   // the sequence of the counted view; absent until it is open
  std::vector<Late> before_base_;  // changes that the view might or might not have
  Totals since_base_;
};

class Table {
 public:
  // Compiles a definition. `previous`: the version whose counters it shares; null for a new table.
  // Errors: kCorruption if the definition contradicts itself, such as a key without an attribute
  // definition or an index without a space.
  static Result<std::shared_ptr<Table>> make(TableDefinition definition, const Hash128& secret,
                                             const Table* previous = nullptr);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const std::string& name() const { return definition_.settings.table; }
  const TableDefinition& definition() const { return definition_; }
  // The version of this definition, unique in the catalog; 0 without a catalog.
  uint64_t version() const { return schema_.version; }
  // The schema version that transactions with this definition must expect. Requires a catalog.
  SchemaVersions schema() const { return {&schema_, 1}; }
  void set_schema(std::shared_ptr<const SchemaRow> row, uint64_t version) {
    schema_ = {.row = row.get(), .version = version};
    schema_row_ = std::move(row);
  }
  const Hash128& secret() const { return secret_; }
  const KeyShape& key() const { return key_; }
  const std::vector<Index>& indexes() const { return indexes_; }  // local ones first
  const Index* index(std::string_view name) const;
  const std::vector<VectorIndex>& vector_indexes() const { return vector_indexes_; }
  const VectorIndex* vector_index(std::string_view name) const;
  bool has_local_indexes() const { return !definition_.local_spaces.empty(); }
  bool is_key(std::string_view attribute) const;
  // The spaces of the table, its indexes and its vector indexes.
  std::vector<SpaceId> spaces() const;
  // The same and the queue of time to live.
  std::vector<SpaceId> all_spaces() const { return definition_.all_spaces(); }
  const ExpiryQueue* expiry() const { return definition_.expiry ? &*definition_.expiry : nullptr; }
  // The cursor of the queue expiry(). All versions with this queue share it.
  SweepCursor& sweep_cursor() const { return *sweep_cursor_; }
  SpaceId log_space() const { return definition_.log_space; }
  // Used if the table has local indexes. All versions share it.
  const std::shared_ptr<CollectionSizes>& collections() const { return collections_; }

  // Position 0 is the table, then come indexes(), then vector_indexes().
  Counters& counters(std::size_t position) const { return *counters_[position]; }
  // A range of rows and its counters, which can outlive the table.
  struct Counted {
    SpaceId space = 0;
    KeyRange range = {};
    std::shared_ptr<Counters> counters;
    bool has_vectors = false;

    int64_t bytes_of(std::string_view value) const;  // the counted size of a row
  };
  std::vector<Counted> counted() const;
  struct CountState {
    std::atomic<bool> is_needed{false};  // the counters lack rows from before this process started
    std::atomic<bool> is_running{false};
  };
  const std::shared_ptr<CountState>& count_state() const { return count_state_; }
  bool needs_count() const { return count_state_->is_needed; }

  // Sets the action to run once, when this version and all earlier ones are destroyed.
  void when_unused(std::move_only_function<void()> action) const;
  // Sets the version that follows this one.
  void replaced_by(const Table& next) const;

 private:
  Table() = default;

  TableDefinition definition_;
  std::shared_ptr<const SchemaRow> schema_row_;
  SchemaVersion schema_;
  Hash128 secret_ = {};
  KeyShape key_;
  std::vector<Index> indexes_;
  std::vector<VectorIndex> vector_indexes_;
  std::vector<std::shared_ptr<Counters>> counters_;

  std::shared_ptr<CountState> count_state_;
  std::shared_ptr<SweepCursor> sweep_cursor_;
  std::shared_ptr<CollectionSizes> collections_;

  // Owned by a version and by the previous era, so that it ends after both.
  struct Era {
    Era() = default;
    Era(const Era&) = delete;
    Era& operator=(const Era&) = delete;
    ~Era() {
      if (action) action();
    }
    std::move_only_function<void()> action;
    std::shared_ptr<Era> next;
  };
  std::shared_ptr<Era> era_ = std::make_shared<Era>();
};
using TablePtr = std::shared_ptr<const Table>;

}  // namespace stator

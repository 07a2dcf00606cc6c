// SPDX-License-Identifier: Apache-2.0
// Table: what the engine knows of one table, compiled from its definition.
//
// A changed definition is a new version, another Table on the same spaces.
//
// Thread safety: immutable but for its counters, which are atomic and shared by all versions.
// Writes: by one version of a table commit only while it is the newest; see schema().
// Lifetime: each user of a table holds a TablePtr. When the last one to a version and to all
// earlier versions is released, nobody in this process reads by their definitions any more. Then
// the rows of dropped spaces are erased.
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

// What the catalog keeps of a table. Spaces are in the order of the index definitions.
struct TableDefinition {
  CreateTableRequest settings;
  std::string id;  // a UUID
  int64_t created_ms = 0;
  SpaceId space = 0;
  std::vector<SpaceId> local_spaces = {};
  std::vector<SpaceId> global_spaces = {};
  std::vector<SpaceId> vector_spaces = {};
  // Absent: disabled. Its queue is a space that holds a row for each item that expires.
  std::optional<ExpiryQueue> expiry = {};
  // Spaces that a backfill still fills: every write maintains them, older items may lack there.
  std::vector<SpaceId> unfinished = {};
  std::optional<int64_t> on_demand_since_ms = {};  // where not since its creation
  std::optional<int64_t> table_class_changed_ms = {};
  ThroughputChanges throughput_changes = {};
  std::map<std::string, ThroughputChanges> index_throughput_changes = {};  // by index
  std::optional<RestoreSummary> restored = {};  // `in_progress` is told by who has the definition

  bool is_unfinished(SpaceId which) const { return std::ranges::count(unfinished, which) > 0; }
  // The table's own, those of all indexes, and the queue's.
  std::vector<SpaceId> all_spaces() const;
  // How long changes are kept for point-in-time recovery; 0: not at all.
  int64_t recovery_ms = 0;
  int64_t recovery_since_ms = 0;  // the earliest time that changes are kept from, where they are
  // Set by the catalog, from settings.stream and recovery_ms.
  SpaceId log_space = 0;                         // where changes are recorded, or 0
  std::optional<int64_t> latest_stream_ms = {};  // LoggedStream::created_ms, enabled or not
};

// The attributes of an item that an index has.
struct ProjectedAttributes {
  bool all = true;
  std::vector<std::string> names = {};  // sorted, keys of index and table included; unused for all

  bool contains(std::string_view attribute) const;
  EncodedItem of(ItemView item) const;
};

struct Index {
  IndexDefinition definition;
  bool local = false;
  KeyShape key;
  ProjectedAttributes projected;
  bool complete = true;  // false: not to be read yet

  bool projects_all() const { return projected.all; }
  bool projects(std::string_view attribute) const { return projected.contains(attribute); }
  EncodedItem project(ItemView item) const { return projected.of(item); }
};

struct VectorIndex {
  VectorIndexDefinition definition;
  VectorShape shape;
  ProjectedAttributes projected;  // the search schema included, the vector perhaps
  bool complete = true;           // false: not to be read yet

  // What the index keeps of an item; see vector_row().
  std::optional<VectorRow> row(const Hash128& secret, const KeyShape& table, ItemView item) const;
};

// How much a space holds. A count of its rows makes it exact while writes go on: the view that is
// counted has the commits up to a sequence, and those behind it are added.
//
// Thread safety: every method may be called from any thread at once.
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

  // Not below 0, as they can be before the first count.
  Totals totals() const;
  // What is kept of the counters in the catalog's row: see catalog_counters.cc.
  struct Kept {
    Totals totals;                      // can be below 0
    std::optional<Totals> stored = {};  // the row when it was last seen; absent: never
  };
  Kept kept() const;
  // The row holds `stored` now, which counts for what was `kept`. Does nothing if another
  // thread has called it since kept().
  void set_stored(const Kept& kept, Totals stored);
  // What a commit changed; `sequence` is CommitResult's.
  void add(uint64_t sequence, Totals change);

  // begin_count(), then take the view and tell its sequence, then the sum of its rows. A later
  // begin_count() takes the place of this one: then finish_count() is false, and changes nothing.
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
  uint64_t count_ = 0;  // the last that began
  bool is_counting_ = false;
  std::optional<uint64_t> base_;   // of the view that is counted; absent until it is taken
  std::vector<Late> before_base_;  // changes that it may have or not
  Totals since_base_;
};

class Table {
 public:
  // kCorruption where the definition contradicts itself: a key without an attribute definition, an
  // index without a space.
  // `previous` is the version whose counters it takes over; null for a new table.
  static Result<std::shared_ptr<Table>> make(TableDefinition definition, const Hash128& secret,
                                             const Table* previous = nullptr);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const std::string& name() const { return definition_.settings.table; }
  const TableDefinition& definition() const { return definition_; }
  // Of this definition, among all that tables of the catalog had; 0 without a catalog.
  uint64_t version() const { return schema_.version; }
  // What transactions expect that write by this definition. Of a table of a catalog.
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
  // The table's own, its indexes' and its vector indexes'.
  std::vector<SpaceId> spaces() const;
  // Those and the queue of items that expire.
  std::vector<SpaceId> all_spaces() const { return definition_.all_spaces(); }
  const ExpiryQueue* expiry() const { return definition_.expiry ? &*definition_.expiry : nullptr; }
  // Of the queue of expiry(), which all versions with it share.
  SweepCursor& sweep_cursor() const { return *sweep_cursor_; }
  SpaceId log_space() const { return definition_.log_space; }
  // Used where there are local indexes; all versions share it.
  const std::shared_ptr<CollectionSizes>& collections() const { return collections_; }

  // Position 0 is the table's own, then one for each of indexes(), then of vector_indexes().
  Counters& counters(std::size_t position) const { return *counters_[position]; }
  // The counters of a space, or of a part of it, and how complete they are; both outlive the table.
  struct Counted {
    SpaceId space = 0;
    KeyRange range = {};
    std::shared_ptr<Counters> counters;
    bool has_vectors = false;

    int64_t bytes_of(std::string_view value) const;  // of a row
  };
  std::vector<Counted> counted() const;
  struct CountState {
    std::atomic<bool> is_needed{false};  // the counters lack what was there before the process
    std::atomic<bool> is_running{false};
  };
  const std::shared_ptr<CountState>& count_state() const { return count_state_; }
  bool needs_count() const { return count_state_->is_needed; }

  // Runs once, when this version and all before it are destroyed.
  void when_unused(std::move_only_function<void()> action) const;
  // Tells this version which one comes after it.
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

  // Held by a version and by the era before it, so that it ends after both.
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

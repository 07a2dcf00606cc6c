// SPDX-License-Identifier: Apache-2.0
// Table: what the engine knows of one table, compiled from its definition.
//
// A changed definition is a new version, another Table on the same spaces.
//
// Thread safety: immutable but for its counters, which are atomic and shared by all versions.
// Lifetime: whoever works on a table holds a TablePtr. When the last one to a version and to all
// before it goes, nobody can write by their definitions any more: then the rows of what was dropped
// are erased, and what was added is filled.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/row_layout.h"
#include "engine/time_to_live.h"
#include "stator/client.h"

namespace stator {

// What the catalogue keeps of a table. Spaces are in the order of the index definitions.
struct TableDefinition {
  CreateTableRequest settings;
  std::string id;  // a UUID
  int64_t created_ms = 0;
  SpaceId space = 0;
  std::vector<SpaceId> local_spaces = {};
  std::vector<SpaceId> global_spaces = {};
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
  // How long changes are kept for point-in-time recovery; 0: not at all.
  int64_t recovery_ms = 0;
  int64_t recovery_since_ms = 0;  // the earliest time that changes are kept from, where they are
  // Set by the catalogue, from settings.stream and recovery_ms.
  SpaceId log_space = 0;                         // where changes are recorded, or 0
  std::optional<int64_t> latest_stream_ms = {};  // LoggedStream::created_ms, enabled or not
};

struct Index {
  IndexDefinition definition;
  bool local = false;
  KeyShape key;
  std::vector<std::string> projected;  // sorted, keys of index and table included; unused for kAll
  bool complete = true;                // false: not to be read yet

  bool projects_all() const { return definition.projection.type == ProjectionType::kAll; }
  bool projects(std::string_view attribute) const;
  EncodedItem project(ItemView item) const;
};

// How much a space holds. Approximate after a crash until counted again.
struct Counters {
  std::atomic<int64_t> items{0};
  std::atomic<int64_t> bytes{0};
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
  const Hash128& secret() const { return secret_; }
  const KeyShape& key() const { return key_; }
  const std::vector<Index>& indexes() const { return indexes_; }  // local ones first
  const Index* index(std::string_view name) const;
  bool has_local_indexes() const { return !definition_.local_spaces.empty(); }
  bool is_key(std::string_view attribute) const;
  // The table's own and its indexes'.
  std::vector<SpaceId> spaces() const;
  // Those and the queue of items that expire.
  std::vector<SpaceId> all_spaces() const;
  const ExpiryQueue* expiry() const { return definition_.expiry ? &*definition_.expiry : nullptr; }
  SpaceId log_space() const { return definition_.log_space; }

  // Position 0 is the table's own, then one for each of indexes().
  Counters& counters(std::size_t position) const { return *counters_[position]; }
  // Whether the counters lack what was there before the process started.
  std::atomic<bool>& needs_count() const { return shared_->needs_count; }
  // Whether the counters may be off by what was being written when they were counted, so that they
  // must not outlive the process.
  std::atomic<bool>& counted_roughly() const { return shared_->counted_roughly; }

  // Runs once, when this version and all before it are destroyed.
  void when_unused(std::move_only_function<void()> action) const;
  // Tells this version which one comes after it.
  void replaced_by(const Table& next) const;

 private:
  Table() = default;

  TableDefinition definition_;
  Hash128 secret_ = {};
  KeyShape key_;
  std::vector<Index> indexes_;
  std::vector<std::shared_ptr<Counters>> counters_;

  struct Shared {
    std::atomic<bool> needs_count{false};
    std::atomic<bool> counted_roughly{false};
  };
  std::shared_ptr<Shared> shared_;

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

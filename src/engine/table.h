// SPDX-License-Identifier: Apache-2.0
// Table: what the engine knows of one table, compiled from its definition.
//
// Thread safety: immutable but for its counters, which are atomic.
// Lifetime: whoever works on a table holds a TablePtr. When the last one to a dropped table goes,
// nobody can write there any more, and its rows are erased.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/row_layout.h"
#include "stator/requests.h"

namespace stator {

// What the catalogue keeps of a table. Spaces are in the order of the index definitions.
struct TableDefinition {
  CreateTableRequest settings;
  std::string id;  // a UUID
  int64_t created_ms = 0;
  SpaceId space = 0;
  std::vector<SpaceId> local_spaces = {};
  std::vector<SpaceId> global_spaces = {};
};

struct Index {
  IndexDefinition definition;
  bool local = false;
  KeyShape key;
  std::vector<std::string> projected;  // sorted, keys of index and table included; unused for kAll

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
  static Result<std::shared_ptr<Table>> make(TableDefinition definition, const Hash128& secret);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();

  const std::string& name() const { return definition_.settings.table; }
  const TableDefinition& definition() const { return definition_; }
  const Hash128& secret() const { return secret_; }
  const KeyShape& key() const { return key_; }
  const std::vector<Index>& indexes() const { return indexes_; }  // local ones first
  const Index* index(std::string_view name) const;
  bool has_local_indexes() const { return !definition_.local_spaces.empty(); }
  bool is_key(std::string_view attribute) const;
  std::vector<SpaceId> spaces() const;

  // Position 0 is the table's own, then one for each of indexes().
  Counters& counters(std::size_t position) const { return counters_[position]; }
  // Whether the counters lack what was there before the process started.
  std::atomic<bool>& needs_count() const { return needs_count_; }
  // Whether the counters may be off by what was being written when they were counted, so that they
  // must not outlive the process.
  std::atomic<bool>& counted_roughly() const { return counted_roughly_; }

  // Runs once, when the table is destroyed.
  void when_unused(std::move_only_function<void()> action) const;

 private:
  Table() = default;

  TableDefinition definition_;
  Hash128 secret_ = {};
  KeyShape key_;
  std::vector<Index> indexes_;
  std::unique_ptr<Counters[]> counters_;
  mutable std::atomic<bool> needs_count_{false};
  mutable std::atomic<bool> counted_roughly_{false};
  mutable std::move_only_function<void()> when_unused_;
};
using TablePtr = std::shared_ptr<const Table>;

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// The parts of verify(), and their common state.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/catalog/table.h"
#include "engine/change_log/change_log.h"
#include "engine/verify/verify.h"

namespace stator {

// A row, and the row that it names, for example an entry of an index and its item.
struct RowPair {
  std::string_view key;
  std::string_view value;
  std::optional<std::string> other_key;   // absent: it names no row
  std::optional<std::string> other = {};  // its value; absent if that row does not exist
};

class Verification {
 public:
  // How a row names another one, and the kind of finding if that cannot be read.
  struct Other {
    FunctionRef<std::optional<std::string>(std::string_view key, std::string_view value)> key_of;
    std::string_view kind;
  };

  Verification(TransactStore& store, VerifyReport& report, VerifyProgress progress)
      : store_(store), report_(report), progress_(progress) {}

  void add(std::string_view kind, std::string_view message);
  void read_file_bytes(uint64_t done, uint64_t total) { progress_("files, bytes", done, total); }

  // Visits every row of a range, in several reads; `visit` can read the store. If not all rows can
  // be read, it adds a finding and returns false.
  bool scan(const KeyRange& range, std::string_view kind, std::string_view what,
            FunctionRef<void(std::string_view key, std::string_view value)> visit);
  // Like scan(), with the row that each row names.
  bool scan_pairs(const KeyRange& range, std::string_view kind, std::string_view what, Other other,
                  FunctionRef<void(const RowPair& pair)> visit);
  // Returns a row's value; absent if there is no such row. A failed read is a finding.
  std::optional<std::string> get(const std::string& key, std::string_view kind);

  VerifyReport& report() { return report_; }
  // Whether the counters of tables are exact. Processes that share a store can lose counts.
  bool has_exact_counters() const { return !store_.capabilities().several_processes; }

 private:
  using Row = std::pair<std::string, std::string>;  // key and value

  bool scan_rows(const KeyRange& range, std::string_view kind, std::string_view what,
                 FunctionRef<void(std::span<const Row>)> visit);
  void visit_pairs(std::span<const Row> rows, Other other, FunctionRef<void(const RowPair&)> visit);
  void count_row();

  TransactStore& store_;
  VerifyReport& report_;
  VerifyProgress progress_;
  uint64_t rows_ = 0;
};

struct KeptCounters {
  int64_t items = 0;
  int64_t bytes = 0;
  bool operator==(const KeptCounters&) const = default;
};

struct CatalogContents {
  Hash128 secret = {};
  bool has_older_keys = false;  // engine/rows/older_keys.h
  std::vector<TablePtr> tables;
  std::map<SpaceId, LogDefinition> logs;
  std::set<SpaceId> dropped;
  std::set<SpaceId> restoring;  // of tables that are not complete yet
  std::map<SpaceId, KeptCounters> counters;
  bool complete = true;  // all rows were readable, so a row of an unknown space is an orphan
};

// Absent if the store is empty, or if the catalog is missing, which is a finding.
std::optional<CatalogContents> verify_catalog(Verification& verification);

// A table's items, the entries of its indexes, and the counters of both.
void verify_table(Verification& verification, const Table& table, const CatalogContents& catalog);

// The records and boundaries of a change log. All commit versions are before `end`.
void verify_log(Verification& verification, const LogDefinition& log, const Hash128& secret,
                uint64_t end);

void verify_tokens(Verification& verification, bool has_older_keys);

}  // namespace stator

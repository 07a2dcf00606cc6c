// SPDX-License-Identifier: Apache-2.0
// Catalogue: which tables there are, kept in the store's space 0. docs/formats/catalogue.md.
//
// Thread safety: every method may be called from any thread at once; reads take a snapshot and
// never wait for changes.
// Durability: a change has been committed when the method that makes it returns.
// Lifetime: the store and the worker must outlive the catalogue and every TablePtr.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/function_ref.h"
#include "engine/published.h"
#include "engine/table.h"
#include "engine/worker.h"
#include "storage/store.h"

namespace stator {

struct CatalogueSnapshot {
  std::map<std::string, TablePtr, std::less<>> tables;  // in the order of ListTables

  // Null where there is none. `name` is a table name or a table ARN.
  const TablePtr* find(std::string_view name) const;
};

struct TableVersions {
  TablePtr before;
  TablePtr after;
};

class Catalogue {
 public:
  // Reads the catalogue, writes one into an empty store, and has `worker` erase what dropped tables
  // left behind. kCorruption where the store holds something else.
  static Result<std::unique_ptr<Catalogue>> open(Store& store, Worker& worker);

  std::shared_ptr<const CatalogueSnapshot> snapshot() const { return snapshot_.get(); }
  const Hash128& secret() const { return secret_; }

  // kResourceInUse where the name is taken.
  Result<TablePtr> create(const CreateTableRequest& settings, int64_t now_ms);
  // kResourceNotFound, or what `change` returns. It may give a table's definition new settings, and
  // a space of 0 to what has none yet: that gets an id and is unfinished. Once nobody uses the
  // version before, the rows of spaces that the definition no longer has go, and `fill` runs for
  // each new one.
  using Change = FunctionRef<Result<void>(TableDefinition& definition)>;
  using Fill = std::move_only_function<void(const std::string& table, SpaceId space)>;
  Result<TableVersions> update(std::string_view name, Change change, Fill fill = {});
  // kResourceNotFound; kValidation for a protected table. Its rows go once nobody uses it.
  Result<TablePtr> drop(std::string_view name);

  // Keeps the counters for the next start. Nobody may write afterwards.
  void save_counters();

 private:
  Catalogue(Store& store, Worker& worker) : store_(store), worker_(worker) {}

  Result<void> write_header();
  Result<void> load();
  Result<void> load_counters(const std::map<SpaceId, std::string>& rows);
  Result<TableDefinition> insert(const CreateTableRequest& settings, int64_t now_ms);
  Result<TableDefinition> replace(const Table& table, Change change);
  Result<void> erase(const Table& table);
  void erase_later(const std::vector<SpaceId>& spaces);
  void erase_rows(SpaceId space) const;
  void publish(CatalogueSnapshot next);

  Store& store_;
  Worker& worker_;
  Hash128 secret_ = {};
  std::mutex changes_;  // held by create, update and drop
  Published<CatalogueSnapshot> snapshot_;
};

}  // namespace stator

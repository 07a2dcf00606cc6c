// SPDX-License-Identifier: Apache-2.0
// A catalog on a SharedBackend, like that of one of several processes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/testing/engine_harness.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {

inline constexpr int64_t kNowMs = 1'700'000'000'000;

// For updates without a backfill.
inline constexpr auto no_fill = [](const std::string&, SpaceId) {};

// For drops that leave no backup.
inline constexpr auto no_backup = [](const Table&) -> std::optional<NamedRecord> {
  return std::nullopt;
};

// `backend` must outlive it.
class SharedCatalog {
 public:
  SharedCatalog(SharedBackend& backend, uint32_t seed)
      : store_(backend, seed), jobs_({}), catalog_(must(Catalog::open(store_, jobs_))) {}
  SharedCatalog(const SharedCatalog&) = delete;
  SharedCatalog& operator=(const SharedCatalog&) = delete;
  ~SharedCatalog() { jobs_.stop(); }

  Catalog& operator*() { return *catalog_; }
  Catalog* operator->() { return catalog_.get(); }
  SharedStore& store() { return store_; }

 private:
  SharedStore store_;
  JobRunner jobs_;
  std::unique_ptr<Catalog> catalog_;
};

// The contents of a snapshot as text, for comparisons.
inline std::string describe(const CatalogSnapshot& snapshot) {
  std::string text = "version " + std::to_string(snapshot.version) + "\n";
  for (const auto* tables : {&snapshot.tables, &snapshot.restoring}) {
    for (const auto& [name, table] : *tables) {
      text += name + " " + std::to_string(table->version()) + " " +
              to_debug_string(decode_item(ItemView(encode_table(table->definition())))) + "\n";
    }
    text += "--\n";
  }
  for (const auto& [space, log] : snapshot.logs) {
    text += to_debug_string(decode_item(ItemView(encode_log(*log)))) + "\n";
  }
  return text;
}

}  // namespace stator::test

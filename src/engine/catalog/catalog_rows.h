// SPDX-License-Identifier: Apache-2.0
// Keys of the catalog's rows. docs/formats/catalog.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/rows/row_layout.h"

namespace stator {

// The format of all data that the engine stores. Increase it with every change of that data, so
// that no version of Stator writes into a directory that it does not fully understand.
inline constexpr uint32_t kCatalogFormat = 6;
inline constexpr uint32_t kOldestFormat = 1;       // the oldest that startup migrates
inline constexpr uint32_t kFirstFormatOfKeys = 3;  // earlier ones: engine/rows/older_keys.h
inline constexpr uint32_t kFirstFormatOfPins = 4;  // in earlier ones, only the records contain pins

// The first byte of a row's key after the partition. The comments name the rest of the key, then
// the value.
enum class CatalogRow : char {
  kRecord = 'a',     // kind, name: a document of administrative operations, see records.h
  kHeader = 'h',     // nothing: format version, secret
  kNextSpace = 'n',  // nothing: the id of the next space
  kTable = 't',      // name: a table definition
  kDropped = 'd',    // space: nothing; the space is unused and its rows are being erased
  kLog = 'l',        // space: definition of a change log
  kCounters = 'c',   // space: items and bytes, see catalog_counters.cc
  kBackfill = 'b',   // space of the backfill: the row key of the last item that it has read
  kLease = 'j',      // the key of a record or a kBackfill row, from its letter on: the job's lease
  kVersion = 'v',    // nothing: the catalog's version; space: that of the table with this space
  kMigration = 'm',  // nothing: during a migration, the key of the last row that was moved
  kPins = 'p',       // space: the records that pin it, and the trimmed part of a log, see pins.h
};

std::string catalog_row_key(CatalogRow row, std::string_view rest = {});
std::string catalog_row_key(CatalogRow row, SpaceId space);

}  // namespace stator

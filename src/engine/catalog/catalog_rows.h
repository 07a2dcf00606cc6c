// SPDX-License-Identifier: Apache-2.0
// Keys of the catalog's rows. docs/formats/catalog.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/rows/row_layout.h"

namespace stator {

// The format of all that the engine stores. Whatever is added or changed there gets a new one, so
// that no version of Stator writes into a directory without knowing all of it.
inline constexpr uint32_t kCatalogFormat = 6;
inline constexpr uint32_t kOldestFormat = 1;       // that a start migrates
inline constexpr uint32_t kFirstFormatOfKeys = 3;  // earlier ones: engine/rows/older_keys.h
inline constexpr uint32_t kFirstFormatOfPins = 4;  // in earlier ones, records pin by themselves

// What follows the partition in a row's key.
enum class CatalogRow : char {
  kRecord = 'a',     // kind, name: a document that administrative operations keep, see records.h
  kHeader = 'h',     // format version, secret
  kNextSpace = 'n',  // the id that the next table or index gets
  kTable = 't',      // name: a table definition
  kDropped = 'd',    // space: nobody uses it, its rows are being erased
  kLog = 'l',        // space: definition of a change log
  kCounters = 'c',   // space: items and bytes, only between a clean stop and the next start
  kBackfill = 'b',   // space that is being filled: the row key of the last item seen
  kLease = 'j',      // the rest of the key of a record or a kBackfill row: who works on that job
  kVersion = 'v',    // nothing: the catalog's version; space: that of the table with this space
  kMigration = 'm',  // only during a migration: the key of the last row that was moved
  kPins = 'p',       // space: who needs it, and how far it was given up, see pins.h
};

std::string catalog_row_key(CatalogRow row, std::string_view rest = {});
std::string catalog_row_key(CatalogRow row, SpaceId space);

}  // namespace stator

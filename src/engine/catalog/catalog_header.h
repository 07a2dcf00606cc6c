// SPDX-License-Identifier: Apache-2.0
// The catalog's header: the format of all data that the engine stores, and the secret of its
// hashes.
// Blocking: only open_catalog_header() waits for the store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/catalog/catalog_rows.h"
#include "storage/transact_store.h"

namespace stator {

struct CatalogHeader {
  uint64_t format = 0;
  Hash128 secret = {};
};

// Errors: kCorruption for damaged bytes and for a format that this version of Stator cannot read.
Result<CatalogHeader> read_catalog_header(std::string_view value);
std::string encode_catalog_header(const CatalogHeader& header);

// Returns the stored header. Writes one with a new secret into an empty store. Processes that start
// at the same time all return the same header.
// Errors: the store's; kCorruption for a damaged header, and for a store that has rows but no
// header.
Result<CatalogHeader> open_catalog_header(TransactStore& store);

}  // namespace stator

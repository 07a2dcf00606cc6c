// SPDX-License-Identifier: Apache-2.0
// The catalog's header: the format of all that the engine stores, and the secret of its hashes.
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

// kCorruption for damaged bytes, and for a format that this version of Stator does not read.
Result<CatalogHeader> read_catalog_header(std::string_view value);
std::string encode_catalog_header(const CatalogHeader& header);

// Returns the header that is stored. An empty store gets one with a new secret. Of several
// processes that start at once, all return the same one.
// Errors: the store's; kCorruption for damaged headers, and for rows without one.
Result<CatalogHeader> open_catalog_header(TransactStore& store);

}  // namespace stator

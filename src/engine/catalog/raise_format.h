// SPDX-License-Identifier: Apache-2.0
// Raises the format of the stored data.
//
// Older servers that share the store stop: the catalog and all tables get new versions, so the
// store rejects the transactions of these servers. Their jobs lose their leases. When they load the
// catalog again, they find the newer format and refuse every request.
// Atomicity: one commit. In a catalog of thousands of tables, further commits change the versions
// of the other tables. Until then, and after a crash between them, older servers that did not load
// the catalog since can still use those tables. A last commit frees leases that older servers
// acquired during the first one.
// Blocking: waits for the store.
// Errors: the store's; kCorruption for a damaged header or a format that is unknown to this version
// of Stator; kThrottling if other servers keep changing the catalog.
#pragma once

#include <cstdint>

#include "storage/transact_store.h"

namespace stator {

// Commits the new format together with `more`, unless another server has raised it already.
Result<void> raise_format(TransactStore& store, uint64_t format, const Batch& more = {});

}  // namespace stator

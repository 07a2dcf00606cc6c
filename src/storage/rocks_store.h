// SPDX-License-Identifier: Apache-2.0
// Opens the RocksDB store in another environment, such as a file system that tests make fail.
#pragma once

#include <memory>

#include "storage/stores.h"

namespace rocksdb {
class Env;
}

namespace stator {

// As open_rocks_store(). `env` must outlive the store.
Result<std::unique_ptr<TransactStore>> open_rocks_store_in(rocksdb::Env* env,
                                                           const RocksStoreOptions& options);

}  // namespace stator

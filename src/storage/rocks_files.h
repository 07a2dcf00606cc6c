// SPDX-License-Identifier: Apache-2.0
// The checksums of a RocksDB database's files.
#pragma once

#include "storage/transact_store.h"

namespace rocksdb {
class DB;
}

namespace stator {

// Reads every block of every table file, also after damaged files.
void verify_table_files(rocksdb::DB& db, DamageVisitor damaged, BytesVisitor progress);

}  // namespace stator

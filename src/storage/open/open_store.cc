// SPDX-License-Identifier: Apache-2.0
#include "storage/open/open_store.h"

#include "storage/postgres/postgres_store.h"
#include "storage/postgres/store_url.h"

namespace stator {

Result<std::unique_ptr<TransactStore>> open_store(const StoreOptions& options) {
  const RocksStoreOptions& directory = options.directory;
  if (is_postgres_url(directory.path.native())) {
    return fail(Code::kInvalidArgument, "the directory is a URL of PostgreSQL; name it as a store");
  }
  if (options.store.empty()) {
    if (directory.path.empty()) return make_memory_store();
    return open_rocks_store(directory);
  }
  if (!directory.path.empty()) {
    return fail(Code::kInvalidArgument, "a store and a directory are named; name one of them");
  }
  STATOR_ASSIGN_OR_RETURN(PostgresUrl url, parse_postgres_url(options.store));
  PostgresStoreOptions postgres{.dsn = std::move(url.url),
                                .queue_bytes_max = directory.queue_bytes_max,
                                .report = options.report};
  if (!options.schema.empty()) postgres.schema = options.schema;
  return open_postgres_store(postgres);
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// PostgreSQL through libpq alone, as the baseline: rows with the same key columns, and for each
// operation the fewest round trips that could be correct.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

extern "C" {
typedef struct pg_conn PGconn;  // NOLINT(modernize-use-using): as libpq declares it
}

namespace stator::bench {

// A connection; one thread at a time.
class RawPostgres {
 public:
  // A connection that failed fails each operation.
  explicit RawPostgres(const std::string& dsn);

  // Creates and fills the table: `count` rows, and `partitions` times `page` rows for pages.
  bool fill(uint64_t count, uint64_t partitions, uint64_t page, const std::string& value);

  bool get(uint64_t number);
  bool put(uint64_t number, const std::string& value);
  // Reads the row, and replaces it if nobody has in the meantime; repeats this until it has.
  bool update(uint64_t number, const std::string& value);
  // Replaces four rows, starting with `first`, in one transaction.
  bool put_four(uint64_t first, uint64_t count, const std::string& value);
  bool read_page(uint64_t partition, uint64_t page);

 private:
  struct Close {
    void operator()(PGconn* connection) const;
  };
  bool execute(const char* statement);

  std::unique_ptr<PGconn, Close> connection_;
};

}  // namespace stator::bench

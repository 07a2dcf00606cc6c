// SPDX-License-Identifier: Apache-2.0
// What the tests of the store in PostgreSQL share: one server for the program, and a schema of its
// own for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "storage/postgres/connection.h"
#include "storage/postgres/postgres_proxy.h"
#include "storage/postgres/postgres_store.h"
#include "support/matchers.h"
#include "support/postgres_server.h"

namespace stator::test {

// STATOR_TEST_DSN, or of a server that the program starts and stops. Ends the program without one.
const std::string& postgres_dsn();
// The same as a URL; with STATOR_TEST_DSN, that is one only if the variable is.
std::string postgres_url();
// Null with STATOR_TEST_DSN.
PostgresServer* own_postgres();

// An initialized schema, dropped at the end.
class PostgresSchema {
 public:
  PostgresSchema();
  PostgresSchema(const PostgresSchema&) = delete;
  PostgresSchema& operator=(const PostgresSchema&) = delete;
  ~PostgresSchema();

  PostgresStoreOptions options() const { return {.dsn = postgres_dsn(), .schema = name_}; }
  PostgresStoreOptions options(const PostgresProxy& proxy) const {
    return {.dsn = proxy.dsn(), .schema = name_};
  }
  std::unique_ptr<TransactStore> open() const { return open(options()); }
  static std::unique_ptr<TransactStore> open(const PostgresStoreOptions& options);
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

// Runs SQL in a schema and returns the first value, as text.
std::string run_sql(const std::string& sql, const std::string& schema);

}  // namespace stator::test

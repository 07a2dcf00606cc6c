// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of the PostgreSQL store: one server for the program, and a separate
// schema for each test.
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

// STATOR_TEST_DSN, or the DSN of a server that the program starts and stops. Ends the program if
// there is neither.
const std::string& postgres_dsn();
// The same as a URL. If STATOR_TEST_DSN is set, it is returned as it is.
std::string postgres_url();
// A DSN, which can be a URL, with one more parameter of libpq.
std::string with_parameter(const std::string& dsn, const std::string& name,
                           const std::string& value);
// Null if STATOR_TEST_DSN is set.
PostgresServer* own_postgres();

// An initialized schema, which is dropped by the destructor.
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

// A transaction that has written and stays open. The destructor rolls it back.
class OpenTransaction {
 public:
  // `statement` is executed in it.
  explicit OpenTransaction(const std::string& statement = {});
  void commit();

 private:
  std::unique_ptr<postgres::Connection> connection_;
};

// Runs SQL in a schema and returns the first value, as text.
std::string run_sql(const std::string& sql, const std::string& schema);

}  // namespace stator::test

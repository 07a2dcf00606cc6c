// SPDX-License-Identifier: Apache-2.0
// "one" store, or "two" on one database. "faulty": the same, and commits lose their connection
// before they are sent, before they are answered, or before they arrive late.
#include "storage/postgres/postgres_fixture.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>

#include "storage/transact_fixture.h"

namespace stator::test {
namespace {

std::unique_ptr<PostgresServer> server;

// Stops the server before the program ends, also after a failure.
class StopServer final : public testing::Environment {
 public:
  void TearDown() override { server.reset(); }
};

std::string start_server() {
  testing::AddGlobalTestEnvironment(new StopServer);
  server = std::make_unique<PostgresServer>();
  if (server->dsn().empty()) {
    std::cerr << "PostgreSQL did not start; install it with scripts/install-dependencies check\n";
    std::exit(1);  // NOLINT(concurrency-mt-unsafe)
  }
  return server->dsn();
}

std::string next_name() {
  static std::atomic<int> count = 0;
  return "stator_test_" + std::to_string(getpid()) + "_" + std::to_string(++count);
}

}  // namespace

const std::string& postgres_dsn() {
  static const std::string dsn = [] {
    const char* const given = std::getenv("STATOR_TEST_DSN");
    return given == nullptr ? start_server() : std::string(given);
  }();
  return dsn;
}

PostgresServer* own_postgres() {
  return server.get();
}

PostgresSchema::PostgresSchema() : name_(next_name()) {
  EXPECT_THAT(initialize_postgres_store(options()), IsOk());
}

PostgresSchema::~PostgresSchema() {
  run_sql("DROP SCHEMA IF EXISTS " + name_ + " CASCADE", name_);
}

std::unique_ptr<TransactStore> PostgresSchema::open(const PostgresStoreOptions& options) {
  auto store = open_postgres_store(options);
  EXPECT_THAT(store, IsOk());
  return store ? std::move(*store) : nullptr;
}

std::string run_sql(const std::string& sql, const std::string& schema) {
  auto connection = postgres::Connection::open({.dsn = postgres_dsn(), .schema = schema}, false);
  if (!connection) {
    ADD_FAILURE() << connection.error().message;
    return "";
  }
  const auto rows = (*connection)->run_script(sql);
  if (!rows) {
    ADD_FAILURE() << sql << ": " << rows.error().message;
    return "";
  }
  return rows->count() == 0 ? "" : std::string(rows->bytes(0, 0));
}

std::vector<std::string> store_kinds() {
  return {"one", "two"};
}

OpenedStores open_stores(const std::string& kind, const std::filesystem::path&) {
  OpenedStores opened;
  const auto schema = std::make_shared<PostgresSchema>();
  for (int i = 0; i < (kind == "one" ? 1 : 2); ++i) opened.stores.push_back(schema->open());
  opened.backend = schema;
  return opened;
}

}  // namespace stator::test

// SPDX-License-Identifier: Apache-2.0
// "one": one store. "two": two stores on one database. "faulty": like "two", but some commits lose
// their connection before they are sent, before the response, before the end of the response, or
// before they arrive late.
#include "storage/postgres/postgres_fixture.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <random>

#include "storage/postgres/store_url.h"
#include "storage/transact_fixture.h"

namespace stator::test {
namespace {

std::unique_ptr<PostgresServer> own_server;

// Stops the server before the program exits, even after a failure.
class StopServer final : public testing::Environment {
 public:
  void TearDown() override { own_server.reset(); }
};

std::string start_server() {
  testing::AddGlobalTestEnvironment(new StopServer);
  own_server = std::make_unique<PostgresServer>();
  if (own_server->dsn().empty()) {
    if (const char* const directory = std::getenv("STATOR_POSTGRES_BIN")) {
      std::cerr << "PostgreSQL of STATOR_POSTGRES_BIN '" << directory << "' did not start\n";
    } else {
      std::cerr << "PostgreSQL did not start; install it with scripts/install-dependencies check\n";
    }
    std::exit(1);  // NOLINT(concurrency-mt-unsafe)
  }
  return own_server->dsn();
}

// A fifth of the commits lose their connection.
class RandomFates {
 public:
  PostgresProxy::Fate operator()(PostgresProxy::CommitPipeline commit) {
    const std::lock_guard lock(mutex_);
    const auto draw = random_() % 100;
    if (draw < 7) return PostgresProxy::Fate::kLoseRequest;
    if (draw < 10) return PostgresProxy::Fate::kLoseReply;
    if (draw < 12) return PostgresProxy::Fate::kLoseEnd;
    if (draw < 14) return PostgresProxy::Fate::kRace;
    // Not for a commit that holds locks, because all others would wait for it.
    if (draw < 21 && !commit.is_locked) return PostgresProxy::Fate::kDeliverLate;
    return PostgresProxy::Fate::kPass;
  }

 private:
  std::mutex mutex_;
  std::mt19937 random_{kSeed};
};

struct FaultyBackend {
  RandomFates fates;
  PostgresSchema schema;
  PostgresProxy proxy{own_postgres()->socket(),
                      [this](PostgresProxy::CommitPipeline commit) { return fates(commit); }};
};

OpenedStores open_faulty() {
  OpenedStores opened;
  const auto backend = std::make_shared<FaultyBackend>();
  for (int i = 0; i < 2; ++i) {
    opened.stores.push_back(PostgresSchema::open(backend->schema.options(backend->proxy)));
  }
  opened.deliver_late = [backend] { backend->proxy.deliver_late(); };
  opened.backend = backend;
  return opened;
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

std::string postgres_url() {
  const std::string& dsn = postgres_dsn();
  return own_server ? own_server->url() : dsn;
}

std::string with_parameter(const std::string& dsn, const std::string& name,
                           const std::string& value) {
  if (!is_postgres_url(dsn)) return dsn + " " + name + "='" + value + "'";
  std::string with = dsn + (dsn.find('?') == dsn.npos ? '?' : '&') + name + '=';
  for (const char c : value) with += c == ' ' ? "%20" : c == '=' ? "%3D" : std::string(1, c);
  return with;
}

PostgresServer* own_postgres() {
  return own_server.get();
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

OpenTransaction::OpenTransaction(const std::string& statement) {
  auto opened = postgres::Connection::connect({.dsn = postgres_dsn()}, false);
  EXPECT_TRUE(opened);
  connection_ = std::move(*opened);
  EXPECT_TRUE(connection_->run_script("BEGIN; SELECT pg_current_xact_id(); " + statement));
}

void OpenTransaction::commit() {
  EXPECT_TRUE(connection_->run_script("COMMIT"));
}

std::string run_sql(const std::string& sql, const std::string& schema) {
  const auto connection = postgres::Connection::connect({.dsn = postgres_dsn()}, false);
  if (!connection) {
    ADD_FAILURE() << connection.error().message;
    return "";
  }
  EXPECT_TRUE((*connection)->run_script("SET search_path TO " + schema));
  auto rows = (*connection)->run_script(sql);
  // A backend can still run a statement whose client has gone, and lock tables in another order.
  while (!rows && rows.error().state == "40P01") rows = (*connection)->run_script(sql);
  if (!rows) {
    ADD_FAILURE() << sql << ": " << rows.error().message;
    return "";
  }
  return rows->count() == 0 ? "" : std::string(rows->bytes(0, 0));
}

std::vector<std::string> store_kinds() {
  postgres_dsn();
  if (own_postgres() == nullptr) return {"one", "two"};
  return {"one", "two", "faulty"};
}

OpenedStores open_stores(const std::string& kind, const std::filesystem::path&) {
  if (kind == "faulty") return open_faulty();
  OpenedStores opened;
  const auto schema = std::make_shared<PostgresSchema>();
  for (int i = 0; i < (kind == "one" ? 1 : 2); ++i) opened.stores.push_back(schema->open());
  opened.backend = schema;
  return opened;
}

}  // namespace stator::test

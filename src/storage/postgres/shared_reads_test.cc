// SPDX-License-Identifier: Apache-2.0
// Reads that wait for a connection together.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "storage/postgres/statements.h"
#include "storage/transact_fixture.h"

namespace stator {
namespace {

using test::IsOk;
using test::PostgresProxy;

// Keeps the only connection for reads busy until release().
class BusyReader {
 public:
  explicit BusyReader(TransactStore& store) {
    store.with_view(body_, [this](const Result<void>& done) {
      if (!done) begun_.release();
      ended_.release();
    });
    begun_.acquire();
  }
  void release() {
    released_.release();
    ended_.acquire();
  }

 private:
  std::binary_semaphore begun_{0};
  std::binary_semaphore released_{0};
  std::binary_semaphore ended_{0};
  const std::function<Result<void>(ReadView&)> body_ = [this](ReadView&) -> Result<void> {
    begun_.release();
    released_.acquire();
    return {};
  };
};

class SharedReads : public testing::Test {
 protected:
  static constexpr int kReads = 20;

  void SetUp() override {
    test::postgres_dsn();
    if (test::own_postgres() == nullptr) GTEST_SKIP() << "the proxy needs the server's socket";
    schema_.emplace();
    proxy_.emplace(test::own_postgres()->socket(), [](auto) { return PostgresProxy::Fate::kPass; });
    PostgresStoreOptions options = schema_->options(*proxy_);
    options.read_connections = 1;
    store_ = test::PostgresSchema::open(options);
    Batch batch;
    batch.put("common", "c");
    for (int i = 0; i < kReads; ++i) batch.put("key-" + std::to_string(i), std::to_string(i));
    ASSERT_EQ(write_and_wait(*store_, std::move(batch)).outcome, CommitOutcome::kCommitted);
  }
  void TearDown() override { store_.reset(); }

  // Reads while the connection is busy. The result of read i: its values, or its error.
  std::vector<Result<std::string>> read_together() {
    std::vector<std::vector<std::string>> keys;
    keys.reserve(kReads);
    for (int i = 0; i < kReads; ++i) {
      keys.push_back(
          {"common", "key-" + std::to_string(i), "absent-" + std::to_string(i), "common"});
    }
    std::vector<std::string> values(kReads);
    std::vector<std::function<bool(std::size_t, std::string_view, std::string_view)>> visitors;
    visitors.reserve(kReads);
    for (std::string& value : values) {
      visitors.emplace_back([&value](std::size_t part, std::string_view, std::string_view row) {
        value += std::to_string(part) + "=" + std::string(row) + " ";
        return true;
      });
    }
    std::vector<Result<std::string>> results(kReads);
    std::counting_semaphore<kReads> ended{0};
    BusyReader reader(*store_);
    const uint64_t before = proxy_->round_trips();
    for (std::size_t i = 0; i < kReads; ++i) {
      store_->read({.keys = keys[i]}, visitors[i], [&, i](Result<void> done) {
        results[i] = done ? Result<std::string>(values[i]) : Failure(done.error());
        ended.release();
      });
    }
    reader.release();
    for (int i = 0; i < kReads; ++i) ended.acquire();
    round_trips_ = proxy_->round_trips() - before;
    return results;
  }
  static std::string values_of(std::size_t read) {
    return "0=c 1=" + std::to_string(read) + " 3=c ";
  }

  std::optional<test::PostgresSchema> schema_;
  std::optional<PostgresProxy> proxy_;
  std::unique_ptr<TransactStore> store_;
  uint64_t round_trips_ = 0;
};

TEST_F(SharedReads, TakeFewStatementsAndGetTheirOwnRows) {
  uint64_t fewest = UINT64_MAX;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto results = read_together();
    for (std::size_t i = 0; i < results.size(); ++i) {
      ASSERT_THAT(results[i], IsOk());
      EXPECT_EQ(*results[i], values_of(i));
    }
    fewest = std::min(fewest, round_trips_);
  }
  EXPECT_LT(fewest, 9U) << "20 reads in 5 statements, and the monitor";
}

TEST_F(SharedReads, FailAloneIfTheServerResponds) {
  read_together();  // opens the connection: statements that write cannot be prepared for the view
  test::run_sql(
      "ALTER TABLE kv RENAME TO real_kv; CREATE VIEW kv AS SELECT p, s, ver, CASE "
      "WHEN p = 'key-3' THEN convert_to((1 / (length(p) - 5))::text, 'UTF8') ELSE v END "
      "AS v FROM real_kv; SELECT 1",
      schema_->name());
  const auto results = read_together();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i == 3) {
      EXPECT_THAT(results[i], test::FailsWith(Code::kUnavailable, "division by zero"));
    } else {
      ASSERT_THAT(results[i], IsOk());
      EXPECT_EQ(*results[i], values_of(i));
    }
  }
}

TEST_F(SharedReads, AreRepeatedOnANewConnection) {
  proxy_->cut_next({.statement = postgres::Statement::kGetMany});
  const auto results = read_together();
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_THAT(results[i], IsOk());
    EXPECT_EQ(*results[i], values_of(i));
  }
}

}  // namespace
}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// The callback forms of Database's writes, and a Database in a forked process. Tests of all clients
// are in tests/client.
#include "stator/database.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>

#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

class Callbacks : public testing::TestWithParam<bool> {
 protected:
  Callbacks() {
    DatabaseOptions options;
    if (GetParam()) options.path = directory_.path() / "data";
    auto opened = Database::open(options);
    EXPECT_THAT(opened, IsOk());
    database_.emplace(std::move(*opened));
    EXPECT_THAT(database_->create_table({.table = "Doors",
                                         .attributes = {{"pk", ScalarType::kS}},
                                         .key_schema = {{"pk", KeyType::kHash}},
                                         .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
  }

  test::TempDir directory_;
  std::optional<Database> database_;
};

TEST_P(Callbacks, OfManyWritesRunOnceEachBeforeTheDatabaseIsClosed) {
  constexpr int kWrites = 500;
  std::atomic<int> added = 0;
  for (int i = 0; i < kWrites; ++i) {
    database_->update_item({.table = "Doors",
                            .key = {{"pk", "counter"}},
                            .update = "ADD n :one",
                            .values = Values{{":one", 1}},
                            .return_values = ReturnValues::kUpdatedNew},
                           [&](const Result<WriteResult>& result) {
                             EXPECT_THAT(result, IsOk());
                             if (result && result->attributes) ++added;
                           });
  }
  database_.reset();
  EXPECT_EQ(added, kWrites);
  if (!GetParam()) return;
  auto again = Database::open({.path = directory_.path() / "data"});
  ASSERT_THAT(again, IsOk());
  const auto found = again->get_item({.table = "Doors", .key = {{"pk", "counter"}}});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->item->at("n"), AttributeValue(kWrites));
}

TEST_P(Callbacks, OfEveryKindOfWriteReportItsOutcome) {
  std::atomic<int> told = 0;
  const auto succeeds = [&told](const auto& result) {
    EXPECT_THAT(result, IsOk());
    ++told;
  };
  database_->put_item({.table = "Doors", .item = {{"pk", "a"}}}, succeeds);
  database_->delete_item({.table = "Doors", .key = {{"pk", "a"}}}, succeeds);
  BatchWriteItemRequest batch;
  batch.items["Doors"].push_back({.put = Item{{"pk", "b"}}});
  database_->batch_write_item(batch, succeeds);
  database_->transact_write_items(
      {.items = {{.action = TransactAction::kPut, .table = "Doors", .item = {{"pk", "c"}}}}},
      succeeds);
  database_->put_item({.table = "Nowhere", .item = {{"pk", "a"}}},
                      [&told](const Result<WriteResult>& result) {
                        EXPECT_THAT(result, FailsWith(Code::kResourceNotFound, ""));
                        ++told;
                      });
  database_.reset();
  EXPECT_EQ(told, 5);
}

INSTANTIATE_TEST_SUITE_P(Homes, Callbacks, testing::Bool(), [](const auto& home) {
  return home.param ? std::string("disk") : std::string("memory");
});

// SIGALRM ends the child if a call hangs.
TEST(DatabaseAfterFork, FailsInTheChildAndWorksInTheParent) {
  const test::TempDir directory;
  auto database = Database::open({.path = directory.path() / "data"});
  ASSERT_THAT(database, IsOk());
  ASSERT_THAT(database->create_table({.table = "Doors",
                                      .attributes = {{"pk", ScalarType::kS}},
                                      .key_schema = {{"pk", KeyType::kHash}},
                                      .billing_mode = BillingMode::kPayPerRequest}),
              IsOk());
  const auto is_refused = [](const auto& result) {
    return !result && result.error().message.contains("cannot use a data directory after fork()");
  };
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const Item key{{"pk", "a"}};
    const bool refused =
        is_refused(database->put_item({.table = "Doors", .item = key})) &&
        is_refused(database->delete_item({.table = "Doors", .key = key})) &&
        is_refused(database->transact_write_items(
            {.items = {{.action = TransactAction::kPut, .table = "Doors", .item = key}}})) &&
        is_refused(database->get_item({.table = "Doors", .key = key}));
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "a call hung";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(database->put_item({.table = "Doors", .item = {{"pk", "a"}}}), IsOk());
}

}  // namespace
}  // namespace stator

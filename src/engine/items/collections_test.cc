// SPDX-License-Identifier: Apache-2.0
// The size limit of item collections, with a small limit instead of 10 GB.
#include <gmock/gmock.h>

#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

constexpr std::size_t kMost = 20'000;
constexpr auto kTooLarge = Code::kItemCollectionSizeLimitExceeded;
constexpr const char* kText = "Collection size exceeded.";

class Collections : public test::EngineTest {
 protected:
  Collections() {
    open_limited(make_memory_store());
    create_table();
  }
  ~Collections() override { engine_.reset(); }

  void create_table() {
    CreateTableRequest request = test::range_table();
    request.attributes.push_back({"by", ScalarType::kS});
    request.local_indexes = {
        test::index_on("ByBy", {{"pk", KeyType::kHash}, {"by", KeyType::kRange}})};
    create(request);
  }

  void open_limited(std::unique_ptr<TransactStore> store) {
    engine_.reset();
    auto opened = Engine::open(
        std::move(store), {.clock = &clock_, .sweep_interval = {}, .collection_bytes_max = kMost});
    ASSERT_THAT(opened, IsOk());
    engine_ = std::move(*opened);
  }

  static Item item(const std::string& pk, int number, std::size_t bytes = 1000) {
    return {{"pk", pk}, {"sk", number}, {"by", "b"}, {"v", std::string(bytes, 'x')}};
  }

  // Puts items until one is rejected, and returns their number. An item has about 1,000 bytes in
  // the table, and as many in the index.
  int fill(const std::string& pk, int first = 0) {
    // The count begins once the table exceeds the limit, and must not end too late.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    for (int number = first;; ++number) {
      const auto done = put("Things", item(pk, number));
      if (!done) {
        EXPECT_THAT(done, FailsWith(kTooLarge, kText));
        return number;
      }
      if (std::chrono::steady_clock::now() > deadline) return -1;
    }
  }
};

TEST_F(Collections, RejectWritesThatMakeThemTooLarge) {
  const int items = fill("a");
  EXPECT_GE(items, static_cast<int>(kMost / 2200));
  // The rejected item was not written, and no write that adds bytes is accepted.
  EXPECT_EQ(get("Things", {{"pk", "a"}, {"sk", items}}), std::nullopt);
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}, {"sk", 0}},
                      .update = "SET more = :more",
                      .values = Values{{":more", std::string(2000, 'y')}}}),
              FailsWith(kTooLarge, kText));
  EXPECT_THAT(batch_write({.items = {{"Things", {{.put = item("a", items), .delete_key = {}}}}}}),
              FailsWith(kTooLarge, kText));
}

TEST_F(Collections, HaveALimitEach) {
  const int items = fill("a");
  EXPECT_GE(fill("b"), static_cast<int>(kMost / 2200));
  EXPECT_THAT(put("Things", item("a", items)), FailsWith(kTooLarge, kText));
}

TEST_F(Collections, TakeWritesAgainOnceTheyAreSmaller) {
  const int items = fill("a");
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}, {"sk", 0}},
                      .update = "SET v = :less",
                      .values = Values{{":less", "z"}}}),
              IsOk());
  for (int number = 1; number < items; ++number) {
    ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "a"}, {"sk", number}}}), IsOk());
  }
  EXPECT_THAT(put("Things", item("a", 1)), IsOk());
}

TEST_F(Collections, CancelATransactionWithTheirReason) {
  const int items = fill("a");
  const auto result = transact(
      {.items = {{.action = TransactAction::kPut, .table = "Things", .item = item("b", 1)},
                 {.action = TransactAction::kPut, .table = "Things", .item = item("a", items)}}});
  ASSERT_THAT(result, FailsWith(Code::kTransactionCanceled, "ItemCollectionSizeLimitExceeded"));
  ASSERT_EQ(result.error().detail->reasons.size(), 2U);
  EXPECT_EQ(result.error().detail->reasons[1].code, "ItemCollectionSizeLimitExceeded");
  EXPECT_EQ(result.error().detail->reasons[1].message, kText);
  EXPECT_EQ(get("Things", {{"pk", "b"}, {"sk", 1}}), std::nullopt);
}

TEST_F(Collections, AreCountedExactlyDuringWrites) {
  const int items = fill("a");
  for (int number = 0; number < items; ++number) {
    ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "a"}, {"sk", number}}}), IsOk());
  }
  // The count has ended, so the exact limit applies.
  const int fits = fill("a");
  const auto bytes = [&] {
    const auto table = engine_->describe_table({.table = "Things"});
    EXPECT_THAT(table, IsOk());
    return table->table.size_bytes + table->table.local_indexes.at(0).size_bytes;
  };
  EXPECT_LE(bytes(), static_cast<int64_t>(kMost));
  EXPECT_GT(bytes() / fits * (fits + 1), static_cast<int64_t>(kMost));
  for (int round = 0; round < 20; ++round) {
    ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "a"}, {"sk", round % fits}}}), IsOk());
    ASSERT_THAT(put("Things", item("a", round % fits)), IsOk());
    EXPECT_THAT(put("Things", item("a", fits)), FailsWith(kTooLarge, kText));
  }
}

// The counts are not stored, so a restart begins with new ones.
TEST_F(Collections, AreCountedAgainAfterARestart) {
  const auto reopen = [&] {
    engine_.reset();
    auto store = open_rocks_store({.path = directory_.path() / "data"});
    ASSERT_THAT(store, IsOk());
    open_limited(std::move(*store));
  };
  ASSERT_NO_FATAL_FAILURE(reopen());
  create_table();
  const int items = fill("a");
  ASSERT_GT(items, 0);
  ASSERT_NO_FATAL_FAILURE(reopen());
  const int more = fill("a", items);
  ASSERT_GE(more, items);
  EXPECT_THAT(put("Things", item("a", more)), FailsWith(kTooLarge, kText));
  EXPECT_THAT(put("Things", item("b", 0)), IsOk());
}

TEST_F(Collections, HaveNoLimitWithoutALocalIndex) {
  create(test::range_table("Plain"));
  for (int number = 0; number < 50; ++number) {
    ASSERT_THAT(put("Plain", item("a", number)), IsOk());
  }
}

}  // namespace
}  // namespace stator

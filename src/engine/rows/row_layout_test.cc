// SPDX-License-Identifier: Apache-2.0
// Row keys: their maximum length, unique index entries, and distribution of queue rows.
#include "engine/rows/row_layout.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/engine.h"
#include "engine/rows/time_queue.h"
#include "engine/testing/engine_harness.h"
#include "support/forwarding_store.h"
#include "support/must.h"

namespace stator::test {
namespace {

constexpr Hash128 kSecret = {1, 2, 3};

// ---- Lengths

// The longest sort keys: each byte of this text takes two bytes, and this number has all digits.
const std::string kText(kRangeKeyBytesMax, '\0');
const Number kLongNumber = Number::parse("-1." + std::string(37, '2')).value();

class RowKeys : public EngineTest {
 protected:
  RowKeys() {
    engine_.reset();
    open(std::make_unique<ForwardingStore>(store_));
  }
  // The length of the longest key per space.
  std::map<SpaceId, std::size_t> longest() {
    std::map<SpaceId, std::size_t> longest;
    EXPECT_THAT(read_range(*store_, {},
                           [&](std::string_view key, std::string_view) {
                             const auto space = static_cast<SpaceId>(
                                 read_big_endian(key.substr(0, sizeof(SpaceId))));
                             longest[space] = std::max(longest[space], key.size());
                             return true;
                           }),
                IsOk());
    return longest;
  }
  std::shared_ptr<TransactStore> store_ = make_memory_store();
};

TEST_F(RowKeys, OfEachKindHaveTheDocumentedLimits) {
  CreateTableRequest request = range_table(std::string(255, 't'));
  request.attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kS}, {"n1", ScalarType::kN},
                        {"n2", ScalarType::kN}, {"n3", ScalarType::kN}, {"text", ScalarType::kB}};
  request.local_indexes = {index_on("local", {{"pk", KeyType::kHash}, {"text", KeyType::kRange}})};
  request.global_indexes = {index_on("global", {{"pk", KeyType::kHash},
                                                {"text", KeyType::kRange},
                                                {"n1", KeyType::kRange},
                                                {"n2", KeyType::kRange},
                                                {"n3", KeyType::kRange}})};
  request.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly};
  create(request);
  ASSERT_THAT(
      engine_->update_time_to_live(
          {.table = request.table, .specification = {.enabled = true, .attribute = "expires"}}),
      IsOk());
  ASSERT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
  ASSERT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                   .table = request.table,
                                   .item = {{"pk", std::string(kHashKeyBytesMax, '\0')},
                                            {"sk", kText},
                                            {"text", Binary{kText.substr(3)}},
                                            {"n1", kLongNumber},
                                            {"n2", kLongNumber},
                                            {"n3", kLongNumber},
                                            {"expires", 2'000'000'000}}}},
                        .client_request_token = std::string(36, 't')}),
              IsOk());
  const std::map<SpaceId, std::size_t> keys = longest();
  constexpr SpaceId kTable = kFirstTableSpace;
  EXPECT_EQ(keys.at(kCatalogSpace), kPartitionBytes + 1 + 255);
  EXPECT_EQ(keys.at(kTokenSpace), kPartitionBytes);
  EXPECT_EQ(keys.at(kTokenExpirySpace), kPartitionBytes + 8 + kPartitionBytes);
  EXPECT_EQ(keys.at(kTable), 2070U) << "items";
  EXPECT_EQ(keys.at(kTable + 1), 2080U) << "entries of a local index";
  EXPECT_EQ(keys.at(kTable + 2), 2143U) << "entries of a global index; a number counts as a byte";
  EXPECT_EQ(keys.at(kTable + 3), 28U) << "changes";
  EXPECT_EQ(keys.at(kTable + 4), 2098U) << "the TTL queue";
  EXPECT_EQ(keys.size(), 8U);
}

// Numbers do not count toward the length in items that are older than the index.
TEST(IndexRowKey, HasAtMostTheDocumentedLength) {
  const KeyShape table{.space = 16, .hash = {{"n1", ScalarType::kN}}, .range = {}};
  const KeyShape index{.space = 17,
                       .hash = {{"n1", ScalarType::kN}},
                       .range = {{"text", ScalarType::kS},
                                 {"n1", ScalarType::kN},
                                 {"n2", ScalarType::kN},
                                 {"n3", ScalarType::kN}}};
  Item item{{"text", kText}, {"n1", kLongNumber}, {"n2", kLongNumber}, {"n3", kLongNumber}};
  EXPECT_EQ(index_row_key(kSecret, table, index, item)->size(), kRowKeyBytesMax);
  EXPECT_EQ(kRowKeyBytesMax, 2149U);
  item["text"] = kText + '\0';
  EXPECT_FALSE(index_row_key(kSecret, table, index, item));
}

// ---- Entries of an index

TEST(IndexRowKey, DistinguishesItemsWithEqualIndexKeys) {
  const KeyShape table{.space = 16, .hash = {{"pk", ScalarType::kS}}, .range = {{"sk", {}}}};
  const KeyShape index{.space = 17, .hash = {{"g", ScalarType::kS}}, .range = {{"n", {}}}};
  const auto key_of = [&](const char* pk, const char* sk, const char* n) {
    return *index_row_key(kSecret, table, index, {{"pk", pk}, {"sk", sk}, {"g", "x"}, {"n", n}});
  };
  const std::string key = key_of("a", "b", "1");
  EXPECT_EQ(key.size(), kPartitionBytes + 3 + sizeof(Hash128));
  for (const auto& [pk, sk] : {std::pair("a", "c"), std::pair("b", "b"), std::pair("b", "a")}) {
    const std::string other = key_of(pk, sk, "1");
    EXPECT_NE(other, key);
    EXPECT_EQ(other.substr(0, kPartitionBytes + 3), key.substr(0, kPartitionBytes + 3));
  }
  EXPECT_LT(key, key_of("a", "b", "2"));
}

// ---- Time queues

std::string row_of(int number) {
  return partition_key(kSecret, kFirstTableSpace, std::to_string(number));
}

TEST(SizeInPartition, IsAbsentForOtherPartitionKeys) {
  const EncodedItem item = encode_item(
      {{"a", 1}, {"pk", "x"}, {"pk2", 7}, {"sk", Binary{"y"}}, {"z", List{"text", Map{{"n", 1}}}}});
  const ItemView view(item);
  const std::optional<std::size_t> size = item_size_bytes(view);
  EXPECT_EQ(size_in_partition(view, {}), size);
  EXPECT_EQ(size_in_partition(view, {{"pk", "x"}}), size);
  EXPECT_EQ(size_in_partition(view, {{"pk", "x"}, {"pk2", 7}}), size);
  EXPECT_EQ(size_in_partition(view, {{"pk", "y"}}), std::nullopt);
  EXPECT_EQ(size_in_partition(view, {{"pk", Binary{"x"}}}), std::nullopt);
  EXPECT_EQ(size_in_partition(view, {{"pk", "x"}, {"pk2", 8}}), std::nullopt);
  EXPECT_EQ(size_in_partition(view, {{"other", "x"}}), std::nullopt);
  EXPECT_EQ(size_in_partition(view, {{"pk", "x"}, {"zz", "x"}}), std::nullopt);
}

TEST(TimeQueue, SpreadsItsRowsEvenlyAndReadsThemBack) {
  std::map<std::string, int> rows;
  for (int i = 0; i < 1600; ++i) {
    const std::string row_key = row_of(i) + "sort key";
    const std::string key = queue_row_key(99, 1000 + static_cast<uint64_t>(i), row_key);
    ++rows[key.substr(0, kPartitionBytes)];
    const auto row = read_queue_row(key);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->time, 1000U + static_cast<uint64_t>(i));
    EXPECT_EQ(row->row_key, row_key);
  }
  EXPECT_EQ(rows.size(), kQueuePrefixes);
  for (const auto& [prefix, count] : rows) EXPECT_GT(count, 50);
}

TEST(TimeQueue, RejectsOtherKeys) {
  const std::string key = queue_row_key(99, 1000, row_of(1));
  ASSERT_TRUE(read_queue_row(key));
  EXPECT_FALSE(read_queue_row(""));
  EXPECT_FALSE(read_queue_row(key.substr(0, key.size() - 1)));
  for (const std::size_t at : {sizeof(SpaceId), sizeof(SpaceId) + 1, kPartitionBytes - 1}) {
    std::string other = key;
    other[at] = static_cast<char>(other[at] ^ 16);
    EXPECT_FALSE(read_queue_row(other)) << at;
  }
}

class QueueReads : public ::testing::Test {
 protected:
  // Writes 20 rows for each second from 0 to 99.
  QueueReads() {
    Batch batch;
    for (int i = 0; i < 2000; ++i) {
      batch.put(queue_row_key(99, static_cast<uint64_t>(i / 20), row_of(i)), "");
    }
    batch.put(partition_key(kSecret, 98, ""), "");
    batch.put(partition_key(kSecret, 100, ""), "");
    EXPECT_EQ(write_and_wait(*store_, std::move(batch)).outcome, CommitOutcome::kCommitted);
  }
  // The rows that each read of [from, until) returns.
  std::vector<std::vector<std::string>> reads(uint64_t from, uint64_t until, std::size_t rows_max) {
    std::vector<std::vector<std::string>> reads;
    std::vector<RangeRead> left = queue_ranges(99, from, until);
    while (!left.empty()) {
      QueueRead read = must(read_queue(*store_, left, rows_max));
      reads.push_back(std::move(read.keys));
      left = std::move(read.rest);
    }
    return reads;
  }
  std::unique_ptr<TransactStore> store_ = make_memory_store();
};

TEST_F(QueueReads, FindEachRowOfTheTimesOnce) {
  std::set<std::string> found;
  for (const auto& read : reads(10, 20, 7)) {
    EXPECT_LE(read.size(), 7U);
    for (const std::string& key : read) {
      EXPECT_TRUE(found.insert(key).second);
      EXPECT_GE(queue_time(key), 10U);
      EXPECT_LT(queue_time(key), 20U);
    }
  }
  EXPECT_EQ(found.size(), 200U);
}

TEST_F(QueueReads, TakeTurnsOverThePrefixes) {
  const auto all = reads(0, 100, 4);
  std::set<std::string> prefixes;
  for (std::size_t i = 0; i < kQueuePrefixes; ++i) {
    for (const std::string& key : all[i]) prefixes.insert(key.substr(0, kPartitionBytes));
  }
  EXPECT_EQ(prefixes.size(), kQueuePrefixes) << "every prefix had its turn";
}

TEST_F(QueueReads, OfNoTimeReadNothing) {
  EXPECT_EQ(reads(100, 200, 64).size(), 1U);
  EXPECT_TRUE(reads(5, 5, 64).empty());
  EXPECT_TRUE(reads(6, 5, 64).empty());
}

}  // namespace
}  // namespace stator::test

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "engine/catalog/catalog_commit.h"
#include "engine/jobs/job_engine.h"
#include "engine/streams/streams_harness.h"
#include "support/from_environment.h"
#include "support/must.h"

namespace stator::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::minutes kIteratorLifetime{15};

class Streams : public StreamsTest {};

// ---- Records

TEST_F(Streams, RecordInsertionsModificationsAndRemovals) {
  create(with_stream(range_table()));
  const Item first{{"pk", "a"}, {"sk", 1}, {"text", "one"}};
  const Item second{{"pk", "a"}, {"sk", 1}, {"text", "two"}};
  const Item key{{"pk", "a"}, {"sk", 1}};
  ASSERT_THAT(put("Things", first), IsOk());
  ASSERT_THAT(put("Things", second), IsOk());
  ASSERT_THAT(erase({.table = "Things", .key = key}), IsOk());
  const auto found = records(stream_of("Things"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].event, StreamEvent::kInsert);
  EXPECT_EQ(found[1].event, StreamEvent::kModify);
  EXPECT_EQ(found[2].event, StreamEvent::kRemove);
  EXPECT_EQ(found[0].old_image, std::nullopt);
  EXPECT_EQ(found[0].new_image, first);
  EXPECT_EQ(found[1].old_image, first);
  EXPECT_EQ(found[1].new_image, second);
  EXPECT_EQ(found[2].old_image, second);
  EXPECT_EQ(found[2].new_image, std::nullopt);
  std::set<std::string> ids;
  for (const StreamRecord& record : found) {
    EXPECT_EQ(record.keys, key);
    EXPECT_EQ(record.region, "us-east-1");
    EXPECT_EQ(record.created_ms, clock_.unix_ms() / 1000 * 1000);
    EXPECT_EQ(record.view, StreamViewType::kNewAndOldImages);
    EXPECT_EQ(record.sequence_number.size(), 21U);
    EXPECT_EQ(record.identity, std::nullopt);
    ids.insert(record.event_id);
  }
  EXPECT_EQ(ids.size(), 3U);
  // Bytes: "pk" "a", "sk" 1: 3 + 4; "text" "one": 7.
  EXPECT_EQ(found[0].size_bytes, 7 + 14);
  EXPECT_EQ(found[1].size_bytes, 7 + 14 + 14);
  EXPECT_EQ(found[2].size_bytes, 7 + 14);
  const auto again = records(stream_of("Things"));
  ASSERT_EQ(again.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(again[i].event_id, found[i].event_id);
}

TEST_F(Streams, ShowTheImagesOfTheirView) {
  const std::map<StreamViewType, std::pair<bool, bool>> views = {
      {StreamViewType::kKeysOnly, {false, false}},
      {StreamViewType::kOldImage, {true, false}},
      {StreamViewType::kNewImage, {false, true}},
      {StreamViewType::kNewAndOldImages, {true, true}}};
  for (const auto& [view, images] : views) {
    const std::string table = "View" + std::to_string(static_cast<int>(view));
    create(with_stream(hash_table(table), view));
    ASSERT_THAT(put(table, {{"pk", "a"}, {"n", 1}}), IsOk());
    ASSERT_THAT(put(table, {{"pk", "a"}, {"n", 2}}), IsOk());
    const auto found = records(stream_of(table));
    ASSERT_EQ(found.size(), 2U) << table;
    EXPECT_EQ(found[1].view, view);
    EXPECT_EQ(found[1].keys, (Item{{"pk", "a"}}));
    EXPECT_EQ(found[1].old_image.has_value(), images.first) << table;
    EXPECT_EQ(found[1].new_image.has_value(), images.second) << table;
    EXPECT_FALSE(found[0].old_image);
    EXPECT_EQ(found[1].size_bytes, 3 + (images.first ? 6 : 0) + (images.second ? 6 : 0));
  }
}

TEST_F(Streams, OmitWritesThatChangeNothing) {
  create(with_stream(hash_table()));
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1}}), IsOk());
  ASSERT_THAT(update({.table = "Things", .key = {{"pk", "a"}}, .update = "SET n = n"}), IsOk());
  ASSERT_THAT(update({.table = "Things", .key = {{"pk", "a"}}, .update = "REMOVE absent"}), IsOk());
  ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "absent"}}}), IsOk());
  EXPECT_THAT(put({.table = "Things",
                   .item = {{"pk", "a"}, {"n", 2}},
                   .condition = "attribute_not_exists(pk)"}),
              FailsWith(Code::kConditionalCheckFailed, ""));
  ASSERT_THAT(transact({.items = {{.action = TransactAction::kConditionCheck,
                                   .table = "Things",
                                   .item = {{"pk", "a"}},
                                   .condition = "attribute_exists(pk)"}}}),
              IsOk());
  EXPECT_THAT(records(stream_of("Things")), SizeIs(1));
}

TEST_F(Streams, RecordBatchesAndTransactionsToo) {
  create(with_stream(hash_table()));
  create(with_stream(hash_table("Others")));
  ASSERT_THAT(batch_write({.items = {{"Things",
                                      {{.put = Item{{"pk", "a"}}}, {.put = Item{{"pk", "b"}}}}}}}),
              IsOk());
  ASSERT_THAT(
      transact(
          {.items = {{.action = TransactAction::kDelete, .table = "Things", .item = {{"pk", "a"}}},
                     {.action = TransactAction::kPut, .table = "Others", .item = {{"pk", "a"}}}}}),
      IsOk());
  EXPECT_THAT(records(stream_of("Things")), SizeIs(3));
  const auto others = records(stream_of("Others"));
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_EQ(others[0].event, StreamEvent::kInsert);
}

TEST_F(Streams, DoNotExistForTablesWithoutThem) {
  create(hash_table());
  CreateTableRequest without = hash_table("Without");
  without.stream = StreamSpecification{.enabled = false};
  create(without);
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  for (const char* table : {"Things", "Without"}) {
    const auto described = engine_->describe_table({.table = table});
    ASSERT_THAT(described, IsOk());
    EXPECT_FALSE(described->table.stream);
    EXPECT_FALSE(described->table.latest_stream_arn);
    EXPECT_FALSE(described->table.latest_stream_label);
  }
  EXPECT_THAT(engine_->list_streams({})->streams, IsEmpty());
}

// ---- Descriptions

TEST_F(Streams, AreDescribedWithTheirTable) {
  create(with_stream(range_table(), StreamViewType::kKeysOnly));
  const auto table = engine_->describe_table({.table = "Things"});
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->table.stream,
            (StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly}));
  EXPECT_EQ(table->table.latest_stream_label, "2023-11-14T22:13:20.000");
  const std::string arn =
      "arn:aws:dynamodb:us-east-1:000000782867:table/Things/stream/2023-11-14T22:13:20.000";
  EXPECT_EQ(table->table.latest_stream_arn, arn);
  const auto described = engine_->describe_stream({.stream = arn});
  ASSERT_THAT(described, IsOk());
  const StreamDescription& stream = described->stream;
  EXPECT_EQ(stream.arn, arn);
  EXPECT_EQ(stream.label, "2023-11-14T22:13:20.000");
  EXPECT_EQ(stream.status, StreamStatus::kEnabled);
  EXPECT_EQ(stream.view, StreamViewType::kKeysOnly);
  EXPECT_EQ(stream.created_ms, clock_.unix_ms());
  EXPECT_EQ(stream.table, "Things");
  EXPECT_EQ(stream.key_schema, range_table().key_schema);
  ASSERT_THAT(stream.shards, SizeIs(4));
  for (const Shard& shard : stream.shards) {
    EXPECT_TRUE(shard.id.starts_with("shardId-00000001700000000000-")) << shard.id;
    EXPECT_EQ(shard.id.size(), 37U);
    EXPECT_EQ(shard.ending_sequence_number, std::nullopt);
    EXPECT_EQ(shard.parent, std::nullopt);
  }
}

TEST_F(Streams, AreListedByArnAPageAtATime) {
  for (const char* table : {"Bees", "Ants", "Cats"}) create(with_stream(hash_table(table)));
  const auto all = engine_->list_streams({});
  ASSERT_THAT(all, IsOk());
  ASSERT_THAT(all->streams, SizeIs(3));
  EXPECT_EQ(all->streams[0].table, "Ants");
  EXPECT_EQ(all->streams[0].arn, stream_of("Ants"));
  EXPECT_EQ(all->last_evaluated_stream, std::nullopt);
  EXPECT_THAT(engine_->list_streams({.table = "Bees"})->streams, ElementsAre(all->streams[1]));
  EXPECT_THAT(engine_->list_streams({.table = "None"})->streams, IsEmpty());
  const auto page = engine_->list_streams({.limit = 2});
  EXPECT_EQ(page->last_evaluated_stream, all->streams[1].arn);
  EXPECT_THAT(
      engine_->list_streams({.limit = 2, .exclusive_start_stream = page->last_evaluated_stream})
          ->streams,
      ElementsAre(all->streams[2]));
}

// ---- Shards

TEST_F(Streams, OpenNewShardsEveryFourHoursAndCloseTheOldOnes) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  pass(kEpoch - std::chrono::milliseconds(1));
  EXPECT_THAT(shards(stream), SizeIs(4)) << "too early";
  pass(std::chrono::milliseconds(1));
  const auto found = shards(stream);
  ASSERT_THAT(found, SizeIs(8));
  std::set<std::string> parents;
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(found[i].ending_sequence_number);
    EXPECT_GE(*found[i].ending_sequence_number, found[i].starting_sequence_number);
    EXPECT_EQ(found[i + 4].ending_sequence_number, std::nullopt);
    EXPECT_GT(found[i + 4].starting_sequence_number, *found[i].ending_sequence_number);
    parents.insert(found[i + 4].parent.value_or(""));
    const auto children = engine_->describe_stream(
        {.stream = stream,
         .filter = ShardFilter{.type = ShardFilterType::kChildShards, .shard = found[i].id}});
    ASSERT_THAT(children, IsOk());
    ASSERT_THAT(children->stream.shards, SizeIs(1));
    EXPECT_EQ(children->stream.shards[0].parent, found[i].id);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(parents.contains(found[i].id));
  EngineStreams source{*engine_};
  EXPECT_EQ(all_shards(source, stream, 3), found) << "in pages";
}

TEST_F(Streams, OpenNewShardsByThemselves) {
  open_empty({.clock = &clock_, .maintenance_interval = std::chrono::milliseconds(1)});
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_EQ(shards(stream).size(), 4U);
  clock_.advance(kEpoch);
  EXPECT_TRUE(comes_true([&] { return shards(stream).size() == 8; }));
}

TEST_F(Streams, KeepTheOrderOfAnItemsChangesAcrossShards) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  int written = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int i = 0; i < 20; ++i, ++written) {
      ASSERT_THAT(put("Things", {{"pk", "item " + std::to_string(i % 7)}, {"n", written}}), IsOk());
    }
    pass(kEpoch);
  }
  StreamReplay replay;
  for (const StreamRecord& record : records(stream)) {
    replay.apply(record);
    --written;
  }
  EXPECT_EQ(written, 0);
  EXPECT_EQ(replay.items(), contents("Things"));
}

TEST_F(Streams, KeepAPartitionsItemsInOneShard) {
  create(with_stream(range_table()));
  const std::string stream = stream_of("Things");
  for (int i = 0; i < 40; ++i) ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", i}}), IsOk());
  std::vector<std::size_t> held;
  for (const Shard& shard : shards(stream)) {
    const auto page = read_from(iterator(stream, shard.id));
    ASSERT_THAT(page, IsOk());
    if (!page->records.empty()) held.push_back(page->records.size());
  }
  EXPECT_THAT(held, ElementsAre(40U));
}

TEST_F(Streams, EndIteratorsOnlyWithTheirShard) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  const std::string shard = shard_with(stream, records(stream)[0].sequence_number);
  auto page = read_from(iterator(stream, shard));
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->records, SizeIs(1));
  ASSERT_TRUE(page->next_iterator) << "it is open";
  for (int i = 0; i < 3; ++i) {
    page = read_from(*page->next_iterator);
    ASSERT_THAT(page, IsOk());
    EXPECT_THAT(page->records, IsEmpty());
    ASSERT_TRUE(page->next_iterator) << "it is still open";
  }
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1}}), IsOk());
  clock_.advance(kEpoch - std::chrono::minutes(1));
  const std::string last = iterator(stream, shard);
  pass(std::chrono::minutes(1));
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 2}}), IsOk());
  page = read_from(last, 1);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->records, SizeIs(1));
  ASSERT_TRUE(page->next_iterator) << "a limited page is not the end";
  page = read_from(*page->next_iterator);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->records, SizeIs(1)) << "the third change is the child's";
  EXPECT_EQ(page->next_iterator, std::nullopt);
}

// ---- Iterators

TEST_F(Streams, BeginAtTheIteratorsPosition) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  for (int i = 0; i < 5; ++i) ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", i}}), IsOk());
  const auto all = records(stream);
  ASSERT_THAT(all, SizeIs(5));
  const std::string shard = shard_with(stream, all[0].sequence_number);
  const auto left = [&](ShardIteratorType type, std::optional<std::string> number = {}) {
    const auto page = read_from(iterator(stream, shard, type, std::move(number)));
    EXPECT_THAT(page, IsOk());
    return page ? page->records.size() : 99;
  };
  using enum ShardIteratorType;
  EXPECT_EQ(left(kTrimHorizon), 5U);
  EXPECT_EQ(left(kAtSequenceNumber, all[2].sequence_number), 3U);
  EXPECT_EQ(left(kAfterSequenceNumber, all[2].sequence_number), 2U);
  EXPECT_EQ(left(kAfterSequenceNumber, all[4].sequence_number), 0U);
  EXPECT_EQ(left(kLatest), 0U);
  const std::string latest = iterator(stream, shard, kLatest);
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 9}}), IsOk());
  const auto page = read_from(latest);
  ASSERT_THAT(page, IsOk());
  ASSERT_THAT(page->records, SizeIs(1));
  EXPECT_EQ(page->records[0].new_image->at("n"), AttributeValue(9));
  for (const Shard& described : shards(stream)) {
    EXPECT_THAT(read_from(iterator(stream, described.id, kAtSequenceNumber,
                                   described.starting_sequence_number)),
                IsOk());
  }
}

TEST_F(Streams, BeginAtTheFirstRecordOfATimeOrLater) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  const int64_t start_ms = clock_.unix_ms();
  // Records at 0, 100, 100 and 2,500 ms.
  for (const auto& [n, pause_ms] : {std::pair(0, 100), {1, 0}, {2, 2400}, {3, 500}}) {
    ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", n}}), IsOk());
    clock_.advance(std::chrono::milliseconds(pause_ms));
  }
  const std::string shard = shard_with(stream, records(stream)[0].sequence_number);
  const auto from = [&](int64_t ms) { return numbers_from(stream, shard, start_ms + ms); };
  EXPECT_THAT(from(-start_ms), ElementsAre(0, 1, 2, 3)) << "before the trim horizon";
  EXPECT_THAT(from(-1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(from(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(from(1), ElementsAre(1, 2, 3));
  EXPECT_THAT(from(100), ElementsAre(1, 2, 3));
  EXPECT_THAT(from(101), ElementsAre(3));
  EXPECT_THAT(from(2500), ElementsAre(3));
  EXPECT_THAT(from(2501), IsEmpty());
  const auto now = iterator_at(stream, shard, start_ms + 3000);
  ASSERT_THAT(now, IsOk());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 4}}), IsOk());
  const auto page = read_from(now->iterator);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->records, SizeIs(1)) << "what is written later comes next";
  EXPECT_THAT(iterator_at(stream, shard, start_ms + 3001),
              FailsWith(Code::kValidation, "Timestamp cannot be in the future"));
}

TEST_F(Streams, EndTimestampIteratorsOfClosedShardsThatAreOlder) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 0}}), IsOk());
  const std::string parent = shard_with(stream, records(stream)[0].sequence_number);
  pass(kEpoch);
  const int64_t later_ms = clock_.unix_ms();
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1}}), IsOk());
  const std::string child = shard_with(stream, records(stream)[1].sequence_number);
  ASSERT_NE(child, parent);
  EXPECT_THAT(numbers_from(stream, parent, later_ms - 1), IsEmpty());
  const auto end = iterator_at(stream, parent, later_ms);
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(read_from(end->iterator)->next_iterator, std::nullopt);
  EXPECT_THAT(numbers_from(stream, child, 0), ElementsAre(1));
  EXPECT_THAT(numbers_from(stream, child, later_ms), ElementsAre(1));
}

// Clocks are set back by less than five seconds.
TEST_F(Streams, FindTimesAlsoIfClocksDisagree) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<int64_t> times;
  for (int64_t n = 0; n < 120; ++n) {
    clock_.advance(std::chrono::milliseconds(random() % 3000));
    const std::chrono::milliseconds back(random() % 4 == 0 ? random() % 5000 : 0);
    clock_.advance(-back);
    times.push_back(clock_.unix_ms());
    ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", n}}), IsOk());
    clock_.advance(back);
  }
  const std::string shard = shard_with(stream, records(stream)[0].sequence_number);
  for (const int64_t time : times) {
    for (const int64_t asked : {time - 1, time, time + 1}) {
      if (asked > clock_.unix_ms()) continue;
      const auto first = std::ranges::find_if(times, [&](int64_t at) { return at >= asked; });
      const auto numbers = numbers_from(stream, shard, asked);
      ASSERT_EQ(numbers.size(), static_cast<std::size_t>(times.end() - first)) << asked;
    }
  }
}

TEST_F(Streams, TakeATimestampWithItsIteratorTypeOnly) {
  const std::string stream =
      "arn:aws:dynamodb:us-east-1:000000782867:table/Things/stream/2026-01-02T03:04:05.678";
  const std::string shard = "shardId-00000001767323045678-01234567";
  EXPECT_THAT(engine_->get_shard_iterator(
                  {.stream = stream, .shard = shard, .type = ShardIteratorType::kAtTimestamp}),
              FailsWith(Code::kValidation, "Timestamp must be passed for this iterator type"));
  EXPECT_THAT(engine_->get_shard_iterator({.stream = stream,
                                           .shard = shard,
                                           .type = ShardIteratorType::kAtTimestamp,
                                           .sequence_number = "100000000000000000001",
                                           .timestamp_ms = 0}),
              FailsWith(Code::kValidation, "SequenceNumber should not be passed"));
  EXPECT_THAT(engine_->get_shard_iterator({.stream = stream,
                                           .shard = shard,
                                           .type = ShardIteratorType::kLatest,
                                           .timestamp_ms = 0}),
              FailsWith(Code::kValidation, "Timestamp should not be passed for this iterator"));
}

TEST_F(Streams, RefuseSequenceNumbersThatAreNotTheShards) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  const std::string shard = shards(stream)[0].id;
  for (const char* number :
       {"000000000000000000001", "1000000000000000000000", "100000000000000000000",
        "199999999999999999999", "10000000000000000000x", "999999999999999999999"}) {
    EXPECT_THAT(engine_->get_shard_iterator({.stream = stream,
                                             .shard = shard,
                                             .type = ShardIteratorType::kAtSequenceNumber,
                                             .sequence_number = number}),
                FailsWith(Code::kValidation,
                          "One or more parameter values were invalid: Invalid SequenceNumber"))
        << number;
  }
}

TEST_F(Streams, ExpireIteratorsAfterFifteenMinutes) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  const std::string old = iterator(stream, shards(stream)[0].id);
  clock_.advance(kIteratorLifetime - std::chrono::milliseconds(1));
  const auto renewed = read_from(old);
  ASSERT_THAT(renewed, IsOk());
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_THAT(read_from(old), FailsWith(Code::kExpiredIterator, "The shard iterator has expired"));
  EXPECT_THAT(read_from(*renewed->next_iterator), IsOk()) << "each page renews it";
}

TEST_F(Streams, RejectForeignIterators) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  const std::string good = iterator(stream, shards(stream)[0].id);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == 'A' ? 'B' : 'A';
    EXPECT_THAT(read_from(bad), FailsWith(Code::kValidation, "Invalid ShardIterator")) << bad;
  }
  for (const std::string& bad : {std::string("x"), stream + "|1|", stream + "|2|AAAA",
                                 good.substr(0, good.size() - 4), good + "AAAA"}) {
    EXPECT_THAT(read_from(bad), FailsWith(Code::kValidation, "Invalid ShardIterator")) << bad;
  }
  open_empty();
  create(with_stream(hash_table()));
  EXPECT_THAT(read_from(good), FailsWith(Code::kValidation, "Invalid ShardIterator"))
      << "another database's";
}

TEST_F(Streams, ReturnNoMoreThanTheLimitAndAMegabyte) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  const std::string big(300'000, 'x');
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", i}, {"text", big}}), IsOk());
  }
  const auto all = records(stream);
  ASSERT_THAT(all, SizeIs(5)) << "page by page";
  const std::string start = iterator(stream, shard_with(stream, all[0].sequence_number));
  EXPECT_THAT(read_from(start, 1)->records, SizeIs(1));
  // The first record has one image, the others have two.
  EXPECT_THAT(read_from(start)->records, SizeIs(2));
}

// ---- Expiration of records and streams

TEST_F(Streams, TrimRecordsOlderThanADay) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1}}), IsOk());
  const auto first = records(stream);
  const std::string shard = shard_with(stream, first[0].sequence_number);
  pass(kEpoch);
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 2}}), IsOk());
  pass(kRetention - std::chrono::minutes(1));
  EXPECT_THAT(records(stream), SizeIs(2));
  const std::string late = iterator(stream, shard);
  clock_.advance(std::chrono::minutes(1));
  for (int tended = 0; tended < 2; ++tended, engine_->run_maintenance()) {
    const auto left = records(stream);
    ASSERT_THAT(left, SizeIs(1)) << tended;
    EXPECT_EQ(left[0].new_image->at("n"), AttributeValue(2));
    EXPECT_THAT(read_from(late), FailsWith(Code::kTrimmedDataAccess,
                                           "The data you are trying to access has been trimmed"));
    EXPECT_THAT(engine_->get_shard_iterator({.stream = stream,
                                             .shard = shard,
                                             .type = ShardIteratorType::kAfterSequenceNumber,
                                             .sequence_number = first[0].sequence_number}),
                FailsWith(Code::kTrimmedDataAccess, ""));
    EXPECT_THAT(engine_->get_shard_iterator({.stream = stream, .shard = shard}),
                FailsWith(Code::kResourceNotFound, "Shard does not exist"));
  }
}

TEST_F(Streams, WithADamagedRecordKeepTheShardsBeforeIt) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  pass(kEpoch);
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1}}), IsOk());
  const SpaceId log = engine_->parts().catalog->snapshot()->logs.begin()->first;
  std::string newest;  // the last row of the log that is no boundary
  for (unsigned part = 0; part < kLogPartitions; ++part) {
    ASSERT_THAT(read_range(engine_->store(), {.range = log_range(log, part, 0)},
                           [&](std::string_view key, std::string_view) {
                             newest = key;
                             return true;
                           }),
                IsOk());
  }
  ASSERT_FALSE(newest.empty());
  Batch damage;
  damage.put(newest, "damaged");
  ASSERT_THAT(write_or_fail(engine_->store(), std::move(damage)), IsOk());
  int records = 0;
  int damaged = 0;
  for (const Shard& shard : shards(stream)) {
    const auto read = read_from(iterator(stream, shard.id));
    if (read) {
      records += static_cast<int>(read->records.size());
    } else {
      EXPECT_THAT(read, FailsWith(Code::kInternalServerError, ""));
      ++damaged;
    }
  }
  EXPECT_EQ(records, 1);
  EXPECT_EQ(damaged, 1);
}

TEST_F(Streams, DeleteExpiredRecords) {
  create(with_stream(hash_table()));
  const auto rows = [&] {
    int count = 0;
    EXPECT_THAT(read_range(engine_->store(), {},
                           [&](std::string_view, std::string_view) { return ++count > 0; }),
                IsOk());
    return count;
  };
  const int empty = rows();
  for (int i = 0; i < 50; ++i) ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", i}}), IsOk());
  pass(kEpoch);
  EXPECT_EQ(rows(), empty + 1 + 50 + 1) << "an item, its changes, a boundary";
  pass(kRetention);
  EXPECT_EQ(rows(), empty + 1 + 1 + 1)
      << "the boundaries of now and of a day ago, and how far the log has been given up";
}

TEST_F(Streams, OutliveTheirTableByADay) {
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  clock_.advance(std::chrono::seconds(1));
  create(with_stream(hash_table()));
  const std::string next = stream_of("Things");
  EXPECT_NE(next, stream);
  ASSERT_THAT(put("Things", {{"pk", "b"}}), IsOk());
  clock_.advance(kRetention - std::chrono::seconds(2));

  const auto old = engine_->describe_stream({.stream = stream});
  ASSERT_THAT(old, IsOk());
  EXPECT_EQ(old->stream.status, StreamStatus::kDisabled);
  for (const Shard& shard : old->stream.shards) EXPECT_TRUE(shard.ending_sequence_number);
  const auto before = records(stream);
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_EQ(before[0].keys, (Item{{"pk", "a"}}));
  const auto after = records(next);
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_EQ(after[0].keys, (Item{{"pk", "b"}}));
  EXPECT_THAT(engine_->list_streams({.table = "Things"})->streams, SizeIs(2));

  clock_.advance(std::chrono::seconds(1));
  for (int tended = 0; tended < 2; ++tended, engine_->run_maintenance()) {
    EXPECT_THAT(engine_->describe_stream({.stream = stream}),
                FailsWith(Code::kResourceNotFound,
                          "Requested resource not found: Stream: " + stream + " not found"));
    const auto listed = engine_->list_streams({});
    ASSERT_THAT(listed->streams, SizeIs(1));
    EXPECT_EQ(listed->streams[0].arn, next);
  }
}

TEST_F(Streams, OfTablesOfOneNameNeverShareALabel) {
  std::set<std::string> streams;
  for (int i = 0; i < 5; ++i) {
    create(with_stream(hash_table()));
    EXPECT_TRUE(streams.insert(stream_of("Things")).second) << "the clock stands";
    ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  }
  EXPECT_THAT(engine_->list_streams({})->streams, SizeIs(5));
}

// ---- Restarts and concurrent readers

TEST_F(Streams, AreReadFromAConsumersPositionAfterRestarts) {
  open_directory();
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  StreamConsumer consumer;
  std::vector<StreamRecord> read;
  int written = 0;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 9; ++i, ++written) {
      ASSERT_THAT(put("Things", {{"pk", std::to_string(i % 5)}, {"n", written}}), IsOk());
    }
    if (round % 2 == 0) pass(kEpoch);
    if (round % 3 == 0) open_directory();
    EngineStreams source{*engine_};
    for (StreamRecord& record : consumer.read(source, stream, 2)) read.push_back(std::move(record));
    ASSERT_EQ(read.size(), static_cast<std::size_t>(written)) << "round " << round;
  }
  StreamReplay replay;
  for (const StreamRecord& record : read) replay.apply(record);
  EXPECT_EQ(replay.items(), contents("Things"));
}

TEST_F(Streams, KeepIteratorsGoodOverARestart) {
  open_directory();
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  const auto before = records(stream);
  ASSERT_THAT(before, SizeIs(1));
  const std::string kept = iterator(stream, shard_with(stream, before[0].sequence_number));
  open_directory();
  const auto page = read_from(kept);
  ASSERT_THAT(page, IsOk());
  ASSERT_THAT(page->records, SizeIs(1));
  EXPECT_EQ(page->records[0].event_id, before[0].event_id);
}

// The consumer has read records whose writes a power failure removes.
TEST_F(Streams, SkipNoRecordAfterALossOfPowerWithDurabilityOs) {
  const auto alive = directory_.path() / "alive";
  const auto disk = directory_.path() / "disk";
  const auto open_os = [&](const std::filesystem::path& path, std::string boot) {
    auto store =
        open_rocks_store({.path = path, .durability = Durability::kOs, .boot = std::move(boot)});
    ASSERT_THAT(store, IsOk());
    open(std::move(*store));
  };
  open_os(alive, "");
  create(with_stream(hash_table()));
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 0}}), IsOk());
  std::filesystem::copy(alive, disk, std::filesystem::copy_options::recursive);
  std::filesystem::remove(disk / "ballast");
  for (int n = 1; n <= 200; ++n) ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", n}}), IsOk());
  const std::string stream = stream_of("Things");
  const auto seen = records(stream);
  ASSERT_THAT(seen, SizeIs(201));
  const std::string last = seen.back().sequence_number;
  const std::string shard = shard_with(stream, last);
  const auto page = read_from(iterator(stream, shard));
  ASSERT_THAT(page, IsOk());
  ASSERT_TRUE(page->next_iterator);
  engine_.reset();
  open_os(disk, "the next");
  const auto after_last = iterator(stream, shard, ShardIteratorType::kAfterSequenceNumber, last);
  for (int n = 1000; n < 1003; ++n) ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", n}}), IsOk());
  for (const std::string& from : {*page->next_iterator, after_last}) {
    const auto next = read_from(from);
    ASSERT_THAT(next, IsOk());
    EXPECT_THAT(next->records, SizeIs(3));
  }
}

TEST_F(Streams, RecordEachChangeOnceInItsItemsOrderUnderManyWriters) {
  open_directory();
  create(with_stream(hash_table()));
  const std::string stream = stream_of("Things");
  constexpr int kWriters = 6;
  constexpr int kEach = 60;
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  std::atomic<int> left = kWriters;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer, &left] {
      for (int i = 0; i < kEach; ++i) {
        // All writers change the same few items.
        EXPECT_THAT(update({.table = "Things",
                            .key = {{"pk", std::to_string((i + writer) % 4)}},
                            .update = "ADD n :one",
                            .values = {{{":one", 1}}}}),
                    IsOk());
      }
      --left;
    });
  }
  StreamConsumer consumer;
  EngineStreams source{*engine_};
  StreamReplay replay;
  int count = 0;
  for (bool last = false; !last;) {
    last = left == 0;
    for (const StreamRecord& record : consumer.read(source, stream)) {
      replay.apply(record);
      ++count;
    }
    if (count % 3 == 0) pass(kEpoch / 8);  // begins new epochs during the writes
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(count, kWriters * kEach);
  EXPECT_EQ(replay.items(), contents("Things"));
}

TEST_F(StreamsTest, MarkExpiredItemsAsDeletedByDynamoDb) {
  create(with_stream(hash_table()));
  ASSERT_THAT(engine_->update_time_to_live(
                  {.table = "Things", .specification = {.enabled = true, .attribute = "expires"}}),
              IsOk());
  ASSERT_TRUE(comes_true([&] {
    return engine_->describe_time_to_live({.table = "Things"})->status ==
           TimeToLiveStatus::kEnabled;
  }));
  for (const char* pk : {"expired", "deleted"}) {
    ASSERT_THAT(put("Things", {{"pk", pk}, {"expires", clock_.unix_ms() / 1000 + 60}}), IsOk());
  }
  ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "deleted"}}}), IsOk());
  clock_.advance(std::chrono::minutes(2));
  EXPECT_EQ(engine_->sweep_expired(), 1U);
  for (const StreamRecord& record : records(stream_of("Things"))) {
    const bool by_service =
        record.event == StreamEvent::kRemove && record.keys == Item{{"pk", "expired"}};
    ASSERT_EQ(record.identity.has_value(), by_service);
    if (!by_service) continue;
    EXPECT_EQ(record.identity->type, "Service");
    EXPECT_EQ(record.identity->principal, "dynamodb.amazonaws.com");
  }
}

}  // namespace
}  // namespace stator::test

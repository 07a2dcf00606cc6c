// SPDX-License-Identifier: Apache-2.0
#include "client/client_test.h"
#include "support/stream_consumer.h"

namespace stator::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Streams : public ClientTest {
 protected:
  // Returns the stream's ARN.
  std::string create_with_stream(CreateTableRequest request, StreamViewType view) {
    request.stream = StreamSpecification{.enabled = true, .view = view};
    const auto created = client_.create_table(request);
    EXPECT_THAT(created, IsOk());
    return created ? created->table.latest_stream_arn.value_or("none") : "none";
  }
};
STATOR_IN_EACH_HOME(Streams);

TEST_P(Streams, RecordEveryChange) {
  const std::string stream =
      create_with_stream(hash_table("Things"), StreamViewType::kNewAndOldImages);
  const Item first{{"pk", "a"}, {"data", Binary{std::string("\0\xff", 2)}}, {"n", 1}};
  const Item second{{"pk", "a"}, {"list", List{1, "two", nullptr}}};
  put("Things", first);
  put("Things", second);
  put("Things", second);
  ASSERT_THAT(client_.delete_item({.table = "Things", .key = {{"pk", "a"}}}), IsOk());
  const auto records = StreamConsumer().read(client_, stream);
  ASSERT_THAT(records, SizeIs(3));
  StreamReplay replay;
  for (const StreamRecord& record : records) {
    EXPECT_EQ(record.keys, (Item{{"pk", "a"}}));
    EXPECT_EQ(record.region, "us-east-1");
    EXPECT_EQ(record.view, StreamViewType::kNewAndOldImages);
    EXPECT_EQ(record.created_ms % 1000, 0);
    EXPECT_GT(record.created_ms, 1'600'000'000'000);
    EXPECT_EQ(record.event_id.size(), 32U);
    EXPECT_EQ(record.identity, std::nullopt);
    replay.apply(record);
  }
  EXPECT_THAT(replay.items(), IsEmpty());
  EXPECT_EQ(records[0].event, StreamEvent::kInsert);
  EXPECT_EQ(records[0].new_image, first);
  EXPECT_EQ(records[0].size_bytes, 3 + 3 + 6 + 3);
  EXPECT_EQ(records[1].event, StreamEvent::kModify);
  EXPECT_EQ(records[1].old_image, first);
  EXPECT_EQ(records[1].new_image, second);
  EXPECT_EQ(records[2].event, StreamEvent::kRemove);
}

TEST_P(Streams, AreDescribedAndListed) {
  const std::string stream = create_with_stream(indexed_table("Things"), StreamViewType::kKeysOnly);
  const auto table = client_.describe_table({.table = "Things"});
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->table.stream,
            (StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly}));
  EXPECT_EQ(table->table.latest_stream_arn, stream);
  const std::string label = table->table.latest_stream_label.value_or("");
  EXPECT_EQ(stream, table->table.arn + "/stream/" + label);

  const auto described = client_.describe_stream({.stream = stream});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->stream.arn, stream);
  EXPECT_EQ(described->stream.label, label);
  EXPECT_EQ(described->stream.status, StreamStatus::kEnabled);
  EXPECT_EQ(described->stream.view, StreamViewType::kKeysOnly);
  EXPECT_EQ(described->stream.table, "Things");
  EXPECT_EQ(described->stream.key_schema, table->table.key_schema);
  EXPECT_EQ(described->stream.created_ms, table->table.created_ms);
  EXPECT_EQ(all_shards(client_, stream, 1), described->stream.shards);
  const auto listed = client_.list_streams({.table = "Things", .limit = 10});
  ASSERT_THAT(listed, IsOk());
  ASSERT_THAT(listed->streams, SizeIs(1));
  EXPECT_EQ(listed->streams[0], (StreamSummary{.arn = stream, .table = "Things", .label = label}));
  EXPECT_EQ(listed->last_evaluated_stream, std::nullopt);
  EXPECT_THAT(
      client_.describe_stream({.stream = stream,
                               .filter = ShardFilter{.type = ShardFilterType::kChildShards,
                                                     .shard = described->stream.shards[0].id}}),
      IsOk());
}

TEST_P(Streams, ReadOnFromAnySequenceNumber) {
  const std::string stream = create_with_stream(hash_table("Things"), StreamViewType::kNewImage);
  StreamConsumer consumer;
  for (int i = 0; i < 40; ++i) {
    put("Things", {{"pk", std::to_string(i % 9)}, {"n", i}});
    if (i % 7 != 0) continue;
    const auto news = consumer.read(client_, stream, 2);
    EXPECT_EQ(news.size(), i == 0 ? 1U : 7U);
  }
  EXPECT_THAT(consumer.read(client_, stream), SizeIs(4));
}

TEST_P(Streams, StayReadableWhenTheirTableIsGone) {
  const std::string stream = create_with_stream(hash_table("Things"), StreamViewType::kOldImage);
  put("Things", {{"pk", "a"}});
  ASSERT_THAT(client_.delete_table({.table = "Things"}), IsOk());
  const auto described = client_.describe_stream({.stream = stream});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->stream.status, StreamStatus::kDisabled);
  EXPECT_THAT(StreamConsumer().read(client_, stream), SizeIs(1));
}

TEST_P(Streams, RejectRequestsThatDynamoDbRejects) {
  CreateTableRequest request = hash_table("Things");
  request.stream = StreamSpecification{.enabled = true};
  EXPECT_THAT(client_.create_table(request),
              FailsWith(Code::kValidation,
                        "Table is being created with a stream enabled, UpdateViewType is "
                        "required"));
  request.stream = StreamSpecification{.enabled = false, .view = StreamViewType::kKeysOnly};
  EXPECT_THAT(client_.create_table(request),
              FailsWith(Code::kValidation,
                        "Table is being created with a stream disabled, UpdateViewType should "
                        "not be specified"));
  const std::string stream = create_with_stream(hash_table("Things"), StreamViewType::kKeysOnly);
  const std::string other = stream.substr(0, stream.size() - 4) + "9999";
  const std::string shard = all_shards(client_, stream).at(0).id;
  const std::string no_shard = "shardId-00000000000000000000-00000000";

  EXPECT_THAT(client_.list_streams({.limit = 0}),
              FailsWith(Code::kValidation, "Value '0' at 'limit' failed to satisfy constraint"));
  EXPECT_THAT(client_.list_streams({.limit = 101}),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: Limit "
                        "cannot be greater than the maximum allowed size: 100"));
  EXPECT_THAT(client_.describe_stream({.stream = other}),
              FailsWith(Code::kResourceNotFound,
                        "Requested resource not found: Stream: " + other + " not found"));
  EXPECT_THAT(client_.describe_stream({.stream = stream, .limit = 101}),
              FailsWith(Code::kValidation, "Limit cannot be greater than the maximum: 100"));
  EXPECT_THAT(client_.get_shard_iterator({.stream = other, .shard = shard}),
              FailsWith(Code::kResourceNotFound, "not found"));
  EXPECT_THAT(client_.get_shard_iterator({.stream = stream, .shard = no_shard}),
              FailsWith(Code::kResourceNotFound, "Shard does not exist"));
  EXPECT_THAT(client_.get_shard_iterator({.stream = stream,
                                          .shard = shard,
                                          .type = ShardIteratorType::kLatest,
                                          .sequence_number = std::string(21, '1')}),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: SequenceNumber should not be "
                        "passed for this iterator type"));
  EXPECT_THAT(client_.get_records({.iterator = "nonsense"}),
              FailsWith(Code::kValidation, "Invalid ShardIterator"));
  const auto iterator = client_.get_shard_iterator({.stream = stream, .shard = shard});
  ASSERT_THAT(iterator, IsOk());
  EXPECT_THAT(client_.get_records({.iterator = iterator->iterator, .limit = 1001}),
              FailsWith(Code::kValidation, "Limit should be less than or equal to 1000"));
}

TEST_P(Streams, RejectMalformedArnsWithOneMessage) {
  const std::string shard = "shardId-00000000000000000000-00000000";
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Things";
  for (const std::string& malformed :
       {std::string("short"), arn, arn + "/stream/", arn + "/index/a",
        std::string("arn:aws:kinesis:us-east-1:000000000000:table/Things/stream/2026-01-01"),
        std::string("arn:aws:dynamodb:us-east-1:000000000000:stream/Things/stream/2026-01-01"),
        std::string("arn:aws:dynamodb::000000000000:table/Things/stream/2026-01-01T00:00:00.000"),
        std::string("a stream with a name of more than 37 characters")}) {
    const auto refused = [&](const auto& result) {
      ASSERT_FALSE(result) << malformed;
      EXPECT_EQ(result.error().code, Code::kValidation) << malformed;
      EXPECT_EQ(result.error().message, "Invalid StreamArn") << malformed;
    };
    refused(client_.describe_stream({.stream = malformed}));
    refused(client_.get_shard_iterator({.stream = malformed, .shard = shard}));
    refused(client_.list_streams({.exclusive_start_stream = malformed}));
  }
  EXPECT_THAT(client_.describe_stream({.stream = ""}), FailsWith(Code::kValidation, "'streamArn'"));
}

TEST_P(Streams, AreEnabledAndDisabledOnATableThatIsThere) {
  create(hash_table("Things"));
  put("Things", {{"pk", "before"}});
  const auto set = [&](StreamSpecification stream) {
    return client_.update_table({.table = "Things", .stream = stream});
  };
  EXPECT_THAT(set({.enabled = false}),
              FailsWith(Code::kValidation, "Table has no stream to disable: TableName: Things"));
  const StreamSpecification keys{.enabled = true, .view = StreamViewType::kKeysOnly};
  const auto enabled = set(keys);
  ASSERT_THAT(enabled, IsOk());
  EXPECT_EQ(enabled->table.stream, keys);
  const std::string first = enabled->table.latest_stream_arn.value_or("none");
  EXPECT_THAT(set(keys), FailsWith(Code::kValidation,
                                   "Table already has an enabled stream: TableName: Things"));
  put("Things", {{"pk", "during"}});
  ASSERT_THAT(set({.enabled = false}), IsOk());
  put("Things", {{"pk", "after"}});

  const auto records = StreamConsumer().read(client_, first);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].keys, (Item{{"pk", "during"}}));
  const auto described = client_.describe_stream({.stream = first});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->stream.status, StreamStatus::kDisabled);
  const auto again = set(keys);
  ASSERT_THAT(again, IsOk());
  EXPECT_NE(again->table.latest_stream_arn, first);
}

}  // namespace
}  // namespace stator::test

// SPDX-License-Identifier: Apache-2.0
// For tests of streams: an engine as the source of a StreamConsumer, and tables with streams.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/testing/engine_harness.h"
#include "support/stream_consumer.h"

namespace stator::test {

constexpr std::chrono::hours kEpoch{4};
constexpr std::chrono::hours kRetention{24};

// The engine's stream operations, with decoded records, as a client has them.
struct EngineStreams {
  Engine& engine;

  auto describe_stream(const DescribeStreamRequest& request) {
    return engine.describe_stream(request);
  }
  auto get_shard_iterator(const GetShardIteratorRequest& request) {
    return engine.get_shard_iterator(request);
  }
  Result<GetRecordsResult> get_records(const GetRecordsRequest& request) {
    auto response = call_and_wait(engine, &Engine::get_records, request);
    if (!response) return failure_of(std::move(response));
    GetRecordsResult result{.records = {}, .next_iterator = response->next_iterator};
    const auto decoded = [](const std::optional<EncodedItem>& item) {
      return item ? std::optional(decode_item(ItemView(*item))) : std::nullopt;
    };
    for (const StreamRecordResponse& record : response->records) {
      result.records.push_back({StreamRecordHeader(record), decode_item(ItemView(record.keys)),
                                decoded(record.new_image), decoded(record.old_image)});
    }
    return result;
  }
};

class StreamsTest : public EngineTest {
 protected:
  static CreateTableRequest with_stream(CreateTableRequest request,
                                        StreamViewType view = StreamViewType::kNewAndOldImages) {
    request.stream = StreamSpecification{.enabled = true, .view = view};
    return request;
  }

  std::string stream_of(const std::string& table) {
    const auto described = engine_->describe_table({.table = table});
    EXPECT_THAT(described, IsOk());
    return described ? described->table.latest_stream_arn.value_or("none") : "none";
  }
  std::vector<Shard> shards(const std::string& stream) {
    EngineStreams source{*engine_};
    return all_shards(source, stream);
  }
  std::vector<StreamRecord> records(const std::string& stream) {
    EngineStreams source{*engine_};
    return StreamConsumer().read(source, stream);
  }
  Result<GetRecordsResult> read_from(const std::string& iterator,
                                     std::optional<int64_t> limit = {}) {
    return EngineStreams{*engine_}.get_records({.iterator = iterator, .limit = limit});
  }
  std::string iterator(const std::string& stream, const std::string& shard,
                       ShardIteratorType type = ShardIteratorType::kTrimHorizon,
                       std::optional<std::string> sequence_number = {}) {
    const auto made = engine_->get_shard_iterator({.stream = stream,
                                                   .shard = shard,
                                                   .type = type,
                                                   .sequence_number = std::move(sequence_number)});
    EXPECT_THAT(made, IsOk());
    return made ? made->iterator : "";
  }
  Result<GetShardIteratorResult> iterator_at(const std::string& stream, const std::string& shard,
                                             int64_t time_ms) {
    return engine_->get_shard_iterator({.stream = stream,
                                        .shard = shard,
                                        .type = ShardIteratorType::kAtTimestamp,
                                        .timestamp_ms = time_ms});
  }
  // The values of "n" in the new images of a shard's records, beginning at a time.
  std::vector<int64_t> numbers_from(const std::string& stream, const std::string& shard,
                                    int64_t time_ms) {
    const auto start = iterator_at(stream, shard, time_ms);
    EXPECT_THAT(start, IsOk());
    const auto page = read_from(start ? start->iterator : "");
    EXPECT_THAT(page, IsOk());
    std::vector<int64_t> numbers;
    if (!page) return numbers;
    for (const StreamRecord& record : page->records) {
      numbers.push_back(record.new_image->at("n").get_if<Number>()->to_int64().value_or(-1));
    }
    return numbers;
  }
  // A table's items by key, like StreamReplay's. The key is {"pk"}.
  std::map<std::string, Item> contents(const std::string& table) {
    std::map<std::string, Item> items;
    for (const Item& item : all_pages(ScanRequest{.table = table})) {
      items.emplace(to_debug_string(Item{{"pk", item.at("pk")}}), item);
    }
    return items;
  }
  // The shard that contains a record.
  std::string shard_with(const std::string& stream, const std::string& sequence_number) {
    for (const Shard& shard : shards(stream)) {
      const auto page = read_from(iterator(stream, shard.id));
      EXPECT_THAT(page, IsOk());
      const bool has = page && std::ranges::any_of(page->records, [&](const StreamRecord& record) {
                         return record.sequence_number == sequence_number;
                       });
      if (has) return shard.id;
    }
    ADD_FAILURE() << "no shard has " << sequence_number;
    return "";
  }
  // Advances the clock, and runs the maintenance.
  void pass(std::chrono::milliseconds time) {
    clock_.advance(time);
    engine_->run_maintenance();
  }
};

}  // namespace stator::test

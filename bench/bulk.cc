// SPDX-License-Identifier: Apache-2.0
// Bulk puts from files of DynamoDB JSON into a directory.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "bench/contests.h"
#include "bench/raw_rocks.h"
#include "stator/database.h"
#include "support/temp_dir.h"

namespace stator::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kFiles = 4;
constexpr uint64_t kBatchSize = 256;    // of a bulk put
constexpr std::size_t kRowBytes = 990;  // of an item

void write_files(const std::filesystem::path& bucket, const WorkOptions& work) {
  std::filesystem::create_directories(bucket);
  for (uint64_t file = 0; file < kFiles; ++file) {
    std::ofstream lines(bucket / fmt::format("{}.json", file));
    for (uint64_t i = file; i < work.items; i += kFiles) {
      lines << R"({"Item":)" << wire::item_to_json(item_of(i, work.filler)) << "}\n";
    }
  }
}

// The description in a response; empty if the call failed.
Item description_in(const Result<std::string>& response) {
  const auto document = wire::item_from_plain_json(response.value_or("{}"));
  return map_of(document.value_or(Item()), "BulkOperationDescription");
}

bool put_all(Client& client) {
  auto response = client.call("StartBulkPutItems", R"({"TableName": "Bulk",
      "InputS3Configuration": {"S3Bucket": "input", "InputFormat": "DYNAMODB_JSON"},
      "OutputS3Configuration": {"S3Bucket": "output", "OutputType": ["ERROR"]}})");
  Item operation = description_in(response);
  const std::string request =
      fmt::format("{{\"BulkOperationArn\": \"{}\"}}", text_of(operation, "BulkOperationArn"));
  while (text_of(operation, "BulkOperationStatus") == "IN_PROGRESS") {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    response = client.call("DescribeBulkOperation", request);
    operation = description_in(response);
  }
  if (text_of(operation, "BulkOperationStatus") == "COMPLETED") return true;
  std::fprintf(stderr, "bulk put: %s\n",
               response ? response->c_str() : response.error().message.c_str());
  return false;
}

// Notes the rate at which `put` writes the items.
template <class Put>
bool measure(const std::string& row, const WorkOptions& work, Findings& findings, Put put) {
  const SteadyClock::time_point start = SteadyClock::now();
  if (!put()) return false;
  note(findings, fmt::format("{}, items/s", row),
       static_cast<double>(work.items) /
           std::chrono::duration<double>(SteadyClock::now() - start).count());
  return true;
}

}  // namespace

bool bulk(const Settings& settings, Findings& findings) {
  std::printf("\nbulk puts into a directory, items of 1 KB\n");
  const WorkOptions& work = settings.work;
  const test::TempDir directory;
  std::filesystem::create_directories(directory.path() / "output");
  auto database = Database::open({.path = directory.path() / "data", .buckets = directory.path()});
  if (!database || !database->create_table({.table = "Bulk",
                                            .attributes = {{"pk", ScalarType::kS}},
                                            .key_schema = {{"pk", KeyType::kHash}},
                                            .billing_mode = BillingMode::kPayPerRequest})) {
    return false;
  }
  RawRocks raw(directory.path() / "raw");
  const std::string value(kRowBytes, 'x');
  for (const char* which : {"new", "existing"}) {
    write_files(directory.path() / "input", work);
    if (!measure(fmt::format("bulk put of {} items", which), work, findings,
                 [&] { return put_all(*database); }) ||
        !measure(fmt::format("raw RocksDB, {} rows in synced batches", which), work, findings,
                 [&] { return raw.put_all(work.items, value, kBatchSize); })) {
      return false;
    }
  }
  return true;
}

}  // namespace stator::bench

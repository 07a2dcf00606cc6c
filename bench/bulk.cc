// SPDX-License-Identifier: Apache-2.0
// Bulk puts from files of DynamoDB JSON into a directory.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

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

// Each turn has other items with the same keys: a put that changes nothing costs less.
void write_files(const std::filesystem::path& bucket, const WorkOptions& work, int64_t turn) {
  std::filesystem::create_directories(bucket);
  for (uint64_t file = 0; file < kFiles; ++file) {
    std::ofstream lines(bucket / fmt::format("{}.json", file));
    for (uint64_t i = file; i < work.items; i += kFiles) {
      const Item item{{"pk", fmt::format("item-{:012}", i)}, {"n", turn}, {"filler", work.filler}};
      lines << R"({"Item":)" << wire::item_to_json(item) << "}\n";
    }
  }
}

std::string member(const std::string& json, const std::string& name) {
  const std::string before = "\"" + name + "\":\"";
  const std::size_t begin = json.find(before);
  if (begin == json.npos) return {};
  const std::size_t value = begin + before.size();
  return json.substr(value, json.find('"', value) - value);
}

bool put_all(Client& client) {
  auto operation = client.call("StartBulkPutItems", R"({"TableName": "Bulk",
      "InputS3Configuration": {"S3Bucket": "input", "InputFormat": "DYNAMODB_JSON"},
      "OutputS3Configuration": {"S3Bucket": "output", "OutputType": ["ERROR"]}})");
  const std::string arn = member(operation.value_or(""), "BulkOperationArn");
  while (operation && member(*operation, "BulkOperationStatus") == "IN_PROGRESS") {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    operation =
        client.call("DescribeBulkOperation", fmt::format("{{\"BulkOperationArn\": \"{}\"}}", arn));
  }
  if (operation && member(*operation, "BulkOperationStatus") == "COMPLETED") return true;
  std::fprintf(stderr, "bulk put: %s\n",
               operation ? operation->c_str() : operation.error().message.c_str());
  return false;
}

// Prints and keeps the rate at which `put` writes the items.
template <class Put>
bool measure(const std::string& row, const WorkOptions& work, Findings& findings, Put put) {
  const SteadyClock::time_point start = SteadyClock::now();
  if (!put()) return false;
  const double rate = static_cast<double>(work.items) /
                      std::chrono::duration<double>(SteadyClock::now() - start).count();
  findings.facts[fmt::format("bulk: {}, items/s", row)] = rate;
  std::printf("  %-52s %10.0f\n", row.c_str(), rate);
  std::fflush(stdout);
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
  int64_t turn = 0;
  for (const char* which : {"new", "existing"}) {
    write_files(directory.path() / "input", work, ++turn);
    if (!measure(fmt::format("bulk put of {} items", which), work, findings,
                 [&] { return put_all(*database); }) ||
        !measure(fmt::format("raw RocksDB, {} rows in synced batches of 256", which), work,
                 findings, [&] { return raw.put_all(work.items, value, kBatchSize); })) {
      return false;
    }
  }
  return true;
}

}  // namespace stator::bench

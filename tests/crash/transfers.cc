// SPDX-License-Identifier: Apache-2.0
#include "crash/transfers.h"
#include "api/json/item_json.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "api/admin/document.h"
#include "api/wire/wire.h"
#include "engine/errors/messages.h"
#include "support/poll_until.h"
#include "support/transfer_jobs.h"
#include "transfer/bulk_report.h"
#include "transfer/export_lines.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBucket = "crashed";
constexpr const char* kImported = "Imported";
constexpr const char* kPutInto = "PutInto";
constexpr int64_t kIncrementLeastMs = 15L * 60 * 1000;
constexpr int kFiles = 3;
constexpr int kFlaws = 5;          // per file
constexpr int64_t kRepeated = 20;  // every 20th put of a flawed file is repeated

transfer::Bucket make_bucket(const fs::path& buckets) {
  fs::create_directories(buckets / kBucket);
  return transfer::Bucket::open(buckets, kBucket).value();
}

std::string content(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string unfolded(const std::string& bytes) {
  auto source = transfer::unfolded(transfer::bytes_of(bytes), transfer::Compression::kGzip);
  std::string text;
  std::string buffer(1UL << 16, '\0');
  while (const std::size_t count = (*source)->read(buffer).value_or(0)) {
    text.append(buffer, 0, count);
  }
  return text;
}

Item parsed(const std::string& json) {
  const auto document = wire::item_from_plain_json(json);
  EXPECT_TRUE(document) << json;
  return document.value_or(Item());
}

// The lines of an export of `to`, or of the changes since `from`, without the times.
std::set<std::string> expected_lines(std::optional<int64_t> from, int64_t to) {
  constexpr auto kJson = transfer::DataFormat::kDynamoDbJson;
  std::set<std::string> lines;
  const NamedItems after = state_after(to);
  if (!from) {
    for (const auto& [name, item] : after) lines.insert(transfer::line_of(kJson, item));
    return lines;
  }
  const NamedItems before = state_after(*from);
  for (int64_t number = std::max(*from, to - kNumberedItems) + 1; number <= to; ++number) {
    const std::string name = name_of(number);
    transfer::ItemChange change{.keys = {{"pk", name}}};
    if (const auto old = before.find(name); old != before.end()) change.old_image = old->second;
    if (const auto now = after.find(name); now != after.end()) change.new_image = now->second;
    if (change.old_image || change.new_image) lines.insert(transfer::line_of(kJson, change));
  }
  return lines;
}

// Replaces the time of a line's write by 0. The time must be between the two moments.
std::string without_time(std::string line, const Moment& from, const Moment& to) {
  const std::string before = R"("WriteTimestampMicros":{"N":")";
  const std::size_t begin = line.find(before) + before.size();
  const std::size_t end = line.find('"', begin);
  const int64_t time_ms = std::stoll(line.substr(begin, end - begin)) / 1000;
  EXPECT_TRUE(time_ms >= from.time_ms && time_ms < to.time_ms) << line;
  return line.replace(begin, end - begin, "0");
}

// The parameters of a table with an index. `more`: further members.
std::string table_json(const std::string& name, const std::string& more = {}) {
  return R"({"TableName": ")" + name + R"(", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "shelf", "AttributeType": "N"},
        {"AttributeName": "number", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
      "GlobalSecondaryIndexes": [{"IndexName": "ByShelf",
        "KeySchema": [{"AttributeName": "shelf", "KeyType": "HASH"},
          {"AttributeName": "number", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"}}])" +
         more + "}";
}

// The line of a put that fails if its item exists.
std::string line_if_new(const Item& item) {
  return R"({"Item":)" + wire::item_to_json(item) +
         R"-(,"ConditionExpression":"attribute_not_exists(pk)"})-" + "\n";
}

}  // namespace

std::string seconds_of(const Moment& moment) {
  return std::to_string(moment.time_ms / 1000) + "." +
         std::to_string(1000 + moment.time_ms % 1000).substr(1);
}

Transfers::Transfers(fs::path buckets, std::string table, uint64_t seed)
    : buckets_(std::move(buckets)),
      bucket_(make_bucket(buckets_)),
      table_(std::move(table)),
      random_(seed) {
  for (int file = 0; file < kFiles; ++file) {
    const std::string name = std::to_string(file) + ".json.gz";
    auto sound = transfer::DataFileWriter::create(bucket_, "files/sound/" + name).value();
    auto flawed = transfer::DataFileWriter::create(bucket_, "files/flawed/" + name).value();
    for (int64_t number = 1 + file; number <= kNumberedItems; number += kFiles) {
      const std::string line =
          transfer::line_of(transfer::DataFormat::kDynamoDbJson, item_of(number));
      static_cast<void>(sound->add(line));
      static_cast<void>(flawed->add(line));
      if (number / kFiles % (kNumberedItems / kFiles / kFlaws) == 0) {
        static_cast<void>(flawed->add("{\"Item\":{\"flaw\":{\"S\":\"no key\"}}}\n"));
      }
    }
    source_bytes_ += sound->line_bytes();
    flawed_bytes_ += flawed->line_bytes();
    // Unreadable bytes make the import skip the rest of their object.
    static_cast<void>(flawed->add("garbage\n"));
    static_cast<void>(flawed->add(R"({"Item":{"pk":{"S":"lost"}}})"));
    EXPECT_TRUE(sound->finish() && flawed->finish());
    write_puts(file);
  }
}

// The condition of every put is true only once. The flawed file also has repeated and invalid puts.
void Transfers::write_puts(int file) {
  const std::string name = std::to_string(file) + ".json.gz";
  const std::string key = "puts/flawed/" + name;
  auto sound = transfer::DataFileWriter::create(bucket_, "puts/sound/" + name).value();
  auto flawed = transfer::DataFileWriter::create(bucket_, key).value();
  const auto add_failing = [&](const std::string& line, transfer::FailedPut put) {
    put.object = key;
    put.position = static_cast<uint64_t>(flawed->line_bytes());
    failed_puts_.insert(transfer::line_of(put));
    static_cast<void>(flawed->add(line));
  };
  for (int64_t number = 1 + file; number <= kNumberedItems; number += kFiles) {
    const Item item = item_of(number);
    const std::string line = line_if_new(item);
    static_cast<void>(sound->add(line));
    static_cast<void>(flawed->add(line));
    if (number % kRepeated == 0) add_failing(line, {.item = item, .existing = item});
    if (number / kFiles % (kNumberedItems / kFiles / kFlaws) == 0) {
      const Item flaw{{"flaw", "no key"}};
      add_failing(
          line_if_new(flaw),
          {.code = "ValidationException", .message = messages::missing_key("pk"), .item = flaw});
    }
  }
  add_failing("garbage\n", {.code = "ValidationException", .message = "not a JSON object"});
  static_cast<void>(flawed->add(line_if_new({{"pk", "lost"}})));
  EXPECT_TRUE(sound->finish() && flawed->finish());
}

// ---- Jobs in progress

Result<void> Transfers::begin(Client& client, const std::string& kind, const std::string& operation,
                              const std::string& request) {
  const auto answer = client.call(operation, request);
  if (!answer) return Failure(answer.error());
  begun_.push_back(text_of(described_job(kind, answer), kind + "Arn"));
  return {};
}

Result<void> Transfers::start_export(Client& client, const Moment& moment) {
  exported_ = moment;
  return begin(client, "Export", "ExportTableToPointInTime",
               R"({"TableArn": "arn:aws:dynamodb:us-east-1:000000782867:table/)" + table_ +
                   R"(", "S3Bucket": "crashed", "S3Prefix": "full", "ExportTime": )" +
                   seconds_of(moment) + "}");
}

Result<void> Transfers::start_increment(Client& client, const Moment& moment) {
  // The newest moment that is old enough.
  const auto late = std::ranges::find_if(moments_, [&](const Moment& earlier) {
    return earlier.time_ms > moment.time_ms - kIncrementLeastMs;
  });
  if (late == moments_.begin()) return {};
  moments_.erase(moments_.begin(), late - 1);
  exported_ = moment;
  exported_from_ = moments_.front();
  return begin(client, "Export", "ExportTableToPointInTime",
               R"({"TableArn": "arn:aws:dynamodb:us-east-1:000000782867:table/)" + table_ +
                   R"(", "S3Bucket": "crashed", "S3Prefix": "part", "ExportType":
                   "INCREMENTAL_EXPORT", "IncrementalExportSpecification": {"ExportFromTime": )" +
                   seconds_of(exported_from_) + R"(, "ExportToTime": )" + seconds_of(moment) +
                   "}}");
}

Result<void> Transfers::start_import(Client& client) {
  flawed_ = random_() % 2 == 0;
  return begin(client, "Import", "ImportTable",
               std::string(R"({"S3BucketSource": {"S3Bucket": "crashed", "S3KeyPrefix": "files/)") +
                   (flawed_ ? "flawed/" : "sound/") +
                   R"("}, "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP",
    "TableCreationParameters": )" +
                   table_json(kImported) + "}");
}

Result<void> Transfers::create_table(Client& client) {
  return outcome(client.call("CreateTable", table_json(kPutInto, R"(, "StreamSpecification": {
      "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"})")));
}

Result<void> Transfers::start_puts(Client& client) {
  flawed_puts_ = random_() % 2 == 0;
  return begin(client, "BulkOperation", "StartBulkPutItems",
               R"({"TableName": "PutInto", "InputS3Configuration": {"S3Bucket": "crashed",
      "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP", "S3KeyPrefix": "puts/)" +
                   std::string(flawed_puts_ ? "flawed/" : "sound/") +
                   R"("}, "OutputS3Configuration": {"S3Bucket": "crashed", "S3KeyPrefix": "reports",
      "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]}})");
}

// ---- Checks

void Transfers::settle(Client& client, const Moment& moment) {
  for (const std::string& arn : ended(client, "ListExports", "ExportSummaries", "Export")) {
    check_export(client, arn);
  }
  for (const std::string& arn : ended(client, "ListImports", "ImportSummaryList", "Import")) {
    check_import(client, arn);
  }
  for (const std::string& arn :
       ended(client, "ListBulkOperations", "BulkOperationsSummaryList", "BulkOperation")) {
    check_puts(client, arn);
  }
  for (const std::string& arn : begun_) {
    EXPECT_TRUE(seen_.contains(arn)) << arn << " was answered, and is not there";
  }
  begun_.clear();
  moments_.push_back(moment);
}

std::vector<std::string> Transfers::ended(Client& client, const std::string& operation,
                                          const std::string& member, const std::string& kind) {
  std::vector<std::string> unseen;
  EXPECT_TRUE(poll_until([&] {
    unseen.clear();
    std::string token;
    do {
      const auto answer =
          client.call(operation, token.empty() ? "{}" : R"({"NextToken": ")" + token + "\"}");
      EXPECT_TRUE(answer) << answer.error().message;
      const Item page = parsed(answer.value_or("{}"));
      for (const AttributeValue& summary : list_of(page, member)) {
        if (text_of(as_map(summary), kind + "Status") == "IN_PROGRESS") return false;
        const std::string arn = text_of(as_map(summary), kind + "Arn");
        // The newest ones come first.
        if (seen_.contains(arn)) return true;
        unseen.push_back(arn);
      }
      token = text_of(page, "NextToken");
    } while (!token.empty());
    return true;
  })) << "an " + kind + " goes on";
  // Not earlier: an older one in progress would be mistaken for one that was seen.
  seen_.insert(unseen.begin(), unseen.end());
  return unseen;
}

void Transfers::check_export(Client& client, const std::string& arn) {
  const Item described = describe_job(client, "Export", arn);
  ASSERT_EQ(text_of(described, "ExportStatus"), "COMPLETED")
      << text_of(described, "FailureMessage");
  const bool incremental = text_of(described, "ExportType") == "INCREMENTAL_EXPORT";
  const std::string prefix = text_of(described, "S3Prefix");
  const Item summary = parsed(with_checksum(text_of(described, "ExportManifest")));
  for (const auto& [ours, theirs] :
       {std::pair("itemCount", "ItemCount"), std::pair("billedSizeBytes", "BilledSizeBytes")}) {
    EXPECT_EQ(integer_of(summary, ours), integer_of(described, theirs)) << ours;
  }
  const std::vector<std::string> lines = check_files(summary, prefix);
  EXPECT_EQ(static_cast<int64_t>(lines.size()), integer_of(described, "ItemCount"));
  std::set<std::string> found;
  for (std::string line : lines) {
    if (line.find(kExpired) != std::string::npos) continue;
    if (incremental) line = without_time(std::move(line), exported_from_, exported_);
    EXPECT_TRUE(found.insert(line + "\n").second) << "twice: " << line;
  }
  EXPECT_EQ(found, expected_lines(incremental ? std::optional(exported_from_.number) : std::nullopt,
                                  exported_.number));
  fs::remove_all(buckets_ / kBucket / prefix);
  ++compared_;
}

// Returns a manifest, which must match its checksum.
std::string Transfers::with_checksum(const std::string& key) const {
  const fs::path path = buckets_ / kBucket / key;
  std::string text = content(path);
  EXPECT_EQ(content(fs::path(path).replace_extension(".md5")), transfer::checksum_of(text)) << path;
  return text;
}

// The lines of the files that the manifests list. No other data file may have the prefix.
std::vector<std::string> Transfers::check_files(const Item& summary,
                                                const std::string& prefix) const {
  std::vector<std::string> lines;
  std::set<std::string> names;
  for (const std::string& json : lines_of(with_checksum(text_of(summary, "manifestFilesS3Key")))) {
    const Item file = parsed(json);
    const std::string bytes = content(buckets_ / kBucket / text_of(file, "dataFileS3Key"));
    EXPECT_EQ(transfer::checksum_of(bytes), text_of(file, "md5Checksum"));
    const std::vector<std::string> some = lines_of(unfolded(bytes));
    EXPECT_EQ(static_cast<int64_t>(some.size()), integer_of(file, "itemCount"));
    lines.insert(lines.end(), some.begin(), some.end());
    names.insert(text_of(file, "dataFileS3Key"));
  }
  const auto keys = bucket_.keys(prefix);
  EXPECT_TRUE(keys);
  for (const std::string& key : keys.value_or(std::vector<std::string>())) {
    EXPECT_FALSE(key.ends_with(".part")) << key;
    EXPECT_TRUE(!key.ends_with(".gz") || names.contains(key)) << key << " is in no manifest";
  }
  return lines;
}

void Transfers::check_import(Client& client, const std::string& arn) {
  const Item described = describe_job(client, "Import", arn);
  const auto table = client.describe_table({.table = kImported});
  if (!table) {
    // The crash came before the response, and before the table was created.
    EXPECT_EQ(text_of(described, "FailureCode"), "InternalServerError");
    EXPECT_TRUE(std::ranges::find(begun_, arn) == begun_.end()) << table.error().message;
    return;
  }
  const int64_t errors = flawed_ ? (kFlaws + 1) * kFiles : 0;
  EXPECT_EQ(text_of(described, "ImportStatus"), flawed_ ? "FAILED" : "COMPLETED");
  EXPECT_EQ(text_of(described, "FailureCode"), flawed_ ? "ItemValidationError" : "");
  EXPECT_EQ(integer_of(described, "ErrorCount"), errors);
  EXPECT_EQ(integer_of(described, "ImportedItemCount"), kNumberedItems);
  EXPECT_EQ(integer_of(described, "ProcessedItemCount"), kNumberedItems + errors);
  EXPECT_EQ(integer_of(described, "ProcessedSizeBytes"), flawed_ ? flawed_bytes_ : source_bytes_);
  EXPECT_EQ(table->table.status, TableStatus::kActive);
  EXPECT_EQ(scan_all(client, kImported), state_after(kNumberedItems));
  expect_index_of(client, kImported);
  EXPECT_TRUE(client.delete_table({.table = kImported}));
  ++compared_;
}

void Transfers::check_puts(Client& client, const std::string& arn) {
  const Item described = describe_job(client, "BulkOperation", arn);
  const int64_t errors = flawed_puts_ ? (kFlaws + 1) * kFiles : 0;
  const int64_t unmet = flawed_puts_ ? kNumberedItems / kRepeated : 0;
  EXPECT_EQ(text_of(described, "BulkOperationStatus"),
            flawed_puts_ ? "COMPLETED_WITH_ERRORS" : "COMPLETED")
      << text_of(described, "FailureMessage");
  EXPECT_EQ(integer_of(described, "ProcessedItemCount"), kNumberedItems + unmet + errors);
  EXPECT_EQ(integer_of(described, "FailedItemCount"), errors);
  EXPECT_EQ(integer_of(described, "ProcessedInputBytes"), integer_of(described, "TotalInputBytes"));
  const std::string summary_key =
      "reports/AWSDynamoDB/" + arn.substr(arn.rfind('/') + 1) + "/manifest-summary.json";
  const Item summary = parsed(with_checksum(summary_key));
  EXPECT_EQ(integer_of(summary, "processedItemCount"), kNumberedItems + unmet + errors);
  EXPECT_EQ(integer_of(summary, "writtenItemCount"), kNumberedItems);
  EXPECT_EQ(integer_of(summary, "conditionCheckFailureCount"), unmet);
  EXPECT_EQ(integer_of(summary, "failedItemCount"), errors);
  std::multiset<std::string> reported;
  for (const std::string& line : check_files(summary, "reports/")) reported.insert(line + "\n");
  EXPECT_EQ(reported, flawed_puts_ ? failed_puts_ : std::multiset<std::string>());
  fs::remove_all(buckets_ / kBucket / "reports");
  EXPECT_EQ(scan_all(client, kPutInto), state_after(kNumberedItems));
  expect_index_of(client, kPutInto);
  expect_stream_of(client, kPutInto);
  EXPECT_TRUE(client.delete_table({.table = kPutInto}));
  EXPECT_TRUE(create_table(client));
  ++compared_;
}

}  // namespace stator::test

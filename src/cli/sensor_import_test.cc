// SPDX-License-Identifier: Apache-2.0
#include "cli/sensor_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "stator/database.h"
#include "support/fake_time.h"
#include "support/faulty_client.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace stator::cli {
namespace {

using namespace test;

constexpr int kSensors = 3;

// A table of sensors s0 to s2, in memory, and files for it.
class SensorImport : public testing::Test {
 protected:
  SensorImport() {
    options_.file = {.path = (directory_.path() / "readings.csv").string(),
                     .time_column = "at",
                     .value_column = "value",
                     .sensor_column = "sensor",
                     .unit_column = "unit"};
    options_.sensors.table = "Sensors";
    options_.sensors.retry.max_attempts = 2;
    options_.threads = 3;
    options_.chunk = 50;
    options_.checkpoint_readings = 100;
    must(create_table_if_missing(database_, SensorRegistry::table_definition(options_.sensors)));
    for (int i = 0; i < kSensors; ++i) {
      must(sensors_.add({.id = {"s" + std::to_string(i)},
                         .location = {.city = "P", .building = "A", .floor = "1", .room = "2"}}));
    }
  }

  static std::string line(int i) {
    return "s" + std::to_string(i % kSensors) + ",2024-01-01T00:00:" + (i % 60 < 10 ? "0" : "") +
           std::to_string(i % 60) + "." + std::to_string(i / 60 + 100) + "Z," + std::to_string(i) +
           ",mm\n";
  }
  void write(int readings, const std::string& more = "") {
    std::ofstream file(options_.file.path);
    file << "sensor,at,value,unit\n";
    for (int i = 0; i < readings; ++i) file << line(i);
    file << more;
  }
  Result<Imported> import(const std::stop_token& stop = {}) {
    return import_readings(client_, options_, [&](int64_t bytes) { advanced_ = bytes; }, stop);
  }
  int64_t readings() {
    int64_t count = 0;
    for (int i = 0; i < kSensors; ++i) {
      PageOptions page{.limit = 1000};
      do {
        const auto part = must(sensors_.readings({"s" + std::to_string(i)}, {}, page));
        count += static_cast<int64_t>(part.items.size());
        page.cursor = part.next;
      } while (!page.cursor.empty());
    }
    return count;
  }
  PageResult unfinished() {
    return must(database_.query({.table = "Sensors",
                                 .key_condition = "pk = :imports",
                                 .values = Values{{":imports", "IMPORTS"}}}));
  }
  std::size_t checkpoints() { return unfinished().items.size(); }

  TempDir directory_;
  Database database_ = must(Database::open());
  FaultyClient client_{database_};
  ImportOptions options_;
  SensorRegistry sensors_{database_, {.table = "Sensors"}};
  int64_t advanced_ = 0;
};

TEST_F(SensorImport, StoresReadingsOfManySensors) {
  write(1'000);
  const Imported imported = must(import());
  EXPECT_EQ(imported.recorded.stored, 1'000);
  EXPECT_EQ(imported.resumed_after, 0);
  EXPECT_EQ(readings(), 1'000);
  EXPECT_GT(advanced_, 10'000);
  EXPECT_EQ(checkpoints(), 0U);
  const Reading last = must(sensors_.latest({"s2"}, 1)).readings.at(0);
  EXPECT_EQ(last.unit, "mm");
  // After a finished import, the next one starts over.
  EXPECT_EQ(must(import()).recorded.stored, 1'000);
  EXPECT_EQ(readings(), 1'000);
}

TEST_F(SensorImport, ResumesAfterACrash) {
  write(3'000);
  int64_t furthest = 0;
  int resumed = 0;
  for (int survives = 5;; survives += 40) {
    std::atomic<int> left = survives;
    client_.before(
        [&](std::string_view, int) { return left-- > 0 ? pass() : refuse(Code::kCancelled); });
    const auto imported = import();
    client_.before({});
    if (imported) {
      EXPECT_EQ(imported->recorded.stored, 3'000) << "counted once";
      EXPECT_GE(imported->resumed_after, furthest);
      break;
    }
    ASSERT_EQ(imported.error().code, Code::kCancelled);
    // Nothing before the checkpoint is missing.
    const auto found = unfinished();
    if (found.items.empty()) continue;
    const int64_t lines = found.items[0].at("lines").get_if<Number>()->to_int64().value();
    EXPECT_GE(lines, furthest);
    EXPECT_EQ(found.items[0].at("stored"), AttributeValue(lines - 1));
    EXPECT_GE(readings(), lines - 1);
    resumed += lines > furthest ? 1 : 0;
    furthest = lines;
  }
  EXPECT_GE(resumed, 2);
  EXPECT_EQ(readings(), 3'000);
  EXPECT_EQ(checkpoints(), 0U);
}

TEST_F(SensorImport, DoesNotStoreCompletedLinesAgain) {
  write(3'000);
  std::atomic<int> left = 60;
  client_.before([&](std::string_view operation, int) {
    return operation != "BatchWriteItem" || left-- > 0 ? pass() : refuse(Code::kCancelled);
  });
  ASSERT_FALSE(import());
  client_.before({});
  const int before = client_.sent("BatchWriteItem");
  const Imported imported = must(import());
  EXPECT_GT(imported.resumed_after, 500);
  // Each part of a chunk is a request or two.
  EXPECT_LT(client_.sent("BatchWriteItem") - before, 3'000 / 50 * 3 - 30);
}

TEST_F(SensorImport, StartsOverIfTheFileHasChanged) {
  write(1'000, "broken line\n");
  EXPECT_FALSE(import());
  EXPECT_EQ(checkpoints(), 1U);
  // The file was fixed after the stored position, so the import resumes.
  write(1'500);
  Imported imported = must(import());
  EXPECT_GT(imported.resumed_after, 100);
  EXPECT_EQ(imported.recorded.stored, 1'500);
  // The file was changed before the stored position, so the import starts over.
  write(1'000, "broken line\n");
  EXPECT_FALSE(import());
  std::ofstream(options_.file.path) << "sensor,at,value,unit\n" + line(1) + line(2);
  imported = must(import());
  EXPECT_EQ(imported.resumed_after, 0);
  EXPECT_EQ(imported.recorded.stored, 2);
  // It also starts over if `restart` is set.
  write(1'000, "broken line\n");
  EXPECT_FALSE(import());
  write(1'000);
  options_.restart = true;
  EXPECT_EQ(must(import()).resumed_after, 0);
}

TEST_F(SensorImport, KeepsTheLaterOfTwoReadingsOfOneTime) {
  std::string file = "sensor,at,value,unit\n";
  for (int i = 0; i < 2'000; ++i) {
    file += "s0,2024-01-01T00:00:" + std::to_string(10 + i % 7) + "Z," + std::to_string(i) + ",\n";
  }
  std::ofstream(options_.file.path) << file;
  must(import());
  std::map<Time, Number> values;
  for (const Reading& reading : must(sensors_.readings({"s0"})).items) {
    values[reading.at] = reading.value;
  }
  ASSERT_EQ(values.size(), 7U);
  for (const auto& [at, value] : values) {
    EXPECT_GE(value.to_int64().value(), 1'993);
  }
}

TEST_F(SensorImport, WaitsALimitedTimeForAThrottledOrUnreachableServer) {
  FakeTime time;
  options_.sensors.time = &time;
  write(500);
  for (const Code code : {Code::kThrottling, Code::kUnavailable, Code::kTransactionConflict}) {
    client_.first("BatchWriteItem", 40, refuse(code));
    EXPECT_EQ(must(import()).recorded.stored, 500) << code_name(code);
  }
  EXPECT_EQ(readings(), 500);
  client_.first("BatchWriteItem", 1'000'000, refuse(Code::kThrottling));
  const auto given_up = import();
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, Code::kThrottling);
  client_.before({});
  // The error of a reading is not retried.
  client_.first("BatchWriteItem", 1, refuse(Code::kValidation));
  EXPECT_EQ(import().error().code, Code::kValidation);
}

TEST_F(SensorImport, StopsOnRequestAndResumes) {
  write(2'000);
  std::stop_source stop;
  client_.before([&](std::string_view operation, int nth) {
    if (operation == "BatchWriteItem" && nth == 40) stop.request_stop();
    return pass();
  });
  const auto stopped = import(stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
  EXPECT_THAT(stopped.error().message, testing::HasSubstr("the same command resumes from there"));
  client_.before({});
  const Imported imported = must(import());
  EXPECT_GT(imported.resumed_after, 0);
  EXPECT_EQ(imported.recorded.stored, 2'000);
  EXPECT_EQ(readings(), 2'000);
}

TEST_F(SensorImport, RejectsInvalidReadingsWithTheirLine) {
  const auto refuses = [&](const std::string& text, const std::string& why) {
    std::ofstream(options_.file.path) << text;
    const auto imported = import();
    ASSERT_FALSE(imported) << text;
    EXPECT_THAT(imported.error().message, testing::HasSubstr(why));
  };
  const std::string header = "sensor,at,value,unit\n";
  refuses("", "line 1: the header line is missing");
  refuses("sensor,at,unit\n", "column 'value' is missing");
  refuses("at,value,unit\n", "column 'sensor' is missing");
  refuses(header + "s0,2024-01-01,NaN,mm\n", "line 2: ");
  refuses(header + "s0,2024-01-01,123456789012345678901234567890123456789,mm\n", "line 2: ");
  refuses(header + "s0,2024-01-01\n", "line 2: the line has fewer fields than the header");
  refuses(header + "s0,\"2024\n", "line 2: a quote does not end");
  refuses(header + "s0,yesterday,1,mm\n", "line 2: time: ");
  refuses(header + ",2024-01-01,1,mm\n", "id: must not be empty");
  refuses(header + "ghost,2024-01-01,1,mm\n", "no sensor ghost is registered");
  refuses(header + std::string(70'000, 'x') + "\n", "line 2: the line is longer than 64 KiB");
  EXPECT_EQ(readings(), 0);
}

TEST_F(SensorImport, AcceptsTheLongestLine) {
  const std::string line = "s0,2024-01-01,1,mm,";
  std::ofstream(options_.file.path) << "sensor,at,value,unit,note\n"
                                    << line << std::string((64 << 10) - line.size(), 'x') << "\n"
                                    << "s0,2024-01-02,2,mm," << std::string(60'000, 'y');
  EXPECT_TRUE(import());
  EXPECT_EQ(readings(), 2);
}

}  // namespace
}  // namespace stator::cli

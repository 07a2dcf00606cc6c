// SPDX-License-Identifier: Apache-2.0
// stator sensor: moving and decommissioning, roll-ups, and imports that are killed.
#include <fstream>

#include "cli/stator_program.h"
#include "stator/http_client.h"
#include "support/must.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class SensorCommand : public CommandTest {
 protected:
  Ran add(const std::string& id, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"sensor", "add",     id,  "--city", "Berlin", "--building",
                                      "B",      "--floor", "1", "--room", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return stator(std::move(words));
  }
  std::vector<std::string> move_to(const std::string& room) {
    return {"sensor", "move",    "s1", "--city", "Berlin", "--building",
            "B",      "--floor", "10", "--room", room};
  }
};
STATOR_ON_DATA_AND_ENDPOINT(SensorCommand);

TEST_P(SensorCommand, MovesAndDecommissions) {
  EXPECT_THAT(add("s1"), Prints("s1\tBerlin\tB\t1\t2\t\n"));
  EXPECT_THAT(stator(move_to("3")), Prints("s1\tBerlin\tB\t10\t3\t\n"));
  EXPECT_THAT(stator({"sensor", "at", "--city", "Berlin", "--building", "B", "--floor", "1"}),
              Prints(""));
  std::vector<std::string> old = move_to("4");
  old.insert(old.end(), {"--version", "1"});
  expect_failure(old, 1, "sensor s1 is of version 2, not 1");
  const Ran gone = stator({"sensor", "decommission", "s1", "--json"});
  EXPECT_EQ(gone.status, 0);
  EXPECT_THAT(gone.out, AllOf(HasSubstr("\"decommissioned_at\":\"20"), HasSubstr("\"version\":3")));
  EXPECT_THAT(stator({"sensor", "at", "--city", "Berlin"}), Prints(""));
  expect_failure({"sensor", "record", "s1", "1"}, 1, "no sensor s1 is registered");
  expect_failure(move_to("4"), 1, "was decommissioned at");
  expect_failure({"sensor", "decommission", "s2"}, 1, "no sensor s2 is registered");
}

TEST_P(SensorCommand, RollsUpAndSpreadsCities) {
  const std::vector<std::string> spread = {"--city-shards", "Berlin=4",        "--city-shards",
                                           "A=B=2",         "--location-keys", "attributes"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), spread.begin(), spread.end());
    return stator(std::move(words));
  };
  for (const char* id : {"s1", "s2", "s3", "s4"}) EXPECT_EQ(add(id, spread).status, 0);
  EXPECT_THAT(with({"sensor", "at", "--city", "Berlin"}), Prints("s1\ns2\ns3\ns4\n"));
  for (const char* minute : {"00", "20", "59"}) {
    EXPECT_EQ(with({"sensor", "record", "s1", minute, "--at",
                    "2024-01-01T10:" + std::string(minute) + ":00Z", "--unit", "mm"})
                  .status,
              0);
  }
  EXPECT_THAT(with({"sensor", "summarize", "s1"}), Prints("1 made, 1 changed\n"));
  EXPECT_THAT(with({"sensor", "summarize", "s1", "--json"}),
              Prints("{\"changed\":0,\"made\":1}\n"));
  EXPECT_THAT(
      with({"sensor", "summarize", "s1", "--by", "minute", "--from", "2024-01-01T10:20:30Z"}),
      Prints("2 made, 2 changed\n"));
  EXPECT_THAT(with({"sensor", "rollups", "s1"}),
              Prints("2024-01-01T10:00:00Z\t3\t26.333333333333332\t0\t59\tmm\n"));
  EXPECT_THAT(with({"sensor", "rollups", "s1", "--json"}),
              Prints("{\"count\":3,\"first\":0,\"from\":\"2024-01-01T10:00:00Z\",\"last\":59,"
                     "\"max\":59,\"mean\":26.333333333333332,\"min\":0,\"sum\":79,\"unit\":\"mm\"}"
                     "\n"));
  EXPECT_THAT(with({"sensor", "rollups", "s1", "--roll-up-retention", "60"}), Prints(""));
  for (const char* wrong : {"Berlin", "Berlin=", "Berlin=x", "=3"}) {
    expect_failure({"sensor", "at", "--city", "Berlin", "--city-shards", wrong}, 2,
                   "expected CITY=NUMBER");
  }
  expect_failure({"sensor", "at", "--city", "B", "--city-shards", "B=0"}, 2,
                 "city_shards: must be");
  expect_failure({"sensor", "summarize", "s1", "--by", "week"}, 2, "--by: week");
}

TEST_P(SensorCommand, StoresSettingsForAllWhoUseTheTable) {
  EXPECT_EQ(add("s1").status, 0);
  EXPECT_THAT(stator({"sensor", "settings"}), Prints("none\n"));
  EXPECT_THAT(stator({"sensor", "settings", "--retention", "3600", "--city-shards", "Berlin=4"}),
              Prints("retention=3600\tcity-shards Berlin=4\n"));
  EXPECT_THAT(stator({"sensor", "settings", "--json"}),
              Prints("{\"city_shards\":{\"Berlin\":4},\"retention_s\":3600}\n"));
  expect_failure({"sensor", "record", "s1", "1", "--retention", "60"}, 1,
                 "retention 60 s differs from the stored 3600 s");
  expect_failure({"sensor", "at", "--city", "Berlin", "--city-shards", "Berlin=2"}, 1,
                 "city_shards of Berlin 2 differs from the stored 4");
  EXPECT_THAT(stator({"sensor", "at", "--city", "Berlin"}), Prints("s1\n"));
}

TEST_P(SensorCommand, ImportsManySensorsAndRejectsInvalidReadings) {
  add("s1");
  add("s2");
  const std::string file =
      write("many.csv", "id,date,v,u\ns1,2024-01-01,1,mm\ns2,2024-01-01,2,\ns1,2024-01-02,3,cm\n");
  EXPECT_THAT(stator({"sensor", "import", file, "--value", "v", "--sensor-column", "id",
                      "--unit-column", "u", "--json"}),
              Prints("{\"duplicates\":0,\"stored\":3}\n"));
  EXPECT_THAT(stator({"sensor", "readings", "s1"}),
              Prints("2024-01-02T00:00:00Z\t3\tcm\n2024-01-01T00:00:00Z\t1\tmm\n"));
  EXPECT_THAT(stator({"sensor", "import", file, "--value", "v", "--sensor-column", "id",
                      "--retention", "60"}),
              Prints("0 stored, 0 duplicates, 3 expired\n"));
  expect_failure({"sensor", "import", file, "--value", "v"}, 2, "give the sensor and the file");
  expect_failure({"sensor", "import", "s1", file, "--value", "v", "--sensor-column", "id"}, 2,
                 "with --sensor-column only the file");
  const std::string bad = write("bad.csv", "date,v\n2024-01-01,NaN\n");
  expect_failure({"sensor", "import", "s1", bad, "--value", "v"}, 1, "bad.csv, line 2: ");
}

TEST_P(SensorCommand, RecordsReadingsByItsOptions) {
  add("s1");
  const auto record = [&](const char* id, const char* value, const std::string& flag,
                          const std::string& more = {}) {
    std::vector<std::string> words = {"sensor", "record", id,
                                      value,    "--at",   "2024-01-01T00:00:00Z"};
    for (const std::string& word : {flag, more}) {
      if (!word.empty()) words.push_back(word);
    }
    return words;
  };
  EXPECT_THAT(stator(record("s1", "1", "")), Prints("1 stored, 0 duplicates\n"));
  EXPECT_THAT(stator(record("s1", "2", "--duplicates", "keep-first")),
              Prints("0 stored, 1 duplicates\n"));
  expect_failure(record("s1", "2", "--duplicates", "refuse"), 1, "has another reading at");
  expect_failure(record("ghost", "1", ""), 1, "no sensor ghost is registered");
  EXPECT_THAT(stator(record("ghost", "1", "--unchecked")), Prints("1 stored, 0 duplicates\n"));
  EXPECT_THAT(stator({"sensor", "readings", "ghost", "--to", "2024-01-01T00:00:00Z"}), Prints(""));
  EXPECT_THAT(stator({"sensor", "readings", "s1", "--to", "2024-01-01T00:00:01Z"}),
              Prints("2024-01-01T00:00:00Z\t1\t\n"));
}

TEST_P(SensorCommand, ImportsFromTheStartIfRequested) {
  add("s1");
  const std::string file = where_.path("readings.csv");
  const auto write = [&](const char* last) {
    std::ofstream out(file);
    out << "when,v\n";
    for (int i = 0; i < 10'000; ++i) out << "2024-01-01T00:00:00." << 10'000 + i << ",1\n";
    out << "2024-01-02," << last << '\n';
  };
  std::vector<std::string> import = {"sensor",  "import", "s1",     file,
                                     "--value", "v",      "--time", "when"};
  for (const bool restart : {false, true}) {
    write("x");
    expect_failure(import, 1, "readings.csv, line 10002: ");
    write("3");
    if (restart) import.emplace_back("--restart");
    EXPECT_THAT(stator(import), Prints(restart ? "10001 stored, 0 duplicates\n"
                                               : "10001 stored, 0 duplicates; resumed after line "
                                                 "8001\n"));
  }
}

// Imports to a server, whose table contains the position of the import.
class KilledImport : public ::testing::Test {
 protected:
  static constexpr int kReadings = 150'000;

  KilledImport() {
    std::ofstream file(csv_);
    file << "date,v\n";
    for (int i = 0; i < kReadings; ++i) {
      file << "2024-01-01T" << two(i / 3600 % 24) << ':' << two(i / 60 % 60) << ':' << two(i % 60)
           << '.' << i / 86'400 + 1 << ',' << i << '\n';
    }
    file.close();
    EXPECT_EQ(run({"sensor", "add", "s1", "--city", "B", "--building", "B", "--floor", "1",
                   "--room", "2"})
                  .status,
              0);
  }
  static std::string two(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }
  std::vector<std::string> with_endpoint(std::vector<std::string> words) const {
    words.insert(words.end(), {"--endpoint", url_});
    return words;
  }
  Ran run(std::vector<std::string> words) const {
    return run_stator(with_endpoint(std::move(words)));
  }
  // Waits until an import has stored its position. Fails if the import ends first.
  void await_checkpoint(Process& import) const {
    HttpClient client = must(HttpClient::open({.endpoint = url_}));
    while (import.is_running()) {
      const auto found = must(client.query({.table = "Sensors",
                                            .key_condition = "pk = :imports",
                                            .values = Values{{":imports", "IMPORTS"}}}));
      if (!found.items.empty()) return;
    }
    ADD_FAILURE() << "the import has ended first";
  }
  int64_t stored() const {
    HttpClient client = must(HttpClient::open({.endpoint = url_}));
    QueryRequest request{.table = "Sensors",
                         .key_condition = "pk = :pk AND begins_with(sk, :read)",
                         .values = Values{{":pk", "SENSOR#s1"}, {":read", "READ#"}},
                         .select = Select::kCount};
    int64_t count = 0;
    for (;;) {
      PageResult page = must(client.query(request));
      count += page.count;
      if (!page.last_evaluated_key) return count;
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    }
  }

  TempDir directory_;
  std::string csv_ = (directory_.path() / "readings.csv").string();
  Serving server_{{"--memory"}};
  std::string url_ = server_.url();
  std::vector<std::string> import_ = {"sensor", "import", "s1", csv_, "--value", "v"};
};

TEST_F(KilledImport, IsFinishedByTheNext) {
  {
    Process import(stator_command(with_endpoint(import_)));
    await_checkpoint(import);
    import.send_signal(SIGKILL);
    EXPECT_EQ(import.wait(), -1);
  }
  const Ran ran = run(import_);
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, MatchesRegex("150000 stored, 0 duplicates; resumed after line [0-9]+\n"));
  EXPECT_EQ(stored(), kReadings);
}

TEST_F(KilledImport, ReportsWhereItStopped) {
  {
    Process import(stator_command(with_endpoint(import_)));
    await_checkpoint(import);
    import.send_signal(SIGTERM);
    EXPECT_EQ(import.wait(), 1);
    EXPECT_EQ(import.out(), "");
    EXPECT_THAT(import.err(), MatchesRegex("stator: stopped after line [0-9]+ of [^\n]*; the same "
                                           "command resumes from there\n"));
  }
  EXPECT_THAT(run(import_).out, HasSubstr("150000 stored, 0 duplicates; resumed after line"));
  EXPECT_EQ(stored(), kReadings);
}

}  // namespace
}  // namespace stator::test

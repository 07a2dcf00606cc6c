// SPDX-License-Identifier: Apache-2.0
// stator toggle, feed and sensor: text and JSON output, and failures.
#include <filesystem>
#include <fstream>

#include "cli/stator_program.h"
#include "support/paths.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class RecipeCommands : public CommandTest {
 protected:
};
STATOR_ON_DATA_AND_ENDPOINT(RecipeCommands);

TEST_P(RecipeCommands, ToggleSavesEventsAndPrintsStates) {
  const auto save = [&](const char* state, const char* at, const char* event) {
    return stator({"toggle", "save", "door", state, "--at", at, "--event", event});
  };
  EXPECT_THAT(save("on", "2024-01-02T00:00:00Z", "e2"), Prints("newest\n"));
  EXPECT_THAT(save("off", "2024-01-01T00:00:00Z", "e1"), Prints("late\n"));
  EXPECT_THAT(save("off", "2024-01-01T00:00:00Z", "e1"), Prints("duplicate\n"));
  EXPECT_THAT(stator({"toggle", "save", "door", "1.50", "--at", "2024-01-03T00:00:00.5Z", "--event",
                      "e3", "--json"}),
              Prints("{\"saved\":\"newest\"}\n"));
  EXPECT_THAT(stator({"toggle", "latest", "door"}), Prints("1.5\t2024-01-03T00:00:00.5Z\te3\n"));
  EXPECT_THAT(stator({"toggle", "as-of", "door", "2024-01-02T12:00:00Z", "--json"}),
              Prints("{\"at\":\"2024-01-02T00:00:00Z\",\"event\":\"e2\",\"state\":true}\n"));
}

TEST_P(RecipeCommands, TogglePagesThroughItsHistory) {
  for (const char* day : {"1", "2", "3"}) {
    stator({"toggle", "save", "door", day, "--at", "2024-01-0" + std::string(day) + "T00:00:00Z",
            "--event", day});
  }
  const Ran first = stator({"toggle", "history", "door", "--limit", "2", "--json"});
  EXPECT_EQ(first.status, 0);
  EXPECT_THAT(first.out,
              MatchesRegex("\\{\"at\":\"2024-01-03T00:00:00Z\",\"event\":\"3\",\"state\":"
                           "3\\}\n\\{\"at\":\"2024-01-02T00:00:00Z\",\"event\":\"2\","
                           "\"state\":2\\}\n\\{\"next\":\"[^\"]+\"\\}\n"));
  const std::string next = first.out.substr(first.out.find("\"next\":\"") + 8);
  EXPECT_THAT(stator({"toggle", "history", "door", "--cursor", next.substr(0, next.find('"'))}),
              Prints("1\t2024-01-01T00:00:00Z\t1\n"));
  expect_failure({"toggle", "history", "door", "--cursor", "rubbish"}, 1, "cursor: damaged");
}

TEST_P(RecipeCommands, GatedToggleDiscardsLateEvents) {
  const auto save = [&](const char* day, const char* event) {
    return stator({"toggle", "save", "door", "on", "--gated", "--at",
                   std::string("2024-01-0") + day + "T00:00:00Z", "--event", event});
  };
  EXPECT_THAT(save("2", "e2"), Prints("newest\n"));
  EXPECT_THAT(save("1", "e1"), Prints("late\n"));
  EXPECT_THAT(save("3", "e3"), Prints("newest\n"));
  EXPECT_THAT(stator({"toggle", "history", "door", "--gated", "--to", "2024-01-03T00:00:00Z"}),
              Prints("on\t2024-01-02T00:00:00Z\te2\n"));
  EXPECT_THAT(stator({"toggle", "history", "door", "--gated", "--from", "2024-01-03T00:00:00Z"}),
              Prints("on\t2024-01-03T00:00:00Z\te3\n"));
}

TEST_P(RecipeCommands, ToggleReportsErrors) {
  stator({"toggle", "save", "window", "on"});
  expect_failure({"toggle", "latest", "door"}, 1, "the toggle has no event");
  expect_failure({"toggle", "save", "door"}, 2, "state is required (see stator toggle save --help");
  expect_failure({"toggle", "save", "", "on"}, 2, "id: must not be empty");
  expect_failure({"toggle", "as-of", "door", "yesterday"}, 2, "time: not RFC 3339");
  expect_failure({"toggle", "history", "door", "--limit", "0"}, 2, "limit: is 0");
  expect_failure({"toggle", "history", "door", "--limit", "x"}, 2, "--limit = x");
  expect_failure({"toggle", "latest", "door", "--table", "bad name"}, 1, "'bad name'");
  expect_failure({"toggle", "save", "door", "on", "--table", "Other", "--no-create-table"}, 1,
                 "table 'Other' does not exist");
}

TEST_P(RecipeCommands, CreateTablesOnlyToWrite) {
  for (const std::vector<std::string>& reads : {std::vector<std::string>{"toggle", "latest", "t"},
                                                {"toggle", "as-of", "t", "2024-01-01T00:00:00Z"},
                                                {"toggle", "history", "t"},
                                                {"lock", "show", "l"},
                                                {"lock", "ls"},
                                                {"feed", "read", "u"},
                                                {"feed", "followers", "u"},
                                                {"sensor", "get", "s"},
                                                {"sensor", "latest", "s"},
                                                {"sensor", "readings", "s"},
                                                {"sensor", "at", "--city", "c"},
                                                {"sensor", "rollups", "s"},
                                                {"sensor", "settings"}}) {
    expect_failure(reads, 1, "' does not exist");
  }
  EXPECT_FALSE(std::filesystem::exists(where_.path("data")));
}

TEST_P(RecipeCommands, FeedDeliversPostsToFollowers) {
  EXPECT_THAT(stator({"feed", "follow", "bob", "ann"}), Prints("follows\n"));
  EXPECT_THAT(stator({"feed", "followers", "ann", "--json"}), Prints("{\"user\":\"bob\"}\n"));
  constexpr const char* kId = "018cc251-f400-7000-8000-000000000001";
  EXPECT_THAT(stator({"feed", "post", "ann", "two\nlines \"\x1b[31m\"", "--id", kId}),
              Prints(std::string(kId) + "\n"));
  EXPECT_THAT(stator({"feed", "deliver", "--json"}),
              Prints("{\"batches\":1,\"copies\":1,\"posts\":1}\n"));
  const Ran read = stator({"feed", "read", "bob", "--json"});
  EXPECT_EQ(read.status, 0);
  EXPECT_THAT(read.out,
              AllOf(HasSubstr("\"author\":\"ann\""),
                    HasSubstr("\"content\":\"two\\nlines \\\"\\u001b[31m\\\"\""),
                    HasSubstr("\"id\":\"" + std::string(kId) + "\""), MatchesRegex("[^\n]+\n")));
  // In text output, a post is one line, without control characters.
  EXPECT_THAT(stator({"feed", "read", "bob"}).out,
              MatchesRegex(std::string(kId) + "\t2024-[^\t]+\tann\ttwo lines \" \\[31m\"\n"));
  EXPECT_THAT(stator({"feed", "retract", "ann", kId, "--json"}),
              Prints("{\"done\":\"retracted\"}\n"));
  EXPECT_EQ(stator({"feed", "deliver"}).status, 0);
  EXPECT_THAT(stator({"feed", "read", "bob"}), Prints(""));
  EXPECT_THAT(stator({"feed", "unfollow", "bob", "ann"}), Prints("does not follow\n"));
  expect_failure({"feed", "follow", "bob", "bob"}, 2, "author: is the user");
  expect_failure({"feed", "retract", "ann", "rubbish"}, 2, "post id: is not a version 7 UUID");
}

TEST_P(RecipeCommands, FeedWorkerRunsUntilStopped) {
  stator({"feed", "follow", "bob", "ann"});
  stator({"feed", "post", "ann", "hello"});
  std::vector<std::string> arguments = {"feed", "worker", "--json"};
  for (const std::string& flag : where_.flags()) arguments.push_back(flag);
  Process worker(stator_command(std::move(arguments)));
  worker.send_signal(SIGTERM);
  // If the signal arrives before the worker handles it, it ends the worker without output.
  const int status = worker.wait();
  if (status == 0) {
    EXPECT_THAT(worker.out(),
                MatchesRegex("\\{\"batches\":[01],\"copies\":[01],\"posts\":[01]\\}\n"));
  } else {
    EXPECT_EQ(status, -1);
  }
}

TEST_P(RecipeCommands, SensorsAreRegisteredAndFoundByPlace) {
  const std::string sensor =
      "{\"building\":\"B\",\"city\":\"Berlin\",\"floor\":\"1\",\"id\":\"s1\",\"room\":\"2\","
      "\"type\":\"rain\",\"version\":1}\n";
  std::vector<std::string> add = {"sensor",     "add",    "s1",      "--city", "Berlin",
                                  "--building", "B",      "--floor", "1",      "--room",
                                  "2",          "--type", "rain",    "--json"};
  EXPECT_THAT(stator(add), Prints(sensor));
  EXPECT_EQ(stator(add).err,
            "{\"error\":\"AlreadyExists\",\"message\":\"sensor s1 is already registered\","
            "\"retryable\":false}\n");
  add.pop_back();
  expect_failure(add, 1, "sensor s1 is already registered");
  EXPECT_THAT(stator({"sensor", "get", "s1"}), Prints("s1\tBerlin\tB\t1\t2\train\n"));
  EXPECT_THAT(stator({"sensor", "at", "--city", "Berlin", "--building", "B", "--json"}),
              Prints("{\"id\":\"s1\"}\n"));
  EXPECT_THAT(stator({"sensor", "record", "s1", "1.50", "--at", "2024-01-01T00:00:00Z", "--unit",
                      "mm", "--json"}),
              Prints("{\"duplicates\":0,\"stored\":1}\n"));
  EXPECT_THAT(stator({"sensor", "latest", "s1", "--json"}),
              Prints(sensor + "{\"at\":\"2024-01-01T00:00:00Z\",\"unit\":\"mm\",\"value\":1.5}\n"));
  expect_failure({"sensor", "get", "s2"}, 1, "no sensor s2 is registered");
  expect_failure({"sensor", "record", "s2", "1"}, 1, "no sensor s2 is registered");
  expect_failure({"sensor", "record", "s1", "abc"}, 2, "value: ");
  expect_failure({"sensor", "at", "--city", "Berlin", "--room", "2"}, 2, "building: must be given");
  expect_failure({"sensor", "get", "s1", "--layout", "other"}, 2, "--layout: other");
}

TEST_P(RecipeCommands, SensorsImportFilesAgainAndAgain) {
  stator({"sensor", "add", "s1", "--city", "B", "--building", "B", "--floor", "1", "--room", "2"});
  const std::string good =
      write("good.csv", "date,\"rain, mm\"\n2024-01-01,1\n2024-01-02T06:00:00Z,2.5\n");
  const std::vector<std::string> import = {"sensor", "import", "s1", good, "--value", "rain, mm"};
  EXPECT_THAT(stator(import), Prints("2 stored, 0 duplicates\n"));
  EXPECT_EQ(stator(import).status, 0);
  EXPECT_THAT(stator({"sensor", "readings", "s1"}),
              Prints("2024-01-02T06:00:00Z\t2.5\t\n2024-01-01T00:00:00Z\t1\t\n"));
  const std::string bad = write("bad.csv", "date,v\n2024-01-01,1\n2024-01-02,x\n");
  const std::string missing = where_.path("missing.csv");
  expect_failure({"sensor", "import", "s1", bad, "--value", "v"}, 1, "bad.csv, line 3: ");
  expect_failure({"sensor", "import", "s1", bad, "--value", "w"}, 1, "column 'w' is missing");
  expect_failure({"sensor", "import", "s1", missing, "--value", "v"}, 1, "No such file");
  expect_failure({"sensor", "import", "s1", where_.path(""), "--value", "v"}, 1, "Is a directory");
}

TEST(RecipeCommand, FindsTheServerInTheEnvironment) {
  const Serving server({"--memory"});
  const std::string url = server.url();
  const TempDir temporary;
  const std::string config = (temporary.path() / "config").string();
  std::ofstream(config) << "[profile lab]\nendpoint_url = " << url << '\n';
  int day = 1;
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"AWS_ENDPOINT_URL_DYNAMODB=" + url, "AWS_ENDPOINT_URL=http://x"},
        {"AWS_ENDPOINT_URL=" + url},
        {"AWS_CONFIG_FILE=" + config, "AWS_PROFILE=lab"}}) {
    std::vector<std::string> command = {"env"};
    command.insert(command.end(), settings.begin(), settings.end());
    command.insert(command.end(), {stator_binary(), "toggle", "save", "door", "on", "--at",
                                   "2024-01-0" + std::to_string(day++) + "T00:00:00Z"});
    EXPECT_THAT(run(command), Prints("newest\n"));
  }
}

TEST(RecipeCommand, ReportsInvalidEndpoints) {
  expect_refusal({"toggle", "latest", "door", "--data", "d", "--endpoint", "http://x"}, 2,
                 "--data excludes --endpoint");
  expect_refusal({"toggle", "latest", "door", "--data", ""}, 2, "--data: the name is empty");
  expect_refusal({"toggle", "latest", "door", "--endpoint", "nonsense"}, 2,
                 "'nonsense' is not an http or https URL");
  for (const char* command : {"toggle", "lock", "feed", "sensor"}) {
    expect_refusal({command}, 2, "A subcommand is required (see stator " + std::string(command));
    expect_refusal({command, "frobnicate"}, 2,
                   "unknown command 'stator " + std::string(command) + " frobnicate' (see");
  }
}

// One for each recipe.
const std::vector<std::vector<std::string>> kReads = {{"toggle", "latest", "door"},
                                                      {"lock", "show", "n"},
                                                      {"feed", "read", "bob"},
                                                      {"sensor", "get", "s1"}};

TEST(RecipeCommand, ReportsThatNoServerResponds) {
  const std::string endpoint =
      "http://127.0.0.1:1";  // a fixed port, because another test can use any free one
  for (std::vector<std::string> arguments : kReads) {
    arguments.insert(arguments.end(), {"--endpoint", endpoint});
    const Ran ran = run_stator(arguments);
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err, "stator: no response from " + endpoint +
                           ": Couldn't connect to server; is the server running?\n");
  }
}

TEST(RecipeCommand, NamesADirectoryThatItCannotUse) {
  const TempDir temporary;
  const std::string data = (temporary.path() / "data").string();
  {
    const Serving server({"--data", data});
    expect_refusal({"toggle", "latest", "door", "--data", data}, 1,
                   "'" + data + "' is in use by another process; stop that one or choose another");
  }
  int damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (!entry.path().filename().string().starts_with("MANIFEST")) continue;
    std::ofstream(entry.path(), std::ios::trunc) << "damage";
    ++damaged;
  }
  ASSERT_GT(damaged, 0);
  for (std::vector<std::string> arguments : kReads) {
    arguments.insert(arguments.end(), {"--data", data});
    expect_refusal(arguments, 1, "'" + data + "' is damaged");
  }
  const std::string file = (temporary.path() / "file").string();
  std::ofstream(file) << "text";
  expect_refusal({"toggle", "latest", "door", "--data", file}, 1,
                 "'" + file + "' is not a directory");
}

TEST(RecipeCommand, FailsIfItsOutputCannotBeWritten) {
  const TempDir temporary;
  const std::string data = (temporary.path() / "data").string();
  Process process({"sh", "-c", "exec \"$0\" toggle save n on --data \"$1\" > /dev/full",
                   stator_binary(), data});
  EXPECT_EQ(process.wait(), 1);
  EXPECT_THAT(process.err(), HasSubstr("could not write to standard output"));
}

}  // namespace
}  // namespace stator::test

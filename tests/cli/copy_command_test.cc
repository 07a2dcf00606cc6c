// SPDX-License-Identifier: Apache-2.0
// stator copy: between directories and servers, even if a run is killed.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "cli/stator_program.h"
#include "cli/terminal.h"
#include "stator/database.h"
#include "support/must.h"
#include "support/read_file.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

class CopyCommand : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  // Creates a table "Many" with items of about 100 bytes.
  void fill(const std::string& data, int items) const {
    std::string lines = "pk,text\n";
    for (int i = 0; i < items; ++i) {
      lines += "k" + std::to_string(i) + "," + std::string(80, 'x') + "\n";
    }
    const std::string source = write("items.csv", lines);
    ASSERT_EQ(run_stator({"import", "Many", source, "--key", "pk:S", "--data", data}).status, 0);
  }
  static void expect_failure(const Ran& ran, int status, const std::string& reason) {
    EXPECT_EQ(ran.status, status) << reason;
    EXPECT_THAT(ran.err, AllOf(MatchesRegex("stator: [^\n]*\n"), HasSubstr(reason)));
  }

 private:
  TempDir directory_;
};

// Values that a copy could change in digits, order, type, length or depth.
std::vector<Item> awkward_items() {
  std::vector<Item> items;
  const auto add = [&](AttributeValue value) {
    const auto number = static_cast<int64_t>(items.size());
    items.push_back(
        {{"pk", Binary{std::string("\0\xff", 2)}}, {"sk", number}, {"v", std::move(value)}});
  };
  for (const char* number :
       {"12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001",
        "9.9999999999999999999999999999999999999e125", "-1e-130", "0", "1e2"}) {
    add(must(Number::parse(number)));
  }
  add("");
  add(Binary{});
  add(Binary{std::string("\0\x80\xff\n", 4)});
  add("\x01\"\\/\xe2\x82\xac \xf0\x9f\x98\x80");
  add(StringSet({"b", "", "a"}));
  add(NumberSet(
      {must(Number::parse("10")), must(Number::parse("9.5")), must(Number::parse("-1"))}));
  add(BinarySet({Binary{"b"}, Binary{""}, Binary{"a"}}));
  add(List{List(), Map(), Null(), true, false});
  AttributeValue nested = "deepest";
  for (int level = 0; level < 31; ++level) {
    nested = level % 2 == 0 ? AttributeValue(List{nested}) : AttributeValue(Map{{"m", nested}});
  }
  add(nested);
  add(std::string(409'000, 'x'));
  return items;
}

// The description of a table, without members that differ for each table.
std::string described(const std::string& data) {
  const Ran ran = run_stator({"describe", "All", "--data", data, "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  static const std::regex own(
      R"("CreationDateTime":[0-9.]+|"TableId":"[^"]*"|[0-9]{4}-[0-9-]+T[0-9:.]+)");
  return std::regex_replace(ran.out, own, "");
}

TEST_F(CopyCommand, FromADirectoryToAServerAndBackIsIdentical) {
  {
    Database source = must(Database::open({.path = path("source")}));
    must(source.create_table(
        {.table = "All",
         .attributes = {{"pk", ScalarType::kB}, {"sk", ScalarType::kN}, {"x", ScalarType::kS}},
         .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
         .local_indexes = {{{.name = "Local",
                             .key_schema = {{"pk", KeyType::kHash}, {"x", KeyType::kRange}},
                             .projection = {.type = ProjectionType::kKeysOnly}}}},
         .global_indexes = {{{.name = "Global",
                              .key_schema = {{"x", KeyType::kHash}},
                              .projection = {.type = ProjectionType::kInclude,
                                             .non_key_attributes = {"v"}},
                              .throughput = Throughput{3, 4}}}},
         .throughput = Throughput{5, 6},
         .table_class = TableClass::kStandardInfrequentAccess,
         .deletion_protection = true,
         .tags = {{"team", "blue"}},
         .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewImage}}));
    for (const Item& item : awkward_items()) must(source.put_item({.table = "All", .item = item}));
    must(source.create_table({.table = "Empty",
                              .attributes = {{"pk", ScalarType::kS}},
                              .key_schema = {{"pk", KeyType::kHash}},
                              .billing_mode = BillingMode::kPayPerRequest}));
  }
  const std::string outcome =
      "All\tequal\t" + std::to_string(awkward_items().size()) + " items\nEmpty\tequal\t0 items\n";
  const std::string note =
      "stator: note: All: not copied: stream: its records; the target's stream has another ARN and "
      "starts empty\n";
  {
    const Serving serving({"--memory"});
    const Ran there = run_stator({"copy", path("source"), serving.url()});
    EXPECT_EQ(there.status, 0);
    EXPECT_EQ(there.out, outcome);
    EXPECT_EQ(there.err, note);
    const Ran back = run_stator({"copy", serving.url(), path("back")});
    EXPECT_EQ(back.status, 0);
    EXPECT_EQ(back.out, outcome);
    EXPECT_EQ(back.err, note);
  }
  EXPECT_THAT(run_stator({"copy", path("source"), path("back"), "--verify"}), Prints(outcome));
  EXPECT_EQ(described(path("back")), described(path("source")));
  Database back = must(Database::open({.path = path("back")}));
  for (const Item& item : awkward_items()) {
    const auto found = must(
        back.get_item({.table = "All", .key = {{"pk", item.at("pk")}, {"sk", item.at("sk")}}}));
    ASSERT_TRUE(found.item);
    EXPECT_EQ(*found.item, item) << to_debug_string(item).substr(0, 200);
  }
}

TEST_F(CopyCommand, AKilledCopyResumesFromItsCheckpoint) {
  fill(path("source"), 8'000);
  const std::string checkpoint = path("position");
  const std::vector<std::string> command = {
      "copy", path("source"), path("target"), "--checkpoint", checkpoint, "--segments",
      "1",    "--json"};
  const auto has_position = [&] {
    return read_file(checkpoint).find(R"("after":"{)") != std::string::npos;
  };
  {
    std::vector<std::string> slowly = command;
    slowly.insert(slowly.end(), {"--rate", "2000"});
    Process killed(stator_command(slowly));
    while (!has_position() && killed.is_running()) std::this_thread::yield();
    killed.send_signal(SIGKILL);
    ASSERT_EQ(killed.wait(), -1);
  }
  // Other commands do not write to the unfinished table, and other copies cannot use this
  // checkpoint.
  expect_failure(run_stator({"copy", path("source"), path("target")}), 1, "--resume");
  expect_failure(run_stator({"copy", path("source"), path("other"), "--checkpoint", checkpoint}), 2,
                 "is not a checkpoint of this copy");
  // The first item is before the position. If it is lost, only the comparison can find out.
  const Ran first = run_stator({"scan", "Many", "--data", path("source"), "--limit", "1"});
  const std::string key =
      first.out.substr(first.out.find("\"k") + 1,
                       first.out.find('"', first.out.find("\"k") + 1) - first.out.find("\"k") - 1);
  ASSERT_EQ(run_stator({"delete", "Many", key, "--data", path("target")}).status, 0);
  Ran resumed = run_stator(command);
  EXPECT_EQ(resumed.status, 1);
  EXPECT_EQ(resumed.out,
            R"({"difference":"missing","key":{"pk":{"S":")" + key +
                R"("}},"table":"Many"})"
                "\n"
                R"({"differences":1,"expired":0,"items":8000,"not_copied":[],"outcome":"differs",)"
                R"("table":"Many","target":"Many"})"
                "\n");
  EXPECT_THAT(resumed.err, HasSubstr("1 of 1 tables differ"));
  EXPECT_FALSE(fs::exists(checkpoint));
  resumed = run_stator({"copy", path("source"), path("target"), "--resume"});
  EXPECT_THAT(resumed, Prints("Many\tequal\t8000 items\n"));
}

TEST_F(CopyCommand, VerifyNamesEachDifference) {
  fill(path("source"), 300);
  ASSERT_EQ(run_stator({"copy", path("source"), path("target")}).status, 0);
  const std::string target = path("target");
  ASSERT_EQ(run_stator({"put", "Many", R"({"pk":"k7","text":"y"})", "--data", target}).status, 0);
  ASSERT_EQ(run_stator({"put", "Many", R"({"pk":"new"})", "--data", target}).status, 0);
  ASSERT_EQ(run_stator({"delete", "Many", "k8", "--data", target}).status, 0);
  const Ran ran = run_stator({"copy", path("source"), target, "--verify"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Many\tchanged\t{\"pk\":{\"S\":\"k7\"}}\n"),
                             HasSubstr("Many\textra\t{\"pk\":{\"S\":\"new\"}}\n"),
                             HasSubstr("Many\tmissing\t{\"pk\":{\"S\":\"k8\"}}\n"),
                             HasSubstr("Many\tdiffers\t300 items, 3 differences\n")));
  EXPECT_EQ(ran.err,
            "stator: 1 of 1 tables differ; if nothing else writes to them, --resume copies their "
            "items again\n");
}

TEST_F(CopyCommand, CopiesTheChosenTablesUnderOtherNames) {
  const Serving serving({"--memory"});
  for (const char* table : {"Blue", "BlueToo", "Red"}) {
    ASSERT_EQ(run_stator({"import", table, write("one.json", R"({"Item":{"pk":{"S":"a"}}})"),
                          "--key", "pk:S", "--endpoint", serving.url()})
                  .status,
              0);
  }
  EXPECT_THAT(
      run_stator({"copy", serving.url(), serving.url(), "Blue*", "BlueToo", "--prefix", "New-"}),
      Prints("Blue\tequal\t1 items\nBlueToo\tequal\t1 items\n"));
  EXPECT_THAT(run_stator({"tables", "--endpoint", serving.url()}),
              Prints("Blue\nBlueToo\nNew-Blue\nNew-BlueToo\nRed\n"));
  expect_failure(run_stator({"copy", serving.url(), path("target"), "Green"}), 1,
                 "source: no table matches 'Green'");
  EXPECT_FALSE(fs::exists(path("target")));
  EXPECT_THAT(run_stator({"copy", serving.url(), path("target"), "Red", "--no-verify"}),
              Prints("Red\tcopied\t1 items\n"));
}

TEST_F(CopyCommand, ADryRunChangesNothing) {
  fill(path("source"), 30);
  const std::vector<std::string> dry_run = {"copy", path("source"), path("target"), "--dry-run"};
  EXPECT_THAT(run_stator(dry_run), Prints("Many\tcreate\t30 items\n"));
  EXPECT_FALSE(fs::exists(path("target")));
  ASSERT_EQ(run_stator({"copy", path("source"), path("target")}).status, 0);
  expect_failure(run_stator(dry_run), 1, "table 'Many' has items");
  std::vector<std::string> resume = dry_run;
  resume.emplace_back("--resume");
  EXPECT_THAT(run_stator(resume), Prints("Many\tresume\t30 items\n"));
}

TEST_F(CopyCommand, ShowsOnATerminalHowFarItIs) {
  fill(path("source"), 1'500);
  EXPECT_THAT(
      Terminal(stator_command(
                   {"copy", path("source"), path("target"), "--rate", "3000", "--segments", "2"}))
          .rest(),
      AllOf(ContainsRegex("copy Many: [0-9]+%"), ContainsRegex("verify source Many: [0-9]+%"),
            HasSubstr("Many\tequal\t1500 items")));
}

TEST_F(CopyCommand, RejectsUnsuitableSourcesAndTargets) {
  fill(path("source"), 30);
  const std::string source = path("source");
  const auto copy = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "copy");
    return run_stator(std::move(arguments));
  };
  expect_failure(copy({source, source + "/../source/"}), 2, "are the same");
  expect_failure(copy({path("nowhere"), path("target")}), 1, "source: data directory '");
  expect_failure(copy({source, path("nowhere"), "--verify"}), 1, "target: data directory '");
  EXPECT_FALSE(fs::exists(path("target")));
  EXPECT_FALSE(fs::exists(path("nowhere")));
  const Ran other = copy({source, "mysql://user:secret@host/name"});
  expect_failure(other, 2, "unknown URL 'mysql://…'");
  EXPECT_THAT(other.err, Not(HasSubstr("secret")));
  expect_failure(copy({source, "http://127.0.0.1:1"}), 1, "target: no response from");
  expect_failure(copy({"http://127.0.0.1:1", path("target")}), 1, "source: no response from");
  expect_failure(copy({source, path("target"), "--segments", "65"}), 2, "--segments");
  expect_failure(copy({source, path("target"), "--rate", "0"}), 2, "--rate");
  expect_failure(copy({source, path("target"), "--checkpoint", write("other", "{}")}), 2,
                 "is not a checkpoint of this copy");
  // A table with the same name but other keys.
  ASSERT_EQ(run_stator({"import", "Many", write("none.json", ""), "--key", "other:S", "--data",
                        path("target")})
                .status,
            0);
  expect_failure(copy({source, path("target")}), 1, "it has another key schema");
  expect_failure(copy({source, path("target"), "--verify"}), 1, "has another key schema");
  // Two names of the same server.
  const Serving serving({"--memory"});
  const std::string port = std::to_string(serving.port());
  expect_failure(copy({serving.url(), serving.url() + "/"}), 2, "are the same");
  expect_failure(copy({serving.url(), path("target")}), 1, "there are no tables");
  ASSERT_EQ(copy({source, serving.url()}).status, 0);
  expect_failure(copy({"http://localhost:" + port, serving.url(), "--resume"}), 2,
                 "table 'Many' is the same at the source and the target");
}

TEST_F(CopyCommand, SignsEachSideWithItsProfile) {
  fill(path("source"), 5);
  const std::string keys = write("credentials",
                                 "[good]\naws_access_key_id = one\naws_secret_access_key = right\n"
                                 "[bad]\naws_access_key_id = one\naws_secret_access_key = wrong\n");
  fs::permissions(keys, fs::perms::owner_read | fs::perms::owner_write);
  const std::string accepted =
      write("accepted", "[one]\naws_access_key_id = one\naws_secret_access_key = right\n");
  fs::permissions(accepted, fs::perms::owner_read | fs::perms::owner_write);
  const Serving serving({"--memory", "--credentials", accepted});
  const auto copy = [&](const std::string& profile) {
    std::vector<std::string> command =
        stator_command({"copy", path("source"), serving.url(), "--to-profile", profile});
    // These variables must not override the profile.
    command.insert(command.begin(), {"env", "AWS_SHARED_CREDENTIALS_FILE=" + keys,
                                     "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=y"});
    return run(command);
  };
  const Ran refused = copy("bad");
  expect_failure(refused, 1, "target: ");
  EXPECT_THAT(refused.err, HasSubstr("signature"));
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_THAT(copy("good"), Prints("Many\tequal\t5 items\n"));
}

}  // namespace
}  // namespace stator::test

// SPDX-License-Identifier: Apache-2.0
// stator tables, describe, get, put, delete, query, scan and sql.
#include <fstream>

#include "cli/stator_program.h"
#include "cli/terminal.h"
#include "client/scripted_service.h"
#include "support/paths.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class DataCommands : public CommandTest {
 protected:
  void SetUp() override {
    const std::string path = write("template.yml", R"(Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: Orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: who, AttributeType: S}
        - {AttributeName: nr, AttributeType: N}
        - {AttributeName: city, AttributeType: S}
      KeySchema:
        - {AttributeName: who, KeyType: HASH}
        - {AttributeName: nr, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: by-city
          KeySchema: [{AttributeName: city, KeyType: HASH}]
          Projection: {ProjectionType: KEYS_ONLY}
)");
    ASSERT_EQ(stator({"apply", path}).status, 0);
    for (const char* item : {R"({"who":"ann","nr":1,"city":"Bonn","price":12.5})",
                             R"({"who":"ann","nr":2,"price":3,"tags":["a",{"b":null}]})",
                             R"({"who":"ann","nr":12345678901234567890123456789012345678})",
                             R"({"who":"bob","nr":1,"city":"Bonn"})"}) {
      ASSERT_THAT(stator({"put", "Orders", item}), Prints(""));
    }
  }
  Ran shell(const std::string& input) const {
    std::vector<std::string> command = {"sh", "-c", "printf %s \"$1\" | \"$0\" shell $2 $3",
                                        stator_binary(), input};
    for (const std::string& flag : where_.flags()) command.push_back(flag);
    return run(command);
  }
};
STATOR_ON_DATA_AND_ENDPOINT(DataCommands);

TEST_P(DataCommands, MeasureABackendAndLeaveNothingInIt) {
  const auto bench = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"bench", "--clients=2"};
    arguments.insert(arguments.end(), {"--items=200", "--item-bytes=10", "--time=100ms"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return stator(arguments);
  };
  const Ran all = bench({"--json"});
  EXPECT_EQ(all.status, 0) << all.err;
  for (const char* operation : {"put", "get", "update", "query"}) {
    EXPECT_THAT(all.out,
                HasSubstr("{\"operation\":\"" + std::string(operation) + "\",\"requests\":"));
  }
  EXPECT_THAT(all.out, Not(HasSubstr("\"requests\":0,")));
  const Ran text = bench({"--operations", "get,query"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("2 clients, 200 items of 10 bytes, 100ms for each"),
                              HasSubstr("\nget "), HasSubstr("\nquery "), Not(HasSubstr("put"))));
  EXPECT_EQ(bench({"--operations", "scan"}).status, 2);
  std::vector<std::string> tables = {"tables"};
  for (const std::string& flag : where_.flags()) tables.push_back(flag);
  EXPECT_THAT(run_stator(tables), Prints("Orders\n"));
}

TEST_P(DataCommands, ListAndDescribeTables) {
  std::vector<std::string> tables = {"tables"};
  for (const std::string& flag : where_.flags()) tables.push_back(flag);
  EXPECT_THAT(run_stator(tables), Prints("Orders\n"));
  tables.emplace_back("--json");
  EXPECT_THAT(run_stator(tables), Prints("{\"table\":\"Orders\"}\n"));
  EXPECT_THAT(stator({"describe", "Orders"}).out,
              MatchesRegex("table +Orders\nstatus +ACTIVE\nkey +who \\(S\\), nr \\(N\\)\nitems .*"
                           "\nbilling +on demand\nglobal index  by-city: city \\(S\\); keys "
                           "only;[^\n]*ACTIVE\ncreated +20[^\n]*Z\nARN +arn:aws:[^\n]*\n"));
  EXPECT_THAT(stator({"describe", "Orders", "--json"}).out,
              AllOf(HasSubstr("\"TableName\":\"Orders\""), HasSubstr("\"KeySchema\":[")));
  expect_failure({"describe", "Other"}, 1, "Requested resource not found");
}

TEST_P(DataCommands, GetAnItem) {
  EXPECT_THAT(stator({"get", "Orders", "ann", "1"}),
              Prints("{\"city\":\"Bonn\",\"nr\":1,\"price\":12.5,\"who\":\"ann\"}\n"));
  EXPECT_THAT(stator({"get", "Orders", "ann", "12345678901234567890123456789012345678", "--project",
                      "nr", "--consistent"}),
              Prints("{\"nr\":12345678901234567890123456789012345678}\n"));
  EXPECT_THAT(
      stator({"get", "Orders", "ann", "2", "--output", "dynamodb"}),
      Prints("{\"nr\":{\"N\":\"2\"},\"price\":{\"N\":\"3\"},\"tags\":{\"L\":[{\"S\":\"a\"},{\"M\":"
             "{\"b\":{\"NULL\":true}}}]},\"who\":{\"S\":\"ann\"}}\n"));
  expect_failure({"get", "Orders", "ann", "3"}, 1, "the item does not exist");
  expect_failure({"get", "Orders", "ann"}, 2, "is who (S), nr (N); give 2 values");
  expect_failure({"get", "Orders", "ann", "x"}, 2, "'x' is not a number");
  expect_failure({"get", "Nothing", "a"}, 1, "Requested resource not found");
}

TEST_P(DataCommands, PutAndDeleteUnderConditions) {
  const std::vector<std::string> once = {
      "put",    "Orders", R"({"who":"eve","nr":1})", "--if", "attribute_not_exists(#u)",
      "--name", "#u=who"};
  EXPECT_THAT(stator(once), Prints(""));
  expect_failure(once, 1, "The conditional request failed");
  std::vector<std::string> as_json = once;
  as_json.emplace_back("--json");
  EXPECT_EQ(stator(as_json).err,
            "{\"error\":\"ConditionalCheckFailedException\",\"message\":\"The conditional request "
            "failed\",\"retryable\":false}\n");
  EXPECT_THAT(stator({"put", "Orders", R"({"who":{"S":"raw"},"nr":{"N":"1"},"s":{"SS":["x"]}})",
                      "--dynamodb-json"}),
              Prints(""));
  EXPECT_THAT(stator({"get", "Orders", "raw", "1"}),
              Prints("{\"nr\":1,\"s\":[\"x\"],\"who\":\"raw\"}\n"));
  expect_failure({"delete", "Orders", "ann", "1", "--if", "price > :t", "--value", ":t=100"}, 1,
                 "The conditional request failed");
  EXPECT_THAT(stator({"delete", "Orders", "ann", "1", "--if", "price > :t", "--value", ":t=10"}),
              Prints(""));
  EXPECT_EQ(stator({"get", "Orders", "ann", "1"}).status, 1);
  expect_failure({"put", "Orders", "[1]"}, 2, "not a JSON object");
  expect_failure({"put", "Orders", R"({"who":"a"})"}, 1, "Missing the key nr");
  expect_failure({"put", "Orders", "{}", "--value", "t"}, 2, "--value: 't' is not :NAME=JSON");
}

TEST_P(DataCommands, QueryAPartition) {
  const auto numbers = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"query", "Orders", "ann"});
    flags.insert(flags.end(), {"--project", "nr", "--output", "csv"});
    return stator(flags).out;
  };
  const std::string large = "12345678901234567890123456789012345678";
  EXPECT_EQ(numbers({}), "nr\r\n1\r\n2\r\n" + large + "\r\n");
  EXPECT_EQ(numbers({"--reverse", "--limit", "2"}), "nr\r\n" + large + "\r\n2\r\n");
  EXPECT_EQ(numbers({"2"}), "nr\r\n2\r\n");
  EXPECT_EQ(numbers({"--from", "2"}), "nr\r\n2\r\n" + large + "\r\n");
  EXPECT_EQ(numbers({"--to", "1"}), "nr\r\n1\r\n");
  EXPECT_EQ(numbers({"--filter", "price > :t", "--value", ":t=5"}), "nr\r\n1\r\n");
  const Ran in_city = stator({"query", "Orders", "Bonn", "--index", "by-city", "--output", "csv"});
  EXPECT_THAT(in_city.out, AllOf(HasSubstr("who,nr,city\r\n"), HasSubstr("bob,1,Bonn\r\n"),
                                 HasSubstr("ann,1,Bonn\r\n")));
  EXPECT_THAT(stator({"query", "Orders", "ann", "--count"}),
              Prints("{\"count\":3,\"scanned_count\":3}\n"));
  EXPECT_THAT(stator({"query", "Orders", "nobody"}), Prints(""));
  expect_failure({"query", "Orders", "ann", "--filter", "price > :t", "--value", ":t=1e200"}, 2,
                 "cannot store number '1e200': Number overflow.");
  expect_failure(
      {"query", "Orders", "ann", "--filter", "price > :t", "--value", ":t=" + std::string(39, '1')},
      2, "more than 38 significant digits");
  EXPECT_THAT(stator({"query", "Orders", "ann", "--filter", "city = :day", "--value",
                      ":day=2024-05-01", "--count"}),
              Prints("{\"count\":0,\"scanned_count\":3}\n"));
  expect_failure({"query", "Orders", "ann", "1", "2"}, 2, "give 1 to 2 values");
  expect_failure({"query", "Orders", "ann", "--index", "none"}, 2, "does not have an index 'none'");
  expect_failure({"query", "Orders", "ann", "1", "--from", "2"}, 2, "a range needs a sort key");
  expect_failure({"query", "Orders", "ann", "--limit", "0"}, 2, "--limit");
}

TEST_P(DataCommands, ScanATable) {
  EXPECT_THAT(stator({"scan", "Orders", "--count"}), Prints("{\"count\":4,\"scanned_count\":4}\n"));
  EXPECT_THAT(stator({"scan", "Orders", "--count", "--limit", "1", "--filter", "nr > :zero",
                      "--value", ":zero=0"}),
              Prints("{\"count\":1,\"scanned_count\":4}\n"));
  EXPECT_THAT(stator({"scan", "Orders", "--filter", "#u = :u", "--name", "#u=who", "--value",
                      ":u=bob", "--output", "json"}),
              Prints("[{\"city\":\"Bonn\",\"nr\":1,\"who\":\"bob\"}]\n"));
  EXPECT_THAT(stator({"scan", "Orders", "--output", "table"}).out,
              AllOf(HasSubstr("who  nr "), HasSubstr("bob  1 "), Not(HasSubstr("{\"who"))));
}

TEST_P(DataCommands, SearchVectors) {
  const std::string path = write("texts.yml", R"(Resources:
  Texts:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: Texts
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: id, AttributeType: S}
        - {AttributeName: lang, AttributeType: S}
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      VectorIndexes:
        - IndexName: meaning
          VectorAttribute: {AttributeName: vector}
          SearchSchema: [{AttributeName: lang, SearchSchemaElementType: HASH}]
          Projection: {ProjectionType: ALL}
          Dimensions: 2
          DistanceFunction: EUCLIDEAN
)");
  ASSERT_EQ(stator({"apply", path}).status, 0);
  EXPECT_THAT(stator({"apply", path, "--dry-run"}).out, Not(HasSubstr("index")));
  for (const char* item :
       {R"({"id":"a","lang":"en","vector":[1,0]})", R"({"id":"b","lang":"en","vector":[4,4]})",
        R"({"id":"c","lang":"de","vector":[1,0]})"}) {
    EXPECT_EQ(stator({"put", "Texts", item}).status, 0);
  }
  const auto search = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"search", "Texts", "meaning"});
    flags.insert(flags.end(), {"--where", "lang = :l", "--value", ":l=en"});
    return stator(flags);
  };
  EXPECT_THAT(search({"[1, 0]"}),
              Prints("{\"item\":{\"id\":\"a\",\"lang\":\"en\"},\"score\":0}\n"
                     "{\"item\":{\"id\":\"b\",\"lang\":\"en\"},\"score\":5}\n"));
  EXPECT_THAT(search({"[1, 0]", "--top", "1", "--project", "id", "--output", "json"}),
              Prints("[{\"item\":{\"id\":\"a\"},\"score\":0}]\n"));
  EXPECT_THAT(search({"[1]"}).err, HasSubstr("does not match vector index dimension 2"));
  for (const char* vector : {"1", "[\"x\"]", "[1", "[1e39, 0]", "[1],\"x\":[2]"}) {
    expect_failure({"search", "Texts", "meaning", vector}, 2, "a list of numbers in JSON");
  }
  EXPECT_THAT(shell(".search Texts meaning [1, 0] {\"lang\": \"en\"}\n"),
              Prints("{\"item\":{\"id\":\"a\",\"lang\":\"en\"},\"score\":0}\n"
                     "{\"item\":{\"id\":\"b\",\"lang\":\"en\"},\"score\":5}\n"));
  for (const char* wrong :
       {"", " Texts [1]", " Texts meaning", " Texts meaning more [1]", " Texts meaning [1",
        " Texts meaning [1, 0] {}", " Texts meaning [1, 0] {\"lang\"", " Texts meaning [1]"}) {
    const Ran failed = shell(".search" + std::string(wrong) + "\n");
    EXPECT_EQ(failed.status, 1) << wrong;
    EXPECT_NE(failed.err, "") << wrong;
  }
  EXPECT_THAT(stator({"describe", "Texts"}).out,
              HasSubstr("meaning: vector (2 dimensions, EUCLIDEAN), lang HASH; all attributes"));
}

TEST_P(DataCommands, RunStatements) {
  EXPECT_THAT(stator({"sql", "SELECT nr FROM Orders WHERE who = 'ann' AND nr < 3"}),
              Prints("{\"nr\":1}\n{\"nr\":2}\n"));
  EXPECT_THAT(stator({"sql",
                      "INSERT INTO Orders VALUE {'who': 'new', 'nr': 1}; UPDATE Orders SET city = "
                      "'Ulm; B' WHERE who = 'new' AND nr = 1; SELECT city FROM Orders WHERE who "
                      "= 'new'"}),
              Prints("{\"city\":\"Ulm; B\"}\n"));
  expect_failure({"sql", "SELECT FROM"}, 1, "Statement wasn't well formed");
  expect_failure({"sql", ";"}, 2, "the statement is empty");
}

TEST_P(DataCommands, TypeStatementsInAShell) {
  EXPECT_THAT(shell("SELECT nr FROM Orders\n WHERE who = 'bob'; SELECT nr FROM Orders WHERE\nwho = "
                    "'none; ';\n.output csv\nSELECT nr FROM Orders WHERE who = 'bob'"),
              Prints("{\"nr\":1}\nnr\r\n1\r\n"));
  EXPECT_THAT(shell(".tables\n.exit\n.tables\n"), Prints("Orders\n"));
  EXPECT_THAT(shell(".describe Orders\n").out, HasSubstr("key           who (S), nr (N)\n"));
  EXPECT_THAT(shell("EXPLAIN SELECT * FROM Orders;").out, HasSubstr("\nexamined  4\n"));
  EXPECT_THAT(shell(".help\n").out, HasSubstr(".describe TABLE"));
  const Ran failed = shell("SELECT * FROM Absent;\n.nonsense\n.output x\n.tables\n");
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(failed.out, "Orders\n");
  EXPECT_THAT(failed.err, AllOf(HasSubstr("Requested resource not found"),
                                HasSubstr("unknown command '.nonsense'"),
                                HasSubstr("'x' is not table, lines")));
}

TEST_P(DataCommands, ExplainStatements) {
  const auto plan = [&](const std::string& statement) {
    const Ran ran = stator({"sql", "EXPLAIN " + statement});
    return ran.out + ran.err;
  };
  EXPECT_THAT(
      plan("SELECT * FROM Orders WHERE who = 'ann' AND nr > 1"),
      MatchesRegex("plan      Query: reads partitions of table Orders by who \\(S\\), nr "
                   "\\(N\\)\nitems     2 in 1 page\nexamined  2\ncapacity  0.5 read units\ntime "
                   "     [0-9]+ ms\n"));
  EXPECT_THAT(plan("SELECT * FROM Orders WHERE who = 'ann' OR who IN ['bob', 'eve']"),
              HasSubstr("Query: "));
  EXPECT_THAT(plan("SELECT * FROM Orders WHERE who = 'ann' OR nr = 1"),
              AllOf(HasSubstr("Scan: reads all of table Orders"), HasSubstr("items     4 in"),
                    HasSubstr("\nexamined  4\n")));
  EXPECT_THAT(plan("SELECT * FROM Orders WHERE NOT who = 'ann'"), HasSubstr("Scan: "));
  EXPECT_THAT(
      plan("SELECT * FROM Orders WHERE who = 'ann' AND total = 0"),
      AllOf(HasSubstr("Query: "), HasSubstr("items     0 in"), HasSubstr("\nexamined  3\n")));
  EXPECT_THAT(plan("SELECT * FROM \"Orders\".\"by-city\" WHERE city = 'Bonn'"),
              HasSubstr("Query: reads partitions of index by-city of table Orders by city (S)"));
  EXPECT_THAT(plan("DELETE FROM Orders WHERE who = 'ann' AND nr = 1"),
              HasSubstr("writes one item of table Orders by its key"));
  EXPECT_EQ(stator({"get", "Orders", "ann", "1"}).status, 0);
  EXPECT_THAT(plan("SELEKT"), HasSubstr("stator: "));
  EXPECT_THAT(stator({"sql", "explain\nSELECT * FROM Orders WHERE nr = 2", "--json"}).out,
              MatchesRegex("\\{\"plan\":\"Scan: [^\"]*\",\"items\":1,\"pages\":1,\"examined\":4,"
                           "\"read_units\":0.5,\"ms\":[0-9]+\\}\n"));
}

TEST(DataCommandsAlone, DoNotGuessUnreportedValues) {
  const ScriptStep table =
      answer(200, R"({"Table":{"TableName":"T","TableStatus":"ACTIVE","KeySchema":[)"
                  R"({"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[)"
                  R"({"AttributeName":"id","AttributeType":"S"}]}})");
  ScriptedService service({table,
                           answer(200, R"({"Items":[{"id":{"S":"a"}}],"NextToken":"more"})",
                                  "x-stator-examined: 5\r\n"),
                           answer(200, R"({"Items":[]})")});
  const Ran ran = run_stator({"sql", "EXPLAIN SELECT * FROM T", "--endpoint", service.url()});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\nitems     1 in 2 pages\nexamined  unknown\n"
                                 "capacity  unknown\n"));
}

TEST(DataCommandsAlone, EditStatementsOnATerminal) {
  const Where where(true);
  const std::vector<std::string> at = where.flags();
  const std::string csv = where.path("t.csv");
  std::ofstream(csv) << "id\na\n";
  ASSERT_EQ(run_stator({"import", "Things", csv, "--key", "id:S", at[0], at[1]}).status, 0);
  const std::string command = "XDG_STATE_HOME=" + where.path("state") + " TERM=xterm exec " +
                              stator_binary() + " shell " + at[0] + " " + at[1];
  {
    Terminal terminal({"sh", "-c", command});
    ASSERT_TRUE(terminal.shows("stator> "));
    terminal.type("SELECT id FROM Th\t");
    EXPECT_TRUE(terminal.shows("ings"));  // the rest of the name
    terminal.type("\n;\n");
    EXPECT_TRUE(terminal.shows("id\r\na\r\n"));
    terminal.type(".exit\n");
    EXPECT_EQ(terminal.wait(), 0);
  }
  Terminal terminal({"sh", "-c", command});
  ASSERT_TRUE(terminal.shows("stator> "));
  terminal.type("\x1b[A");  // the previous line
  EXPECT_TRUE(terminal.shows(".exit"));
  terminal.type("\n");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST(DataCommandsAlone, ReadAnItemAndStatementsFromStandardInput) {
  const Where where(true);
  const std::vector<std::string> at = where.flags();
  const std::string script =
      "\"$0\" import Things \"$1\" --key id:S " + at[0] + " " + at[1] +
      " && echo '{\"id\":\"b\"}' | \"$0\" put Things - " + at[0] + " " + at[1] +
      " && echo \"SELECT * FROM Things WHERE id = 'b'\" | \"$0\" sql " + at[0] + " " + at[1];
  const std::string csv = where.path("t.csv");
  std::ofstream(csv) << "id\na\n";
  Process process({"sh", "-c", script, stator_binary(), csv});
  const int status = process.wait();
  EXPECT_EQ(status, 0) << process.err();
  EXPECT_EQ(process.out(), "imported 1 items, 0 errors\n{\"id\":\"b\"}\n");
}

TEST(DataCommandsAlone, RefuseStandardInputThatCannotBeRead) {
  // Reading a directory fails, so standard input is unreadable.
  for (const char* command : {"\"$0\" sql - < /", "\"$0\" put Things - < /"}) {
    Process process({"sh", "-c", command, stator_binary()});
    EXPECT_EQ(process.wait(), 1) << command;
    EXPECT_THAT(process.err(), HasSubstr("cannot read standard input: Is a directory")) << command;
  }
}

}  // namespace
}  // namespace stator::test

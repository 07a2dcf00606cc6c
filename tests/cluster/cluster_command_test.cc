// SPDX-License-Identifier: Apache-2.0
// stator cluster, and the arguments that `stator serve --store` rejects at startup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/stator_program.h"
#include "stator/database.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/must.h"
#include "support/paths.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// Runs the program with a value of STATOR_STORE.
Ran run_with_store(const std::string& store, std::vector<std::string> arguments) {
  std::vector<std::string> command = stator_command(std::move(arguments));
  command.insert(command.begin(), {"env", "STATOR_STORE=" + store});
  return run(command);
}

class ClusterCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (own_postgres() == nullptr) GTEST_SKIP() << "the server is not the test's own";
  }
  std::vector<std::string> with_store(std::vector<std::string> command,
                                      const std::string& parameters = "") const {
    command.insert(command.end(),
                   {"--store", postgres_url() + parameters, "--schema", schema_.name()});
    return command;
  }
  std::vector<std::string> serve(const std::string& parameters = "") const {
    return with_store({"serve", "--port", "0"}, parameters);
  }
  void sql(const std::string& text) const { run_sql(text, schema_.name()); }
  void drop_schema() const { sql("DROP SCHEMA " + schema_.name() + " CASCADE"); }

  Database database_with_table() const {
    auto database = must(Database::open({.store = postgres_url(), .schema = schema_.name()}));
    EXPECT_THAT(database.create_table({.table = "Tab",
                                       .attributes = {{"pk", ScalarType::kS}},
                                       .key_schema = {{"pk", KeyType::kHash}},
                                       .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
    return database;
  }

  PostgresSchema schema_;
};

TEST_F(ClusterCommand, InitCreatesTheSchemaOnceAndKeepsItsData) {
  drop_schema();
  expect_refusal(serve(), 1, "run `stator cluster init`");
  const std::string ready = "schema '" + schema_.name() + "' is ready\n";
  EXPECT_THAT(run_stator(with_store({"cluster", "init"})), Prints(ready));
  sql("INSERT INTO kv VALUES ('a', 'b', 1, 'c')");
  EXPECT_THAT(run_stator(with_store({"cluster", "init"})), Prints(ready));
  EXPECT_EQ(run_sql("SELECT count(*) FROM kv", schema_.name()), "1");
  EXPECT_THAT(run_stator(with_store({"cluster", "init", "--json"})),
              Prints(R"({"schema":")" + schema_.name() + "\"}\n"));
}

TEST_F(ClusterCommand, StatusIsOneScreen) {
  const Ran ran = run_stator(with_store({"cluster", "status"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, MatchesRegex("PostgreSQL          [0-9.]+.* at socket:5432, database "
                                    "postgres, role postgres\n"
                                    "schema              " +
                                    schema_.name() +
                                    ", version 1\n"
                                    "rows                not counted yet, [0-9.]+ KB\n"
                                    "streams             no transaction holds them back\n"
                                    "connections         [0-9]+ of 200, [0-9]+ by Stator\n"
                                    "synchronous_commit  on, standbys: none\n"
                                    "warning             fsync and full_page_writes of [^\n]*\n"));
  const Ran json = run_stator(with_store({"cluster", "status", "--json"}));
  EXPECT_THAT(json.out,
              AllOf(HasSubstr(R"("ready":true)"), HasSubstr(R"("schema_version":1)"),
                    HasSubstr(R"("connections_max":200)"), HasSubstr(R"("horizon_lag_ms":0)"),
                    HasSubstr(R"("warning":"fsync and )")));
  drop_schema();
  const Ran none = run_stator(with_store({"cluster", "status"}));
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.out, HasSubstr("\nschema              " + schema_.name() + "\n"));
  EXPECT_THAT(none.err, MatchesRegex("stator: schema [^\n]* run `stator cluster init`\n"));
}

TEST_F(ClusterCommand, VerifyFindsDamagedRows) {
  {
    Database database = database_with_table();
    for (const char* key : {"a", "b"}) {
      ASSERT_THAT(database.put_item({.table = "Tab", .item = {{"pk", key}}}), IsOk());
    }
  }
  EXPECT_THAT(run_stator(with_store({"verify"})),
              Prints("checked 1 tables, 2 items, 0 index entries, 0 changes, 0 tokens\n"));
  const Ran json = run_with_store(postgres_url(), {"verify", "--schema", schema_.name(), "--json"});
  EXPECT_EQ(json.status, 0) << json.err;
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"("sound":true)"), HasSubstr(R"("store":"postgresql:)")));

  sql(R"(INSERT INTO kv VALUES ('\xfffffff00000000000000001', '\x01', 1, 'c'))");
  const Ran damaged = run_stator(with_store({"verify"}));
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, HasSubstr("orphan: 1 rows of space "));
  EXPECT_THAT(damaged.err, HasSubstr("is damaged, in 1 findings"));

  expect_refusal(with_store({"verify", "./x"}), 2, "directory excludes --store");
  expect_refusal({"verify"}, 2, "name a directory, or give --store");
  drop_schema();
  expect_refusal(with_store({"verify"}), 1, "run `stator cluster init`");
}

TEST_F(ClusterCommand, UpgradeReportsThatNothingNeedsUpgrading) {
  EXPECT_THAT(
      run_stator(with_store({"cluster", "upgrade"})),
      Prints("schema '" + schema_.name() + "' has version 1, the newest; nothing to upgrade\n"));
  sql("UPDATE meta SET version = 2");
  expect_refusal(with_store({"cluster", "upgrade"}), 2, "has version 2, newer than 1");
  expect_refusal(with_store({"cluster", "init"}), 2, "has version 2, newer than 1");
}

TEST_F(ClusterCommand, ServeRefusesDatabasesThatItCannotUse) {
  const std::string option = "&options=-c%20";
  expect_refusal(serve(option + "synchronous_commit%3Doff"), 2,
                 "synchronous_commit is off, so acknowledged writes could be lost; set it to on");
  expect_refusal(serve(option + "default_transaction_read_only%3Don"), 1,
                 "read-only; set default_transaction_read_only=off");
  sql("UPDATE meta SET version = 2");
  expect_refusal(serve(), 2, "has version 2, newer than 1; upgrade Stator");
  sql("DROP TABLE meta");
  expect_refusal(serve(), 2, "contains tables that are not Stator's; choose another one");
  const std::string role = schema_.name() + "_role";
  sql("CREATE ROLE " + role + " LOGIN");
  drop_schema();
  expect_refusal(
      {"cluster", "init", "--store", own_postgres()->url(role), "--schema", schema_.name()}, 1,
      "as an administrator, run: CREATE SCHEMA");
  EXPECT_EQ(run_stator(with_store({"cluster", "init"})).status, 0);
  expect_refusal({"serve", "--store", own_postgres()->url(role), "--schema", schema_.name()}, 1,
                 "role '" + role + "' lacks privileges in schema '" + schema_.name() + "': USAGE");
  sql("DROP ROLE " + role);
  const std::string refused =
      "connection to server at \"127.0.0.1\", port 1 failed: Connection refused";
  expect_refusal({"serve", "--store", "postgresql://ann@127.0.0.1:1,127.0.0.1:1/d"}, 1,
                 "could not connect to PostgreSQL: " + refused + "; " + refused +
                     "; check the connection string and that the server runs");
}

TEST_F(ClusterCommand, ServeRefusesPreparedTransactionsAndStandbys) {
  PostgresServer other({"max_prepared_transactions=5"});
  ASSERT_FALSE(other.dsn().empty());
  expect_refusal({"serve", "--store", other.url()}, 2, "max_prepared_transactions is 5");

  other.stop();
  std::ofstream(other.data() / "standby.signal").flush();
  other.start();
  ASSERT_FALSE(other.dsn().empty());
  expect_refusal({"serve", "--store", other.url()}, 1,
                 "PostgreSQL is a standby server; connect to the primary, or list all hosts with "
                 "target_session_attrs=read-write");
  expect_refusal({"serve", "--store", other.url() + "&target_session_attrs=read-write"}, 1,
                 "could not connect to PostgreSQL: ");
  expect_refusal({"cluster", "init", "--store", other.url()}, 1, "PostgreSQL is a standby server");
}

TEST_F(ClusterCommand, NamesOneStore) {
  expect_refusal(with_store({"serve", "--data", "./x"}), 2, "--data excludes --store");
  expect_refusal(with_store({"serve", "--memory"}), 2, "--memory excludes --store");
  expect_refusal(with_store({"serve", "--durability", "os"}), 2, "--durability excludes --store");
  expect_refusal({"serve", "--data", postgres_url()}, 2,
                 "is a URL of PostgreSQL; name it as a store");
  expect_refusal({"serve", "--store", "./data"}, 2, "it does not begin with postgresql://");
  expect_refusal({"serve", "--schema", "x", "--memory"}, 2, "--schema needs --store");
  expect_refusal({"cluster", "status"}, 2, "give --store or set STATOR_STORE");
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{"--memory"}, {"--data", "./x"}, {"--cache", "10"}}) {
    std::vector<std::string> command{"serve"};
    command.insert(command.end(), named.begin(), named.end());
    const Ran ran = run_with_store(postgres_url(), command);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("STATOR_STORE is set"));
  }
}

TEST_F(ClusterCommand, CommandsOnTablesOpenTheDatabaseThemselves) {
  Database database = database_with_table();
  EXPECT_EQ(run_stator(with_store({"put", "Tab", R"({"pk":"a","n":1})"})).status, 0);
  const auto got = database.get_item({.table = "Tab", .key = {{"pk", "a"}}});
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->item, (Item{{"pk", "a"}, {"n", 1}}));
  EXPECT_THAT(run_stator(with_store({"get", "Tab", "a", "--output", "lines"})),
              Prints("{\"n\":1,\"pk\":\"a\"}\n"));
  EXPECT_THAT(run_with_store(postgres_url(), {"tables", "--schema", schema_.name()}),
              Prints("Tab\n"));

  // A flag takes precedence over the variable.
  const Ran other = run_with_store(postgres_url(), {"tables", "--endpoint", "http://127.0.0.1:1"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("127.0.0.1:1"));
  expect_refusal(with_store({"tables", "--data", "./x"}), 2, "--data");
  expect_refusal(with_store({"tables", "--endpoint", "http://127.0.0.1:1"}), 2, "--endpoint");
  expect_refusal({"tables", "--schema", "x"}, 2, "--schema needs --store");
  expect_refusal({"tables", "--store", "postgresql://ann:secret@h/d"}, 2, "contains a password");
  drop_schema();
  expect_refusal(with_store({"tables"}), 1, "run `stator cluster init`");
}

TEST_F(ClusterCommand, CopiesBetweenSchemasOfOneDatabase) {
  const PostgresSchema other;
  Database source = database_with_table();
  ASSERT_THAT(source.put_item({.table = "Tab", .item = {{"pk", "a"}}}), IsOk());
  const std::vector<std::string> copy{"copy",          postgres_url(), postgres_url(),
                                      "--from-schema", schema_.name(), "--to-schema"};
  const auto to = [&](const std::string& schema) {
    std::vector<std::string> command = copy;
    command.push_back(schema);
    return command;
  };
  EXPECT_THAT(run_stator(to(other.name())), Prints("Tab\tequal\t1 items\n"));
  auto target = must(Database::open({.store = postgres_url(), .schema = other.name()}));
  const auto got = target.get_item({.table = "Tab", .key = {{"pk", "a"}}});
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->item, (Item{{"pk", "a"}}));

  expect_refusal(to(schema_.name()), 2, "the source and the target are the same");
  expect_refusal({"copy", "./x", postgres_url(), "--from-schema", "y"}, 2,
                 "source: a schema needs a PostgreSQL database, but './x' is not one");
  expect_refusal(to("stator_test_none"), 1, "target: ");
}

TEST_F(ClusterCommand, PasswordsAreNeitherTakenFromTheCommandLineNorPrinted) {
  const std::string secret = "s3cret";
  expect_refusal({"serve", "--store", "postgresql://ann:" + secret + "@h/d"}, 2,
                 "set STATOR_STORE to the URL, or PGPASSWORD, or use ~/.pgpass");
  for (const std::string command : {"serve", "init", "status", "upgrade"}) {
    for (const std::string& url :
         {"postgresql://ann:" + secret + "@127.0.0.1:1/d", "postgresql://ann:" + secret + "/@h/d",
          "postgresql://ann:" + secret + "%zz@h/d", "postgresql://ann:1/" + secret + "@h/d",
          "postgresql://h/d?password=" + secret + "&x=1"}) {
      for (const char* json : {"", "--json"}) {
        std::vector<std::string> arguments{command};
        if (command != "serve") arguments.insert(arguments.begin(), "cluster");
        if (*json != '\0' && command == "serve") continue;
        if (*json != '\0') arguments.emplace_back(json);
        const Ran ran = run_with_store(url, arguments);
        EXPECT_NE(ran.status, 0);
        EXPECT_THAT(ran.err, AllOf(MatchesRegex("[^\n]+\n"), Not(HasSubstr(secret)))) << url;
        EXPECT_THAT(ran.out, Not(HasSubstr(secret)));
      }
    }
  }
}

TEST_F(ClusterCommand, AServerWithAPasswordNamesItsDatabaseWithoutIt) {
  std::string url = postgres_url();
  url.insert(url.find('@'), ":s3cret");
  Process process({"env", "STATOR_STORE=" + url, stator_binary(), "serve", "--port", "0",
                   "--schema", schema_.name()});
  EXPECT_THAT(process.read_line(), HasSubstr("listening on "));
  EXPECT_EQ(process.read_line(),
            "tables are in schema " + schema_.name() +
                " of postgresql:///postgres; an acknowledged write is as durable as its "
                "synchronous_commit says");
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_THAT(process.out() + process.err(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(process.err(),
              MatchesRegex("[^\n]*the database is at socket:5432\n"
                           "[^\n]*fsync and full_page_writes of [^\n]* are off[^\n]*\n"));
}

}  // namespace
}  // namespace stator::test

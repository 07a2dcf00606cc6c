// SPDX-License-Identifier: Apache-2.0
#include "mariadb/followers.h"

#include <gtest/gtest.h>

#include "stator/database.h"
#include "support/mariadb_server.h"

namespace stator::mariadb {
namespace {

std::string schema() {
  std::string sql =
      "CREATE DATABASE social DEFAULT CHARSET utf8mb4;\n"
      "USE social;\n"
      "CREATE TABLE followers (author_id VARCHAR(250), follower_id VARCHAR(250), "
      "UNIQUE (author_id, follower_id));\n"
      "CREATE TABLE `User$Links` (`whom` VARCHAR(250) CHARSET latin1, who BIGINT UNSIGNED, "
      "UNIQUE (`whom`, who));\n"
      "CREATE TABLE numbers (author_id INT, follower_id BIGINT, UNIQUE (author_id, follower_id));\n"
      "INSERT INTO followers VALUES ('bob', 'eve'), ('Ann', 'wrong'), ('ann ', 'padded'), ('zoe', "
      "'wrong'), "
      "('ann', NULL), ('ann', ''), ('ann', 'ø#'), ('x'' OR 1 = 1 -- ', 'only');\n"
      "INSERT INTO numbers VALUES (12, 0), (12, -5), (12, 9007199254740993), "
      "(12, 9007199254740992), (12, 9007199254740994), (0, 77);\n"
      "INSERT INTO `User$Links` VALUES ('zoë', 18446744073709551615), ('zoë', 7);\n";
  for (int i = 0; i < 25; ++i) {
    sql += "INSERT INTO followers VALUES ('ann', 'f" + std::to_string(100 + i) + "');\n";
  }
  return sql;
}

class SqlFollowers : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = new test::MariadbServer(schema()); }
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }
  void SetUp() override { ASSERT_FALSE(server->socket().empty()) << "mariadbd did not start"; }

  static FollowersOptions options() {
    return {.socket = server->socket(), .database = "social", .timeout = std::chrono::seconds(30)};
  }
  static std::vector<std::string> all(Followers& followers, const std::string& author, int limit) {
    std::vector<std::string> found;
    std::string cursor;
    do {
      const auto page = followers.page({author}, limit, cursor);
      if (!page) {
        ADD_FAILURE() << page.error().message;
        return found;
      }
      EXPECT_LE(page->items.size(), static_cast<std::size_t>(limit));
      for (const UserId& user : page->items) found.push_back(user.text);
      cursor = page->next;
    } while (!cursor.empty());
    return found;
  }

  static test::MariadbServer* server;
};
test::MariadbServer* SqlFollowers::server = nullptr;

TEST_F(SqlFollowers, AreReadInPagesWithoutRepeatsOrGaps) {
  const auto followers = open_followers(options()).value();
  std::vector<std::string> expected;
  for (int i = 0; i < 25; ++i) expected.push_back("f" + std::to_string(100 + i));
  expected.emplace_back("ø#");
  for (const int limit : {1, 2, 25, 26, 1000}) EXPECT_EQ(all(*followers, "ann", limit), expected);
  EXPECT_TRUE(all(*followers, "nobody", 10).empty());
}

TEST_F(SqlFollowers, AreOfTheVeryAuthor) {
  const auto followers = open_followers(options()).value();
  EXPECT_EQ(all(*followers, "Ann", 10), std::vector<std::string>{"wrong"});
  EXPECT_TRUE(all(*followers, "ANN", 10).empty());
  EXPECT_EQ(all(*followers, "x' OR 1 = 1 -- ", 10), std::vector<std::string>{"only"});
  EXPECT_TRUE(all(*followers, "' OR 1 = 1 -- ", 10).empty());
  EXPECT_TRUE(all(*followers, "%", 10).empty());
}

TEST_F(SqlFollowers, CanBeNumbers) {
  FollowersOptions numbers = options();
  numbers.table = "numbers";
  const auto followers = open_followers(numbers).value();
  const std::vector<std::string> expected{"-5", "0", "9007199254740992", "9007199254740993",
                                          "9007199254740994"};
  for (const int limit : {1, 2, 3, 10}) EXPECT_EQ(all(*followers, "12", limit), expected);
  for (const char* other : {"12abc", "012", "1.2e1", " 12", "abc"}) {
    EXPECT_TRUE(all(*followers, other, 10).empty()) << other;
  }
}

TEST_F(SqlFollowers, UseTheSchemasNames) {
  FollowersOptions other = options();
  other.table = "User$Links";
  other.author_column = "whom";
  other.follower_column = "who";
  const auto followers = open_followers(other).value();
  EXPECT_EQ(all(*followers, "zoë", 1), (std::vector<std::string>{"7", "18446744073709551615"}));
  const auto following = followers->following({"7"}, 10, "");
  ASSERT_TRUE(following) << following.error().message;
  EXPECT_EQ(following->items, std::vector<UserId>{{"zoë"}});
}

TEST_F(SqlFollowers, ReturnTheFollowedAuthors) {
  const auto followers = open_followers(options()).value();
  EXPECT_EQ(followers->following({"eve"}, 10, "")->items, std::vector<UserId>{{"bob"}});
  const auto first = followers->following({"wrong"}, 1, "").value();
  EXPECT_EQ(first.items, std::vector<UserId>{{"Ann"}});
  EXPECT_EQ(followers->following({"wrong"}, 1, first.next)->items, std::vector<UserId>{{"zoe"}});
}

TEST_F(SqlFollowers, RejectInvalidNames) {
  for (const char* name : {"", "a`b", "a b", "a.b", "a;--", "ä"}) {
    FollowersOptions bad = options();
    bad.table = name;
    const auto opened = open_followers(bad);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, Code::kInvalidArgument);
  }
  FollowersOptions bad = options();
  bad.follower_column = std::string(65, 'x');
  EXPECT_EQ(open_followers(bad).error().code, Code::kInvalidArgument);
  FollowersOptions missing = options();
  missing.author_column = "no_such_column";
  const auto page = open_followers(missing).value()->page({"ann"}, 10, "");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::kInvalidArgument);
  missing.database = "no_such_database";
  EXPECT_EQ(open_followers(missing).error().code, Code::kInvalidArgument);
}

TEST_F(SqlFollowers, OutliveTheirServer) {
  const auto followers = open_followers(options()).value();
  EXPECT_EQ(all(*followers, "bob", 10), std::vector<std::string>{"eve"});
  server->restart();
  EXPECT_EQ(all(*followers, "bob", 10), std::vector<std::string>{"eve"});
  server->stop();
  const auto page = followers->page({"bob"}, 10, "");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::kUnavailable);
  server->restart();
  EXPECT_EQ(all(*followers, "bob", 10), std::vector<std::string>{"eve"});
}

TEST_F(SqlFollowers, GetThePostsOfAFeed) {
  auto database = Database::open({});
  ASSERT_TRUE(database);
  for (const int merge_over : {0, 3}) {
    const FeedOptions feeds{.table = "Feeds" + std::to_string(merge_over),
                            .followers = open_followers(options()).value(),
                            .merge_over = merge_over};
    for (const auto& table : Feed::table_definitions(feeds)) {
      ASSERT_TRUE(create_table_if_missing(*database, table));
    }
    // Posts have been merged for long.
    ASSERT_TRUE(database->put_item({.table = feeds.table,
                                    .item = {{"partition_key", "SETTINGS#"},
                                             {"range_key", "SETTINGS"},
                                             {"stator_version", 1},
                                             {"stator_settings", Map{{"merged_from", 0}}}}}));
    const Feed feed(*database, feeds);
    ASSERT_TRUE(feed.publish({"ann"}, "hello"));
    const auto delivered = feed.deliver_pending();
    ASSERT_TRUE(delivered) << delivered.error().message;
    EXPECT_EQ(delivered->copies, merge_over == 0 ? 26 : 1);
    for (const char* user : {"f100", "f124", "ø#", "ann"}) {
      const auto page = feed.read({user}, 10);
      ASSERT_TRUE(page) << page.error().message;
      ASSERT_EQ(page->items.size(), 1U) << user;
      EXPECT_EQ(page->items[0].content, "hello");
    }
  }
}

}  // namespace
}  // namespace stator::mariadb

// SPDX-License-Identifier: Apache-2.0
// stator feed worker: the 77 characters of Les Misérables post, edit and retract, while workers,
// woken through NATS, are killed at random. Afterward, each follower has each post once.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/stator_program.h"
#include "nats/feed_bus.h"
#include "stator/http_client.h"
#include "stator/recipes/feed.h"
#include "support/from_environment.h"
#include "support/mariadb_server.h"
#include "support/nats_server.h"
#include "support/paths.h"
#include "support/poll_until.h"
#include "support/read_file.h"
#include "support/server_process.h"

namespace stator::test {
namespace {

constexpr int kPostsEach = 4;
constexpr std::size_t kPosters = 4;
constexpr int kMinKills = 12;

struct Graph {
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> follows;  // follower -> followed users
};

Graph read_graph() {
  const std::string text = read_file(source_path("examples/data/miserables.json"));
  Graph graph;
  const std::regex node("\"name\":\"([^\"]+)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), node), end; at != end; ++at) {
    graph.names.push_back((*at)[1]);
  }
  const std::regex link("\"source\":(\\d+),\"target\":(\\d+)");
  for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
    graph.follows[graph.names.at(std::stoul((*at)[1]))].insert(
        graph.names.at(std::stoul((*at)[2])));
  }
  return graph;
}

class FeedWorkers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(server_.url().empty());
    auto opened = HttpClient::open({.endpoint = server_.url()});
    ASSERT_TRUE(opened);
    client_ = std::make_unique<HttpClient>(std::move(*opened));
    for (const auto& table : Feed::table_definitions(options())) {
      ASSERT_TRUE(create_table_if_missing(*client_, table));
    }
  }

  virtual FeedOptions options() const { return {.table = "Feeds", .followers_table = "Followers"}; }
  // All 77 users post while one of three workers is killed repeatedly.
  void post_while_workers_die(const FeedOptions& posting, const std::vector<std::string>& command);

  std::vector<std::string> worker_command(const std::vector<std::string>& more) const {
    std::vector<std::string> command = {"feed",    "worker", "--endpoint", server_.url(),
                                        "--claim", "1",      "--sweep",    "2"};
    command.insert(command.end(), more.begin(), more.end());
    return stator_command(command);
  }
  bool nothing_waits() {
    const auto waiting =
        client_->scan({.table = options().table, .filter = "attribute_exists(outbox)"});
    return waiting && waiting->items.empty() && !waiting->last_evaluated_key;
  }
  // The stored content of each item in a user's feed, except tombstones.
  std::multiset<std::string> stored_for(const std::string& user) {
    std::multiset<std::string> found;
    QueryRequest request{.table = options().table,
                         .key_condition = "partition_key = :user",
                         .filter = "attribute_not_exists(retracted)",
                         .values = Values{{":user", user}},
                         .consistent_read = true};
    do {
      const auto page = client_->query(request);
      if (!page) {
        ADD_FAILURE() << page.error().message;
        return found;
      }
      for (const Item& item : page->items) {
        const auto content = item.find("content");
        found.insert(content == item.end() ? "no content" : *content->second.get_if<std::string>());
      }
      request.exclusive_start_key = page->last_evaluated_key;
    } while (request.exclusive_start_key);
    return found;
  }

  TempDir directory_;
  ServerProcess server_{stator_binary(), {"--data", (directory_.path() / "data").string()}};
  std::unique_ptr<HttpClient> client_;
  uint64_t seed_ = number_from_environment("STATOR_SEED", std::random_device{}());
  testing::ScopedTrace trace_{__FILE__, __LINE__, "STATOR_SEED=" + std::to_string(seed_)};
};

// Each user publishes some posts, edits the first and retracts the last.
void post_for(const Feed& feed, const std::string& user) {
  std::vector<PostId> ids;
  for (int i = 0; i < kPostsEach; ++i) {
    const auto published = feed.publish({user}, user + std::to_string(i));
    ASSERT_TRUE(published) << published.error().message;
    ids.push_back(published->id);
  }
  ASSERT_TRUE(feed.edit({user}, ids.front(), user + " edited"));
  ASSERT_TRUE(feed.retract({user}, ids.back()));
}

std::multiset<std::string> expected_for(const Graph& graph, const std::string& user) {
  std::set<std::string> authors{user};
  if (const auto found = graph.follows.find(user); found != graph.follows.end()) {
    authors.insert(found->second.begin(), found->second.end());
  }
  std::multiset<std::string> texts;
  for (const std::string& author : authors) {
    texts.insert(author + " edited");
    for (int i = 1; i < kPostsEach - 1; ++i) texts.insert(author + std::to_string(i));
  }
  return texts;
}

void FeedWorkers::post_while_workers_die(const FeedOptions& posting,
                                         const std::vector<std::string>& command) {
  const Graph graph = read_graph();
  ASSERT_EQ(graph.names.size(), 77U);
  const Feed feed(*client_, posting);
  for (const auto& [user, authors] : graph.follows) {
    for (const std::string& author : authors) ASSERT_TRUE(feed.follow({user}, {author}));
  }

  std::mt19937_64 random(seed_);
  std::vector<std::unique_ptr<Process>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(std::make_unique<Process>(command));
  std::atomic<std::size_t> posters_left = kPosters;
  std::vector<std::jthread> posters;
  for (std::size_t poster = 0; poster < kPosters; ++poster) {
    posters.emplace_back([&, poster] {
      for (std::size_t i = poster; i < graph.names.size(); i += kPosters) {
        post_for(feed, graph.names[i]);
      }
      --posters_left;
    });
  }
  for (int kills = 0; posters_left > 0 || kills < kMinKills; ++kills) {
    // Only the time of the crash is not reproducible.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    std::unique_ptr<Process>& victim = workers[random() % workers.size()];
    victim->send_signal(SIGKILL);
    victim = std::make_unique<Process>(command);
  }
  posters.clear();

  EXPECT_TRUE(poll_until([&] { return nothing_waits(); }));
  for (const auto& worker : workers) {
    worker->send_signal(SIGTERM);
    EXPECT_EQ(worker->wait(), 0) << worker->err();
  }
  for (const std::string& user : graph.names) {
    EXPECT_EQ(stored_for(user), expected_for(graph, user)) << user;
  }
}

TEST_F(FeedWorkers, DeliverToEachFollowerOnceIfAnyIsKilled) {
  const NatsServer nats;
  ASSERT_FALSE(nats.url().empty()) << "nats-server did not start";
  FeedOptions announcing = options();
  announcing.bus = nats::open_feed_bus({.url = nats.url()}).value();
  post_while_workers_die(announcing, worker_command({"--nats", nats.url(), "--ack-wait", "1"}));
}

class StreamFedWorkers : public FeedWorkers {
 protected:
  FeedOptions options() const override {
    FeedOptions streamed = FeedWorkers::options();
    streamed.table = "Streamed";
    streamed.outbox = Outbox::kStream;
    return streamed;
  }
};

TEST_F(StreamFedWorkers, DeliverToEachFollowerOnceIfAnyIsKilled) {
  post_while_workers_die(options(), worker_command({"--table", "Streamed", "--stream-outbox"}));
}

TEST_F(FeedWorkers, TakeFollowersFromMariaDb) {
  const MariadbServer mariadb(
      "CREATE DATABASE social;\n"
      "CREATE TABLE social.links (whom VARCHAR(100), who VARCHAR(100), PRIMARY KEY (whom, who));\n"
      "INSERT INTO social.links VALUES ('ann', 'bob'), ('ann', 'eve'), ('bob', 'eve');\n");
  ASSERT_FALSE(mariadb.socket().empty()) << "mariadbd did not start";
  const Feed feed(*client_, options());
  ASSERT_TRUE(feed.publish({"ann"}, "from ann"));
  ASSERT_TRUE(feed.publish({"bob"}, "from bob"));
  Process worker(worker_command({"--mysql", mariadb.socket(), "--mysql-database", "social",
                                 "--mysql-table", "links", "--mysql-author-column", "whom",
                                 "--mysql-follower-column", "who", "--json"}));
  EXPECT_TRUE(poll_until([&] { return nothing_waits(); }));
  worker.send_signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.err();
  EXPECT_THAT(worker.out(), ::testing::HasSubstr("\"copies\":3"));
  EXPECT_EQ(stored_for("eve"), (std::multiset<std::string>{"from ann", "from bob"}));
  EXPECT_EQ(stored_for("bob"), (std::multiset<std::string>{"from ann", "from bob"}));
}

TEST_F(FeedWorkers, ReportAnUnreachableServerInOneLine) {
  expect_refusal({"feed", "worker", "--endpoint", server_.url(), "--nats", "nats://127.0.0.1:1"}, 1,
                 "cannot connect to the NATS server at 'nats://127.0.0.1:1'");
  expect_refusal({"feed", "worker", "--endpoint", server_.url(), "--mysql", "127.0.0.1:1"}, 1,
                 "the followers' database: ");
  expect_refusal({"feed", "worker", "--endpoint", server_.url(), "--mysql", "127.0.0.1:x"}, 2,
                 "--mysql: invalid port in '127.0.0.1:x'");
  expect_refusal({"feed", "worker", "--endpoint", server_.url(), "--mysql", "127.0.0.1",
                  "--mysql-table", "a`b"},
                 2, "table: must be");
}

}  // namespace
}  // namespace stator::test

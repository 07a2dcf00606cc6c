// SPDX-License-Identifier: Apache-2.0
// kill -9 in the middle of writes: nothing acknowledged is lost, nothing is half done.
//
// Each round writes from several clients at once, kills the server at a random moment, starts it
// again on the same directory and checks what every client knows: an acknowledged write is there,
// a write whose answer never came is there whole or not at all, the two items of a transaction
// agree, the counter is between what was acknowledged and what was sent, and the index holds
// exactly what the table does. STATOR_CRASH_ROUNDS sets how many rounds (10 unless set).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "stator/http_client.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

constexpr int kWriters = 8;
constexpr int kKeysPerWriter = 5;

int rounds() {
  const char* text = std::getenv("STATOR_CRASH_ROUNDS");
  return text == nullptr ? 10 : std::atoi(text);
}

HttpClient connect(const std::string& url) {
  // One attempt: a retry would hide whether the first one was acknowledged.
  auto client = HttpClient::open({.endpoint = url, .max_attempts = 1});
  EXPECT_TRUE(client);
  return std::move(*client);
}

CreateTableRequest table_definition() {
  return {
      .table = "Crash",
      .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}, {"version", ScalarType::kN}},
      .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
      .global_indexes = {{{.name = "ByVersion",
                           .key_schema = {{"version", KeyType::kHash}, {"pk", KeyType::kRange}},
                           .projection = {.type = ProjectionType::kKeysOnly}}}},
      .billing_mode = BillingMode::kPayPerRequest};
}

// What one client knows of its own items. `sent` is at least `acknowledged`.
struct Known {
  int64_t acknowledged = 0;
  int64_t sent = 0;
};

struct Writer {
  std::map<int, Known> single;  // by sort key
  Known pair;                   // the version of two items that one transaction writes
  Known increments;             // of the counter that all writers share
};

std::string writer_key(int writer) {
  return "writer-" + std::to_string(writer);
}

void write_until_killed(Client& client, int id, Writer& known, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::string pk = writer_key(id);
  for (;;) {
    const auto choice = random() % 10;
    if (choice < 6) {
      const int sk = static_cast<int>(random() % kKeysPerWriter);
      Known& item = known.single[sk];
      ++item.sent;
      const bool done = client
                            .put_item({.table = "Crash",
                                       .item = {{"pk", pk},
                                                {"sk", sk},
                                                {"version", item.sent},
                                                {"filler", std::string(random() % 2000, 'x')}}})
                            .has_value();
      if (!done) return;
      item.acknowledged = item.sent;
    } else if (choice < 8) {
      ++known.pair.sent;
      TransactWriteItemsRequest both;
      for (const int sk : {100, 101}) {
        both.items.push_back(
            {.table = "Crash", .item = {{"pk", pk}, {"sk", sk}, {"version", known.pair.sent}}});
      }
      if (!client.transact_write_items(both)) return;
      known.pair.acknowledged = known.pair.sent;
    } else {
      ++known.increments.sent;
      const bool done = client
                            .update_item({.table = "Crash",
                                          .key = {{"pk", "counter"}, {"sk", 0}},
                                          .update = "ADD hits :one",
                                          .values = Values{{":one", 1}}})
                            .has_value();
      if (!done) return;
      known.increments.acknowledged = known.increments.sent;
    }
  }
}

// The number in an attribute of an item; -1 where there is no such item.
int64_t number_at(Client& client, const std::string& pk, int sk, const std::string& attribute) {
  auto got =
      client.get_item({.table = "Crash", .key = {{"pk", pk}, {"sk", sk}}, .consistent_read = true});
  EXPECT_TRUE(got) << got.error().message;
  if (!got || !got->item) return -1;
  const auto found = got->item->find(attribute);
  if (found == got->item->end()) return -1;
  return found->second.get_if<Number>()->to_int64().value_or(-1);
}

void expect_kept(Known& known, int64_t found, const std::string& what) {
  const int64_t kept = std::max<int64_t>(found, 0);
  EXPECT_GE(kept, known.acknowledged) << what << " lost an acknowledged write";
  EXPECT_LE(kept, known.sent) << what << " holds what nobody wrote";
  // What the server kept of an unanswered write is from now on as good as acknowledged.
  known.acknowledged = known.sent = kept;
}

void check_items(Client& client, std::vector<Writer>& writers) {
  int64_t acknowledged = 0;
  int64_t sent = 0;
  for (int id = 0; id < kWriters; ++id) {
    Writer& known = writers[static_cast<std::size_t>(id)];
    const std::string pk = writer_key(id);
    for (auto& [sk, item] : known.single) {
      expect_kept(item, number_at(client, pk, sk, "version"), pk + "/" + std::to_string(sk));
    }
    const int64_t first = number_at(client, pk, 100, "version");
    EXPECT_EQ(first, number_at(client, pk, 101, "version"))
        << "a transaction of " << pk << " was halved";
    expect_kept(known.pair, first, pk + "'s transactions");
    acknowledged += known.increments.acknowledged;
    sent += known.increments.sent;
  }
  const int64_t hits = std::max<int64_t>(number_at(client, "counter", 0, "hits"), 0);
  EXPECT_GE(hits, acknowledged);
  EXPECT_LE(hits, sent);
  for (Writer& known : writers) known.increments = {};
  writers[0].increments = {.acknowledged = hits, .sent = hits};
}

// Every row of a table or index as "pk/sk/version".
std::multiset<std::string> rows(Client& client, const std::optional<std::string>& index) {
  std::multiset<std::string> found;
  ScanRequest request{.table = "Crash", .index = index, .filter = "attribute_exists(version)"};
  do {
    auto page = client.scan(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return found;
    for (const Item& item : page->items) {
      found.insert(*item.at("pk").get_if<std::string>() + "/" +
                   item.at("sk").get_if<Number>()->to_string() + "/" +
                   item.at("version").get_if<Number>()->to_string());
    }
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return found;
}

TEST(Crash, LosesNothingAcknowledgedAndHalvesNothing) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const test::TempDir directory;
  const std::vector<std::string> arguments = {"--data", (directory.path() / "data").string()};
  std::vector<Writer> writers(kWriters);
  int64_t acknowledged = 0;

  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    test::ServerProcess server(STATOR_BINARY, arguments);
    ASSERT_FALSE(server.url().empty()) << "the server did not start after a crash";
    HttpClient client = connect(server.url());
    if (round == 0) {
      ASSERT_TRUE(client.create_table(table_definition()));
    } else {
      check_items(client, writers);
      EXPECT_EQ(rows(client, std::nullopt), rows(client, "ByVersion")) << "the index differs";
    }
    std::vector<std::thread> threads;
    for (int id = 0; id < kWriters; ++id) {
      threads.emplace_back([&, id, thread_seed = random()] {
        write_until_killed(client, id, writers[static_cast<std::size_t>(id)], thread_seed);
      });
    }
    // The moment of the crash is the one thing here that is left to chance.
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 150));
    server.kill_now();
    for (std::thread& thread : threads) thread.join();
    for (const Writer& known : writers) acknowledged += known.pair.acknowledged;
  }
  test::ServerProcess server(STATOR_BINARY, arguments);
  ASSERT_FALSE(server.url().empty());
  HttpClient client = connect(server.url());
  check_items(client, writers);
  EXPECT_EQ(rows(client, std::nullopt), rows(client, "ByVersion"));
  EXPECT_GT(acknowledged, 0) << "no round wrote anything";
  EXPECT_EQ(server.terminate(), 0);
  std::cout << rounds() << " kills, seed " << seed << '\n';
}

}  // namespace
}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// Large requests and responses between small ones: where they are handled, how they wait for
// memory, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/server_test.h"
#include "support/comes_true.h"

namespace stator::http {
namespace {

using std::chrono::milliseconds;
using test::comes_true;

constexpr std::size_t kMegabyte = 1UL << 20;

class BulkRequests : public HttpServer {
 protected:
  // A large body. Two of them do not fit into the half of `kHeldMax` that bodies can use.
  static constexpr std::size_t kHeldMax = 4 * kMegabyte;
  static std::string large(char c) { return std::string(3 * kMegabyte / 2, c); }

  static Response later() { return {.status = 503, .body = "later"}; }
};

INSTANTIATE_TEST_SUITE_P(Over, BulkRequests, ::testing::Values("Plain", "Tls"),
                         [](const auto& tested) { return std::string(tested.param); });

// "NICENESS THREAD" of the handler's thread.
void describe_thread(const Request& request, Respond respond) {
  std::string text = std::to_string(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()))) + " " +
                     std::to_string(gettid());
  if (request.target == "/large") text.resize(kMegabyte, '.');
  respond({.body = text});
}

TEST_P(BulkRequests, HaveAThreadInTheBackground) {
  const auto server = start(describe_thread, {.threads = 1});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(post("small")));
  const std::string small = connection.read_answer().body;
  const int niceness = getpriority(PRIO_PROCESS, 0);
  EXPECT_TRUE(small.starts_with(std::to_string(niceness) + " ")) << small;
  const std::string background = std::to_string(std::min(niceness + 10, 19)) + " ";
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(connection.send(post(large('x')) + post("small")));
    const std::string large_thread = connection.read_answer().body;
    EXPECT_TRUE(large_thread.starts_with(background)) << large_thread;
    EXPECT_EQ(connection.read_answer().body, small) << "the connection has returned";
  }
  ASSERT_TRUE(connection.send("GET /large HTTP/1.1\r\n\r\n" + post("small")));
  EXPECT_TRUE(connection.read_answer().body.starts_with(small));
  EXPECT_EQ(connection.read_answer().body, small);
}

TEST_P(BulkRequests, DoNotDelaySmallOnes) {
  std::mutex mutex;
  std::condition_variable changed;
  bool answered = false;
  const auto server = start(
      [&](const Request& request, Respond respond) {
        std::unique_lock lock(mutex);
        if (request.body == "small") answered = true;
        changed.notify_all();
        const bool in_time =
            changed.wait_for(lock, std::chrono::seconds(30), [&] { return answered; });
        respond({.status = in_time ? 200 : 500});
      },
      {.threads = 1});
  Peer slow(server->port());
  ASSERT_TRUE(slow.send(post(large('x'))));
  Peer quick(server->port());
  ASSERT_TRUE(quick.send(post("small")));
  EXPECT_EQ(quick.read_answer().status, 200);
  EXPECT_EQ(slow.read_answer().status, 200);
}

TEST_P(BulkRequests, GetResponsesInOrderAmongSmallOnes) {
  const auto server = start(echo, {.threads = 2});
  std::vector<std::jthread> clients;
  clients.reserve(6);
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&server, c] {
      Peer connection(server->port());
      std::vector<std::string> bodies;
      std::string text;
      for (std::size_t i = 0; i < 12; ++i) {
        const std::size_t size = i % 3 == 0 ? 70'000 * (1 + i) : i;
        bodies.emplace_back(size, static_cast<char>('a' + c));
        text += post(bodies.back());
      }
      const std::jthread sender([&] { EXPECT_TRUE(connection.send(text)); });
      for (const std::string& body : bodies) {
        EXPECT_TRUE(connection.read_answer().body == "POST /p " + body) << body.size();
      }
    });
  }
  clients.clear();
  EXPECT_TRUE(comes_true([&] { return server->stats().requests_in_progress == 0; }));
}

TEST_P(BulkRequests, CanBeChunked) {
  const auto server = start(echo);
  Peer connection(server->port());
  constexpr std::size_t kChunks = 40;
  std::string text = "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t i = 0; i < kChunks; ++i) text += "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
  const std::jthread sender(
      [&] { EXPECT_TRUE(connection.send(text + "0\r\n\r\n" + post("next"))); });
  EXPECT_EQ(connection.read_answer().body.size(), sizeof "POST /c " - 1 + kChunks * 0x4000);
  EXPECT_EQ(connection.read_answer().body, "POST /p next");
}

TEST_P(BulkRequests, WaitForMemoryInOrder) {
  std::mutex mutex;
  std::string order;
  const auto server = start(
      [&](const Request& request, Respond respond) {
        {
          const std::lock_guard lock(mutex);
          order += request.body.front();
        }
        respond({});
      },
      {.held_bytes_max = kHeldMax, .patience = std::chrono::minutes(1)});
  Peer first(server->port());
  const std::string request = post(large('1'));
  ASSERT_TRUE(first.send(std::string_view(request).substr(0, request.size() - 1)));
  ASSERT_TRUE(comes_true([&] { return server->stats().held_bytes > kMegabyte; }));
  std::deque<Peer> waiting;
  std::vector<std::jthread> senders;
  for (const char c : {'2', '3', '4'}) {
    Peer& peer = waiting.emplace_back(server->port());
    senders.emplace_back([&peer, c] { EXPECT_TRUE(peer.send(post(large(c)))); });
    const std::size_t count = waiting.size();
    ASSERT_TRUE(comes_true([&] { return server->stats().bodies_waiting == count; }));
  }
  Peer small(server->port());
  ASSERT_TRUE(small.send(post(std::string(10'000, 's'))));
  EXPECT_EQ(small.read_answer().status, 200) << "has room of its own";
  ASSERT_TRUE(first.send(std::string_view(request).substr(request.size() - 1)));
  EXPECT_EQ(first.read_answer().status, 200);
  for (Peer& peer : waiting) EXPECT_EQ(peer.read_answer().status, 200);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order, "s1234");
  EXPECT_EQ(server->stats().bodies_waiting, 0U);
}

TEST_P(BulkRequests, AreRequestedOnceThereIsMemory) {
  const auto server =
      start(echo, {.held_bytes_max = kHeldMax, .patience = std::chrono::minutes(1)});
  Peer first(server->port());
  const std::string request = post(large('1'));
  ASSERT_TRUE(first.send(std::string_view(request).substr(0, request.size() - 1)));
  ASSERT_TRUE(comes_true([&] { return server->stats().held_bytes > kMegabyte; }));
  const std::string second_request = post(large('2'), "Expect: 100-continue\r\n");
  const std::size_t body = second_request.size() - large('2').size();
  Peer second(server->port());
  ASSERT_TRUE(second.send(std::string_view(second_request).substr(0, body)));
  ASSERT_TRUE(comes_true([&] { return server->stats().bodies_waiting == 1; }));
  ASSERT_TRUE(first.send(std::string_view(request).substr(request.size() - 1)));
  EXPECT_EQ(first.read_answer().status, 200);
  EXPECT_EQ(second.read_answer().status, 100);
  ASSERT_TRUE(second.send(std::string_view(second_request).substr(body)));
  EXPECT_EQ(second.read_answer().status, 200);
}

TEST_P(BulkRequests, AreRefusedAfterWaitingTooLong) {
  const auto server =
      start(echo, {.held_bytes_max = kHeldMax, .patience = milliseconds(50), .overloaded = [] {
                     return later();
                   }});
  Peer first(server->port());
  const std::string request = post(large('1'));
  ASSERT_TRUE(first.send(std::string_view(request).substr(0, request.size() - 1)));
  ASSERT_TRUE(comes_true([&] { return server->stats().held_bytes > kMegabyte; }));
  Peer second(server->port());
  const std::jthread sender([&] { second.send(post(large('2'))); });
  const RawAnswer refused = second.read_answer();
  EXPECT_EQ(refused.body, "later");
  EXPECT_EQ(refused.headers.at("connection"), "close");
  ASSERT_TRUE(first.send(std::string_view(request).substr(request.size() - 1)));
  EXPECT_EQ(first.read_answer().status, 200);
}

TEST_P(BulkRequests, LoseTheirMemoryToOthersIfTooSlow) {
  const auto server =
      start(echo, {.held_bytes_max = kHeldMax, .patience = milliseconds(50), .overloaded = [] {
                     return later();
                   }});
  Peer slow(server->port());
  ASSERT_TRUE(slow.send(std::string_view(post(large('1'))).substr(0, 1000)));
  ASSERT_TRUE(comes_true([&] { return server->stats().held_bytes > kMegabyte; }));
  int status = 0;
  ASSERT_TRUE(comes_true([&] {
    Peer other(server->port());
    const std::jthread sender([&] { other.send(post(large('2'))); });
    status = other.read_answer().status;
    return status == 200;
  })) << status;
  EXPECT_EQ(slow.read_answer().body, "later");
  EXPECT_TRUE(slow.ended_by_peer());
}

TEST_P(BulkRequests, AreDroppedIfTheyTakeTooLong) {
  const auto server = start(echo, {.request_timeout = kTimeout});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(std::string_view(post(large('x'))).substr(0, 1000)));
  EXPECT_EQ(connection.read_answer().status, 408);
  EXPECT_TRUE(connection.ended_by_peer());
  EXPECT_TRUE(comes_true([&] { return server->stats().held_bytes == 0; }));
}

TEST_P(BulkRequests, ThatAreRefusedAreReadForALimitedTime) {
  const auto server = start(
      echo, {.screen = [](const Request&) { return Response{.status = 403, .body = "not you"}; }});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("POST /p HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n"));
  const RawAnswer answer = connection.read_answer();
  EXPECT_EQ(answer.body, "not you");
  const std::string part(kMegabyte, 'x');
  std::size_t sent = 0;
  while (sent < 100 && connection.send(part)) ++sent;
  EXPECT_LT(sent, 100U);
  EXPECT_EQ(server->stats().held_bytes, 0U);
}

TEST_P(BulkRequests, UnderWayAreFinishedAtAStop) {
  const auto server = start(echo, {.stop_timeout = std::chrono::minutes(1)});
  Peer idle(server->port());
  Peer busy(server->port());
  const std::string request = post(large('x'));
  ASSERT_TRUE(busy.send(std::string_view(request).substr(0, request.size() - 1)));
  ASSERT_TRUE(comes_true([&] { return server->stats().held_bytes > kMegabyte; }));
  const std::jthread stopper([&] { server->stop(); });
  EXPECT_TRUE(idle.ended_by_peer());
  ASSERT_TRUE(busy.send(std::string_view(request).substr(request.size() - 1)));
  const RawAnswer answer = busy.read_answer();
  EXPECT_EQ(answer.body.size(), large('x').size() + sizeof "POST /p " - 1);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(busy.ended_by_peer());
}

TEST_P(BulkRequests, DoNotKeepAServerFromStopping) {
  for (int round = 0; round < 5; ++round) {
    const auto server = start(echo, {.held_bytes_max = kHeldMax, .stop_timeout = milliseconds(20)});
    std::atomic<int> answered = 0;
    std::vector<std::jthread> clients;
    clients.reserve(6);
    for (int c = 0; c < 6; ++c) {
      clients.emplace_back([&] {
        Peer connection(server->port());
        const std::string text = post("small") + post(large('x')) + post("small");
        while (connection.send(text) && connection.read_answer().status != 0) ++answered;
      });
    }
    EXPECT_TRUE(comes_true([&] { return answered > 3; }));
    server->stop();
    clients.clear();
    EXPECT_EQ(server->stats().connections, 0U);
    EXPECT_EQ(server->stats().held_bytes, 0U);
  }
}

}  // namespace
}  // namespace stator::http

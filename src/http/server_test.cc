// SPDX-License-Identifier: Apache-2.0
#include "http/server_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/wait_permit.h"
#include "support/comes_true.h"

namespace stator::http {
namespace {

using std::chrono::milliseconds;
using test::comes_true;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Over, HttpServer, ::testing::Values("Plain", "Tls"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(HttpServer, RespondsToSuccessiveRequestsOnOneConnection) {
  const auto server = start(echo);
  Peer connection(server->port());
  for (const std::string body : {"one", "", "three"}) {
    ASSERT_TRUE(connection.send(post(body)));
    const RawAnswer answer = connection.read_answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "POST /p " + body);
    EXPECT_EQ(answer.headers.at("x-echo"), "yes");
    EXPECT_FALSE(answer.headers.contains("connection"));
  }
}

TEST_P(HttpServer, RespondsToPipelinedRequestsInOrder) {
  const auto server = start(echo);
  Peer connection(server->port());
  std::string text;
  for (int i = 0; i < 200; ++i) text += post(std::to_string(i));
  std::thread sender([&] { EXPECT_TRUE(connection.send(text)); });
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(connection.read_answer().body, "POST /p " + std::to_string(i));
  }
  sender.join();
}

TEST_P(HttpServer, RespondsToPipelinedRequestsInOrderFromAnotherThread) {
  Held held;
  const auto server = start(held.handler());
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(post("a") + post("b")));
  auto [first, respond_first] = held.take();
  EXPECT_EQ(first, "a");
  EXPECT_TRUE(held.empty()) << "the second waits for the first one's answer";
  respond_first({.body = "A"});
  EXPECT_EQ(connection.read_answer().body, "A");
  auto [second, respond_second] = held.take();
  EXPECT_EQ(second, "b");
  respond_second({.body = "B"});
  EXPECT_EQ(connection.read_answer().body, "B");
}

TEST_P(HttpServer, ReadsChunkedBodies) {
  const auto server = start(echo);
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwi"));
  ASSERT_TRUE(connection.send("ki\r\n5\r\npedia\r\n0\r\n\r\n" + post("next")));
  EXPECT_EQ(connection.read_answer().body, "POST /c wikipedia");
  EXPECT_EQ(connection.read_answer().body, "POST /p next");
}

TEST_P(HttpServer, CarriesLargeBodiesBothWays) {
  const auto server = start(echo);
  Peer connection(server->port());
  const std::string body(9 << 20, 'x');
  std::thread sender([&] { EXPECT_TRUE(connection.send(post(body) + post("small"))); });
  EXPECT_EQ(connection.read_answer().body, "POST /p " + body);
  EXPECT_EQ(connection.read_answer().body, "POST /p small");
  sender.join();
}

TEST_P(HttpServer, RespondsToHeadWithoutABody) {
  const auto server = start(echo);
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("HEAD /h HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(connection.read_answer(true).headers.at("content-length"), "8");
  ASSERT_TRUE(connection.send("GET /g HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(connection.read_answer().body, "GET /g ");
}

TEST_P(HttpServer, ClosesIfTheClientRequestsIt) {
  const auto server = start(echo);
  Peer closing(server->port());
  ASSERT_TRUE(closing.send(post("x", "Connection: close\r\n")));
  EXPECT_EQ(closing.read_answer().headers.at("connection"), "close");
  EXPECT_TRUE(closing.ended_by_peer());

  Peer old(server->port());
  ASSERT_TRUE(old.send("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(old.read_answer().status, 200);
  EXPECT_TRUE(old.ended_by_peer());

  Peer old_keeping(server->port());
  ASSERT_TRUE(old_keeping.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_EQ(old_keeping.read_answer().headers.at("connection"), "keep-alive");
  ASSERT_TRUE(old_keeping.send("GET /2 HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(old_keeping.read_answer().body, "GET /2 ");
}

TEST_P(HttpServer, RequestsABodyThatTheClientWithholds) {
  const auto server = start(echo);
  Peer connection(server->port());
  ASSERT_TRUE(
      connection.send("POST /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
  EXPECT_EQ(connection.read_answer().status, 100);
  ASSERT_TRUE(connection.send("body"));
  EXPECT_EQ(connection.read_answer().body, "POST /e body");
}

TEST_P(HttpServer, RejectsABodyOverTheLimitAndDeliversTheResponse) {
  const auto server = start(echo, {.body_bytes_max = 1000, .too_large = [] {
                                     return Response{.status = 413, .body = "too large"};
                                   }});
  Peer connection(server->port());
  // Much more than the sockets' buffers hold, so the server must keep reading for the response to
  // arrive.
  std::thread sender([&] { connection.send(post(std::string(20 << 20, 'x'))); });
  const RawAnswer answer = connection.read_answer();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "too large");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  sender.join();
  Peer another(server->port());
  ASSERT_TRUE(another.send(post(std::string(1000, 'x'))));
  EXPECT_EQ(another.read_answer().status, 200);
}

TEST_P(HttpServer, RejectsMalformedHttpAfterRespondingToEarlierRequests) {
  const auto server =
      start(echo, {.malformed = [] { return Response{.status = 400, .body = "no HTTP"}; }});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(post("good") + "nonsense\r\n\r\n"));
  EXPECT_EQ(connection.read_answer().body, "POST /p good");
  const RawAnswer answer = connection.read_answer();
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, "no HTTP");
  EXPECT_TRUE(connection.ended_by_peer());
}

TEST_P(HttpServer, RespondsToAClientThatHasStoppedSending) {
  Held held;
  const auto server = start(held.handler());
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(post("last")));
  connection.end_sending();
  held.take().second({.body = "answer"});
  EXPECT_EQ(connection.read_answer().body, "answer");
  EXPECT_TRUE(connection.ended_by_peer());
}

TEST_P(HttpServer, RespondsToATruncatedRequest) {
  const auto server = start(echo);
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf"));
  connection.end_sending();
  EXPECT_EQ(connection.read_answer().status, 400);
  EXPECT_TRUE(connection.ended_by_peer());
}

TEST_P(HttpServer, DropsARequestThatTakesTooLong) {
  const auto server = start(echo, {.request_timeout = kTimeout});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nsl"));
  EXPECT_EQ(connection.read_answer().status, 408);
  EXPECT_TRUE(connection.ended_by_peer());
}

TEST_P(HttpServer, ClosesIdleConnectionsButNotThoseThatWaitForAResponse) {
  Held held;
  const auto server = start(held.handler(), {.idle_timeout = kTimeout});
  Peer waiting(server->port());
  ASSERT_TRUE(waiting.send(post("slow")));
  auto [body, respond] = held.take();
  Peer idle(server->port());
  EXPECT_TRUE(idle.ended_by_peer());
  respond({.body = "late"});
  EXPECT_EQ(waiting.read_answer().body, "late");
  EXPECT_TRUE(waiting.ended_by_peer());
}

TEST_P(HttpServer, DropsAClientThatDoesNotReadItsResponse) {
  const auto server = start(
      [](const Request& request, Respond respond) {
        respond({.body = std::string(request.body == "large" ? 64 << 20 : 1, 'x')});
      },
      {.connections_max = 1, .request_timeout = kTimeout});
  Peer unread(server->port());
  ASSERT_TRUE(unread.send(post("large")));
  int status = 0;  // the only connection is taken until the server gives up
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (status != 200 && std::chrono::steady_clock::now() < limit) {
    Peer other(server->port());
    other.send(post("small"));
    status = other.read_answer().status;
  }
  EXPECT_EQ(status, 200);
}

TEST_P(HttpServer, LimitsTheMemoryOfUnfinishedRequests) {
  constexpr std::size_t kHalf = 300 << 10;  // of a request, received
  const auto server = start(echo, {.held_bytes_max = 4 << 20, .overloaded = [] {
                                     return Response{.status = 503, .body = "later"};
                                   }});
  const std::string request = post(std::string(2 * kHalf, 'x'));
  std::deque<Peer> senders;
  std::size_t refused = 0;
  for (int i = 0; i < 8; ++i) {
    Peer& sender = senders.emplace_back(server->port());
    ASSERT_TRUE(sender.send(std::string_view(request).substr(0, kHalf)));
  }
  // Eight halves exceed the budget: one is refused before the others continue.
  std::vector<pollfd> polled;
  for (const Peer& sender : senders) polled.push_back({sender.descriptor(), POLLIN, 0});
  ASSERT_GT(poll(polled.data(), polled.size(), 30'000), 0);
  for (Peer& sender : senders) sender.send(std::string_view(request).substr(kHalf));
  std::size_t answered = 0;
  for (Peer& sender : senders) {
    const RawAnswer answer = sender.read_answer();
    refused += answer.status == 503 && answer.body == "later" ? 1 : 0;
    answered += answer.status == 200 ? 1 : 0;
  }
  EXPECT_EQ(refused + answered, senders.size());
  EXPECT_GT(refused, 0U);
  EXPECT_GT(answered, 0U);
  // The memory is free again.
  for (int i = 0; i < 4; ++i) {
    Peer another(server->port());
    ASSERT_TRUE(another.send(request));
    EXPECT_EQ(another.read_answer().status, 200);
  }
}

TEST_P(HttpServer, RejectsResponsesThatExceedItsMemory) {
  constexpr std::size_t kAnswer = 32 << 20;  // more than the sockets' buffers take
  const auto server = start(
      [](const Request& request, Respond respond) {
        respond({.body = std::string(request.body == "large" ? kAnswer : 1, 'x')});
      },
      {.held_bytes_max = 2 * kAnswer + (1 << 20)});
  std::deque<Peer> unread;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(unread.emplace_back(server->port()).send(post("large")));
  }
  // Each response has begun before the first one is read, which would release memory.
  for (const Peer& connection : unread) {
    pollfd readable{connection.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, 60'000), 1);
  }
  std::size_t whole = 0;
  std::size_t refused = 0;
  for (Peer& connection : unread) {
    const RawAnswer answer = connection.read_answer();
    whole += answer.body.size() == kAnswer ? 1 : 0;
    refused += answer.status == 503 ? 1 : 0;
  }
  EXPECT_EQ(whole, 2U);
  EXPECT_EQ(refused, 1U);
  Peer another(server->port());
  ASSERT_TRUE(another.send(post("large")));
  EXPECT_EQ(another.read_answer().body.size(), kAnswer);
}

TEST_P(HttpServer, RespondsWithServerErrorIfAResponseIsDropped) {
  const auto server = start([](const Request& request, Respond respond) {
    if (request.target == "/elsewhere") std::thread([dropped = std::move(respond)] {}).join();
  });
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("GET /here HTTP/1.1\r\n\r\nGET /elsewhere HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(connection.read_answer().status, 500);
  EXPECT_EQ(connection.read_answer().status, 500);
}

TEST_P(HttpServer, ServesManyConnectionsAtOnce) {
  Held held;
  const auto server = start(held.handler());
  std::deque<Peer> connections;
  for (int i = 0; i < 300; ++i) {
    connections.emplace_back(server->port());
    ASSERT_TRUE(connections.back().send(post(std::to_string(i))));
  }
  for (int i = 0; i < 300; ++i) {
    auto [body, respond] = held.take();
    respond({.body = "for " + body});
  }
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(connections[i].read_answer().body, "for " + std::to_string(i));
  }
}

TEST_P(HttpServer, ServesConcurrentLoadFromOtherThreadsAndItsOwn) {
  Held held;
  const Handler later = held.handler();
  const auto server = start(
      [&](const Request& request, Respond respond) {
        if (request.body.ends_with('0')) return later(request, std::move(respond));
        echo(request, std::move(respond));
      },
      {.threads = 3});
  std::thread answerer([&] {
    for (std::string answered; answered != "0";) {
      auto [body, respond] = held.take();
      respond({.body = "POST /p " + body});
      answered = std::move(body);
    }
  });
  std::atomic<int> good = 0;
  std::vector<std::thread> clients;
  clients.reserve(8);
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      Peer connection(server->port());
      for (int i = 0; i < 300; ++i) {
        const std::string body = std::to_string(c) + "-" + std::to_string(i);
        if (!connection.send(post(body))) return;
        if (connection.read_answer().body == "POST /p " + body) ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  Peer last(server->port());
  ASSERT_TRUE(last.send(post("0")));
  EXPECT_EQ(last.read_answer().status, 200);
  answerer.join();
  EXPECT_EQ(good, 8 * 300);
}

TEST_P(HttpServer, ClosesNewConnectionsBeyondTheLimitIfAllAreBusy) {
  Held held;
  const auto server = start(held.handler(), {.connections_max = 1});
  Peer first(server->port());
  ASSERT_TRUE(first.send(post("in")));
  auto [body, respond] = held.take();
  Peer second(server->port());
  EXPECT_TRUE(second.ended_by_peer());
  respond({.body = "out"});
  EXPECT_EQ(first.read_answer().body, "out");
}

TEST_P(HttpServer, ClosesTheLongestIdleConnectionForANewOne) {
  const auto server = start(echo, {.threads = 1, .connections_max = 2});
  Peer idle(server->port());
  ASSERT_TRUE(idle.send(post("first")));
  EXPECT_EQ(idle.read_answer().status, 200);
  Peer busy(server->port());
  ASSERT_TRUE(busy.send(post("first") + "POST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nha"));
  EXPECT_EQ(busy.read_answer().status, 200);
  Peer another(server->port());
  ASSERT_TRUE(another.send(post("new")));
  EXPECT_EQ(another.read_answer().body, "POST /p new");
  EXPECT_TRUE(idle.ended_by_peer());
  ASSERT_TRUE(busy.send("lve"));
  EXPECT_EQ(busy.read_answer().body, "POST /p halve");
}

// A thread drops the rest of rejected requests; each of the others has a client to spare.
TEST_P(HttpServer, ClosesRejectedConnectionsBeforeRecentlyUsedOnes) {
  const auto server = start(echo, {.threads = 2,
                                   .body_bytes_max = 10,
                                   .connections_max = 8,
                                   .patience = std::chrono::minutes(1)});
  std::deque<Peer> known;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(known.emplace_back(server->port()).send(post("first")));
    ASSERT_EQ(known.back().read_answer().status, 200);
  }
  std::deque<Peer> rejected;
  for (int i = 0; i < 30; ++i) {
    Peer& peer = rejected.emplace_back(server->port());
    ASSERT_TRUE(peer.send("POST /p HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"));
    ASSERT_EQ(peer.read_answer().status, 413) << i;
  }
  for (Peer& peer : known) {
    ASSERT_TRUE(peer.send(post("second")));
    EXPECT_EQ(peer.read_answer().body, "POST /p second");
  }
}

TEST_P(HttpServer, PausesBeforeNewConnectionsAfterManyFailures) {
  const auto server = start(
      [](const Request& request, Respond respond) {
        if (request.body == "rejected") return respond({.status = 403, .accepted = false});
        echo(request, std::move(respond));
      },
      {.failures_per_second = 1, .failure_pause_max = std::chrono::minutes(1)});
  Peer known(server->port());
  ASSERT_TRUE(known.send(post("first")));
  ASSERT_EQ(known.read_answer().status, 200);
  std::deque<Peer> failing;
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(failing.emplace_back(server->port()).connected());
  for (Peer& peer : failing) {
    ASSERT_TRUE(peer.send(post("rejected")));
    EXPECT_EQ(peer.read_answer().status, 403);
  }
  failing.clear();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (server->stats().connections > 1 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  Peer last(server->port());  // the pause begins after it
  ASSERT_TRUE(last.send(post("last")));
  EXPECT_EQ(last.read_answer().body, "POST /p last");
  RawConnection waiting(server->port());
  ASSERT_TRUE(waiting.send(post("waiting")));
  pollfd answered{.fd = waiting.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&answered, 1, 100), 0);
  ASSERT_TRUE(known.send(post("second")));
  EXPECT_EQ(known.read_answer().body, "POST /p second");
}

TEST_P(HttpServer, CountsErrorsOfAcceptedClientsAsNoFailures) {
  const auto server =
      start([](const Request&, Respond respond) { respond({.status = 400, .body = "accepted"}); },
            {.failures_per_second = 1, .failure_pause_max = std::chrono::minutes(1)});
  for (int i = 0; i < 60; ++i) {
    Peer peer(server->port());
    ASSERT_TRUE(peer.send(post("fails")));
    ASSERT_EQ(peer.read_answer().body, "accepted") << i;
  }
}

TEST_P(HttpServer, DropsTheRestOfRejectedRequestsAtItsPace) {
  const auto server = start(echo, {.body_bytes_max = 10, .dropped_bytes_per_second = 1'000});
  Peer peer(server->port());
  ASSERT_TRUE(peer.send("POST /p HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n"));
  ASSERT_EQ(peer.read_answer().status, 413);
  // Much more than the sockets' buffers hold.
  const std::string bytes(1 << 20, 'x');
  std::size_t sent = 0;
  pollfd ready{.fd = peer.descriptor(), .events = POLLOUT, .revents = 0};
  while (sent < 50'000'000 && poll(&ready, 1, 50) == 1) {
    const auto count =
        ::send(peer.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN) break;
    sent += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  EXPECT_LT(sent, 50'000'000);
}

// A thread has no connection of its own to close, but the others have.
TEST_P(HttpServer, ClosesIdleConnectionsOfOtherThreadsForNewOnes) {
  constexpr std::size_t kThreads = 3;
  const auto server = start(echo, {.threads = kThreads, .connections_max = 1});
  std::vector<Peer> peers;
  for (std::size_t i = 0; i < 3 * kThreads; ++i) {
    Peer& peer = peers.emplace_back(server->port());
    ASSERT_TRUE(peer.send(post(std::to_string(i))));
    ASSERT_EQ(peer.read_answer().body, "POST /p " + std::to_string(i));
    if (i > 0) {
      EXPECT_TRUE(peers[i - 1].ended_by_peer()) << i;
    }
  }
  EXPECT_EQ(server->stats().connections, 1U);
}

// Each has sent a complete request and the first byte of another one.
TEST_P(HttpServer, ClosesConnectionsWithIncompleteRequestsForNewOnes) {
  constexpr std::size_t kThreads = 3;
  const auto server =
      start(echo, {.threads = kThreads, .connections_max = kThreads, .patience = milliseconds(0)});
  std::vector<Peer> incomplete;
  for (std::size_t i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(incomplete.emplace_back(server->port()).send(post("first") + "P"));
    ASSERT_EQ(incomplete[i].read_answer().status, 200);
  }
  std::vector<Peer> others;
  for (std::size_t i = 0; i < 2 * kThreads; ++i) {
    ASSERT_TRUE(others.emplace_back(server->port()).send(post("new"))) << i;
    ASSERT_EQ(others[i].read_answer().body, "POST /p new") << i;
  }
  for (Peer& peer : incomplete) EXPECT_TRUE(peer.ended_by_peer());
}

TEST_P(HttpServer, FinishesARequestInProgressAtTheConnectionLimit) {
  const auto server =
      start(echo, {.threads = 2, .connections_max = 1, .patience = std::chrono::minutes(1)});
  Peer slow(server->port());
  const std::string second = post("second");
  ASSERT_TRUE(slow.send(post("first") + second.substr(0, 1)));
  ASSERT_EQ(slow.read_answer().status, 200);
  EXPECT_TRUE(Peer(server->port()).ended_by_peer());
  ASSERT_TRUE(slow.send(second.substr(1)));
  EXPECT_EQ(slow.read_answer().body, "POST /p second");
}

TEST_P(HttpServer, EndsConnectionsThatSendEmptyLinesOnly) {
  const auto server = start(echo, {.idle_timeout = milliseconds(200)});
  Peer connection(server->port());
  pollfd ended{.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
  int rounds = 0;
  while (poll(&ended, 1, 20) == 0 && connection.send("\n") && ++rounds < 1'500) {
  }
  EXPECT_LT(rounds, 1'500) << "half a minute";
}

TEST_P(HttpServer, RefusesALargeBodyByItsHeaders) {
  std::atomic<int> handled = 0;
  const auto server = start(
      [&](const Request& request, Respond respond) {
        ++handled;
        echo(request, std::move(respond));
      },
      {.screen = [](const Request& head) -> std::optional<Response> {
        if (head.target == "/p") return Response{.status = 403, .body = "not you"};
        return std::nullopt;
      }});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("POST /p HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nx"));
  const RawAnswer answer = connection.read_answer();
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body, "not you");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  Peer waits(server->port());
  ASSERT_TRUE(
      waits.send("POST /p HTTP/1.1\r\nExpect: 100-continue\r\n"
                 "Content-Length: 1000000\r\n\r\n"));
  EXPECT_EQ(waits.read_answer().status, 403) << "not asked for the body first";
  EXPECT_EQ(handled, 0);
  Peer small(server->port());
  ASSERT_TRUE(small.send(post("small")));
  EXPECT_EQ(small.read_answer().status, 200) << "left to the handler";
}

TEST_P(HttpServer, RejectsABodyWithoutMemoryByItsHeaders) {
  const auto server = start(echo, {.held_bytes_max = 1 << 20});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send("POST /p HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"));
  EXPECT_EQ(connection.read_answer().status, 503);
}

TEST_P(HttpServer, HandlesRequestsThatNeedMemoryOnSideThreads) {
  std::mutex mutex;
  std::set<std::thread::id> loops;
  std::set<std::thread::id> sides;
  const auto server = start(
      [&](const Request& request, Respond respond) {
        {
          const std::lock_guard lock(mutex);
          (request.body == "large" ? sides : loops).insert(std::this_thread::get_id());
        }
        echo(request, std::move(respond));
      },
      {.threads = 1,
       .held_bytes_max = 1000,
       .aside = [](const Request& request) { return request.body.ends_with("large"); },
       .demand = [](const Request& request) { return request.body == "large" ? 600UL : 1001UL; }});
  Peer connection(server->port());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(connection.send(post("large") + post("too large") + post("small")));
    EXPECT_EQ(connection.read_answer().body, "POST /p large");
    EXPECT_EQ(connection.read_answer().status, 503);
    EXPECT_EQ(connection.read_answer().body, "POST /p small");
  }
  const std::lock_guard lock(mutex);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_FALSE(sides.contains(*loops.begin()));
}

TEST_P(HttpServer, DropsWaitingRequestsOfClientsThatHaveGone) {
  std::mutex mutex;
  std::set<std::string> handled;
  std::promise<void> promised;
  const std::shared_future<void> release = promised.get_future().share();
  const auto server = start(
      [&](const Request& request, Respond respond) {
        {
          const std::lock_guard lock(mutex);
          handled.emplace(request.body);
        }
        if (request.body == "blocks") release.wait();
        echo(request, std::move(respond));
      },
      {.threads = 1, .patience = milliseconds(100), .aside = [](const Request&) { return true; }});
  // After a failure, its destructor releases the thread before the server waits for it.
  std::promise<void> released = std::move(promised);
  const std::string leaving(100'000, 'x');
  Peer blocks(server->port());  // the only side thread
  ASSERT_TRUE(blocks.send(post("blocks")));
  ASSERT_TRUE(comes_true([&] {
    const std::lock_guard lock(mutex);
    return !handled.empty();
  }));
  Peer stays(server->port());
  ASSERT_TRUE(stays.send(post("stays")));
  {
    Peer leaves(server->port());
    ASSERT_TRUE(leaves.send(post(leaving)));
    ASSERT_TRUE(comes_true([&] { return server->stats().side_queue_length == 2; }));
  }
  EXPECT_TRUE(comes_true([&] { return server->stats().connections == 2; }));
  EXPECT_GE(server->stats().held_bytes,
            leaving.size());  // until the thread takes it from the queue
  released.set_value();
  EXPECT_TRUE(comes_true([&] { return server->stats().held_bytes == 0; }));
  EXPECT_EQ(stays.read_answer().body, "POST /p stays");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(handled, (std::set<std::string>{"blocks", "stays"}));
}

TEST_P(HttpServer, ServesKnownClientsBetweenManyNewcomers) {
  std::promise<void> promised;
  std::promise<void> blocked;
  const std::shared_future<void> release = promised.get_future().share();
  std::atomic<int> rejected = 0;
  std::atomic<int> rejected_before = -1;
  const auto server = start(
      [&](const Request& request, Respond respond) {
        if (request.body == "rejected") {
          ++rejected;
          std::this_thread::sleep_for(milliseconds(1));
          return respond({.status = 403, .accepted = false});
        }
        if (request.body == "blocks") {
          blocked.set_value();
          release.wait();
        }
        if (request.body == "known") rejected_before = rejected.load();
        echo(request, std::move(respond));
      },
      {.threads = 1});
  std::promise<void> released = std::move(promised);  // also after a failure
  Peer known(server->port());
  ASSERT_TRUE(known.send(post("first")));
  ASSERT_EQ(known.read_answer().status, 200);
  std::deque<Peer> newcomers;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(newcomers.emplace_back(server->port()).connected());
  Peer blocks(server->port());
  ASSERT_TRUE(blocks.send(post("blocks")));
  blocked.get_future().wait();
  for (Peer& newcomer : newcomers) ASSERT_TRUE(newcomer.send(post("rejected")));
  ASSERT_TRUE(known.send(post("known")));
  released.set_value();
  EXPECT_EQ(known.read_answer().body, "POST /p known");
  for (Peer& newcomer : newcomers) EXPECT_EQ(newcomer.read_answer().status, 403);
  EXPECT_LE(rejected_before, 2);
}

TEST_P(HttpServer, MakesResponsesOnTheLoop) {
  Held held;
  const auto server = start(held.handler());
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(post("later")));
  const auto here = std::this_thread::get_id();
  std::atomic<bool> elsewhere = false;
  Response response;
  response.make = [&] {
    elsewhere = std::this_thread::get_id() != here;
    return Response{.status = 404, .body = "made"};
  };
  held.take().second(std::move(response));
  const RawAnswer answer = connection.read_answer();
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "made");
  EXPECT_TRUE(elsewhere);
}

TEST_P(HttpServer, AllowsAHandlerToWaitForTheDiskIfNoOtherWaits) {
  const auto server = start(
      [](const Request&, Respond respond) {
        const bool waits = WaitPermit::covers(WaitFor::kDisk);
        respond({.body = WaitPermit::covers(WaitFor::kServer) ? "server" : waits ? "disk" : "no"});
      },
      {.threads = 2});
  const auto permit_of = [](Peer& peer) {
    EXPECT_TRUE(peer.send(post("")));
    return peer.read_answer().body;
  };
  Peer one(server->port());
  EXPECT_EQ(permit_of(one), "disk");
  Peer two(server->port());
  EXPECT_EQ(permit_of(two), "no") << "its thread also accepts connections";
  EXPECT_EQ(permit_of(one), "disk");
  Peer three(server->port());
  EXPECT_EQ(permit_of(three), "no") << "the first connection has the same thread";
  EXPECT_EQ(permit_of(one), "no");
}

TEST_P(HttpServer, CountsConnectionsAndRequestsInProgress) {
  Held held;
  const auto server = start(held.handler(), {.connections_max = 100, .held_bytes_max = 1 << 20});
  EXPECT_EQ(server->stats().connections, 0U);
  EXPECT_EQ(server->stats().connections_max, 100U);
  Peer first(server->port());
  Peer second(server->port());
  for (Peer* connection : {&first, &second}) {
    ASSERT_TRUE(connection->send(post(std::string(100'000, 'b'))));
  }
  auto [one, respond_one] = held.take();
  auto [two, respond_two] = held.take();
  const ServerStats busy = server->stats();
  EXPECT_EQ(busy.connections, 2U);
  EXPECT_EQ(busy.requests_in_progress, 2U);
  EXPECT_GE(busy.held_bytes, 200'000U);
  EXPECT_EQ(busy.held_bytes_max, 1U << 20);
  respond_one({.body = "done"});
  respond_two({.body = "done"});
  EXPECT_EQ(first.read_answer().body, "done");
  EXPECT_EQ(second.read_answer().body, "done");
  server->stop();
  EXPECT_EQ(server->stats().requests_in_progress, 0U);
  EXPECT_EQ(server->stats().connections, 0U);
  EXPECT_EQ(server->stats().held_bytes, 0U);
}

TEST_P(HttpServer, StopFinishesRequestsInProgress) {
  Held held;
  const auto server = start(held.handler());
  Peer idle(server->port());
  Peer busy(server->port());
  ASSERT_TRUE(busy.send(post("under way")));
  auto [body, respond] = held.take();
  std::thread stopper([&] { server->stop(); });
  EXPECT_TRUE(idle.ended_by_peer());
  respond({.body = "done"});
  const RawAnswer answer = busy.read_answer();
  EXPECT_EQ(answer.body, "done");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(busy.ended_by_peer());
  stopper.join();
  EXPECT_FALSE(Peer(server->port()).connected());
}

TEST_P(HttpServer, StopClosesUnfinishedRequestsAndDropsLateResponses) {
  Held held;
  auto server = start(held.handler(), {.stop_timeout = milliseconds(50)});
  Peer connection(server->port());
  ASSERT_TRUE(connection.send(post("stuck")));
  auto [body, respond] = held.take();
  server->stop();
  EXPECT_TRUE(connection.ended_by_peer());
  respond({.body = "too late"});
  auto second = start(held.handler(), {.stop_timeout = milliseconds(50)});
  Peer other(second->port());
  ASSERT_TRUE(other.send(post("stuck too")));
  auto [other_body, other_respond] = held.take();
  second.reset();
  other_respond({.body = "after the server is gone"});
}

TEST_P(HttpServer, ReportsInvalidAddresses) {
  const auto server = start(echo);
  const auto busy = Server::start({.port = server->port()}, echo);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::kIo);
  EXPECT_THAT(busy.error().message,
              HasSubstr("127.0.0.1:" + std::to_string(server->port()) + ": another program"));
  const auto no_address = Server::start({.address = "nowhere"}, echo);
  ASSERT_FALSE(no_address);
  EXPECT_EQ(no_address.error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace stator::http

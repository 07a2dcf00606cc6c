// SPDX-License-Identifier: Apache-2.0
// Connections: thousands of idle ones, slow, half closed, broken off, never read from.
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>

#include "hostile/hostile_test.h"

namespace stator::test {
namespace {

constexpr const char* kPut = R"({"TableName":"Things","Item":{"pk":{"S":"broken off"}}})";

// Sets the soft limit of this process and of its children. The destructor restores it.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t soft) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit wanted{.rlim_cur = std::min(soft, before_.rlim_max), .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &wanted);
    soft_ = wanted.rlim_cur;
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

  rlim_t soft() const { return soft_; }

 private:
  rlimit before_{};
  rlim_t soft_ = 0;
};

// The server starts with the limit of a shell, and must raise it itself.
class WithTheLimitOfAShell {
 protected:
  DescriptorLimit limit_{1024};
};
class Crowd : WithTheLimitOfAShell, public HostileTest {};

TEST_F(Crowd, OfTenThousandIdleConnectionsAllowsAnother) {
  const DescriptorLimit limit(RLIM_INFINITY);
  // The other descriptors are for files, in this process and in the server.
  const std::size_t most =
      static_cast<std::size_t>(limit.soft() - std::min<rlim_t>(limit.soft() / 2 + 16, 1100));
  const std::size_t count = std::min<std::size_t>(10'000, most);
  std::vector<RawConnection> idle;
  idle.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    RawConnection& connection = idle.emplace_back(port());
    ASSERT_TRUE(connection.connected()) << i;
    if (i % 4 == 1) {
      ASSERT_TRUE(connection.send(
          operation("GetItem", R"({"TableName":"Things","Key":{"pk":{"S":"none"}}})")));
      ASSERT_EQ(connection.read_answer().status, 200) << i;
    }
    if (i % 1000 == 0) expect_service();
  }
  for (int i = 0; i < 100; ++i) expect_service();
  // A receive buffer of 4 KB, the head of a response, and the state of the connection.
  expect_grown_by_at_most(count * 8 * kKilobyte);
  // No connection was closed to free memory.
  for (std::size_t i = 0; i < count; i += 97) {
    ASSERT_TRUE(idle[i].send(operation("ListTables", "{}"))) << i;
    EXPECT_EQ(idle[i].read_answer().status, 200) << i;
  }
  RecordProperty("connections", std::to_string(count));
}

class Connections : public HostileTest {};

class SlowConnections : public HostileTest {
 protected:
  SlowConnections() : HostileTest({"--request-timeout", "1"}) {}

  // Sends a byte on each connection about every 20 ms, until the server has responded or closed it.
  // Returns the first response of each.
  static std::vector<RawAnswer> dribble(std::vector<RawConnection>& connections, char byte) {
    constexpr int kRounds = 1500;  // 30 seconds
    std::vector<pollfd> waiting;
    waiting.reserve(connections.size());
    for (const RawConnection& connection : connections) {
      waiting.push_back({.fd = connection.descriptor(), .events = POLLIN, .revents = 0});
    }
    for (int round = 0; round < kRounds && !waiting.empty(); ++round) {
      for (const pollfd& polled : waiting) ::send(polled.fd, &byte, 1, MSG_NOSIGNAL);
      poll(waiting.data(), waiting.size(), 20);
      std::erase_if(waiting, [](const pollfd& polled) { return polled.revents != 0; });
    }
    EXPECT_TRUE(waiting.empty());
    std::vector<RawAnswer> answers;
    answers.reserve(connections.size());
    for (RawConnection& connection : connections) answers.push_back(connection.read_answer());
    return answers;
  }
};

TEST_F(SlowConnections, ThatDribbleHeadersOrBodiesAreEnded) {
  const std::string whole = operation("PutItem", std::string(100'000, ' '));
  const std::size_t body = whole.find("\r\n\r\n") + 4;
  std::vector<RawConnection> slow;
  for (const std::size_t sent : {std::size_t{1}, std::size_t{30}, body - 30, body, body + 500}) {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(slow.emplace_back(port()).send(std::string_view(whole).substr(0, sent)));
    }
  }
  expect_service();
  for (const RawAnswer& answer : dribble(slow, 'x')) {
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.headers.at("connection"), "close");
    EXPECT_THAT(answer.body, ::testing::HasSubstr("SerializationException"));
  }
  for (RawConnection& connection : slow) EXPECT_TRUE(connection.ended_by_peer());
  expect_grown_by_at_most(slow.size() * 128 * kKilobyte);  // headers and body, growing buffers
}

TEST_F(SlowConnections, ThatNeverReadTheirResponsesAreClosed) {
  constexpr int kItems = 4;
  for (int i = 0; i < kItems; ++i) {
    ASSERT_THAT(
        client_->put_item({.table = "Things",
                           .item = {{"pk", std::to_string(i)}, {"v", std::string(300'000, 'x')}}}),
        IsOk());
  }
  constexpr std::size_t kScans = 40;  // of 1 MB each, more than any TCP window
  std::string scans;
  for (std::size_t i = 0; i < kScans; ++i) scans += operation("Scan", R"({"TableName":"Things"})");
  std::vector<RawConnection> deaf;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(deaf.emplace_back(port()).send(scans));
  expect_service();
  for (const RawConnection& connection : deaf) {
    pollfd ended{.fd = connection.descriptor(), .events = POLLRDHUP, .revents = 0};
    EXPECT_EQ(poll(&ended, 1, 30'000), 1);
  }
  // One response at a time: its text and its items.
  expect_grown_by_at_most(deaf.size() * 2 * kMegabyte);
}

TEST_F(Connections, ThatAreHalfClosedGetTheirResponse) {
  RawConnection whole = connect();
  ASSERT_TRUE(whole.send(operation("PutItem", kPut)));
  whole.end_sending();
  EXPECT_EQ(whole.read_answer().status, 200);
  EXPECT_TRUE(whole.ended_by_peer());
  RawConnection half = connect();
  const std::string request = operation("PutItem", kPut);
  ASSERT_TRUE(half.send(std::string_view(request).substr(0, request.size() - 5)));
  half.end_sending();
  EXPECT_EQ(half.read_answer().status, 400);
  EXPECT_TRUE(half.ended_by_peer());
  RawConnection silent = connect();
  silent.end_sending();
  EXPECT_TRUE(silent.ended_by_peer());
}

TEST_F(Connections, BrokenOffAtAnyByteWriteNothing) {
  const std::string request = operation("PutItem", kPut);
  for (std::size_t sent = 0; sent < request.size(); ++sent) {
    RawConnection connection = connect();
    ASSERT_TRUE(connection.send(std::string_view(request).substr(0, sent)));
    if (sent % 2 == 0) {
      // With a reset, like a process that was killed before it read all bytes.
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(connection.descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
  }
  expect_service();
  const auto got = client_->get_item({.table = "Things", .key = {{"pk", "broken off"}}});
  ASSERT_THAT(got, IsOk());
  EXPECT_FALSE(got->item);
  // Complete requests whose sender has disconnected can take effect or not, but nothing else
  // happens.
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(connect().send(request));
  expect_service();
  const auto items = client_->scan({.table = "Things"});
  ASSERT_THAT(items, IsOk());
  EXPECT_LE(items->count, 2);
  expect_grown_by_at_most(0);
}

TEST_F(Connections, PipelinedRequestsGetResponsesInOrder) {
  constexpr int kRequests = 500;
  constexpr std::size_t kConnections = 8;
  const std::string add =
      operation("UpdateItem",
                R"({"TableName":"Things","Key":{"pk":{"S":"n"}},"UpdateExpression":"ADD n :one",)"
                R"("ExpressionAttributeValues":{":one":{"N":"1"}},"ReturnValues":"UPDATED_NEW"})");
  std::string all;
  for (int i = 0; i < kRequests; ++i) all += add;
  std::vector<RawConnection> connections;
  for (std::size_t i = 0; i < kConnections; ++i)
    ASSERT_TRUE(connections.emplace_back(port()).send(all));
  int largest = 0;
  for (RawConnection& connection : connections) {
    int last = 0;
    for (int i = 0; i < kRequests; ++i) {
      const RawAnswer answer = connection.read_answer();
      ASSERT_EQ(answer.status, 200);
      constexpr std::string_view kBefore = R"({"Attributes":{"n":{"N":")";
      ASSERT_TRUE(answer.body.starts_with(kBefore)) << answer.body;
      const int n = std::atoi(answer.body.c_str() + kBefore.size());
      EXPECT_GT(n, last);
      last = n;
    }
    largest = std::max(largest, last);
  }
  EXPECT_EQ(largest, kRequests * static_cast<int>(kConnections));
  expect_grown_by_at_most(2 * kConnections * all.size());  // the received bytes of each
}

}  // namespace
}  // namespace stator::test

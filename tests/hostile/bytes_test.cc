// SPDX-License-Identifier: Apache-2.0
// Bytes that are not a request: garbage, too many headers, bodies above the limit.
#include <random>
#include <thread>

#include "hostile/hostile_test.h"
#include "support/from_environment.h"

namespace stator::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::size_t kBodyMax = 16 * kMegabyte;

class Bytes : public HostileTest {};

TEST_F(Bytes, OfGarbageAreRefusedOrHungUpOn) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) {
    std::string garbage(1 + random() % 5000, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    if (i % 3 == 1) garbage.insert(0, "POST / HTTP/1.1\r\n");
    if (i % 3 == 2) garbage = operation("PutItem", garbage);
    RawConnection connection = connect();
    ASSERT_TRUE(connection.send(garbage));
    connection.end_sending();
    EXPECT_THAT(connection.read_answer().status, AnyOf(0, 400)) << i;
  }
  expect_grown_by_at_most(0);
}

TEST_F(Bytes, OfOtherProtocolsAreRefused) {
  for (const std::string& hello :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),  // TLS
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string(8, '\0')}) {
    RawConnection connection = connect();
    ASSERT_TRUE(connection.send(hello));
    connection.end_sending();
    EXPECT_EQ(connection.read_answer().status, 400) << hello;
    EXPECT_TRUE(connection.ended_by_peer());
  }
}

TEST_F(Bytes, OfHeadersWithoutEndAreRefused) {
  constexpr std::size_t kHeadersMax = 64 * kKilobyte;
  const std::string start = "POST / HTTP/1.1\r\n";
  std::string many = start;
  while (many.size() < 4 * kMegabyte) many += "a: b\r\n";
  const std::string one = start + "a: " + std::string(4 * kMegabyte, 'b');
  const std::string target = "POST /" + std::string(4 * kMegabyte, 'x') + " HTTP/1.1\r\n\r\n";
  std::vector<RawConnection> connections;
  for (const std::string& flood : {many, one, target}) {
    for (int i = 0; i < 10; ++i) {
      RawConnection& connection = connections.emplace_back(port());
      connection.send(flood);  // the server can close the connection before all is sent
      EXPECT_EQ(connection.read_answer().status, 400);
    }
  }
  expect_grown_by_at_most(connections.size() * 4 * kHeadersMax);  // and their positions
}

TEST_F(Bytes, OfBodiesBeyondTheLimitAreRefusedWithoutBeingKept) {
  const std::string head = operation("PutItem", "");
  const std::string base = head.substr(0, head.find("Content-Length"));
  const auto refused = [&](const std::string& request) {
    RawConnection connection = connect();
    // The response arrives before the request is complete, and must not be lost.
    std::jthread sender([&] { connection.send(request); });
    const RawAnswer answer = connection.read_answer();
    EXPECT_EQ(answer.status, 413);
    EXPECT_THAT(answer.body, HasSubstr("RequestEntityTooLargeException"));
    EXPECT_EQ(answer.headers.at("connection"), "close");
  };
  refused(base + "Content-Length: " + std::to_string(kBodyMax + 1) + "\r\n\r\n" +
          std::string(kBodyMax + 1, 'x'));
  refused(base + "Content-Length: 9000000000000000000\r\n\r\n" + std::string(kMegabyte, 'x'));
  std::string chunks = base + "Transfer-Encoding: chunked\r\n\r\n";
  for (std::size_t sent = 0; sent <= kBodyMax; sent += kMegabyte) {
    chunks += "100000\r\n" + std::string(kMegabyte, 'x') + "\r\n";
  }
  refused(chunks);
  // At the limit, the body is read, and rejected because it is not a request.
  RawConnection connection = connect();
  ASSERT_TRUE(connection.send(operation("PutItem", std::string(kBodyMax, ' '))));
  EXPECT_EQ(connection.read_answer().status, 400);
  ASSERT_TRUE(connection.send(operation("ListTables", "{}")));
  EXPECT_EQ(connection.read_answer().status, 200);
  expect_grown_by_at_most(4 * kBodyMax);  // a buffer, its predecessor, and the reader's buffer
}

TEST_F(Bytes, AnnouncedButNotSentCostNothing) {
  const std::string request = operation("PutItem", std::string(kBodyMax, ' '));
  std::vector<RawConnection> connections;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(connections.emplace_back(port()).send(std::string_view(request).substr(0, 1000)));
  }
  expect_service();
  expect_grown_by_at_most(connections.size() * 8 * kKilobyte);
}

}  // namespace
}  // namespace stator::test

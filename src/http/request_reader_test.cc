// SPDX-License-Identifier: Apache-2.0
#include "http/request_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace stator::http {
namespace {

using Outcome = RequestReader::Outcome;

void feed(RequestReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto space = reader.prepare();
    const std::size_t count = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), count);
    reader.commit(count);
    bytes.remove_prefix(count);
  }
}

Outcome outcome_of(std::string_view bytes, std::size_t header_max = 8192,
                   std::size_t body_max = 1000) {
  RequestReader reader(header_max, body_max);
  Outcome outcome = Outcome::kNeedMore;
  for (const char byte : bytes) {
    feed(reader, {&byte, 1});
    outcome = reader.parse();
    if (outcome != Outcome::kNeedMore) break;
  }
  RequestReader at_once(header_max, body_max);
  feed(at_once, bytes);
  EXPECT_EQ(at_once.parse(), outcome) << "whole or byte by byte, the outcome is the same";
  return outcome;
}

TEST(RequestReader, ReadsARequestInAnyPieces) {
  const std::string body(700, 'b');
  const std::string text =
      "POST /path?q=1 HTTP/1.1\r\nHost: a\r\nX-Two: 2\r\nEmpty:\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{100}, text.size()}) {
    RequestReader reader(8192, 1000);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      ASSERT_EQ(reader.parse(), Outcome::kNeedMore);
      feed(reader, std::string_view(text).substr(at, piece));
    }
    ASSERT_EQ(reader.parse(), Outcome::kRequest) << piece;
    const Request& request = reader.request();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/path?q=1");
    EXPECT_EQ(request.header("host"), "a");
    EXPECT_EQ(request.header("x-two"), "2");
    EXPECT_EQ(request.header("empty"), "");
    EXPECT_EQ(request.headers.size(), 4U);
    EXPECT_EQ(request.body, body);
    EXPECT_TRUE(reader.keep_alive());
    reader.next();
    EXPECT_TRUE(reader.empty());
  }
}

TEST(RequestReader, ReadsPipelinedRequestsOneAfterTheOther) {
  RequestReader reader(8192, 100'000);
  std::string text;
  std::vector<std::string> bodies;
  for (int i = 0; i < 50; ++i) {
    bodies.emplace_back(static_cast<std::size_t>(i * 37), static_cast<char>('a' + i % 26));
    text += "POST / HTTP/1.1\r\nContent-Length: " + std::to_string(bodies.back().size()) +
            "\r\n\r\n" + bodies.back();
  }
  feed(reader, text);
  for (const std::string& body : bodies) {
    ASSERT_EQ(reader.parse(), Outcome::kRequest);
    EXPECT_EQ(reader.request().body, body);
    reader.next();
  }
  EXPECT_EQ(reader.parse(), Outcome::kNeedMore);
  EXPECT_TRUE(reader.empty());
}

TEST(RequestReader, JoinsChunksAndKeepsTheHeaders) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\nwiki\r\n5;x=y\r\npedia\r\n0\r\nTrailer: t\r\n\r\n"
      "GET /after HTTP/1.1\r\n\r\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, text.size()}) {
    RequestReader reader(8192, 1000);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      feed(reader, std::string_view(text).substr(at, piece));
      while (reader.parse() == Outcome::kRequest) {
        seen.push_back(std::string(reader.request().target) + "|" +
                       std::string(reader.request().header("host")) + "|" +
                       std::string(reader.request().header("trailer")) + "|" +
                       std::string(reader.request().body));
        reader.next();
      }
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"/|a||wikipedia", "/after|||"})) << piece;
  }
}

TEST(RequestReader, ReadsALastChunkInAnyPieces) {
  for (const std::string_view end : {"0\r\n\r\n", "0;x\r\n\r\n", "0\r\nT: t\r\n\r\n"}) {
    for (const std::string_view chunk : {"", "1\r\na\r\n"}) {
      EXPECT_EQ(outcome_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" +
                           std::string(chunk) + std::string(end)),
                Outcome::kRequest);
    }
  }
}

TEST(RequestReader, RejectsMalformedHttp) {
  for (const std::string_view text : {
           "hello\r\n\r\n",
           "GET / HTTP/2.0\r\n\r\n",
           "GET\r\n\r\n",
           "\x16\x03\x01\x02\x01\x01 TLS\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
           "GET / HTTP/1.1\r\nFolded: a\r\n b\r\n\r\n",
           "GET / HTTP/1.1\r\nno colon\r\n\r\n",
       }) {
    EXPECT_EQ(outcome_of(text), Outcome::kMalformed) << text;
  }
}

TEST(RequestReader, RefusesABodyOverTheLimitBeforeItArrives) {
  EXPECT_EQ(outcome_of("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"), Outcome::kTooLarge);
  EXPECT_EQ(outcome_of("POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n"),
            Outcome::kTooLarge);
  EXPECT_EQ(outcome_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n"),
            Outcome::kTooLarge);
  EXPECT_EQ(outcome_of("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"), Outcome::kNeedMore);
}

TEST(RequestReader, RefusesHeadersOverTheLimit) {
  const std::string line = "X-Header: " + std::string(90, 'h') + "\r\n";
  std::string many = "GET / HTTP/1.1\r\n";
  while (many.size() < 1000) many += line;
  EXPECT_EQ(outcome_of(many + "\r\n", 900), Outcome::kMalformed);
  EXPECT_EQ(outcome_of(many + "\r\n", 2000), Outcome::kRequest);
  EXPECT_EQ(outcome_of("GET /" + std::string(2000, 'p'), 900), Outcome::kMalformed);
  EXPECT_EQ(outcome_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                       std::string(20'000, 'e')),
            Outcome::kMalformed);
}

TEST(RequestReader, KeepsTheConnectionByVersionAndHeader) {
  const auto keeps = [](std::string_view text) {
    RequestReader reader(8192, 1000);
    feed(reader, text);
    EXPECT_EQ(reader.parse(), Outcome::kRequest);
    return reader.keep_alive();
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(RequestReader, RequestsTheBodyOnce) {
  RequestReader reader(8192, 1000);
  feed(reader, "POST / HTTP/1.1\r\nExpect: 100-Continue\r\n");
  EXPECT_EQ(reader.parse(), Outcome::kNeedMore);
  EXPECT_FALSE(reader.take_continue_wish());
  feed(reader, "Content-Length: 2\r\n\r\n");
  EXPECT_EQ(reader.parse(), Outcome::kNeedMore);
  EXPECT_TRUE(reader.take_continue_wish());
  EXPECT_FALSE(reader.take_continue_wish());
  feed(reader, "ab");
  EXPECT_EQ(reader.parse(), Outcome::kRequest);
  EXPECT_EQ(reader.request().body, "ab");
}

// Mutated requests in random pieces must neither crash the reader nor stop its progress.
TEST(RequestReader, SurvivesDamagedRequests) {
  const std::vector<std::string> good = {
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n0\r\nA: b\r\n\r\n",
      "GET /x HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n"};
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good[random() % good.size()] + good[random() % good.size()];
    for (unsigned edits = random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 8));
      }
    }
    RequestReader reader(200, 50);
    std::size_t requests = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t piece = 1 + random() % text.size();
      feed(reader, std::string_view(text).substr(at, piece));
      at += piece;
      Outcome outcome = Outcome::kNeedMore;
      while ((outcome = reader.parse()) == Outcome::kRequest) {
        ++requests;
        reader.next();
      }
      if (outcome != Outcome::kNeedMore) break;
    }
    ASSERT_LE(requests, text.size());
  }
}

TEST(RequestReader, RefusesTwoHosts) {
  EXPECT_EQ(outcome_of("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), Outcome::kMalformed);
  EXPECT_EQ(outcome_of("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\nhost: b\r\n\r\n"),
            Outcome::kMalformed);
}

TEST(RequestReader, RefusesEmptyLinesWithoutEnd) {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(outcome_of("\r\n\r\n" + request), Outcome::kRequest);
  EXPECT_EQ(outcome_of("\r\n\r\n\r\n\r\n\r\n" + request), Outcome::kMalformed);
  EXPECT_EQ(outcome_of(std::string(100, '\n')), Outcome::kMalformed);
}

TEST(RequestReader, RefusesMoreHeadersThanAnyClientSends) {
  std::string request = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 256; ++i) request += "a:b\r\n";
  EXPECT_EQ(outcome_of(request + "\r\n"), Outcome::kRequest);
  EXPECT_EQ(outcome_of(request + "a:b\r\n\r\n"), Outcome::kMalformed);
}

TEST(RequestReader, ShowsTheHeadersOfALargeRequestBeforeItsBody) {
  constexpr std::size_t kBody = 1 << 20;
  const std::string lengths[] = {"Content-Length: " + std::to_string(kBody),
                                 "Transfer-Encoding: chunked"};
  for (const std::string& length : lengths) {
    RequestReader reader(8192, kBody);
    feed(reader, "POST /p HTTP/1.1\r\nHost: a\r\n" + length + "\r\n");
    EXPECT_EQ(reader.parse(), Outcome::kNeedMore);
    EXPECT_EQ(reader.take_unfinished_head(), nullptr) << "their end is missing";
    feed(reader, "\r\n");
    EXPECT_EQ(reader.parse(), Outcome::kNeedMore);
    const Request* head = reader.take_unfinished_head();
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(head->target, "/p");
    EXPECT_EQ(head->header("host"), "a");
    EXPECT_EQ(head->body, "");
    EXPECT_EQ(reader.take_unfinished_head(), nullptr) << "once";
  }
  RequestReader small(8192, kBody);
  feed(small, "POST /p HTTP/1.1\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(small.parse(), Outcome::kNeedMore);
  EXPECT_EQ(small.take_unfinished_head(), nullptr);
}

TEST(RequestReader, KeepsNoLargeBufferBetweenRequests) {
  constexpr std::size_t kBody = 100'000;
  RequestReader reader(64 << 10, kBody);
  std::string text = "POST / HTTP/1.1\r\n";
  for (int i = 0; i < 200; ++i) text += "a:b\r\n";
  feed(reader,
       text + "Content-Length: " + std::to_string(kBody) + "\r\n\r\n" + std::string(kBody, 'x'));
  ASSERT_EQ(reader.parse(), Outcome::kRequest);
  EXPECT_GT(reader.held_bytes(), kBody);
  reader.next();
  EXPECT_LE(reader.held_bytes(), 8192U);
}

}  // namespace
}  // namespace stator::http

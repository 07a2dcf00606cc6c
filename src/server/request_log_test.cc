// SPDX-License-Identifier: Apache-2.0
// The access log and the log of slow requests: single lines, and the log of a server.
#include "server/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/server.h"
#include "server/service_harness.h"
#include "support/must.h"
#include "support/raw_connection.h"
#include "support/temp_dir.h"

namespace stator::server {
namespace {

using test::must;
using test::RawAnswer;
using test::RawConnection;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr std::string_view kTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(RequestLine, IsWrittenAsTextAndAsJson) {
  const RequestLine line{.unix_ms = 1'767'323'045'678,
                         .client = "127.0.0.1:49152",
                         .operation = "Query",
                         .table = "Tab",
                         .index = "ByColor",
                         .items = 2,
                         .examined = 70,
                         .status = 400,
                         .error = "ValidationException",
                         .request_bytes = 52,
                         .response_bytes = 40,
                         .duration = std::chrono::microseconds(31),
                         .request_id = "ID",
                         .traceparent = kTraceparent,
                         .method = "POST",
                         .path = "/"};
  EXPECT_EQ(to_text(line),
            "time=2026-01-02T03:04:05.678Z client=127.0.0.1:49152 operation=Query table=Tab "
            "status=400 error=ValidationException request_bytes=52 response_bytes=40 ms=0.031 "
            "index=ByColor items=2 examined=70 request_id=ID "
            "traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  EXPECT_EQ(to_json(line, false),
            R"({"time":"2026-01-02T03:04:05.678Z","client":"127.0.0.1:49152",)"
            R"("operation":"Query","table":"Tab","status":400,"error":"ValidationException",)"
            R"("request_bytes":52,"response_bytes":40,"ms":0.031,"index":"ByColor","items":2,)"
            R"("examined":70,"request_id":"ID",)"
            R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})");
  EXPECT_EQ(to_json({.status = 200, .method = "GET", .path = "/metrics"}, true),
            R"({"time":"1970-01-01T00:00:00.000Z","level":"warning","message":"slow request",)"
            R"("status":200,"request_bytes":0,"response_bytes":0,"ms":0.000,)"
            R"("items":0,"examined":0,"method":"GET","path":"/metrics"})");
}

TEST(RequestLine, HostileFieldsEndNeitherAFieldNorALine) {
  const std::string hostile = "a b\n\"status=200\\\x80\x1b[31m";
  const RequestLine line{.operation = "GetItem", .table = hostile};
  EXPECT_THAT(to_text(line), HasSubstr(" table=a?b??status?200???[31m status=0"));
  EXPECT_THAT(to_json(line, false), HasSubstr(R"("table":"a?b??status?200???[31m")"));
  const std::string endless(100'000, 'x');
  EXPECT_LT(to_text({.table = endless, .method = endless, .path = endless}).size(), 1'500U);
}

TEST(Traceparent, IsAcceptedIfItIsValid) {
  EXPECT_EQ(valid_traceparent(kTraceparent), kTraceparent);
  const std::string later = "01" + std::string(kTraceparent.substr(2));
  EXPECT_EQ(valid_traceparent(later), later);
  EXPECT_EQ(valid_traceparent(later + "-more"), later);
  for (const std::string_view wrong : {
           "",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
       }) {
    EXPECT_EQ(valid_traceparent(wrong), "") << wrong;
  }
}

TEST(ErrorLine, IsOneJsonObjectForAnyText) {
  EXPECT_EQ(to_json_line(0, LogLevel::kError, "a \"b\"\n\\c\x80"),
            R"({"time":"1970-01-01T00:00:00.000Z","level":"error",)"
            R"("message":"a \"b\"?\\c?"})");
  EXPECT_EQ(to_json_line(0, LogLevel::kWarning, "a job is retried"),
            R"({"time":"1970-01-01T00:00:00.000Z","level":"warning",)"
            R"("message":"a job is retried"})");
}

TEST(LineWriterTest, AppendsLinesAndOpensARenamedFileAgain) {
  const test::TempDir directory;
  const auto path = directory.path() / "log";
  {
    const auto writer = must(LineWriter::open(path));
    writer->write("one");
    // Buffered lines are written to the old file or to the new one.
    std::filesystem::rename(path, directory.path() / "log.1");
    ASSERT_TRUE(writer->reopen());
    writer->write("two");
  }
  std::vector<std::string> all = lines_of(directory.path() / "log.1");
  for (const std::string& line : lines_of(path)) all.push_back(line);
  EXPECT_EQ(all, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(must(LineWriter::open(path))->dropped(), 0U);
  const auto missing = LineWriter::open(directory.path() / "none" / "log");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("could not open the log"));
}

TEST(LineWriterTest, DropsAndCountsLinesThatTheFileDoesNotAccept) {
  const auto writer = must(LineWriter::open("/dev/full"));
  writer->write("lost");
  while (writer->dropped() == 0) std::this_thread::yield();
  writer->write(std::string(8 << 20, 'x'));
  EXPECT_EQ(writer->dropped(), 2U);
}

TEST(AccessLog, HasALineForEachRequestAndNoSecret) {
  const test::TempDir directory;
  const auto path = directory.path() / "access.log";
  auto server =
      must(Server::start({.listen = {.host = "127.0.0.1", .port = 0}, .access_log = path}));
  RawConnection connection(server->port());
  const auto ask = [&](const std::string& request) {
    EXPECT_TRUE(connection.send(request));
    return connection.read_answer();
  };
  const std::string headers = std::string(kJson) + std::string(kSignature);
  const RawAnswer created =
      ask(operation("CreateTable", R"({"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",)"
                                   R"("AttributeDefinitions":[{"AttributeName":"p",)"
                                   R"("AttributeType":"S"}],)"
                                   R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})"));
  ASSERT_EQ(created.status, 200) << created.body;
  const RawAnswer put =
      ask(post(headers + target("PutItem") + "traceparent: " + std::string(kTraceparent) + "\r\n",
               R"({"TableName":"Tab","Item":{"p":{"S":"private"}}})"));
  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.headers.at("traceparent"), kTraceparent);
  const RawAnswer refused =
      ask(post(headers + target("GetItem") + "traceparent: nonsense\r\n",
               R"({"TableName":"No\nsuch table","Key":{"p":{"S":"private"}}})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_FALSE(refused.headers.contains("x-stator-examined"));
  const RawAnswer selected =
      ask(operation("ExecuteStatement", R"({"Statement":"SELECT * FROM Tab WHERE q = 1"})"));
  EXPECT_EQ(selected.body, R"({"Items":[]})");
  EXPECT_EQ(selected.headers.at("x-stator-examined"), "1");
  EXPECT_FALSE(refused.headers.contains("traceparent"));
  EXPECT_EQ(ask("GET /health/live?X-Amz-Signature=private HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(ask(post(headers, "{}")).status, 400);
  server.reset();
  const std::vector<std::string> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_THAT(
      lines[1],
      MatchesRegex("time=[-0-9T:.]*Z client=127\\.0\\.0\\.1:[0-9]+ "
                   "operation=PutItem table=Tab status=200 error=- "
                   "request_bytes=48 response_bytes=2 ms=[0-9.]+ index=- items=0 examined=0 "
                   "request_id=[0-9A-V]+ traceparent=00-[-0-9a-f]*"));
  EXPECT_THAT(lines[1], HasSubstr("request_id=" + put.headers.at("x-amzn-requestid")));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("operation=GetItem table=No?such?table status=400 "
                                        "error=ValidationException"),
                              HasSubstr("traceparent=-")));
  EXPECT_THAT(lines[3],
              AllOf(HasSubstr("operation=ExecuteStatement"), HasSubstr("items=0 examined=1 ")));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("operation=- table=- status=200"),
                              HasSubstr("method=GET path=/health/live")));
  EXPECT_THAT(lines[5], HasSubstr("operation=- table=- status=400 "
                                  "error=UnknownOperationException"));
  for (const std::string& line : lines) {
    EXPECT_THAT(line, AllOf(Not(HasSubstr("private")), Not(HasSubstr("Credential")),
                            Not(HasSubstr("0123456789abcdef"))));
  }
}

TEST(SlowRequests, AreWrittenFromTheGivenTimeOn) {
  const test::TempDir directory;
  const auto all_path = directory.path() / "all";
  const auto slow_path = directory.path() / "slow";
  {
    const auto all = must(LineWriter::open(all_path));
    const auto slow = must(LineWriter::open(slow_path));
    RequestLog log(LogFormat::kText, all.get(), slow.get(), std::chrono::milliseconds(5));
    log.write({.operation = "Scan", .duration = std::chrono::microseconds(4'999)});
    log.write({.operation = "Query", .duration = std::chrono::milliseconds(5)});
  }
  EXPECT_EQ(lines_of(all_path).size(), 2U);
  const auto lines = lines_of(slow_path);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], AllOf(testing::StartsWith("slow request: time="),
                              HasSubstr("operation=Query"), HasSubstr("ms=5.000")));
}

}  // namespace
}  // namespace stator::server

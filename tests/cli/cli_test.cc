// SPDX-License-Identifier: Apache-2.0
// The stator program as a user runs it: its output and its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/stator_program.h"
#include "support/notify_socket.h"
#include "support/paths.h"
#include "support/raw_connection.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(Cli, PrintsItsVersion) {
  Process process(stator_command({"--version"}));
  EXPECT_EQ(process.wait(), 0);
  EXPECT_THAT(process.out(), MatchesRegex("stator [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Cli, HelpsWithEachCommand) {
  Process program(stator_command({"--help"}));
  EXPECT_EQ(program.wait(), 0);
  EXPECT_THAT(program.out(), AllOf(HasSubstr("serve"), HasSubstr("Exit status")));
  Process serve(stator_command({"serve", "--help"}));
  EXPECT_EQ(serve.wait(), 0);
  EXPECT_THAT(serve.out(), AllOf(HasSubstr("--data"), HasSubstr("--memory"), HasSubstr("--listen"),
                                 HasSubstr("127.0.0.1:8000"), HasSubstr("--durability")));
}

TEST(Cli, WithoutACommandShowsItsHelpAsAnError) {
  Process process(stator_command({}));
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.out(), IsEmpty());
  EXPECT_THAT(process.err(), AllOf(HasSubstr("Usage"), HasSubstr("serve")));
}

TEST(Cli, RefusesFlagsOfALocalStoreWithTheDatabaseOfTheEnvironment) {
  setenv("STATOR_STORE", "postgresql://127.0.0.1:1/none", 1);
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--data", "x"},
                                             {"--memory"},
                                             {"--durability", "os"},
                                             {"--cache", "8"},
                                             {"--vector-cache", "8"},
                                             {"--approximate-search", "5"}}) {
    std::vector<std::string> command = {"serve", "--port", "0"};
    command.insert(command.end(), flags.begin(), flags.end());
    expect_refusal(command, 2, "STATOR_STORE is set");
  }
  unsetenv("STATOR_STORE");
}

TEST(Cli, RefusesFlagsThatItDoesNotKnow) {
  expect_refusal({"--frobnicate"}, 2, "--frobnicate");
  expect_refusal({"frobnicate"}, 2, "frobnicate");
  expect_refusal({"qurey", "Orders"}, 2, "'qurey'; did you mean 'query'? (see stator --help)");
  expect_refusal({"scan", "Orders", "--cuont"}, 2, "did you mean '--count'?");
  expect_refusal({"serve", "--frobnicate"}, 2,
                 "unexpected argument '--frobnicate' (see stator serve --help)");
  expect_refusal({"serve", "stray"}, 2, "stray");
  expect_refusal({"serve", "--listen"}, 2, "--listen");
  expect_refusal({"serve", "--durability", "maybe"}, 2, "maybe");
  expect_refusal({"serve", "--threads", "-1"}, 2, "-1");
  expect_refusal({"serve", "--memory", "--data", "x"}, 2, "--data");
}

TEST(Cli, RefusesAddressesThatItCannotListenOn) {
  expect_refusal({"serve", "--memory", "--listen", "nowhere"}, 2, "'nowhere'");
  expect_refusal({"serve", "--memory", "--listen", "0.0.0.0:0"}, 2, "credentials");
  expect_refusal({"serve", "--memory", "--listen", "[::]:0"}, 2, "credentials");
}

TEST(Serve, ListensBeyondLoopbackWithoutSignaturesOnlyIfAllowed) {
  Process server(stator_command(
      {"serve", "--memory", "--listen", "0.0.0.0:0", "--allow-unsigned-beyond-loopback"}));
  const uint16_t port = port_in(server.read_line());
  const auto status_for = [&](const std::string& host) {
    RawConnection connection(port);
    EXPECT_TRUE(connection.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
    return connection.read_answer().status;
  };
  EXPECT_EQ(status_for("localhost"), 200);
  EXPECT_EQ(status_for("example.com"), 403);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  EXPECT_THAT(server.out(), HasSubstr("\nany access key and region are accepted\n"));
  EXPECT_THAT(server.err(), MatchesRegex("[^\n]*\\[warning\\] signatures are not checked[^\n]*\n"));
  expect_refusal({"serve", "--memory", "--credentials", "x", "--allow-unsigned-beyond-loopback"}, 2,
                 "--credentials");
}

TEST(Serve, AnnouncesTheTestMode) {
  const std::string rules = R"({"seed":3,"rules":[{"fault":"delay","ms":5}]})";
  const TempDir directory;
  const std::string file = (directory.path() / "rules.json").string();
  std::ofstream(file) << rules;
  const std::vector<std::string> serve = {stator_binary(), "serve", "--memory", "--listen",
                                          "127.0.0.1:0"};
  for (const auto& [variable, arguments] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"", {"--test-mode", rules}}, {"", {"--test-mode", file}}, {rules, {}}}) {
    std::vector<std::string> command = {"env", "STATOR_TEST_MODE=" + variable};
    command.insert(command.end(), serve.begin(), serve.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    Process server(std::move(command));
    RawConnection connection(port_in(server.read_line()));
    EXPECT_TRUE(connection.send("GET / HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(connection.read_answer().headers["x-stator-test-mode"], "on");
    server.send_signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
    EXPECT_THAT(server.out(), HasSubstr("\ntest mode is on: faults are injected into responses\n"));
    EXPECT_THAT(server.err(),
                MatchesRegex("[^\n]*\\[warning\\] test mode is on[^\n]*\"seed\":3[^\n]*\n"));
  }
  expect_refusal({"serve", "--memory", "--test-mode", R"({"rule":[]})"}, 2,
                 "test mode: rule: unknown member");
  expect_refusal({"serve", "--memory", "--test-mode", file + "x"}, 1, file + "x");
}

TEST(Serve, RespondsUntilStopped) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Serving server({"--memory"});
    RawConnection connection(server.port());
    ASSERT_TRUE(connection.send("GET / HTTP/1.1\r\n\r\n"));
    EXPECT_THAT(connection.read_answer().body, StartsWith("healthy"));
    server.process().send_signal(signal);
    EXPECT_EQ(server.process().wait(), 0);
    EXPECT_THAT(server.process().out(),
                AllOf(StartsWith("tables are in memory"), HasSubstr("\nany access key"),
                      HasSubstr("\ntry: stator tables --endpoint http://127.0.0.1:")));
    EXPECT_THAT(server.process().err(), IsEmpty());
  }
}

TEST(Serve, ReportsThatItIsNotReadyAfterASignalToStop) {
  Serving server({"--memory", "--drain-time", "10m"});
  const auto ask = [&](const std::string& path) {
    RawConnection connection(server.port());
    EXPECT_TRUE(connection.send("GET " + path + " HTTP/1.1\r\n\r\n"));
    return connection.read_answer();
  };
  EXPECT_EQ(ask("/health/ready").status, 200);
  server.process().send_signal(SIGTERM);
  while (ask("/health/ready").status == 200) std::this_thread::yield();
  EXPECT_EQ(ask("/health/ready").body, "not ready: the server is stopping\n");
  EXPECT_EQ(ask("/health/live").status, 200);
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait(), -1) << "the second signal ends it at once";
}

TEST(Serve, OpensItsAccessLogAgainOnSighup) {
  const TempDir temporary;
  const auto log = temporary.path() / "access.log";
  Serving server(
      {"--memory", "--access-log", log.string(), "--log-format", "json", "--slow-ms", "86400000"});
  const auto lines = [&] {
    std::ifstream file(log);
    std::vector<std::string> found;
    for (std::string line; std::getline(file, line);) found.push_back(line);
    return found;
  };
  const auto ask = [&] {
    RawConnection connection(server.port());
    EXPECT_TRUE(connection.send("GET /health/live HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(connection.read_answer().status, 200);
  };
  ask();
  while (lines().empty()) std::this_thread::yield();
  EXPECT_THAT(lines()[0],
              AllOf(StartsWith("{\"time\":\""), HasSubstr(R"("path":"/health/live"})")));
  std::filesystem::rename(log, temporary.path() / "access.log.1");
  server.process().send_signal(SIGHUP);
  while (!std::filesystem::exists(log)) std::this_thread::yield();
  ask();
  while (lines().empty()) std::this_thread::yield();
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait(), 0);
  EXPECT_THAT(server.process().err(), IsEmpty());
  EXPECT_EQ(lines().size(), 1U);
}

TEST(Health, ReportsWhetherAServerIsReady) {
  Serving server({"--memory", "--drain-time", "10m"});
  const std::string url = server.url();
  EXPECT_THAT(run_stator({"health", url}), Prints("ready\n"));
  server.process().send_signal(SIGTERM);
  while (run_stator({"health", url}).status == 0) std::this_thread::yield();
  expect_refusal({"health", url}, 1, "stator: not ready: the server is stopping\n");
  server.process().send_signal(SIGKILL);
  server.process().wait();
  expect_refusal({"health", url}, 1, url + ": Couldn't connect to server");
  expect_refusal({"health", "nowhere"}, 2, "'nowhere'");
}

TEST(Health, DoesNotWaitForAServerThatIsSilent) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&name), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size);
  const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  expect_refusal({"health", url, "--timeout", "10ms"}, 1, url + ": Timeout");
  ::close(listener);
}

TEST(Serve, ReportsItsStateToItsServiceManager) {
  const TempDir temporary;
  const std::string name = (temporary.path() / "notify").string();
  const NotifySocket manager(name);
  Process server({"env", "NOTIFY_SOCKET=" + name, stator_binary(), "serve", "--memory", "--listen",
                  "127.0.0.1:0"});
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_TRUE(RawConnection(port_in(server.read_line())).connected());
  server.send_signal(SIGHUP);
  EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.next(), "READY=1");
  server.send_signal(SIGTERM);
  EXPECT_EQ(manager.next(), "STOPPING=1");
  EXPECT_EQ(server.wait(), 0);
  EXPECT_THAT(server.err(), IsEmpty());
}

TEST(Serve, LogsSlowRequestsOnStandardError) {
  Serving server({"--memory", "--slow-ms", "1"});
  const std::string table =
      R"({"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":)"
      R"([{"AttributeName":"p","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})";
  RawConnection connection(server.port());
  // An item that takes more than a millisecond on every machine.
  std::string item = R"({"p":{"S":"a"},"v":{"L":[)";
  for (int i = 0; i < 60'000; ++i) item += R"({"N":"1"},)";
  item += R"({"N":"1"}]}})";
  const auto post = [&](const std::string& name, const std::string& body) {
    EXPECT_TRUE(connection.send(
        "POST / HTTP/1.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c\r\n"
        "X-Amz-Date: 20260101T000000Z\r\nX-Amz-Target: DynamoDB_20120810." +
        name + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
    EXPECT_EQ(connection.read_answer().status, 200);
  };
  post("CreateTable", table);
  post("PutItem", R"({"TableName":"Tab","Item":)" + item + "}");
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait(), 0);
  EXPECT_THAT(server.process().err(),
              AllOf(HasSubstr("slow request: time="), HasSubstr("operation=PutItem table=Tab")));
}

TEST(Serve, RefusesAnAccessLogThatItCannotOpen) {
  expect_refusal({"serve", "--memory", "--listen", "127.0.0.1:0", "--access-log", "/nowhere/log"},
                 1, "could not open the log '/nowhere/log'");
}

TEST(Cli, CompletesCommandLines) {
  const auto complete = [](std::vector<std::string> words) {
    words.insert(words.begin(), "__complete");
    const Ran ran = run_stator(std::move(words));
    EXPECT_EQ(ran.status, 0);
    return ran.out;
  };
  EXPECT_EQ(complete({"qu"}), "query\n");
  EXPECT_THAT(complete({""}), AllOf(HasSubstr("serve\n"), HasSubstr("lock\n")));
  EXPECT_EQ(complete({"lock", "r"}), "run\n");
  EXPECT_EQ(complete({"scan", "Orders", "--end"}), "--endpoint\n");
  EXPECT_EQ(complete({"scan", "Orders", "--output", "d"}), "dynamodb\n");
  EXPECT_EQ(complete({"serve", "--data", ""}), "");  // a file name
  EXPECT_EQ(complete({"lock", "run", "n", "--", ""}), "");
  EXPECT_EQ(complete({"no", "such"}), "");
}

TEST(Cli, CompletesInBash) {
  Process process({"bash", "-c",
                   "PATH=\"$(dirname \"$0\"):$PATH\"; source <(stator completion bash); "
                   "COMP_WORDS=(stator sensor roll); COMP_CWORD=2; _stator; echo \"$COMPREPLY\"",
                   stator_binary()});
  EXPECT_EQ(process.wait(), 0);
  EXPECT_EQ(process.out(), "rollups\n");
}

TEST(Serve, ListensOnAPort) {
  const Serving server({"--memory"});
  expect_refusal({"serve", "--memory", "--port", std::to_string(server.port())}, 1,
                 "127.0.0.1:" + std::to_string(server.port()));
  expect_refusal({"serve", "--memory", "--port", "65536"}, 2, "--port");
  expect_refusal({"serve", "--memory", "--port", "1", "--listen", "127.0.0.1:1"}, 2, "--listen");
}

TEST(Serve, NamesABusyPort) {
  const Serving server({"--memory"});
  expect_refusal({"serve", "--memory", "--listen", "127.0.0.1:" + std::to_string(server.port())}, 1,
                 "127.0.0.1:" + std::to_string(server.port()));
}

TEST(Serve, MakesItsDirectoryAndRefusesOneInUse) {
  const TempDir temporary;
  const std::string data = (temporary.path() / "data").string();
  {
    Serving server({"--data", data, "--durability", "os"});
    expect_refusal({"serve", "--data", data, "--listen", "127.0.0.1:0"}, 1, data);
    server.process().send_signal(SIGTERM);
    EXPECT_EQ(server.process().wait(), 0);
  }
  Serving again({"--data", data});
  again.process().send_signal(SIGTERM);
  EXPECT_EQ(again.process().wait(), 0);
}

TEST(Serve, RejectsADirectoryWithOtherFiles) {
  const TempDir temporary;
  const std::string photos = (temporary.path() / "photos").string();
  std::filesystem::create_directory(photos);
  std::ofstream(photos + "/holiday.jpg") << "not a table";
  expect_refusal({"serve", "--data", photos, "--listen", "127.0.0.1:0"}, 1, photos);
  EXPECT_TRUE(std::filesystem::exists(photos + "/holiday.jpg"));
  expect_refusal({"serve", "--data", photos + "/holiday.jpg", "--listen", "127.0.0.1:0"}, 1,
                 "holiday.jpg");
}

TEST(Serve, RefusesADamagedDirectory) {
  const TempDir temporary;
  const std::string data = (temporary.path() / "data").string();
  {
    Serving server({"--data", data});
    server.process().send_signal(SIGTERM);
    ASSERT_EQ(server.process().wait(), 0);
  }
  int damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename().string().starts_with("MANIFEST")) {
      std::ofstream(entry.path(), std::ios::trunc) << "damage";
      ++damaged;
    }
  }
  ASSERT_GT(damaged, 0);
  expect_refusal({"serve", "--data", data, "--listen", "127.0.0.1:0"}, 1, data);
}

}  // namespace
}  // namespace stator::test

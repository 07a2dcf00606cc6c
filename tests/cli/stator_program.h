// SPDX-License-Identifier: Apache-2.0
// The stator program under test: starting it, its server, expected failures.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/process.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace stator::test {

inline std::vector<std::string> stator_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), stator_binary());
  return arguments;
}

inline uint16_t port_in(const std::string& url) {
  return static_cast<uint16_t>(std::atoi(url.substr(url.rfind(':') + 1).c_str()));
}

// A server on a free port, which is ready for requests.
class Serving {
 public:
  explicit Serving(std::vector<std::string> arguments) : process_(command(std::move(arguments))) {
    line_ = process_.read_line();
    EXPECT_THAT(line_, ::testing::MatchesRegex("listening on http://127\\.0\\.0\\.1:[0-9]+"));
    port_ = port_in(line_);
  }
  Process& process() { return process_; }
  uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  static std::vector<std::string> command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "serve");
    arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
    return stator_command(std::move(arguments));
  }

  Process process_;
  std::string line_;
  uint16_t port_ = 0;
};

// The result of a run of the program.
struct Ran {
  int status = -1;
  std::string out;
  std::string err;
};
inline Ran run(const std::vector<std::string>& command) {
  Process process(command);
  Ran ran{.status = process.wait()};
  ran.out = process.out();
  ran.err = process.err();
  return ran;
}
inline Ran run_stator(std::vector<std::string> arguments) {
  return run(stator_command(std::move(arguments)));
}
// Expects that the program failed with one line on standard error, which gives the reason.
inline void expect_failure(const Ran& ran, int status, const std::string& reason) {
  EXPECT_EQ(ran.status, status) << reason;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, ::testing::AllOf(::testing::MatchesRegex("stator: [^\n]*\n"),
                                        ::testing::HasSubstr(reason)));
}
inline void expect_refusal(std::vector<std::string> arguments, int status,
                           const std::string& reason) {
  expect_failure(run_stator(std::move(arguments)), status, reason);
}
// NOLINTNEXTLINE(readability-identifier-naming): matchers are named as GoogleMock's own.
MATCHER_P(Prints, out, "prints " + ::testing::PrintToString(out)) {
  if (arg.status == 0 && arg.out == out && arg.err.empty()) return true;
  *result_listener << "status " << arg.status << ", out: " << arg.out << ", err: " << arg.err;
  return false;
}

// The location of a command's tables: a directory that each command opens, or a server.
class Where {
 public:
  explicit Where(bool endpoint) {
    if (endpoint) server_ = std::make_unique<Serving>(std::vector<std::string>{"--memory"});
  }

  std::vector<std::string> flags() const {
    if (server_) return {"--endpoint", server_->url()};
    return {"--data", path("data")};
  }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

 private:
  TempDir directory_;
  std::unique_ptr<Serving> server_;
};

// A suite that runs on both; the parameter selects the server.
class CommandTest : public ::testing::TestWithParam<bool> {
 protected:
  Ran stator(std::vector<std::string> arguments) {
    const std::vector<std::string> where = where_.flags();
    // Before the command that `lock run` executes.
    arguments.insert(arguments.begin() + 2, where.begin(), where.end());
    return run_stator(std::move(arguments));
  }
  void expect_failure(std::vector<std::string> arguments, int status, const std::string& reason) {
    test::expect_failure(stator(std::move(arguments)), status, reason);
  }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(where_.path(name)) << text;
    return where_.path(name);
  }

  Where where_{GetParam()};
};
#define STATOR_ON_DATA_AND_ENDPOINT(suite)                  \
  INSTANTIATE_TEST_SUITE_P(Where, suite, ::testing::Bool(), \
                           [](const auto& test) { return test.param ? "endpoint" : "data"; })

}  // namespace stator::test

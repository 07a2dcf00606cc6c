// SPDX-License-Identifier: Apache-2.0
// stator test-mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/stator_program.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

constexpr const char* kRules = R"({"rules":[{"fault":"delay","ms":5}],"seed":3})";
constexpr const char* kCounted =
    R"({"rules":[{"fault":"delay","injected":0,"matched":0,"ms":5}],"seed":3})"
    "\n";

TEST(TestModeCommand, PrintsAndReplacesTheRules) {
  const Serving server({"--memory", "--test-mode", kRules});
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "test-mode");
    arguments.insert(arguments.end(), {"--endpoint", server.url() + "/"});
    return run_stator(std::move(arguments));
  };
  EXPECT_THAT(run({}), Prints(kCounted));
  EXPECT_THAT(run({"{}"}), Prints("{\"rules\":[],\"seed\":3}\n"));
  const TempDir directory;
  const std::string file = (directory.path() / "rules.json").string();
  std::ofstream(file) << kRules;
  EXPECT_THAT(run({file}), Prints(kCounted));
  EXPECT_THAT(run({}), Prints(kCounted));
  const Ran wrong = run({R"({"rules":[{"fault":"fire"}]})"});
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, ::testing::HasSubstr("rules[0].fault: expected one of"));
  EXPECT_THAT(run({}), Prints(kCounted));
  EXPECT_EQ(run({file + "x"}).status, 1);
}

TEST(TestModeCommand, NeedsAServerInTestMode) {
  std::string url;
  {
    const Serving server({"--memory"});
    url = server.url();
    expect_refusal({"test-mode", "--endpoint", url}, 1, url + " has no test mode");
  }
  expect_refusal({"test-mode", "--endpoint", url}, 1, "no response from " + url);
  expect_refusal({"test-mode", "--endpoint", "nowhere"}, 2, "'nowhere'");
}

TEST(TestModeCommand, SignsItsRequests) {
  const TempDir directory;
  const std::string file = (directory.path() / "credentials").string();
  std::ofstream(file) << "[ann]\naws_access_key_id = AKIDANN\naws_secret_access_key = secret/1+\n";
  const Serving server({"--memory", "--credentials", file, "--test-mode", kRules});
  const auto run = [&](const std::string& secret, std::vector<std::string> arguments) {
    std::vector<std::string> command = {"env",
                                        "AWS_ACCESS_KEY_ID=AKIDANN",
                                        "AWS_SECRET_ACCESS_KEY=" + secret,
                                        stator_binary(),
                                        "test-mode",
                                        "--endpoint=" + server.url()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return test::run(command);
  };
  EXPECT_THAT(run("secret/1+", {}), Prints(kCounted));
  EXPECT_THAT(run("secret/1+", {"{}"}), Prints("{\"rules\":[],\"seed\":3}\n"));
  EXPECT_EQ(run("other", {}).status, 1);
}

}  // namespace
}  // namespace stator::test

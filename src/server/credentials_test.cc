// SPDX-License-Identifier: Apache-2.0
#include "server/credentials.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/profile_file.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator::server {
namespace {

using test::FailsWith;
using test::IsOk;

TEST(Credentials, AreTheProfilesOfAFile) {
  const auto parsed = parse_credentials(
      "# for the shop\r\n[default]\r\naws_access_key_id = AKIDA\naws_secret_access_key=se=cret/+\n"
      "region = eu-west-1\n\n; another\n[ops]\naws_secret_access_key = b\naws_access_key_id = "
      "AKIDB");
  ASSERT_THAT(parsed, IsOk());
  ASSERT_EQ(parsed->size(), 2U);
  EXPECT_EQ(parsed->at("AKIDA").secret, "se=cret/+");
  EXPECT_EQ(parsed->at("AKIDA").username, "default");
  EXPECT_EQ(parsed->at("AKIDA").limiter, nullptr);
  EXPECT_EQ(parsed->at("AKIDB").secret, "b");
}

TEST(Credentials, HavePoliciesAndLimits) {
  const test::TempDir directory;
  const auto file = directory.path() / "keys";
  std::ofstream(directory.path() / "reader.json")
      << R"({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}})";
  std::ofstream(file) << "[profile ann]\naws_access_key_id = A\naws_secret_access_key = b\n"
                         "policy = reader.json\nrequests_per_second = 100\n"
                         "concurrent_requests = 8\n";
  const auto read = read_credentials(file);
  ASSERT_THAT(read, IsOk());
  const AccessKey& key = read->at("A");
  EXPECT_EQ(key.username, "ann");
  ASSERT_NE(key.policy, nullptr);
  ASSERT_NE(key.limiter, nullptr);
  EXPECT_EQ(key.limiter->limits(),
            (KeyLimits{.requests_per_second = 100, .concurrent_requests = 8}));
  EXPECT_EQ(files_of_credentials(file), (std::vector{file, directory.path() / "reader.json"}));
}

TEST(Credentials, NameTheInvalidLine) {
  const auto bad = [](std::string_view text, const char* why) {
    EXPECT_THAT(parse_credentials(text), FailsWith(Code::kInvalidArgument, why)) << text;
  };
  bad("", "no profile");
  bad("aws_access_key_id = a", "line 1: expected [profile] before");
  bad("[a]\nnonsense", "line 2: expected [profile] or name");
  bad("[a]\naws_access_key_id = a\n[b]\n", "line 1: a profile needs");
  bad("[a]\naws_access_key_id=a\naws_secret_access_key=b\n[b]\naws_access_key_id=a\n"
      "aws_secret_access_key=c\n",
      "line 4: its access key is repeated");
  bad("[a]\naws_access_key_id=a\naws_session_token=t\naws_secret_access_key=b\n",
      "line 3: 'aws_session_token' is not supported");
  const std::string key = "[a]\naws_access_key_id=a\naws_secret_access_key=b\n";
  bad(key + "polcy = reader.json\n", "line 4: unknown setting 'polcy'");
  bad(key + "policy =\n", "line 4: 'policy' needs a file");
  bad(key + "requests_per_second = 0\n", "line 4: invalid requests_per_second '0'");
  bad(key + "concurrent_requests = 1.5\n", "line 4: invalid concurrent_requests '1.5'");
}

TEST(Credentials, NameTheFileThatCannotBeUsed) {
  const test::TempDir directory;
  const auto file = directory.path() / "keys";
  EXPECT_THAT(read_credentials(file), FailsWith(Code::kIo, file.string()));
  EXPECT_THAT(read_credentials(directory.path()), FailsWith(Code::kIo, "directory"));
  std::ofstream(file) << "[a]\n";
  EXPECT_THAT(read_credentials(file), FailsWith(Code::kInvalidArgument, file.string()));
  std::ofstream(file) << std::string(kProfileFileBytesMax + 1, '\n');
  EXPECT_THAT(read_credentials(file), FailsWith(Code::kInvalidArgument, "larger than"));
}

}  // namespace
}  // namespace stator::server

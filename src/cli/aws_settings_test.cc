// SPDX-License-Identifier: Apache-2.0
#include "cli/aws_settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator::cli {
namespace {

using test::FailsWith;
using test::IsOk;

class AwsSettingsTest : public testing::Test {
 protected:
  AwsSettingsTest() {
    std::filesystem::create_directory(directory_.path() / ".aws");
    set("HOME", directory_.path().string());
  }
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = directory_.path() / ".aws" / name;
    std::ofstream(path) << text;
    return path.string();
  }
  Result<AwsSettings> read() const {
    return read_aws_settings([this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    });
  }
  // "endpoint region key secret token"
  std::string text() const {
    const auto settings = read();
    if (!settings) return settings.error().message;
    const Credentials& keys = settings->credentials;
    return settings->endpoint + " " + settings->region + " " + keys.access_key_id + " " +
           keys.secret_access_key + " " + keys.session_token;
  }

 private:
  test::TempDir directory_;
  std::map<std::string, std::string> variables_;
};

TEST_F(AwsSettingsTest, AreEmptyWithoutVariablesAndFiles) {
  EXPECT_EQ(text(), "    ");
}

TEST_F(AwsSettingsTest, PreferVariablesToFiles) {
  write("config", "[default]\nregion = file\nca_bundle = file.pem\nendpoint_url = http://file\n");
  write("credentials", "[default]\naws_access_key_id = F\naws_secret_access_key = f\n");
  EXPECT_EQ(text(), "http://file file F f ");
  set("AWS_DEFAULT_REGION", "second");
  set("AWS_ENDPOINT_URL", "http://any");
  set("AWS_ACCESS_KEY_ID", "V");  // incomplete without its secret
  EXPECT_EQ(text(), "http://any second F f ");
  set("AWS_REGION", "first");
  set("AWS_ENDPOINT_URL_DYNAMODB", "http://own");
  set("AWS_SECRET_ACCESS_KEY", "v");
  set("AWS_SESSION_TOKEN", "t");
  EXPECT_EQ(text(), "http://own first V v t");
  EXPECT_EQ(read()->ca_bundle, "file.pem");
  set("AWS_CA_BUNDLE", "variable.pem");
  EXPECT_EQ(read()->ca_bundle, "variable.pem");
  set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
  EXPECT_EQ(text(), " first V v t");
}

TEST_F(AwsSettingsTest, FollowTheProfile) {
  write("config",
        "[default]\nregion = a\n[profile work]\nregion = b\nservices = local\naws_session_token = "
        "x\n[services local]\ndynamodb =\n  endpoint_url = http://local\n");
  write("credentials",
        "[default]\naws_access_key_id = A\naws_secret_access_key = a\n[work]\naws_access_key_id = "
        "B\naws_secret_access_key = b\naws_session_token = s\n");
  set("AWS_PROFILE", "work");
  EXPECT_EQ(text(), "http://local b B b s");
  set("AWS_PROFILE", "other");
  EXPECT_THAT(read(), FailsWith(Code::kInvalidArgument, "could not find the AWS profile 'other'"));
}

TEST_F(AwsSettingsTest, TakeFilesFromTheirVariables) {
  set("AWS_CONFIG_FILE", write("c", "[default]\nregion = elsewhere\n"));
  set("AWS_SHARED_CREDENTIALS_FILE",
      write("k", "[default]\naws_access_key_id = K\naws_secret_access_key = k\n"));
  EXPECT_EQ(text(), " elsewhere K k ");
}

TEST_F(AwsSettingsTest, ReportCredentialsThatNeedOtherServices) {
  write("config", "[default]\nsso_session = company\n");
  EXPECT_EQ(text(), "    ");
  EXPECT_THAT(read()->credentials_problem, testing::HasSubstr("uses 'sso_session'"));
  set("AWS_ACCESS_KEY_ID", "V");
  set("AWS_SECRET_ACCESS_KEY", "v");
  EXPECT_EQ(read()->credentials_problem, "");
}

TEST_F(AwsSettingsTest, NameAMalformedFile) {
  const std::string file = write("config", "nonsense\n");
  EXPECT_THAT(read(), FailsWith(Code::kInvalidArgument, file + "': line 1"));
}

}  // namespace
}  // namespace stator::cli

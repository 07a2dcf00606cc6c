// SPDX-License-Identifier: Apache-2.0
#include "base/profile_file.h"

#include <gtest/gtest.h>

#include "support/matchers.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

std::string dump(const std::vector<ProfileSection>& sections) {
  std::string text;
  for (const ProfileSection& section : sections) {
    text += "[" + section.name + "]";
    for (const ProfileSetting& setting : section.settings) {
      text += setting.name + "=" + setting.value + ";";
    }
  }
  return text;
}

TEST(ProfileFile, HasSectionsOfSettings) {
  const auto parsed = parse_profiles(
      "# work\r\n[default]\r\nregion = eu-west-1\r\n\n; other\n[profile a b]\nkey=a=b \n"
      "[ services local ]\n");
  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(dump(*parsed), "[default]region=eu-west-1;[profile a b]key=a=b;[services local]");
  EXPECT_EQ(parsed->at(1).line, 6);
  EXPECT_EQ(parsed->at(1).settings.at(0).line, 7);
}

TEST(ProfileFile, NamesIndentedSettingsAfterTheirOwner) {
  const auto parsed = parse_profiles(
      "[services local]\ndynamodb =\n  endpoint_url = http://a\n\n\tother = 1\ns3 = x\n  kept = "
      "2\n[next]\n  own = 3");
  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(dump(*parsed),
            "[services local]dynamodb=;dynamodb.endpoint_url=http://a;dynamodb.other=1;s3=x;kept=2;"
            "[next]own=3;");
}

TEST(ProfileFile, ReportsTheInvalidLine) {
  EXPECT_THAT(parse_profiles("a = 1"),
              FailsWith(Code::kInvalidArgument, "line 1: expected [profile] before"));
  EXPECT_THAT(parse_profiles("[a]\n\nnonsense"),
              FailsWith(Code::kInvalidArgument, "line 3: expected [profile] or name = value"));
}

}  // namespace
}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "api/admin/document.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/matchers.h"
#include "support/must.h"

namespace stator {
namespace {

using test::FailsWith;
using test::must;

constexpr std::string_view kColours[] = {"RED", "GREEN"};
constexpr Shape kColour{.values = kColours};
constexpr Shape kName{.least = 2, .most = 4};
constexpr Shape kDigits{.pattern = "[0-9]+", .matches = [](std::string_view text) {
                          return std::ranges::all_of(text, [](char c) { return c <= '9'; });
                        }};
constexpr Shape kTable{.kind = Shape::Kind::kTable};
constexpr Shape kSmall{.kind = Shape::Kind::kInteger, .least = 1, .most = 9};
constexpr Shape kFlag{.kind = Shape::Kind::kBoolean};
constexpr Shape kTime{.kind = Shape::Kind::kTime};
constexpr MemberShape kPartMembers[] = {{"Name", &kName, true}, {"Colour", &kColour}};
constexpr Shape kPart{.kind = Shape::Kind::kStructure, .members = kPartMembers};
constexpr Shape kParts{.kind = Shape::Kind::kList, .most = 2, .element = &kPart};
constexpr MemberShape kMembers[] = {{"TableName", &kTable, true},
                                    {"Digits", &kDigits},
                                    {"Small", &kSmall},
                                    {"Flag", &kFlag},
                                    {"Time", &kTime},
                                    {"Parts", &kParts}};
constexpr Shape kRequest{.kind = Shape::Kind::kStructure, .members = kMembers};

TEST(Document, HasOnlyTheMembersOfItsShape) {
  const Item document = must(wire::read_document(
      R"({"TableName": "arn:aws:dynamodb:us-east-1:000000782867:table/Tab", "Small": 3, "Flag": true,
          "Time": 1.5, "Parts": [{"Name": "ab", "Colour": "RED"}], "Other": {}, "Digits": null})",
      kRequest));
  const Item expected{{"TableName", "Tab"},
                      {"Small", 3},
                      {"Flag", true},
                      {"Time", 1500},
                      {"Parts", List{Item{{"Name", "ab"}, {"Colour", "RED"}}}}};
  EXPECT_EQ(document, expected);
  EXPECT_EQ(wire::document_to_json({{"Time", seconds(1'700'000'000'250)}, {"Empty", List()}}),
            R"({"Empty":[],"Time":1700000000.25})");
}

TEST(Document, GathersViolationsWithTheirPaths) {
  EXPECT_THAT(
      wire::read_document(
          R"({"TableName": "Tab", "Digits": "x", "Small": 10, "Parts": [{}, {"Name": "a"}, {"Name":
                              "abcde", "Colour": "BLUE"}]})",
          kRequest),
      FailsWith(Code::kValidation,
                "7 validation errors detected: Value 'x' at 'digits' failed to satisfy constraint: "
                "Member must satisfy regular expression pattern: [0-9]+; Value '10' at 'small' "
                "failed to satisfy constraint: Member must have value less than or equal to 9; "
                "Value null at 'parts.1.member.name' failed to satisfy constraint: Member must not "
                "be null; Value 'a' at 'parts.2.member.name' failed to satisfy constraint: Member "
                "must have length greater than or equal to 2; Value 'abcde' at "
                "'parts.3.member.name' failed to satisfy constraint: Member must have length less "
                "than or equal to 4; Value 'BLUE' at 'parts.3.member.colour' failed to satisfy "
                "constraint: Member must satisfy enum value set: [RED, GREEN]; Value '[]' at "
                "'parts' failed to satisfy constraint: Member must have length less than or equal "
                "to 2"));
  EXPECT_THAT(wire::read_document("{}", kRequest),
              FailsWith(Code::kValidation,
                        "1 validation error detected: Value null at 'tableName' failed to satisfy "
                        "constraint: Member must not be null"));
}

TEST(Document, RefusesOtherJsonTypes) {
  for (const char* json :
       {R"({"TableName": 1})", R"({"TableName": ["a"]})", R"({"Small": "1"})", R"({"Flag": 1})",
        R"({"Time": "now"})", R"({"Parts": {}})", R"({"Parts": [1]})", "[]", "", "{"}) {
    EXPECT_THAT(wire::read_document(json, kRequest), FailsWith(Code::kSerialization, "")) << json;
  }
}

}  // namespace
}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// stator apply: the tables of a template, made where they are missing.
#include <filesystem>
#include <fstream>

#include "cli/stator_program.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr const char* kTemplate = R"(Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  Music:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub '${Stage}-music'
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: artist, AttributeType: S}
        - {AttributeName: year, AttributeType: N}
      KeySchema: [{AttributeName: artist, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: ByYear
          KeySchema: [{AttributeName: year, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
  Simple: {Type: AWS::Serverless::SimpleTable}
  Bucket: {Type: AWS::S3::Bucket}
)";

class ApplyCommand : public CommandTest {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(where_.path(name)) << text;
    return where_.path(name);
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  }
  void expect_failure(std::vector<std::string> arguments, int status, const std::string& reason) {
    const Ran ran = stator(std::move(arguments));
    EXPECT_EQ(ran.status, status) << reason;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(MatchesRegex("stator: [^\n]*\n"), HasSubstr(reason)));
  }
};
STATOR_ON_DATA_AND_ENDPOINT(ApplyCommand);

TEST_P(ApplyCommand, CreatesWhatIsMissingAndRepeatsHarmlessly) {
  const std::string path = write("template.yml", kTemplate);
  Ran ran = stator({"apply", path, "--dry-run"});
  EXPECT_EQ(ran.out, "dev-music\tmissing\nSimple\tmissing\n");
  ran = stator({"apply", path});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "dev-music\tcreated\nSimple\tcreated\n");
  EXPECT_EQ(ran.err, "stator: note: Music: PointInTimeRecoverySpecification is not applied\n");
  EXPECT_THAT(stator({"apply", path, "--json"}),
              Prints("{\"not_applied\":[\"PointInTimeRecoverySpecification\"],\"outcome\":"
                     "\"unchanged\",\"resource\":\"Music\",\"table\":\"dev-music\"}\n"
                     "{\"not_applied\":[],\"outcome\":\"unchanged\",\"resource\":\"Simple\","
                     "\"table\":\"Simple\"}\n"));
  EXPECT_EQ(stator({"apply", path, "--parameter", "Stage=prod"}).out,
            "prod-music\tcreated\nSimple\tunchanged\n");
}

TEST_P(ApplyCommand, CreatesNothingWhereOneTableIsWrongOrDiffers) {
  expect_failure({"apply", write("wrong.yml", replaced(kTemplate, "artist, KeyType: HASH",
                                                       "artist, KeyType: RANGE"))},
                 1, "Music: Invalid KeySchema");
  const std::string last_is_wrong =
      std::string("Resources:\n  First: {Type: AWS::Serverless::SimpleTable}\n") +
      "  No: {Type: AWS::Serverless::SimpleTable, Properties: {TableName: 'a b'}}\n";
  expect_failure({"apply", write("last.yml", last_is_wrong)}, 1, "No: ");
  const std::string path = write("template.yml", kTemplate);
  EXPECT_EQ(stator({"apply", path, "--dry-run"}).out, "dev-music\tmissing\nSimple\tmissing\n");
  ASSERT_EQ(stator({"apply", path}).status, 0);
  expect_failure({"apply", write("other.yml", replaced(kTemplate, "year, AttributeType: N",
                                                       "year, AttributeType: S"))},
                 1, "the table dev-music is there and differs from the template");
}

TEST_P(ApplyCommand, SaysWhatIsWrongWithATemplate) {
  expect_failure({"apply", where_.path("missing.yml")}, 1, "missing.yml: No such file");
  expect_failure({"apply", where_.path("")}, 1, "Is a directory");
  expect_failure({"apply", write("broken.yml", "hello: [")}, 1, "broken.yml: line 1: no YAML");
  expect_failure({"apply", write("text.yml", "just text")}, 1,
                 "no CloudFormation or SAM template: it has no map named Resources");
  expect_failure({"apply", write("none.yml", "Resources: {B: {Type: 'AWS::S3::Bucket'}}")}, 1,
                 "the template has no tables");
  expect_failure({"apply", write("large.yml", std::string(1'000'001, ' '))}, 1, "larger than");
  const std::string path = write("template.yml", kTemplate);
  expect_failure({"apply", path, "--parameter", "Stage"}, 2, "'Stage' is no NAME=VALUE");
  expect_failure({"apply", path, "--parameter", "Stge=prod"}, 1,
                 "the template has no parameter 'Stge'");
}

TEST(ApplyCommandAlone, NeedsATemplateAndAPlace) {
  expect_refusal({"apply", "--data", "d"}, 2, "template is required (see stator apply --help)");
  expect_refusal({"apply", "template.yml"}, 2, "--data,--endpoint");
}

TEST(ApplyCommandAlone, MakesNoDirectoryForATemplateThatItRefuses) {
  const TempDir temporary;
  const std::string path = (temporary.path() / "template.yml").string();
  std::ofstream(path) << "Resources: {T: {Type: 'AWS::Serverless::SimpleTable', "
                         "Properties: {TableName: 'a b'}}}";
  const std::string data = (temporary.path() / "data").string();
  expect_refusal({"apply", path, "--data", data}, 1, "T: ");
  EXPECT_FALSE(std::filesystem::exists(data));
}

}  // namespace
}  // namespace stator::test

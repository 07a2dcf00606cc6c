// SPDX-License-Identifier: Apache-2.0
// The DynamoDB tables of a CloudFormation or SAM template.
//
// Errors: kInvalidArgument, one line with the resource and the line in the text.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-dynamodb-table.html
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/template_values.h"
#include "stator/requests.h"

namespace stator::cli {

struct Recovery {  // point-in-time recovery
  bool enabled = false;
  std::optional<int64_t> days = {};
};

struct TemplateTable {
  std::string resource;  // its logical id; also the table's name if the template gives none
  CreateTableRequest request;
  std::string time_to_live = {};  // the attribute; empty: items do not expire
  Recovery recovery = {};
  std::vector<std::string> ignored;  // unsupported properties in the template
};

// AWS::DynamoDB::Table and AWS::Serverless::SimpleTable, in the template's order. Resources of
// other types are skipped.
Result<std::vector<TemplateTable>> read_template(const std::string& text,
                                                 const TemplateParameters& parameters);

}  // namespace stator::cli

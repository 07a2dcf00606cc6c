// SPDX-License-Identifier: Apache-2.0
// TemplateValues: evaluates the intrinsic functions of a CloudFormation template.
//
// Supports Ref, Fn::Sub, Fn::Join, Fn::If and condition functions, in their long and short forms,
// if they depend only on parameters. Work and results are bounded. Errors: kInvalidArgument with
// the line.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/yaml_document.h"

namespace stator::cli {

using TemplateParameters = std::map<std::string, std::string, std::less<>>;

// An error with its line in a template.
Failure template_error(const YamlNode& at, const std::string& what);

class TemplateValues {
 public:
  // `given` overrides the defaults of the template's parameters and can contain pseudo parameters
  // such as AWS::StackName.
  TemplateValues(const YamlNode& document, TemplateParameters given);

  // The node with functions at its top level resolved; std::nullopt if it is AWS::NoValue.
  Result<std::optional<YamlNode>> resolve(const YamlNode& node) const { return resolve(node, 0); }
  // Whether the condition of this name holds.
  Result<bool> condition(const YamlNode& at, const std::string& name) const {
    return condition(at, name, 0);
  }

 private:
  struct Call;
  static std::optional<Call> call_in(const YamlNode& node);

  // Counts one step of work at a nesting depth, to bound the work for a template.
  Result<void> step(const YamlNode& at, int depth) const;

  Result<std::optional<YamlNode>> resolve(const YamlNode& node, int depth) const;
  Result<std::optional<YamlNode>> choose(const YamlNode& arguments, int depth) const;
  Result<std::string> text(const YamlNode& node, int depth) const;
  Result<std::string> parameter(const YamlNode& at, std::string_view name) const;
  Result<std::string> substitute(const YamlNode& arguments, int depth) const;
  Result<std::string> join(const YamlNode& arguments, int depth) const;
  Result<bool> condition(const YamlNode& at, const std::string& name, int depth) const;
  Result<bool> holds(const YamlNode& node, int depth) const;
  Result<bool> all_equal(const YamlNode& arguments, int depth) const;

  const YamlNode* parameters_;
  const YamlNode* conditions_;
  TemplateParameters given_;
  mutable int steps_ = 0;
};

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/template_values.h"

#include <utility>

namespace stator::cli {
namespace {

constexpr int kFunctionDepthMax = 32;  // of functions in functions, and of conditions in conditions
constexpr int kStepsMax = 100'000;
constexpr std::size_t kFunctionBytesMax = 16'384;
constexpr std::string_view kNoValue = "AWS::NoValue";

YamlNode scalar_at(const YamlNode& at, std::string text) {
  return {.kind = YamlNode::Kind::kScalar, .line = at.line, .tag = {}, .scalar = std::move(text)};
}

}  // namespace

Failure template_error(const YamlNode& at, const std::string& what) {
  return fail(Code::kInvalidArgument, "line " + std::to_string(at.line) + ": " + what);
}

// A function and its arguments: `!Sub x` is the same as `Fn::Sub: x`.
struct TemplateValues::Call {
  std::string function;  // "Ref", "Condition", "Sub", …
  YamlNode arguments;
};

std::optional<TemplateValues::Call> TemplateValues::call_in(const YamlNode& node) {
  if (!node.tag.empty()) {
    Call call{.function = node.tag.substr(1), .arguments = node};
    call.arguments.tag.clear();
    return call;
  }
  if (!node.is_map() || node.map.size() != 1) return std::nullopt;
  const auto& [key, value] = node.map.front();
  if (key.starts_with("Fn::")) return Call{.function = key.substr(4), .arguments = value};
  // A property can be named `Condition`, so this is a function only if its value is a string.
  if ((key == "Ref" || key == "Condition") && value.is_scalar()) {
    return Call{.function = key, .arguments = value};
  }
  return std::nullopt;
}

TemplateValues::TemplateValues(const YamlNode& document, TemplateParameters given)
    : parameters_(document.find("Parameters")),
      conditions_(document.find("Conditions")),
      given_(std::move(given)) {}

Result<void> TemplateValues::step(const YamlNode& at, int depth) const {
  if (depth > kFunctionDepthMax) return template_error(at, "functions are nested too deeply");
  if (++steps_ > kStepsMax) return template_error(at, "the functions take too many steps");
  return {};
}

Result<std::optional<YamlNode>> TemplateValues::resolve(const YamlNode& node, int depth) const {
  STATOR_RETURN_IF_ERROR(step(node, depth));
  const std::optional<Call> call = call_in(node);
  if (!call) return std::optional(node);
  const YamlNode& arguments = call->arguments;
  if (call->function == "If") return choose(arguments, depth);
  Result<std::string> text;
  if (call->function == "Ref" && arguments.is_scalar()) {
    if (arguments.scalar == kNoValue) return std::optional<YamlNode>();
    text = parameter(node, arguments.scalar);
  } else if (call->function == "Sub") {
    text = substitute(arguments, depth);
  } else if (call->function == "Join") {
    text = join(arguments, depth);
  } else {
    return template_error(node, "the function " + call->function + " cannot be resolved here");
  }
  if (!text) return failure_of(std::move(text));
  return std::optional(scalar_at(node, *std::move(text)));
}

Result<std::optional<YamlNode>> TemplateValues::choose(const YamlNode& arguments, int depth) const {
  if (!arguments.is_list() || arguments.list.size() != 3 || !arguments.list[0].is_scalar()) {
    return template_error(arguments, "If takes a condition's name and two values");
  }
  STATOR_ASSIGN_OR_RETURN(const bool holds,
                          condition(arguments, arguments.list[0].scalar, depth + 1));
  return resolve(arguments.list[holds ? 1 : 2], depth + 1);
}

Result<std::string> TemplateValues::text(const YamlNode& node, int depth) const {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> resolved, resolve(node, depth + 1));
  if (!resolved || !resolved->is_scalar()) return template_error(node, "expected a string");
  return resolved->scalar;
}

Result<std::string> TemplateValues::parameter(const YamlNode& at, std::string_view name) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  const YamlNode* parameter = parameters_ == nullptr ? nullptr : parameters_->find(name);
  const YamlNode* otherwise = parameter == nullptr ? nullptr : parameter->find("Default");
  if (otherwise != nullptr && otherwise->is_scalar()) return otherwise->scalar;
  const std::string quoted = "'" + std::string(name) + "'";
  if (parameter == nullptr && !name.starts_with("AWS::")) {
    return template_error(
        at, quoted + " is not a parameter; references to other resources are not supported");
  }
  return template_error(
      at, quoted + " has no value; give one with --parameter " + std::string(name) + "=VALUE");
}

Result<std::string> TemplateValues::substitute(const YamlNode& arguments, int depth) const {
  const bool with_values =
      arguments.is_list() && arguments.list.size() == 2 && arguments.list[1].is_map();
  const YamlNode& pattern = with_values ? arguments.list[0] : arguments;
  if (!pattern.is_scalar()) return template_error(arguments, "Sub takes a string");
  std::string out;
  const std::string& text_in = pattern.scalar;
  for (std::size_t at = 0; at < text_in.size();) {
    const std::size_t start = text_in.find("${", at);
    const std::size_t end =
        start == std::string::npos ? std::string::npos : text_in.find('}', start);
    if (end == std::string::npos) return out + text_in.substr(at);
    out += text_in.substr(at, start - at);
    const std::string name = text_in.substr(start + 2, end - start - 2);
    const YamlNode* value = with_values ? arguments.list[1].find(name) : nullptr;
    if (name.starts_with('!')) {
      out += "${" + name.substr(1) + "}";
    } else {
      STATOR_ASSIGN_OR_RETURN(const std::string found,
                              value != nullptr ? text(*value, depth) : parameter(pattern, name));
      out += found;
    }
    if (out.size() > kFunctionBytesMax) return template_error(arguments, "the string is too long");
    at = end + 1;
  }
  return out;
}

Result<std::string> TemplateValues::join(const YamlNode& arguments, int depth) const {
  if (!arguments.is_list() || arguments.list.size() != 2 || !arguments.list[0].is_scalar() ||
      !arguments.list[1].is_list()) {
    return template_error(arguments, "Join takes a delimiter and a list");
  }
  std::string joined;
  for (const YamlNode& part : arguments.list[1].list) {
    STATOR_ASSIGN_OR_RETURN(const std::string found, text(part, depth));
    if (&part != &arguments.list[1].list.front()) joined += arguments.list[0].scalar;
    joined += found;
    if (joined.size() > kFunctionBytesMax)
      return template_error(arguments, "the string is too long");
  }
  return joined;
}

Result<bool> TemplateValues::condition(const YamlNode& at, const std::string& name,
                                       int depth) const {
  const YamlNode* found = conditions_ == nullptr ? nullptr : conditions_->find(name);
  if (found == nullptr) return template_error(at, "unknown condition '" + name + "'");
  return holds(*found, depth + 1);
}

Result<bool> TemplateValues::holds(const YamlNode& node, int depth) const {
  STATOR_RETURN_IF_ERROR(step(node, depth));
  const std::optional<Call> call = call_in(node);
  if (!call) return template_error(node, "expected a condition");
  const YamlNode& arguments = call->arguments;
  if (call->function == "Condition" && arguments.is_scalar()) {
    return condition(node, arguments.scalar, depth);
  }
  if (call->function == "Equals") return all_equal(arguments, depth);
  const bool is_and = call->function == "And";
  const bool is_not = call->function == "Not";
  if (!is_and && !is_not && call->function != "Or") {
    return template_error(node, call->function + " is not a condition function");
  }
  if (!arguments.is_list() || arguments.list.empty() || (is_not && arguments.list.size() != 1)) {
    return template_error(node, call->function + " takes a list of conditions");
  }
  bool all = true;
  bool any = false;
  for (const YamlNode& part : arguments.list) {
    STATOR_ASSIGN_OR_RETURN(const bool part_holds, holds(part, depth + 1));
    all = all && part_holds;
    any = any || part_holds;
  }
  if (is_not) return !any;
  return is_and ? all : any;
}

Result<bool> TemplateValues::all_equal(const YamlNode& arguments, int depth) const {
  if (!arguments.is_list() || arguments.list.size() != 2) {
    return template_error(arguments, "Equals takes two values");
  }
  STATOR_ASSIGN_OR_RETURN(const std::string left, text(arguments.list[0], depth));
  STATOR_ASSIGN_OR_RETURN(const std::string right, text(arguments.list[1], depth));
  return left == right;
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// Pattern: a string in a policy with wildcards and policy variables. ArnPattern: an ARN of
// patterns.
//
// * matches any number of characters, ? one character. ${aws:username} is the value of that key in
// the request, ${aws:referer, 'none'} has a default, and ${*}, ${?} and ${$} are these characters.
// The value of a variable is never a wildcard. A pattern with a variable without a value matches
// nothing.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/context.h"
#include "stator/result.h"

namespace stator::policy {

enum class Wildcards { kNone, kMatch };
enum class Variables { kRefused, kReplaced };
enum class LetterCase { kExact, kIgnored };

class Pattern {
 public:
  // Errors: kInvalidArgument for variables that are not allowed, not closed, or unknown.
  static Result<Pattern> parse(std::string_view text, Wildcards wildcards, Variables variables,
                               LetterCase letters = LetterCase::kExact);

  bool matches(std::string_view text, const Context& context) const;
  // Text that parses to this pattern with Variables::kReplaced; also with kRefused, if the pattern
  // needs no variable syntax.
  std::string text() const;

 private:
  struct Part {
    enum class Kind { kLiteral, kAnyOne, kAnyRun, kVariable };
    Kind kind = Kind::kLiteral;
    std::string text = {};  // kLiteral; of a variable, its default
    KeyName key = {};       // kVariable
    bool has_default = false;
  };

  static Result<Part> parse_variable(std::string_view text);
  void add_literal(std::string_view text);
  // How many characters at the start of `text` a part matches; absent: it does not match.
  std::optional<std::size_t> taken(const Part& part, std::string_view text,
                                   const Context& context) const;

  std::vector<Part> parts_;
  LetterCase letters_ = LetterCase::kExact;
};

// "arn:aws:dynamodb:*:*:table/Music*". Wildcards do not match across the first five colons.
class ArnPattern {
 public:
  // Errors: kInvalidArgument also for text that is neither "*" nor has six parts.
  static Result<ArnPattern> parse(std::string_view text, Variables variables);

  bool matches(std::string_view arn, const Context& context) const;
  std::string text() const;  // parses to this pattern with Variables::kReplaced

 private:
  std::vector<Pattern> parts_;  // empty: everything
};

}  // namespace stator::policy

// SPDX-License-Identifier: Apache-2.0
// Policy: a document of IAM's policy language, parsed strictly.
//
// Every part of the document has an effect: unknown elements, condition keys, operators and
// variables are rejected, and so are repeated members.
// Thread safety: immutable.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/condition.h"
#include "policy/condition_keys.h"
#include "policy/pattern.h"
#include "stator/result.h"

namespace stator::policy {

inline constexpr std::size_t kPolicyBytesMax = 20'480;

enum class PolicyKind { kIdentity, kResource };
enum class Effect { kAllow, kDeny };

struct Statement {
  std::string sid = {};
  std::size_t number = 0;  // in its document, from 1
  Effect effect = Effect::kDeny;
  bool everyone = false;                   // of a resource policy: Principal is "*"
  std::vector<std::string> users = {};     // ARNs
  std::vector<std::string> accounts = {};  // by their ids
  std::vector<Pattern> actions = {};
  bool other_actions = false;  // NotAction: all but those
  std::vector<ArnPattern> resources = {};
  bool other_resources = false;  // NotResource
  std::vector<Condition> conditions = {};

  // Whether it applies to a request. `kind` is the kind of its document.
  bool applies(PolicyKind kind, const Context& context) const;
};

class Policy {
 public:
  // Errors: kInvalidArgument with one line that contains the statement's number, also for more than
  // kPolicyBytesMax.
  static Result<Policy> parse(std::string_view json, PolicyKind kind);

  PolicyKind kind() const { return kind_; }
  const std::vector<Statement>& statements() const { return statements_; }
  // The keys of its conditions.
  const KeySet& keys() const { return keys_; }

 private:
  PolicyKind kind_ = PolicyKind::kIdentity;
  std::vector<Statement> statements_;
  KeySet keys_;
};

}  // namespace stator::policy

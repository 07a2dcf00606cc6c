// SPDX-License-Identifier: Apache-2.0
// Evaluates policies for one action on one resource, within one account: an explicit Deny overrides
// any Allow, and without an Allow the action is denied.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
#pragma once

#include <span>
#include <string>

#include "policy/context.h"
#include "policy/policy.h"

namespace stator::policy {

enum class Decision { kAllowed, kDenied, kNotAllowed };

struct Verdict {
  Decision decision = Decision::kNotAllowed;
  const Policy* policy = nullptr;        // the one that decided; null if none did
  const Statement* statement = nullptr;  // the same

  bool allowed() const { return decision == Decision::kAllowed; }
};

// Null policies are skipped. The verdict borrows the policies.
Verdict evaluate(std::span<const Policy* const> policies, const Context& context);

// The message of AccessDeniedException. The verdict must be a denial.
std::string denial_text(const Verdict& verdict, const Context& context);

}  // namespace stator::policy

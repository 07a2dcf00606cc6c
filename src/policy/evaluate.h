// SPDX-License-Identifier: Apache-2.0
// What policies say about one action on one resource, within one account: an explicit Deny comes
// before any Allow, and what nothing allows is denied.
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
  const Policy* policy = nullptr;        // which decided; null if none did
  const Statement* statement = nullptr;  // the same

  bool allowed() const { return decision == Decision::kAllowed; }
};

// Null policies are left out. The verdict borrows them.
Verdict evaluate(std::span<const Policy* const> policies, const Context& context);

// The message of AccessDeniedException. Not for a verdict that allows.
std::string denial_text(const Verdict& verdict, const Context& context);

}  // namespace stator::policy

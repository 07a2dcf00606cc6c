// SPDX-License-Identifier: Apache-2.0
// Prints a policy as an equivalent document of version 2012-10-17.
#pragma once

#include <string>

#include "policy/policy.h"

namespace stator::policy {

// The text can be longer than the one that was parsed, and longer than kPolicyBytesMax.
std::string print(const Policy& policy);

}  // namespace stator::policy

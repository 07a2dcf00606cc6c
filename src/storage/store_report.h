// SPDX-License-Identifier: Apache-2.0
// StoreReport: gets lines about a store for the operator. Threads of the store call it, one line
// without a line break at a time. It must not call the store.
#pragma once

#include <functional>
#include <string>

#include "base/log_level.h"

namespace stator {

using StoreReport = std::function<void(LogLevel, const std::string&)>;

}  // namespace stator

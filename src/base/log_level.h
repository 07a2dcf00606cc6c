// SPDX-License-Identifier: Apache-2.0
// LogLevel: the severity of a line of diagnostics.
#pragma once

namespace stator {

enum class LogLevel {
  kInfo,     // progress, or an earlier problem is resolved
  kWarning,  // a failure that is retried or skipped
  kError,    // a permanent failure: someone has to act
};

}  // namespace stator

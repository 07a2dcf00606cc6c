// SPDX-License-Identifier: Apache-2.0
// LogLevel: the severity of a line of diagnostics.
#pragma once

namespace stator {

enum class LogLevel {
  kInfo,     // progress, or an earlier problem is resolved
  kWarning,  // no permanent failure
  kError,
};

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// LogLevel: how much a line of diagnostics matters to whoever runs the program.
#pragma once

namespace stator {

enum class LogLevel {
  kInfo,     // progress; something that was reported has ended well
  kWarning,  // nothing has failed for good
  kError,
};

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// The manual pages, made from the same descriptions as --help:
//
//   stator __manual DIR    writes stator.1, and stator-COMMAND.1 for each top-level command
#pragma once

#include <map>
#include <string>

#include "stator/result.h"

namespace CLI {
class App;
}

namespace stator::cli {

inline constexpr const char* kManualCommand = "__manual";

// The pages by file name, in the man(7) format.
std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version);

// Writes the pages into a directory that exists. Errors: kIo.
Result<void> write_manual(const CLI::App& app, const std::string& version,
                          const std::string& directory);

}  // namespace stator::cli

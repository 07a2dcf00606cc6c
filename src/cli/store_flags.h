// SPDX-License-Identifier: Apache-2.0
// The PostgreSQL database of a command: `--store URL` or STATOR_STORE, and its schema.
//
// Every user of a machine can read command lines, so the flag accepts no password. The variable
// accepts one. Alternatives are libpq's PGPASSWORD and ~/.pgpass.
#pragma once

#include <string>

#include "stator/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stator::cli {

inline constexpr const char* kStoreVariable = "STATOR_STORE";

struct StoreFlags {
  std::string url;
  std::string schema = "stator";
};

struct StoreOptions {
  CLI::Option* store = nullptr;
  CLI::Option* schema = nullptr;
};
// Adds --store and --schema.
StoreOptions add_store_flags(CLI::App& command, StoreFlags& flags);

struct NamedStore {
  std::string url;   // empty: neither the flag nor the variable
  std::string name;  // without user, password and parameters
};
// Errors: kInvalidArgument for an invalid URL, and for a password in the flag; kIo without libpq.
Result<NamedStore> named_store(const StoreFlags& flags);

}  // namespace stator::cli

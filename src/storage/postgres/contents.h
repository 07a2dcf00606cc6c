// SPDX-License-Identifier: Apache-2.0
// What a schema contains, and what the role of a connection may do with it.
//
// Thread safety: as Connection.
#pragma once

#include <string>

#include "stator/result.h"
#include "storage/postgres/connection.h"

namespace stator::postgres {

struct SchemaContents {
  bool exists = false;
  bool has_stator = false;  // the store's tables, of any version
  bool has_other = false;   // tables, but not these
  bool may_create = false;  // the schema if it does not exist, otherwise tables in it
  std::string role = {};
  // Of those that a server needs: "SELECT on meta, TRUNCATE on request_0". Only with has_stator.
  std::string missing_privileges = {};
};
SqlResult<SchemaContents> read_contents(Connection& connection, const std::string& schema);

// One line with the remedy unless the store can be created, or used, there. A schema without data
// passes both. Errors: kInvalidArgument, kAccessDenied.
Result<void> check_may_create(const SchemaContents& contents, const std::string& schema);
Result<void> check_may_use(const SchemaContents& contents, const std::string& schema);

}  // namespace stator::postgres

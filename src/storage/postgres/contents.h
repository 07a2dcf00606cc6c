// SPDX-License-Identifier: Apache-2.0
// The contents of a schema, and the privileges of a connection's role.
//
// Thread safety: see Connection.
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
  // Missing privileges of those that a server needs, if has_stator: "SELECT on meta, TRUNCATE on
  // request_0".
  std::string missing_privileges = {};
};
SqlResult<SchemaContents> read_contents(Connection& connection, const std::string& schema);

// Check whether the store can be created, or used, in the schema. Both succeed for a schema without
// data. Errors, with one line and the remedy: kInvalidArgument, kAccessDenied.
Result<void> check_may_create(const SchemaContents& contents, const std::string& schema);
Result<void> check_may_use(const SchemaContents& contents, const std::string& schema);

}  // namespace stator::postgres

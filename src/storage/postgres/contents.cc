// SPDX-License-Identifier: Apache-2.0
// Every role can read the system catalogs, even about schemas that it cannot use.
#include "storage/postgres/contents.h"

#include <fmt/format.h>

#include <string_view>

namespace stator::postgres {
namespace {

// {0} is the schema. Every version of the store has these columns of `meta`.
constexpr std::string_view kRead = R"(
SELECT n.oid IS NOT NULL,
  (SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
   WHERE c.relnamespace = n.oid AND (c.relname, a.attname) IN
     (('meta', 'version'), ('meta', 'system_identifier'), ('meta', 'stamp_base'))),
  (SELECT count(*) FROM pg_class AS c
   WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')),
  CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
       ELSE has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE') END,
  current_user,
  concat_ws(', ', CASE WHEN NOT has_schema_privilege(n.oid, 'USAGE') THEN 'USAGE' END,
    (SELECT string_agg(w.privilege || ' on ' || w.name, ', ' ORDER BY w.name, w.privilege)
     FROM (VALUES ('meta', 'SELECT'), ('kv', 'SELECT'), ('kv', 'INSERT'), ('kv', 'UPDATE'),
             ('kv', 'DELETE'), ('request', 'SELECT'), ('request', 'INSERT'), ('request', 'UPDATE'),
             ('request_0', 'SELECT'), ('request_0', 'TRUNCATE'), ('request_1', 'SELECT'),
             ('request_1', 'TRUNCATE'), ('request_2', 'SELECT'), ('request_2', 'TRUNCATE'),
             ('request_3', 'SELECT'), ('request_3', 'TRUNCATE')) AS w(name, privilege)
       JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = w.name
     WHERE NOT has_table_privilege(c.oid, w.privilege)),
    (SELECT string_agg('EXECUTE on ' || f.proname, ', ') FROM pg_proc AS f
     WHERE f.pronamespace = n.oid AND NOT has_function_privilege(f.oid, 'EXECUTE')))
FROM (SELECT to_regnamespace('"{0}"')::oid AS oid) AS n
)";
constexpr int kOwnColumns = 3;

}  // namespace

SqlResult<SchemaContents> read_contents(Connection& connection, const std::string& schema) {
  const auto rows = connection.run_script(fmt::format(kRead, schema));
  if (!rows) return std::unexpected(rows.error());
  const auto text = [&](int column) { return std::string(rows->bytes(0, column)); };
  SchemaContents contents{.exists = text(0) == "t",
                          .has_stator = text(1) == std::to_string(kOwnColumns),
                          .may_create = text(3) == "t",
                          .role = text(4),
                          .missing_privileges = text(5)};
  contents.has_other = !contents.has_stator && text(2) != "0";
  if (!contents.has_stator) contents.missing_privileges.clear();
  return contents;
}

Result<void> check_may_create(const SchemaContents& contents, const std::string& schema) {
  if (contents.has_other) {
    return fail(Code::kInvalidArgument,
                fmt::format("schema '{}' contains tables that are not Stator's; choose another one "
                            "with --schema",
                            schema));
  }
  if (contents.has_stator || contents.may_create) return {};
  return fail(Code::kAccessDenied,
              fmt::format("role '{0}' must not create tables in schema '{1}'; as an administrator, "
                          "run: {2} SCHEMA \"{1}\" {3} \"{0}\"",
                          contents.role, schema, contents.exists ? "ALTER" : "CREATE",
                          contents.exists ? "OWNER TO" : "AUTHORIZATION"));
}

Result<void> check_may_use(const SchemaContents& contents, const std::string& schema) {
  if (contents.has_other) return check_may_create(contents, schema);
  if (contents.missing_privileges.empty()) return {};
  return fail(Code::kAccessDenied,
              fmt::format("role '{}' lacks privileges in schema '{}': {}; grant them to it",
                          contents.role, schema, contents.missing_privileges));
}

}  // namespace stator::postgres

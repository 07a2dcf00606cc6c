// SPDX-License-Identifier: Apache-2.0
// CreateTable, DescribeTable, ListTables, DeleteTable.
#include <algorithm>
#include <utility>

#include "api/validation/validate.h"
#include "engine/catalog/counting.h"
#include "engine/catalog/last_backup.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/schema/schema_operations.h"
#include "engine/schema/table_description.h"

namespace stator {
namespace {

constexpr std::size_t kListedTablesMax = 100;

}  // namespace

Result<CreateTableResult> create_table(SchemaEngine& engine, const CreateTableRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  if (request.resource_policy) {
    STATOR_RETURN_IF_ERROR(check_policy(*request.resource_policy));
    engine.resource_policies.expect_policies();
  }
  auto table = engine.catalog->create(request, engine.now_ms());
  if (!table) return Failure(service_error(std::move(table).error()));
  if (request.resource_policy) STATOR_RETURN_IF_ERROR(engine.resource_policies.refresh(**table));
  return CreateTableResult{describe(engine, **table, TableStatus::kCreating)};
}

Result<DescribeTableResult> describe_table(EngineCore& engine,
                                           const DescribeTableRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* table = snapshot->find(request.table);
  if (table == nullptr) {
    const auto restoring = snapshot->restoring.find(request.table);
    if (restoring == snapshot->restoring.end()) {
      return fail(Code::kResourceNotFound, messages::table_not_found(request.table));
    }
    return DescribeTableResult{describe(engine, *restoring->second, TableStatus::kCreating)};
  }
  start_count(engine.jobs, *engine.store, **table);
  return DescribeTableResult{describe(engine, **table)};
}

Result<ListTablesResult> list_tables(const EngineCore& engine, const ListTablesRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  auto restoring = snapshot->restoring;
  if (!restoring.empty()) restoring.insert(snapshot->tables.begin(), snapshot->tables.end());
  const auto& tables = restoring.empty() ? snapshot->tables : restoring;
  const std::size_t limit =
      std::min(kListedTablesMax,
               static_cast<std::size_t>(std::max<int64_t>(1, request.limit.value_or(100))));
  ListTablesResult result;
  auto next = request.exclusive_start_table ? tables.upper_bound(*request.exclusive_start_table)
                                            : tables.begin();
  for (; next != tables.end() && result.tables.size() < limit; ++next) {
    result.tables.push_back(next->first);
  }
  if (next != tables.end()) result.last_evaluated_table = result.tables.back();
  return result;
}

Result<DeleteTableResult> delete_table(SchemaEngine& engine, const DeleteTableRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  const int64_t now_ms = engine.now_ms();
  auto table = engine.catalog->drop(request.table, now_ms, [&](const Table& dropped) {
    return last_backup(dropped, engine.job_ids.next(now_ms), now_ms);
  });
  if (!table) return Failure(service_error(std::move(table).error()));
  engine.resource_policies.forget(**table);
  DeleteTableResult result{describe(engine, **table, TableStatus::kDeleting)};
  result.table.created_ms = 0;
  result.table.attributes.clear();
  result.table.key_schema.clear();
  result.table.local_indexes.clear();
  result.table.global_indexes.clear();
  result.table.vector_indexes.clear();
  return result;
}

}  // namespace stator

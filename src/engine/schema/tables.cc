// SPDX-License-Identifier: Apache-2.0
// CreateTable, DescribeTable, ListTables, DeleteTable.
#include <algorithm>
#include <utility>

#include "api/validation/validate.h"
#include "engine/catalog/counting.h"
#include "engine/catalog/last_backup.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/schema/table_description.h"

namespace stator {
namespace {

constexpr std::size_t kListedTablesMax = 100;

}  // namespace

Result<CreateTableResult> Engine::create_table(const CreateTableRequest& request) {
  STATOR_CHECK_OK(validate(request));
  if (request.resource_policy) {
    STATOR_CHECK_OK(check_policy(*request.resource_policy));
    impl_->resource_policies.expect_policies();
  }
  auto table = impl_->catalog->create(request, impl_->now_ms());
  if (!table) return Failure(service_error(std::move(table).error()));
  if (request.resource_policy) STATOR_CHECK_OK(impl_->resource_policies.refresh(**table));
  return CreateTableResult{describe(*impl_, **table, TableStatus::kCreating)};
}

Result<DescribeTableResult> Engine::describe_table(const DescribeTableRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const auto snapshot = impl_->catalog->snapshot();
  const TablePtr* table = snapshot->find(request.table);
  if (table == nullptr) {
    const auto restoring = snapshot->restoring.find(request.table);
    if (restoring == snapshot->restoring.end()) {
      return fail(Code::kResourceNotFound, messages::table_not_found(request.table));
    }
    return DescribeTableResult{describe(*impl_, *restoring->second, TableStatus::kCreating)};
  }
  start_count(impl_->jobs, *impl_->store, **table);
  return DescribeTableResult{describe(*impl_, **table)};
}

Result<ListTablesResult> Engine::list_tables(const ListTablesRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const auto snapshot = impl_->catalog->snapshot();
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

Result<DeleteTableResult> Engine::delete_table(const DeleteTableRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const int64_t now_ms = impl_->now_ms();
  auto table = impl_->catalog->drop(request.table, now_ms, [&](const Table& dropped) {
    return last_backup(dropped, impl_->job_ids.next(now_ms), now_ms);
  });
  if (!table) return Failure(service_error(std::move(table).error()));
  impl_->resource_policies.forget(**table);
  DeleteTableResult result{describe(*impl_, **table, TableStatus::kDeleting)};
  result.table.created_ms = 0;
  result.table.attributes.clear();
  result.table.key_schema.clear();
  result.table.local_indexes.clear();
  result.table.global_indexes.clear();
  return result;
}

}  // namespace stator

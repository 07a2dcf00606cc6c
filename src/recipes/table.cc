// SPDX-License-Identifier: Apache-2.0
// Describe-then-create would race with other processes: create, and take "in use" for an answer.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "recipes/requests.h"
#include "stator/recipes/common.h"

namespace stator {
namespace {

constexpr int kMaxPolls = 240;  // of 250 ms on average
constexpr std::chrono::milliseconds kPoll{500};

Result<void> check_same(const TableDescription& found, const CreateTableRequest& wanted) {
  if (found.key_schema != wanted.key_schema) {
    return fail(Code::kConflict, "the table " + wanted.table + " has another key schema");
  }
  if (!wanted.global_indexes) return {};
  for (const IndexDefinition& index : *wanted.global_indexes) {
    const bool there = std::ranges::any_of(found.global_indexes, [&](const auto& candidate) {
      return candidate.definition.name == index.name &&
             candidate.definition.key_schema == index.key_schema;
    });
    if (!there) {
      return fail(Code::kConflict,
                  "the table " + wanted.table + " lacks the index " + index.name + " or its keys");
    }
  }
  return {};
}

bool is_active(const TableDescription& table) {
  return table.status == TableStatus::kActive &&
         std::ranges::all_of(table.global_indexes, [](const IndexDescription& index) {
           return index.status == TableStatus::kActive;
         });
}

}  // namespace

Result<TableDescription> create_table_if_missing(Client& client, const CreateTableRequest& table) {
  const RetryPolicy policy;
  auto created =
      recipes::with_retries(policy, system_time(), [&] { return client.create_table(table); });
  if (created && is_active(created->table)) return std::move(created->table);
  if (!created && created.error().code != Code::kResourceInUse &&
      created.error().code != Code::kTableAlreadyExists) {
    return failure_of(std::move(created));
  }
  for (int polls = 0;; ++polls) {
    auto found = recipes::with_retries(
        policy, system_time(), [&] { return client.describe_table({.table = table.table}); });
    if (found) {
      STATOR_CHECK_OK(check_same(found->table, table));
      if (is_active(found->table)) return std::move(found->table);
    } else if (found.error().code != Code::kResourceNotFound) {
      return failure_of(std::move(found));
    }
    if (polls >= kMaxPolls) {
      return fail(Code::kTimeout, "the table " + table.table + " does not become ACTIVE");
    }
    system_time().sleep(recipes::jittered(kPoll, kPoll, 0), {});
  }
}

}  // namespace stator

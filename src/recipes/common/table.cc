// SPDX-License-Identifier: Apache-2.0
// An existing table is only described, because its users might not be allowed to create it. If
// another process creates it at the same time, "in use" counts as success.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "recipes/common/requests.h"
#include "stator/recipes/common.h"

namespace stator {
namespace {

constexpr int kMaxPolls = 240;  // of 250 ms on average
constexpr std::chrono::milliseconds kPoll{500};

Result<void> check_same(const TableDescription& found, const CreateTableRequest& wanted) {
  if (found.key_schema != wanted.key_schema) {
    return fail(Code::kConflict, "the table " + wanted.table + " has another key schema");
  }
  if (wanted.stream && wanted.stream->enabled && found.stream != wanted.stream) {
    return fail(Code::kConflict, "the table " + wanted.table + " lacks the stream, or its view");
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

// Enables expiry by `attribute`. The endpoint accepts only the first of several concurrent calls.
Result<void> expire_by(Client& client, const std::string& table, const std::string& attribute) {
  const RetryPolicy policy;
  const auto described = recipes::with_retries(
      policy, system_time(), [&] { return client.describe_time_to_live({.table = table}); });
  if (!described && described.error().code == Code::kUnknownOperation) return {};
  if (!described) return Failure(described.error());
  if (described->status == TimeToLiveStatus::kDisabled) {
    const auto updated = recipes::with_retries(policy, system_time(), [&] {
      return client.update_time_to_live(
          {.table = table, .specification = {.enabled = true, .attribute = attribute}});
    });
    if (updated || updated.error().code == Code::kUnknownOperation) return {};
    const auto again = client.describe_time_to_live({.table = table});
    if (again && again->attribute == attribute) return {};
    return Failure(updated.error());
  }
  if (described->attribute == attribute) return {};
  return fail(Code::kConflict, "the items of the table " + table + " expire by the attribute " +
                                   described->attribute + ", not by " + attribute);
}

Result<TableDescription> make_active(Client& client, const CreateTableRequest& table) {
  const RetryPolicy policy;
  const auto describe = [&] {
    return recipes::with_retries(policy, system_time(),
                                 [&] { return client.describe_table({.table = table.table}); });
  };
  auto known = describe();
  if (known && recipes::is_active(known->table)) {
    STATOR_RETURN_IF_ERROR(check_same(known->table, table));
    return std::move(known->table);
  }
  if (!known && known.error().code != Code::kResourceNotFound) return failure_of(std::move(known));
  auto created =
      recipes::with_retries(policy, system_time(), [&] { return client.create_table(table); });
  if (created && recipes::is_active(created->table)) return std::move(created->table);
  if (!created && created.error().code != Code::kResourceInUse &&
      created.error().code != Code::kTableAlreadyExists) {
    return failure_of(std::move(created));
  }
  for (int polls = 0;; ++polls) {
    auto found = describe();
    if (found) {
      STATOR_RETURN_IF_ERROR(check_same(found->table, table));
      if (recipes::is_active(found->table)) return std::move(found->table);
    } else if (found.error().code != Code::kResourceNotFound) {
      return failure_of(std::move(found));
    }
    if (polls >= kMaxPolls) {
      return fail(Code::kTimeout, "the table " + table.table + " does not become ACTIVE");
    }
    system_time().sleep(recipes::jittered(kPoll, kPoll, 0), {});
  }
}

}  // namespace

Result<TableDescription> create_table_if_missing(Client& client, const RecipeTable& table) {
  STATOR_ASSIGN_OR_RETURN(TableDescription made, make_active(client, table));
  if (!table.expiry.empty()) STATOR_RETURN_IF_ERROR(expire_by(client, table.table, table.expiry));
  return made;
}

}  // namespace stator

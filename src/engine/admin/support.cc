// SPDX-License-Identifier: Apache-2.0
#include "engine/admin/support.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"

namespace stator::admin {
namespace {

// "arn:partition:service:region:account:resource"; the last part keeps its colons.
std::vector<std::string_view> arn_parts(std::string_view arn) {
  constexpr std::size_t kPartsMax = 6;
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < kPartsMax) {
    const std::size_t end = arn.find(':');
    if (end == std::string_view::npos) break;
    parts.push_back(arn.substr(0, end));
    arn.remove_prefix(end + 1);
  }
  parts.push_back(arn);
  return parts;
}

}  // namespace

Result<TablePtr> find_resource(const Engine::Impl& engine, std::string_view table) {
  const auto snapshot = engine.catalog->snapshot();
  const TablePtr* found = snapshot->find(table);
  if (found == nullptr) return fail(Code::kResourceNotFound, messages::table_not_found(table));
  return *found;
}

Result<TablePtr> find_table_named(const Engine::Impl& engine, std::string_view table) {
  const auto snapshot = engine.catalog->snapshot();
  const TablePtr* found = snapshot->find(table);
  if (found == nullptr) return fail(Code::kTableNotFound, messages::no_such_table(table));
  return *found;
}

std::string time_text(int64_t unix_ms) {
  return stream_label(unix_ms).substr(0, std::string_view("2026-10-09T00:41:50").size()) + "Z";
}

int64_t earliest_restorable_ms(const TableDefinition& table, int64_t now_ms) {
  return std::max(table.recovery_since_ms, now_ms - table.recovery_ms);
}

Result<ArnParts> parse_table_arn(const Engine::Impl& engine, const std::string& arn) {
  const std::vector<std::string_view> parts = arn_parts(arn);
  if (parts[0] != "arn") return fail(Code::kValidation, messages::no_arn(arn));
  if (parts.size() < 6 || parts[2] != "dynamodb") {
    return fail(Code::kAccessDenied, messages::kAccessDenied);
  }
  constexpr std::string_view kTable = "table/";
  std::string_view resource = parts[5];
  if (!resource.starts_with(kTable)) return fail(Code::kValidation, messages::no_table_arn(arn));
  if (parts[4] != engine.options.account) {
    return fail(Code::kAccessDenied, messages::kAccessDenied);
  }
  resource.remove_prefix(kTable.size());
  const std::size_t name_end = std::min(resource.find('/'), resource.size());
  constexpr std::size_t kNameLeast = 3;
  if (parts[3] != engine.options.region || name_end < kNameLeast) {
    return fail(Code::kValidation, messages::invalid_table_arn(arn));
  }
  return ArnParts{.table = std::string(resource.substr(0, name_end)),
                  .rest = std::string(resource.substr(name_end))};
}

std::string new_job_id(Engine::Impl& engine) {
  int64_t last_ms = engine.last_job_ms;
  int64_t id_ms = 0;
  do {
    id_ms = std::max(engine.now_ms(), last_ms + 1);
  } while (!engine.last_job_ms.compare_exchange_weak(last_ms, id_ms));
  std::string id = std::to_string(id_ms);
  constexpr std::size_t kDigits = 14;
  id.insert(0, kDigits - std::min(kDigits, id.size()), '0');
  return id + "-" + random_uuid().substr(0, 8);
}

Result<Item> settings_of(const Engine::Impl& engine, const Table& table) {
  return Records(*engine.store).get(settings_key(table.definition().space));
}

Result<void> change_settings(const Engine::Impl& engine, const Table& table,
                             Records::Change change) {
  return Records(*engine.store).change_settings(table, change);
}

}  // namespace stator::admin

// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/records.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "api/admin/document.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_commit.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

using Members = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> kSettings = {"GlobalTable", "Insights", "Policy", "Tags"};
constexpr std::array<std::string_view, 9> kBackup = {
    "Bytes", "CreatedMs", "Definition", "ExpiresMs", "Items", "Name", "Space", "Status", "Table"};
constexpr std::array<std::string_view, 9> kRestore = {
    "Backup", "Definition", "From", "Import", "Log", "Position", "Stamp", "StampLimit", "TimeMs"};
constexpr std::array<std::string_view, 14> kImport = {
    "Bytes",    "EndedMs",   "Errors",  "FailureCode", "FailureMessage", "File",  "Imported",
    "Position", "Processed", "Request", "StartedMs",   "Status",         "Table", "TableId"};
constexpr std::array<std::string_view, 18> kExport = {
    "Asked",     "BilledBytes", "Definition", "EndedMs", "FailureCode", "FailureMessage",
    "From",      "Items",       "Log",        "Request", "Stamp",       "StampLimit",
    "StartedMs", "Status",      "Table",      "TableId", "ToStamp",     "WrittenMs"};
constexpr std::array<std::string_view, 33> kBulk = {
    "Asked",       "DoneBytes",        "EndedMs",
    "Ending",      "EndingMs",         "ErrorBytes",
    "ErrorFiles",  "ErrorFirst",       "ErrorNext",
    "Failed",      "FailureCode",      "FailureMessage",
    "File",        "GlobalIndexBytes", "LocalIndexBytes",
    "ObjectBytes", "Position",         "Processed",
    "Request",     "StartedMs",        "Status",
    "Table",       "TableBytes",       "TableId",
    "TotalBytes",  "Transactions",     "Unmet",
    "UnmetBytes",  "UnmetFiles",       "UnmetFirst",
    "UnmetNext",   "VectorIndexBytes", "Written"};
constexpr std::array<std::string_view, 6> kOutput = {"Etag", "Items", "Key", "Line", "Md5", "Type"};

// Settings have a member for the policy of each stream.
constexpr std::string_view kPolicyOfStream = "Policy/stream/";

bool has_known_members(RecordKind kind, ItemView record) {
  const Members known = record_members(kind);
  for (AttributeCursor cursor = record.attributes(); const auto member = cursor.next();) {
    const bool is_of_stream =
        kind == RecordKind::kSettings && member->name.starts_with(kPolicyOfStream);
    if (!is_of_stream && !std::ranges::binary_search(known, member->name)) return false;
  }
  return true;
}

Result<Item> decode(std::string_view value) {
  STATOR_RETURN_IF_ERROR(validate_item(value));
  return decode_item(ItemView(value));
}

}  // namespace

Result<Item> record_in(const std::optional<std::string>& row) {
  if (!row) return Item();
  return decode(*row);
}

void put_record(Batch& batch, const std::string& key, const Item& record) {
  if (record.empty()) {
    batch.erase(key);
    return;
  }
  EncodedItem bytes = encode_item(record);
  // Tests find a member that was added without a new format. Others can only come from the store.
  assert(has_known_members(static_cast<RecordKind>(key[kPartitionBytes + 1]), ItemView(bytes)));
  batch.put(key, std::move(bytes));
}

std::string record_key(RecordKind kind, std::string_view name) {
  return catalog_row_key(CatalogRow::kRecord, std::string(1, static_cast<char>(kind)).append(name));
}

std::string settings_key(SpaceId table) {
  std::string id;
  append_big_endian(id, table);
  return record_key(RecordKind::kSettings, id);
}

bool is_open_job(const Item& record) {
  if (record.empty()) return false;
  const std::string status = text_of(record, "Status");
  return status.empty() || status == "CREATING" || status == "IN_PROGRESS" ||
         status == "CANCELLING";
}

Members record_members(RecordKind kind) {
  switch (kind) {
    case RecordKind::kSettings:
      return kSettings;
    case RecordKind::kBackup:
      return kBackup;
    case RecordKind::kRestore:
      return kRestore;
    case RecordKind::kImport:
      return kImport;
    case RecordKind::kExport:
      return kExport;
    case RecordKind::kBulk:
      return kBulk;
    case RecordKind::kOutput:
      return kOutput;
  }
  return {};
}

bool is_record(std::string_view rest, std::string_view value) {
  if (rest.size() < 2 || !validate_item(value)) return false;
  const auto kind = static_cast<RecordKind>(rest[0]);
  if (kind == RecordKind::kSettings && rest.size() != 1 + sizeof(SpaceId)) return false;
  return !record_members(kind).empty() && has_known_members(kind, ItemView(value));
}

Result<Item> Records::get(const std::string& key) const {
  std::string kept;
  STATOR_ASSIGN_OR_RETURN(const bool found,
                          read_value(store_, key, [&](std::string_view value) { kept = value; }));
  if (!found) return Item();
  return decode(kept);
}

Result<std::map<std::string, Item>> Records::list(RecordKind kind) const {
  std::map<std::string, Item> records;
  const std::string begin = record_key(kind, {});
  Result<void> read;
  STATOR_RETURN_IF_ERROR(read_range(store_, {.range = {.begin = begin, .end = prefix_end(begin)}},
                                    [&](std::string_view key, std::string_view value) {
                                      auto record = decode(value);
                                      if (!record) {
                                        read = Failure(std::move(record).error());
                                        return false;
                                      }
                                      records.emplace(key.substr(begin.size()), std::move(*record));
                                      return true;
                                    }));
  STATOR_RETURN_IF_ERROR(std::move(read));
  return records;
}

Result<void> Records::put(const std::string& key, const Item& record) const {
  return change(key, [&](Item& kept) -> Result<void> {
    kept = record;
    return {};
  });
}

Result<void> Records::change(const std::string& key, Change change) const {
  return change_guarded(key, {}, change);
}

Result<void> Records::change_settings(const Table& table, Change change) const {
  // Another table can have the name now. The version row belongs to this table.
  const SpaceId space = table.definition().space;
  return change_guarded(settings_key(space), catalog_row_key(CatalogRow::kVersion, space), change);
}

Result<void> Records::change_guarded(const std::string& key, const std::string& guard,
                                     Change change) const {
  std::vector<std::string> keys = {key};
  if (!guard.empty()) keys.push_back(guard);
  const auto change_row = [&](GuardedRows rows, Batch& batch) -> Result<void> {
    if (!guard.empty() && !rows[1]) {
      return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    }
    STATOR_ASSIGN_OR_RETURN(Item record, record_in(rows[0]));
    STATOR_RETURN_IF_ERROR(change(record));
    put_record(batch, key, record);
    if (lease_ != nullptr && !is_open_job(record)) lease_->end_in(batch);
    return {};
  };
  return commit_change_by(lease_, store_, keys, change_row);
}

}  // namespace stator

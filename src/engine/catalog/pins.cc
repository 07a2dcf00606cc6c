// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/pins.h"

#include <algorithm>

#include "api/admin/document.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

std::string encode_pins(const Pins& pins) {
  Map records;
  for (const auto& [name, commit_version] : pins.records) {
    records.emplace(name, static_cast<int64_t>(commit_version));
  }
  Item item{{"Pins", std::move(records)}};
  if (pins.given_up_before > 0) {
    item["GivenUp"] = static_cast<int64_t>(pins.given_up_before);
    item["GivenUpMs"] = pins.given_up_ms;
  }
  return encode_item(item);
}

}  // namespace

std::optional<PinnedHistory> history_of(const Item& record) {
  if (!record.contains("Log") && !record.contains("Backup")) return std::nullopt;
  return PinnedHistory{.space = static_cast<SpaceId>(integer_of(record, "From")),
                       .log = static_cast<SpaceId>(integer_of(record, "Log")),
                       .commit_version = static_cast<uint64_t>(integer_of(record, "Stamp"))};
}

uint64_t Pins::oldest() const {
  uint64_t oldest = UINT64_MAX;
  for (const auto& [name, commit_version] : records) oldest = std::min(oldest, commit_version);
  return oldest;
}

std::string pins_key(SpaceId space) {
  return catalog_row_key(CatalogRow::kPins, space);
}

Result<Pins> decode_pins(const std::optional<std::string>& row) {
  Pins pins;
  if (!row) return pins;
  STATOR_RETURN_IF_ERROR(validate_item(*row));
  const Item item = decode_item(ItemView(*row));
  pins.given_up_before = static_cast<uint64_t>(integer_of(item, "GivenUp"));
  pins.given_up_ms = integer_of(item, "GivenUpMs");
  const Item& records = map_of(item, "Pins");
  for (const auto& [name, commit_version] : records) {
    pins.records.emplace(name, static_cast<uint64_t>(integer_of(records, name)));
  }
  if (encode_pins(pins) != *row) {
    return fail(Code::kCorruption, "the pins of a space in the catalog are damaged");
  }
  return pins;
}

void put_pins(Batch& batch, SpaceId space, const Pins& pins) {
  if (!pins.is_pinned() && pins.given_up_before == 0) {
    batch.erase(pins_key(space));
  } else {
    batch.put(pins_key(space), encode_pins(pins));
  }
}

std::string_view pin_name(std::string_view record_key) {
  return record_key.substr(kPartitionBytes + 1);
}

Result<RecordPins> RecordPins::of(TransactStore& store, const std::string& record_key) {
  STATOR_ASSIGN_OR_RETURN(const Item record, Records(store).get(record_key));
  return RecordPins(record_key, history_of(record));
}

std::vector<std::string> RecordPins::keys() const {
  if (!history_) return {};
  if (history_->log == 0) return {pins_key(history_->space)};
  return {pins_key(history_->space), pins_key(history_->log)};
}

bool RecordPins::has_keys_of(const std::optional<PinnedHistory>& history) const {
  if (!history || !history_) return !history && !history_;
  return history->space == history_->space && history->log == history_->log;
}

Result<void> RecordPins::begin(GuardedRows rows, int64_t oldest_ms, Batch& batch) const {
  if (!history_) return {};
  if (history_->log == 0) return change(rows, history_, batch);
  STATOR_ASSIGN_OR_RETURN(const Pins log, decode_pins(rows[1]));
  const bool is_there = history_->commit_version > 0
                            ? history_->commit_version >= log.given_up_before
                            : log.given_up_before == 0 || oldest_ms >= log.given_up_ms;
  if (!is_there) return fail(Code::kTrimmedDataAccess, messages::kTrimmed);
  return change(rows, history_, batch);
}

Result<void> RecordPins::change(GuardedRows rows, const std::optional<PinnedHistory>& now,
                                Batch& batch) const {
  if (!history_) return {};
  const auto change_row = [&](SpaceId space, const std::optional<std::string>& row,
                              uint64_t commit_version) -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(Pins pins, decode_pins(row));
    pins.records.erase(name_);
    if (now) pins.records[name_] = commit_version;
    put_pins(batch, space, pins);
    return {};
  };
  STATOR_RETURN_IF_ERROR(change_row(history_->space, rows[0], 0));
  if (history_->log == 0) return {};
  return change_row(history_->log, rows[1], now ? now->commit_version : 0);
}

}  // namespace stator

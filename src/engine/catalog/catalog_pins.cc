// SPDX-License-Identifier: Apache-2.0
// Records that pin history, and what becomes of the spaces when they no longer do.
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {

Result<bool> Catalog::is_pinned(SpaceId space) const {
  std::optional<std::string> row;
  STATOR_RETURN_IF_ERROR(
      read_value(store_, pins_key(space), [&](std::string_view value) { row = value; }));
  STATOR_ASSIGN_OR_RETURN(const Pins pins, decode_pins(row));
  return pins.is_pinned();
}

// A transaction that finds the catalog at memory's version finds the table recording there.
Result<void> Catalog::check_source(const Table& source) const {
  const auto current = snapshot();
  const TablePtr* table = current->find(source.name());
  if (table != nullptr && (*table)->version() == source.version()) return {};
  return fail(Code::kThrottling, messages::kTooBusy);
}

Result<void> Catalog::begin_pinned(const std::string& record_key, const Item& record,
                                   const PinRequest& pin) {
  return on_current([&]() -> Result<void> {
    STATOR_RETURN_IF_ERROR(check_source(pin.source));
    const RecordPins pins(record_key, history_of(record));
    const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<void> {
      batch.put(record_key, encode_item(record));
      return pins.begin(rows, pin.oldest_ms, batch);
    };
    return commit_at(store_, snapshot()->version, pins.keys(), plan);
  });
}

Result<void> Catalog::change_pinned(const std::string& record_key,
                                    FunctionRef<Result<void>(Item& record)> change,
                                    JobLease* lease) {
  STATOR_ASSIGN_OR_RETURN(const Item before, Records(store_).get(record_key));
  const auto history = history_of(before);
  const RecordPins pins(record_key, history);
  std::vector<std::string> keys = pins.keys();
  keys.push_back(record_key);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<bool> {
    STATOR_ASSIGN_OR_RETURN(Item record, record_in(rows.back()));
    if (record.empty()) return false;  // the job was cancelled
    // Another job can have the name by now.
    if (!pins.has_keys_of(history_of(record))) {
      return fail(Code::kThrottling, messages::kTooBusy);
    }
    STATOR_RETURN_IF_ERROR(change(record));
    put_record(batch, record_key, record);
    if (lease != nullptr && !is_open_job(record)) lease->end_in(batch);
    const auto now = history_of(record);
    STATOR_RETURN_IF_ERROR(pins.change(rows, now, batch));
    return history && !now;
  };
  STATOR_ASSIGN_OR_RETURN(const bool is_released, lease != nullptr
                                                      ? lease->commit(keys, plan)
                                                      : commit_change(store_, keys, plan));
  if (is_released) erase_if_dropped(history->space);
  return {};
}

// The table may have been dropped while its rows were pinned.
void Catalog::erase_if_dropped(SpaceId space) {
  jobs_.add("release of space " + std::to_string(space), [this, space]() -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(
        const bool dropped,
        read_value(store_, catalog_row_key(CatalogRow::kDropped, space), [](std::string_view) {}));
    if (!dropped) return {};
    return erase_rows(space);
  });
}

}  // namespace stator

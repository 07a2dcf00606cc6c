// SPDX-License-Identifier: Apache-2.0
// Records that pin history, and what happens to the spaces when the pins are released.
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

// If the stored catalog has the version of this snapshot, the stored table is recording too.
Result<void> Catalog::check_source(const Table& source) const {
  const auto current = snapshot();
  const TablePtr* table = current->find(source.name());
  if (table != nullptr && (*table)->version() == source.version()) return {};
  return fail(Code::kThrottling, messages::kTooBusy);
}

Result<void> Catalog::begin_pinned(const std::string& record_key, const Item& record,
                                   const PinRequest& pin, Check check) {
  return on_current([&]() -> Result<void> {
    CatalogSnapshot next = *snapshot();
    STATOR_RETURN_IF_ERROR(check());
    if (pin.source != nullptr) STATOR_RETURN_IF_ERROR(check_source(*pin.source));
    const RecordPins pins(record_key, history_of(record));
    const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<void> {
      put_record(batch, record_key, record);
      return pins.begin(rows, pin.oldest_ms, batch);
    };
    // The catalog's version orders all starts of jobs.
    STATOR_RETURN_IF_ERROR(commit_catalog(store_, next.version, pins.keys(), plan));
    publish_change(std::move(next));
    return {};
  });
}

Result<void> Catalog::change_pinned(const std::string& record_key,
                                    FunctionRef<Result<void>(Item& record)> change,
                                    JobLease* lease) {
  STATOR_ASSIGN_OR_RETURN(const RecordPins pins, RecordPins::of(store_, record_key));
  std::vector<std::string> keys = pins.keys();
  keys.push_back(record_key);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<bool> {
    STATOR_ASSIGN_OR_RETURN(Item record, record_in(rows.back()));
    if (record.empty()) return false;  // the job was cancelled
    // Another job can have the name now.
    if (!pins.has_keys_of(history_of(record))) {
      return fail(Code::kThrottling, messages::kTooBusy);
    }
    STATOR_RETURN_IF_ERROR(change(record));
    put_record(batch, record_key, record);
    if (lease != nullptr && !is_open_job(record)) lease->end_in(batch);
    const auto now = history_of(record);
    STATOR_RETURN_IF_ERROR(pins.change(rows, now, batch));
    return pins.history() && !now;
  };
  STATOR_ASSIGN_OR_RETURN(const bool is_released, commit_change_by(lease, store_, keys, plan));
  if (is_released) erase_if_dropped(pins.history()->space);
  return {};
}

// The table can have been dropped while its rows were pinned.
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

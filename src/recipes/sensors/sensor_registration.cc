// SPDX-License-Identifier: Apache-2.0
// A registration is one item; in kLocationItems, a transaction writes a second one with it. Changes
// are updates that require the version that they start from.
#include "recipes/sensors/sensor_registration.h"

#include <utility>

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/sensors/sensor_items.h"

namespace stator::recipes {
namespace {

// Whether the condition on the sensor's item failed, and that item if it was returned.
struct Refusal {
  bool by_condition = false;
  const Item* sent = nullptr;
};

Refusal refusal_of(const Error& error) {
  if (error.code == Code::kConditionalCheckFailed) return {true, item_in(error)};
  // Only the first action of a transaction concerns the sensor's item.
  if (!condition_failed_at(error, 0)) return {};
  return {true, item_at(error, 0)};
}

Failure foreign_place(const SensorId& id) {
  return fail(Code::kConflict, "sensor " + id.text +
                                   " was registered by another program, whose location item "
                                   "need not be this sensor's alone");
}

bool has_nonce(const Item& item, const std::string& nonce) {
  const std::string* stored = text_in(item, "nonce");
  return stored != nullptr && *stored == nonce;
}

}  // namespace

Result<Sensor> SensorRegistration::sensor_in(const Item& info) const {
  auto sensor = sensor_of(options_, info);
  if (!sensor) return foreign_item();
  if (sensor->shard >= shards_of(options_, sensor->location.city) && !sensor->decommissioned) {
    return fail(Code::kLimitsDisagree, "sensor " + sensor->id.text + " is in shard " +
                                           std::to_string(sensor->shard) + " of " +
                                           sensor->location.city + ", which city_shards omits");
  }
  return *std::move(sensor);
}

// A single write if only the sensor's own item changes.
Result<void> SensorRegistration::write(TransactWriteItem info,
                                       std::vector<TransactWriteItem> places) const {
  constexpr auto kAllOld = ReturnValuesOnConditionCheckFailure::kAllOld;
  if (!has_location_items()) {
    auto written = with_retries(options_.retry, time_, [&] {
      if (info.action == TransactAction::kUpdate) {
        return client_.update_item({.table = info.table,
                                    .key = info.item,
                                    .update = info.update,
                                    .condition = info.condition,
                                    .names = info.names,
                                    .values = info.values,
                                    .on_condition_failure = kAllOld});
      }
      return client_.put_item({.table = info.table,
                               .item = info.item,
                               .condition = info.condition,
                               .names = info.names,
                               .on_condition_failure = kAllOld});
    });
    return written ? Result<void>() : failure_of(std::move(written));
  }
  info.on_condition_failure = kAllOld;
  TransactWriteItemsRequest request{.items = {std::move(info)}};
  for (TransactWriteItem& place : places) request.items.push_back(std::move(place));
  auto written =
      with_retries(options_.retry, time_, [&] { return client_.transact_write_items(request); });
  return written ? Result<void>() : failure_of(std::move(written));
}

Result<Sensor> SensorRegistration::add(Sensor sensor) const {
  sensor.version = 1;
  sensor.shard = terms_.shard_for(sensor.location.city, sensor.id, time_.now());
  sensor.decommissioned.reset();
  const std::string nonce = random_uuid();
  Item info = info_item(options_, sensor);
  info.emplace("nonce", nonce);
  Item place = location_key(options_, sensor);
  place.emplace("id", sensor.id.text);
  const auto written =
      write({.action = TransactAction::kPut,
             .table = options_.table,
             .item = std::move(info),
             .condition = "attribute_not_exists(#pk)",
             .names = Names{{"#pk", options_.names.partition_key}}},
            {{.action = TransactAction::kPut, .table = options_.table, .item = std::move(place)}});
  if (written) return sensor;
  const Refusal refusal = refusal_of(written.error());
  if (!refusal.by_condition) return Failure(written.error());
  STATOR_ASSIGN_OR_RETURN(const auto stored, stored_info(sensor.id, refusal.sent));
  if (stored && has_nonce(*stored, nonce)) return sensor;
  return fail(Code::kAlreadyExists, "sensor " + sensor.id.text + " is already registered");
}

Result<std::optional<Item>> SensorRegistration::stored_info(const SensorId& id,
                                                            const Item* sent) const {
  return with_retries(options_.retry, time_, [&] {
    return refused_item(client_, options_.table, info_key(options_, id), sent);
  });
}

Result<Sensor> SensorRegistration::get(const SensorId& id) const {
  STATOR_ASSIGN_OR_RETURN(const auto info, stored_info(id, nullptr));
  if (!info) return not_registered(id);
  return sensor_in(*info);
}

// Sets attributes and increments the version, on condition of the known version.
TransactWriteItem SensorRegistration::update_of(const Sensor& known, Item set) const {
  Names names{{"#pk", options_.names.partition_key},
              {"#version", "version"},
              {"#gone", "decommissioned_at"}};
  Values values;
  set.emplace("version", known.version + 1);
  std::string update = "SET ";
  int count = 0;
  for (const auto& [name, value] : set) {
    const std::string number = std::to_string(count++);
    if (number != "0") update += ", ";
    update += "#n";
    update += number;
    update += " = :v";
    update += number;
    names.emplace("#n" + number, name);
    values.emplace(":v" + number, value);
  }
  std::string condition = "attribute_exists(#pk) AND attribute_not_exists(#gone) AND ";
  if (known.version == 0) {
    condition += "attribute_not_exists(#version)";
  } else {
    condition += "#version = :version";
    values.emplace(":version", known.version);
  }
  return {.action = TransactAction::kUpdate,
          .table = options_.table,
          .item = info_key(options_, known.id),
          .update = std::move(update),
          .condition = std::move(condition),
          .names = std::move(names),
          .values = std::move(values)};
}

Result<Sensor> SensorRegistration::move(const Sensor& known, const Location& to) const {
  if (has_location_items() && known.version == 0) return foreign_place(known.id);
  Sensor moved = known;
  moved.location = to;
  moved.shard = terms_.shard_for(to.city, known.id, time_.now());
  moved.version = known.version + 1;
  moved.decommissioned.reset();
  const std::string nonce = random_uuid();
  Item set = place_attributes(options_, moved);
  set.emplace("nonce", nonce);
  std::vector<TransactWriteItem> places;
  const Item from_key = location_key(options_, known);
  Item place = location_key(options_, moved);
  if (place != from_key) {
    // Without the old place's item, `known` is outdated.
    places.push_back({.action = TransactAction::kDelete,
                      .table = options_.table,
                      .item = from_key,
                      .condition = "attribute_exists(#pk)",
                      .names = Names{{"#pk", options_.names.partition_key}}});
    place.emplace("id", moved.id.text);
    places.push_back(
        {.action = TransactAction::kPut, .table = options_.table, .item = std::move(place)});
  }
  const auto written = write(update_of(known, std::move(set)), std::move(places));
  if (written) return moved;
  const Refusal refusal = refusal_of(written.error());
  if (!refusal.by_condition) {
    if (!condition_failed_at(written.error(), 1)) return Failure(written.error());
    return fail(Code::kConflict,
                "sensor " + known.id.text + " has moved since the version of `known`");
  }
  STATOR_ASSIGN_OR_RETURN(const auto info, stored_info(known.id, refusal.sent));
  if (!info) return not_registered(known.id);
  if (has_nonce(*info, nonce)) return moved;
  STATOR_ASSIGN_OR_RETURN(const Sensor stored, sensor_in(*info));
  return fail(
      Code::kConflict,
      stored.decommissioned
          ? "sensor " + stored.id.text + " was decommissioned at " + stored.decommissioned->text()
          : "sensor " + stored.id.text + " is of version " + std::to_string(stored.version) +
                ", not " + std::to_string(known.version));
}

// Requires no version: removes the sensor from whatever place it is at.
Result<void> SensorRegistration::decommission_indexed(const SensorId& id) const {
  // An item without one of the index's keys is not in the index. The place itself is kept for
  // history.
  const bool multi = is_multi_attribute(options_);
  Names names{{"#pk", options_.names.partition_key},
              {"#version", "version"},
              {"#gone", "decommissioned_at"},
              {"#a", multi ? "id" : options_.names.index_partition_key}};
  if (!multi) names.emplace("#b", options_.names.index_sort_key);
  const UpdateItemRequest update{
      .table = options_.table,
      .key = info_key(options_, id),
      .update = std::string("SET #gone = :now, #version = if_not_exists(#version, :zero) + :one "
                            "REMOVE #a") +
                (multi ? "" : ", #b"),
      .condition = "attribute_exists(#pk) AND attribute_not_exists(#gone)",
      .names = std::move(names),
      .values = Values{{":now", time_.now().text()}, {":zero", 0}, {":one", 1}},
      .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  auto written = with_retries(options_.retry, time_, [&] { return client_.update_item(update); });
  if (written) return {};
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  STATOR_ASSIGN_OR_RETURN(const auto info, stored_info(id, item_in(written.error())));
  return info ? Result<void>() : not_registered(id);
}

Result<void> SensorRegistration::decommission(const SensorId& id) const {
  if (!has_location_items()) return decommission_indexed(id);
  for (int tried = 0;; ++tried) {
    STATOR_ASSIGN_OR_RETURN(const Sensor known, get(id));
    if (known.decommissioned) return {};
    if (known.version == 0) return foreign_place(id);
    const auto written = write(update_of(known, Item{{"decommissioned_at", time_.now().text()}}),
                               {{.action = TransactAction::kDelete,
                                 .table = options_.table,
                                 .item = location_key(options_, known)}});
    if (written) return {};
    if (!refusal_of(written.error()).by_condition) return Failure(written.error());
    // The sensor has moved, or an earlier attempt was applied and its response was lost.
    if (tried + 1 >= options_.retry.max_attempts) {
      return fail(Code::kTransactionConflict, "sensor " + id.text + " keeps moving");
    }
    time_.sleep(jittered(options_.retry.backoff_base, options_.retry.backoff_max, tried), {});
  }
}

}  // namespace stator::recipes

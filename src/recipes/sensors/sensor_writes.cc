// SPDX-License-Identifier: Apache-2.0
// kReplace is a BatchWriteItem of puts. The other policies need a condition on each put, which only
// a transaction has. Existing readings are removed from a failed transaction, and the rest is sent
// again.
#include "recipes/sensors/sensor_writes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/sensors/sensor_items.h"

namespace stator::recipes {
namespace {

Failure exists(const Reading& reading) {
  return fail(Code::kAlreadyExists,
              "sensor " + reading.sensor.text + " has another reading at " + reading.at.text());
}

constexpr std::size_t kMaxRegistered = 100'000;

}  // namespace

bool RegisteredSensors::has(std::string_view id, std::chrono::nanoseconds not_before) const {
  const std::scoped_lock lock(mutex_);
  const auto found = found_.find(id);
  return found != found_.end() && found->second >= not_before;
}

void RegisteredSensors::add(std::string_view id, std::chrono::nanoseconds now) {
  const std::scoped_lock lock(mutex_);
  if (found_.size() >= kMaxRegistered) found_.clear();
  found_.insert_or_assign(std::string(id), now);
}

void RegisteredSensors::remove(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = found_.find(id); found != found_.end()) found_.erase(found);
}

Result<Recorded> SensorWrites::record(std::span<const Reading> readings, Check check,
                                      Time now) const {
  Recorded recorded;
  STATOR_ASSIGN_OR_RETURN(const std::vector<const Reading*> kept,
                          distinct(readings, now, recorded));
  if (check != Check::kNone) STATOR_RETURN_IF_ERROR(check_registered(kept, check));
  const std::span<const Reading* const> all(kept);
  for (std::size_t from = 0; from < all.size(); from += kBatchWrites) {
    const auto batch = all.subspan(from, std::min(kBatchWrites, all.size() - from));
    STATOR_RETURN_IF_ERROR(options_.duplicates == Duplicates::kReplace ? replace(batch, recorded)
                                                                       : add_new(batch, recorded));
  }
  return recorded;
}

Result<std::vector<const Reading*>> SensorWrites::distinct(std::span<const Reading> readings,
                                                           Time now, Recorded& recorded) const {
  std::vector<const Reading*> kept;
  kept.reserve(readings.size());
  std::map<std::pair<std::string_view, Time>, std::size_t> places;
  for (const Reading& reading : readings) {
    if (options_.retention && reading.at < now - *options_.retention) {
      ++recorded.expired;
      continue;
    }
    const auto [place, is_new] = places.try_emplace({reading.sensor.text, reading.at}, kept.size());
    if (is_new) {
      kept.push_back(&reading);
      continue;
    }
    const Reading*& other = kept[place->second];
    if (options_.duplicates == Duplicates::kRefuse && *other != reading) return exists(reading);
    if (options_.duplicates == Duplicates::kReplace) other = &reading;
    ++recorded.duplicates;
  }
  return kept;
}

Result<void> SensorWrites::check_registered(const std::vector<const Reading*>& readings,
                                            Check check) const {
  const std::chrono::nanoseconds now = time_.since_boot();
  std::set<std::string_view> ids;
  for (const Reading* reading : readings) ids.insert(reading->sensor.text);
  if (check == Check::kCached) {
    std::erase_if(
        ids, [&](std::string_view id) { return registered_.has(id, now - options_.check_cache); });
  }
  std::set<std::string> found_ids;
  for (auto id = ids.begin(); id != ids.end();) {
    std::vector<Item> keys;
    for (; id != ids.end() && keys.size() < kBatchGets; ++id) {
      keys.push_back(info_key(options_, SensorId{std::string(*id)}));
    }
    STATOR_ASSIGN_OR_RETURN(
        const std::vector<Item> found,
        get_batch(client_, options_.retry, time_, options_.table, std::move(keys), "#pk, #gone",
                  Names{{"#pk", options_.names.partition_key}, {"#gone", "decommissioned_at"}}));
    for (const Item& item : found) {
      if (item.contains("decommissioned_at")) continue;
      if (auto known = id_of_partition(options_, item)) found_ids.insert(std::move(known->text));
    }
  }
  for (const std::string_view id : ids) {
    if (!found_ids.contains(std::string(id))) return not_registered(SensorId{std::string(id)});
    registered_.add(id, now);
  }
  return {};
}

Result<void> SensorWrites::replace(std::span<const Reading* const> batch,
                                   Recorded& recorded) const {
  std::vector<WriteRequest> writes;
  writes.reserve(batch.size());
  for (const Reading* reading : batch) writes.push_back({.put = reading_item(options_, *reading)});
  STATOR_RETURN_IF_ERROR(
      write_batch(client_, options_.retry, time_, {}, options_.table, std::move(writes)));
  recorded.stored += static_cast<int64_t>(batch.size());
  return {};
}

Result<void> SensorWrites::add_new(std::span<const Reading* const> batch,
                                   Recorded& recorded) const {
  std::vector<const Reading*> left(batch.begin(), batch.end());
  while (!left.empty()) {
    TransactWriteItemsRequest request;
    for (const Reading* reading : left) {
      request.items.push_back(
          {.action = TransactAction::kPut,
           .table = options_.table,
           .item = reading_item(options_, *reading),
           .condition = "attribute_not_exists(#pk)",
           .names = Names{{"#pk", options_.names.partition_key}},
           .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld});
    }
    auto written =
        with_retries(options_.retry, time_, [&] { return client_.transact_write_items(request); });
    if (written) {
      recorded.stored += static_cast<int64_t>(left.size());
      return {};
    }
    std::vector<const Reading*> absent;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!condition_failed_at(written.error(), i)) {
        absent.push_back(left[i]);
        continue;
      }
      const Item* stored = item_at(written.error(), i);
      const bool same = stored != nullptr &&
                        reading_of(options_, left[i]->sensor, *stored) == std::optional(*left[i]);
      if (options_.duplicates == Duplicates::kRefuse && !same) return exists(*left[i]);
      ++recorded.duplicates;
    }
    if (absent.size() == left.size()) return failure_of(std::move(written));
    left = std::move(absent);
  }
  return {};
}

}  // namespace stator::recipes

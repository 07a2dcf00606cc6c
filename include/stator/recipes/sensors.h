// SPDX-License-Identifier: Apache-2.0
// SensorRegistry: sensors by id and by place, and their readings by time.
//
// Guarantees: a sensor is registered only once. Several sensors can share a room. A place matches
// exactly, whatever characters its names contain: floor 1 is not floor 10. A move is atomic, and
// only one of two moves from the same version succeeds. Readings keep nanosecond times and are
// ordered by them. A roll-up summarizes the readings stored when it is made; repeating it does not
// count readings twice.
// Visibility: reads by id are consistent. at() is consistent with SensorLayout::kLocationItems.
// With kIndexed it is as current as the endpoint's global indexes (in Stator: always current).
// Thread safety: any thread can call every method.
// Lifetime: the client and the time source must outlive the registry and its copies, which share
// its state.
// Settings: the layout, the retentions and the shards of cities are stored in the table, for each
// sensor_prefix, so that all its registries agree. The first write stores them; later writes add
// missing ones. A registry without an option uses the stored value. If a registry's option differs,
// every call that depends on it returns kLimitsDisagree, with both values in the message.
// Exception: sensors and readings that an earlier release wrote have no settings until
// change_settings(); each registry uses its own options. The first write looks for them with two
// scans, of at most 1 MB each and 1,000 items together. If they find none, or it may not scan, it
// stores the settings.
// Cost: a registry reads the settings before its first request and then at most once per minute:
// one request and 1 RCU. Without stored settings, each at() also reads them, and the first write
// also costs these two scans and a write.
// Clocks: must differ by less than ten minutes, also from the endpoint's. Otherwise roll_up() can
// make a roll-up again without readings that time to live has deleted, and at() can omit sensors
// for up to a minute, after an increase of city_shards.
// Errors: kInvalidArgument, kAlreadyExists, kNotFound, kConflict, kInFuture, kLimitsDisagree,
// kBadCursor, and the client's. kConflict is permanent. Conflicts with other callers that outlast
// the retries are kTransactionConflict, which is retryable().
// Layout of items: docs/formats/recipes.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stator/recipes/common.h"

namespace stator {

struct SensorId {
  std::string text;  // 1 to about 2,000 bytes of UTF-8; may contain `#`
  auto operator<=>(const SensorId&) const = default;
};

// A place. add() and move() need all four members. For at(), leave `room` empty to find the sensors
// of a floor, also `floor` for a building, and also `building` for a city.
struct Location {
  std::string city;
  std::string building = {};
  std::string floor = {};
  std::string room = {};
  bool operator==(const Location&) const = default;
};

struct Sensor {
  SensorId id;
  Location location;  // all four given
  std::string type = {};
  // Set in results; add() ignores them.
  int64_t version = 0;  // 1 when registered, +1 with each move; 0: another program's item
  int shard = 0;        // of the city, see SensorOptions::city_shards
  std::optional<Time> decommissioned = {};
  bool operator==(const Sensor&) const = default;
};

struct Reading {
  SensorId sensor;
  Time at;
  Number value;
  std::string unit = {};
  bool operator==(const Reading&) const = default;
};

enum class Period { kMinute, kHour, kDay };  // in UTC

// The readings of one unit in one period.
struct RollUp {
  Period period = Period::kHour;
  Time from;  // start of the period
  std::string unit = {};
  int64_t count = 0;
  std::optional<Number> sum = {};  // exact; absent if it needs more than 38 digits
  Number min;
  Number max;
  Number first;  // by time
  Number last;
  std::optional<double> mean() const;  // absent if `sum` is absent
  bool operator==(const RollUp&) const = default;
};

enum class SensorLayout {
  kLocationItems,  // an item per place in addition to the sensor's; add 4 WCU, move 6
  kIndexed,        // a sparse global index on the sensors' items; add 2 WCU, move 3
};

// The keys of kIndexed's index.
enum class LocationKeys {
  kComposed,        // two attributes of joined, escaped names: works on every endpoint
  kMultiAttribute,  // HASH city; RANGE building, floor, room, id: needs support by the endpoint
};

// How record() handles a second reading of a sensor with the same time. Storing an equal reading
// again is never an error.
enum class Duplicates {
  kReplace,    // the last written one is kept: BatchWriteItem, 1 WCU per reading
  kKeepFirst,  // the first one is kept: transactions, 2 WCU per reading
  kRefuse,     // kAlreadyExists, and nothing of its batch of 25 is stored: 2 WCU per reading
};

// How record() checks that sensors are registered and not decommissioned; kNotFound if not. If a
// sensor is decommissioned during the call, its readings might still be stored.
enum class Check {
  kStrict,  // reads the sensors first, with BatchGetItem
  kCached,  // skips sensors that this registry found registered within `check_cache`
  kNone,
};

// The names in the table, so that a registry can share a table with other entities or use an
// existing one.
struct SensorNames {
  std::string partition_key = "pk";
  std::string sort_key = "sk";
  std::string index = "ByLocation";
  std::string index_partition_key = "gsi_pk";  // this and the next for LocationKeys::kComposed
  std::string index_sort_key = "gsi_sk";
  std::string expiry = "expires_at";  // the time-to-live attribute
  // Of a sensor's partition. With kMultiAttribute, at() finds the sensors of all prefixes of the
  // table that begin with this one.
  std::string sensor_prefix = "SENSOR#";
  std::string city_prefix = "CITY#";  // of a place's partition
  // Of the sort keys of readings. It must sort between "MINUTE#" and "SENSORINFO".
  std::string reading_prefix = "READ#";
};

struct SensorOptions {
  std::string table;
  SensorLayout layout = SensorLayout::kIndexed;
  LocationKeys location_keys = LocationKeys::kComposed;
  Duplicates duplicates = Duplicates::kReplace;
  // Readings that are further ahead of the registry's clock are rejected with kInFuture.
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);
  std::chrono::nanoseconds check_cache = std::chrono::minutes(1);
  // Readings older than this (up to 36,500 days) are neither stored nor returned. The table's time
  // to live deletes them by their `expires_at` (Unix seconds, ten minutes after they expire).
  // Absent: the stored retention, or unlimited.
  std::optional<std::chrono::seconds> retention = {};
  std::optional<std::chrono::seconds> roll_up_retention = {};  // from the end of a roll-up's period
  // The number of partitions (1 to 256) of each city that has more sensors than one partition can
  // serve. at() queries all of them. Other cities have the stored number, or 1. change_settings()
  // can raise a number; it cannot be lowered. Errors: kLimitsDisagree also if a sensor is found in
  // a shard beyond the number.
  // With kMultiAttribute, the index's HASH is city and shard if any city is listed here.
  std::map<std::string, int, std::less<>> city_shards = {};
  std::string cursor_key = {};  // secret that signs cursors; set it to share cursors between hosts
  SensorNames names = {};
  RetryPolicy retry = {};
  TimeSource* time = nullptr;  // null: system_time()
};

// The settings that a table stores for all its registries.
struct SensorSettings {
  std::optional<std::chrono::seconds> retention = {};
  std::optional<std::chrono::seconds> roll_up_retention = {};
  std::map<std::string, int, std::less<>> city_shards = {};
  bool operator==(const SensorSettings&) const = default;
};

struct SensorReadings {
  Sensor sensor;
  std::vector<Reading> readings;  // newest first
};

struct Recorded {
  int64_t stored = 0;
  int64_t duplicates = 0;  // not stored again: by policy, or because the call contains them twice
  int64_t expired = 0;     // older than the retention: not stored
};

struct RolledUp {
  int64_t made = 0;     // periods with readings
  int64_t changed = 0;  // of these, those whose stored roll-up differed
};

class SensorRegistry {
 public:
  SensorRegistry(Client& client, SensorOptions options);

  // Registers a sensor and returns it as stored. Errors: kAlreadyExists if a sensor with this id is
  // registered anywhere, or was decommissioned.
  Result<Sensor> add(const Sensor& sensor) const;

  // Returns a sensor, even a decommissioned one. Errors: kNotFound if it was never registered.
  Result<Sensor> get(const SensorId& id) const;

  // Moves a sensor with one request and returns its new state. Errors: kConflict if its version is
  // no longer that of `known`, or if it is decommissioned; kNotFound if it is not registered.
  Result<Sensor> move(const Sensor& known, const Location& to) const;

  // Removes a sensor from its place permanently and keeps its history. at() no longer returns it,
  // checked readings are rejected, and its id cannot be registered again. Succeeds if the sensor is
  // already decommissioned.
  Result<void> decommission(const SensorId& id) const;

  // Stores readings, 25 per request. If a batch fails, earlier batches stay stored; it is safe to
  // record all readings again. kNotFound and kInFuture are returned before anything is stored.
  Result<Recorded> record(std::span<const Reading> readings, Check check = Check::kStrict) const;
  Result<Recorded> record(const Reading& reading, Check check = Check::kStrict) const {
    return record(std::span(&reading, 1), check);
  }

  // Returns the sensor and its `count` (1 to 1,000) newest readings, with one query.
  // Errors: kNotFound if the sensor is not registered, even if it has readings.
  Result<SensorReadings> latest(const SensorId& id, int count) const;

  // Returns a sensor's readings of a time range, newest first by default.
  Result<Page<Reading>> readings(const SensorId& id, const TimeRange& range = {},
                                 const PageOptions& page = {}) const;

  // Makes the roll-ups of all periods that overlap the range from their readings and replaces the
  // stored ones. Repeating it counts nothing twice and includes late readings. If a reading of a
  // period might have expired, by the stored retention or by the `expires_at` of the period's
  // readings, the stored roll-up of that period stays unchanged. This requires that this machine's
  // clock is less than ten minutes behind the endpoint's. An empty range means all readings.
  // Errors: kCancelled after a stop request; roll-ups that were already made remain.
  Result<RolledUp> roll_up(const SensorId& id, Period period, const TimeRange& range = {},
                           const std::stop_token& stop = {}) const;
  // Makes the roll-ups of the periods of these readings. Call it after recording readings that can
  // be late: if all writers do, the roll-ups are correct once all calls have returned.
  Result<RolledUp> roll_up(std::span<const Reading> readings, Period period,
                           const std::stop_token& stop = {}) const;

  // Returns a sensor's stored roll-ups that begin in a time range, newest first by default.
  Result<Page<RollUp>> roll_ups(const SensorId& id, Period period, const TimeRange& range = {},
                                const PageOptions& page = {}) const;

  // Returns the sensors at a city, a building, a floor or a room, ordered by place, then id.
  Result<Page<SensorId>> at(const Location& place, const PageOptions& page = {}) const;

  // Returns the stored settings, empty if none are stored. Ignores this registry's options.
  Result<SensorSettings> settings() const;

  // Stores the members of `to` that are set, for all registries, and returns all stored settings.
  // Other registries use a new value within a minute. A changed retention applies to readings that
  // are stored from then on. After an increase of the number of shards, every registry queries the
  // new shards within a minute, and sensors are placed in them 15 minutes later. at() omits no
  // sensor if clocks differ by less than ten minutes. Registries whose own options
  // differ from the new settings return kLimitsDisagree: remove or change their options.
  // Errors: kLimitsDisagree for a lower number of shards, or if the index has no shard in its key.
  Result<SensorSettings> change_settings(const SensorSettings& to) const;

  // The table definition for these options: on demand, two key attributes, the index in kIndexed.
  static RecipeTable table_definition(const SensorOptions& options);

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// SensorRegistry: sensors by id and by place, and their readings by time.
//
// Guarantees: a sensor is registered once; several sensors may share a room; a place names exactly
// itself (floor 1 is not floor 10) whatever characters its names hold; a move is seen whole or not
// at all, and of two moves from one version one succeeds; readings are kept to the nanosecond and
// ordered by it; a roll-up is what its readings are at the time, however often it is made.
// Visibility: reads by id are consistent; `at` is in SensorLayout::kLocationItems, and in kIndexed
// as far as the service keeps indexes up to date (Stator: always).
// Thread safety: every method may be called from any thread at once.
// Lifetime: borrows the client and the time source.
// Settings: the layout, the retentions and the shards of cities are stored in the table, so that
// all registries of it agree. The first that writes to an empty table stores its own, and later
// ones add what was not set. A registry without an option uses the stored value. One whose option
// differs gets kLimitsDisagree from every call that depends on it, naming both values. In tables
// that earlier releases filled nothing is stored until change_settings(): there each registry's own
// options hold.
// Cost: a registry reads the settings before its first request and again after a minute: one
// request and 1 RCU. The first write to a table costs a scan and a write in addition.
// Errors: kInvalidArgument, kAlreadyExists, kNotFound, kConflict, kInFuture, kLimitsDisagree,
// kBadCursor, and the client's.
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
  std::string text;  // 1 to about 2,000 bytes of UTF-8, `#` included
  auto operator<=>(const SensorId&) const = default;
};

// A place, or as a question one of any precision: empty members from the right.
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
  // What follows is answered, and not taken from who registers.
  int64_t version = 0;  // 1 when registered, one more with each move; 0: another program's item
  int shard = 0;        // of its city, see SensorOptions::city_shards
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
  Time from;  // the period's begin
  std::string unit = {};
  int64_t count = 0;
  std::optional<Number> sum = {};  // exact; absent where that needs more than 38 digits
  Number min;
  Number max;
  Number first;  // by time
  Number last;
  std::optional<double> mean() const;  // absent as `sum` is
  bool operator==(const RollUp&) const = default;
};

enum class SensorLayout {
  kLocationItems,  // version 1: an item a place beside the sensor's; add 4 WCU, move 6
  kIndexed,        // version 2: a sparse global index on the sensors' items; add 2 WCU, move 3
};

// The keys of kIndexed's index.
enum class LocationKeys {
  kComposed,        // two attributes of joined, escaped names: any endpoint
  kMultiAttribute,  // HASH city; RANGE building, floor, room, id: where the endpoint has them
};

// A second reading of one sensor at one nanosecond. The same reading again is never an error.
enum class Duplicates {
  kReplace,    // the last one written stays: BatchWriteItem, 1 WCU a reading
  kKeepFirst,  // the first one stays: transactions, 2 WCU a reading
  kRefuse,     // kAlreadyExists, and nothing of its batch of 25 is stored: 2 WCU a reading
};

// kNotFound for readings of sensors that are not registered, or decommissioned. One that is
// decommissioned while its readings are on their way may keep them.
enum class Check {
  kStrict,  // a BatchGetItem first
  kCached,  // sensors that this registry found registered within `check_cache` are not asked for
  kNone,
};

// What the table calls things, so that a registry can share a table with other entities, or adopt
// one that is there.
struct SensorNames {
  std::string partition_key = "pk";
  std::string sort_key = "sk";
  std::string index = "ByLocation";
  std::string index_partition_key = "gsi_pk";  // of LocationKeys::kComposed, as the next
  std::string index_sort_key = "gsi_sk";
  std::string expiry = "expires_at";      // what a time-to-live setting names
  std::string sensor_prefix = "SENSOR#";  // of a sensor's partition
  std::string city_prefix = "CITY#";      // of a place's
  std::string reading_prefix = "READ#";  // of readings' sort keys: after MINUTE#, before SENSORINFO
};

struct SensorOptions {
  std::string table;
  SensorLayout layout = SensorLayout::kIndexed;
  LocationKeys location_keys = LocationKeys::kComposed;
  Duplicates duplicates = Duplicates::kReplace;
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);  // beyond: kInFuture
  std::chrono::nanoseconds check_cache = std::chrono::minutes(1);
  // Readings older than this (up to 36,500 days) are neither stored nor returned. They carry
  // `expires_at` (Unix seconds, ten minutes after they expire) for a time-to-live setting on the
  // table, which deletes them. Absent: what the table stores, or forever.
  std::optional<std::chrono::seconds> retention = {};
  std::optional<std::chrono::seconds> roll_up_retention = {};  // of roll-ups, from their end
  // For cities with more sensors than one partition serves: over how many partitions (1 to 256)
  // each is spread. `at` asks all of them. Cities that are not named here have what the table
  // stores, or 1. change_settings() raises a number; none can be lowered. kLimitsDisagree also if a
  // sensor is found in a shard beyond the number.
  // With kMultiAttribute the index's HASH is city and shard if any city is named here.
  std::map<std::string, int, std::less<>> city_shards = {};
  std::string cursor_key = {};  // secret of the cursors' tags; set it to share it between hosts
  SensorNames names = {};
  RetryPolicy retry = {};
  TimeSource* time = nullptr;  // null: system_time()
};

// What a table stores for all its registries.
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
  int64_t duplicates = 0;  // kept as they were: by policy, or given twice in the call
  int64_t expired = 0;     // older than the retention: not stored
};

struct RolledUp {
  int64_t made = 0;     // that readings were found for
  int64_t changed = 0;  // of these, those that were not stored like that
};

class SensorRegistry {
 public:
  SensorRegistry(Client& client, SensorOptions options);

  // As it is registered. kAlreadyExists when a sensor of this id is, wherever it is, or was.
  Result<Sensor> add(const Sensor& sensor) const;

  // Decommissioned ones too. kNotFound when it has never been registered.
  Result<Sensor> get(const SensorId& id) const;

  // Puts a sensor elsewhere, in one request, and answers it as it is then. kConflict when it is not
  // of `known`'s version any more, or decommissioned; kNotFound when it is not registered.
  Result<Sensor> move(const Sensor& known, const Location& to) const;

  // Takes a sensor from its place for good and keeps its history: `at` does not answer it, checked
  // readings are refused, and its id is not given again. Success also when it was already.
  Result<void> decommission(const SensorId& id) const;

  // Stores readings, 25 a request. An error in one batch leaves those before it stored; recording
  // all again is safe. kNotFound and kInFuture are told before anything is stored.
  Result<Recorded> record(std::span<const Reading> readings, Check check = Check::kStrict) const;
  Result<Recorded> record(const Reading& reading, Check check = Check::kStrict) const {
    return record(std::span(&reading, 1), check);
  }

  // The sensor and its `count` (1 to 1,000) newest readings, in one query. kNotFound when it is
  // not registered, with or without readings.
  Result<SensorReadings> latest(const SensorId& id, int count) const;

  // A sensor's readings of a time range, newest first unless asked otherwise.
  Result<Page<Reading>> readings(const SensorId& id, const TimeRange& range = {},
                                 const PageOptions& page = {}) const;

  // Makes the roll-ups of the periods that the range touches from the readings and replaces those
  // that are stored. Repeating it counts nothing twice, and takes in what came late. A period of
  // which a reading may have expired is never made again, by the stored retention and by
  // `expires_at` of its readings: its roll-up stays as it is.
  Result<RolledUp> roll_up(const SensorId& id, Period period, const TimeRange& range = {},
                           const std::stop_token& stop = {}) const;
  // Those of the periods that these readings are in: after recording readings that may be late.
  // Where all who record do this, the roll-ups are right once they are done.
  Result<RolledUp> roll_up(std::span<const Reading> readings, Period period,
                           const std::stop_token& stop = {}) const;

  // A sensor's stored roll-ups that begin in a time range, newest first unless asked otherwise.
  Result<Page<RollUp>> roll_ups(const SensorId& id, Period period, const TimeRange& range = {},
                                const PageOptions& page = {}) const;

  // Sensors at a place: a city, a building, a floor or a room. Ordered by place, then id.
  Result<Page<SensorId>> at(const Location& place, const PageOptions& page = {}) const;

  // What the table stores; empty if nothing is. Ignores this registry's options.
  Result<SensorSettings> settings() const;

  // Stores the members that are given, for all registries, and returns all that is stored then.
  // Others use a new value within a minute. A changed retention holds for readings that are stored
  // from then on. A raised number of shards is asked at once, and sensors are placed by it 15
  // minutes later, when every reader asks for all shards; so `at` omits none if no clock is more
  // than 10 minutes off. kLimitsDisagree for a lower number of shards, or if the index has no
  // shard in its key. Registries whose own options differ get kLimitsDisagree from then on: remove
  // or change their options.
  Result<SensorSettings> change_settings(const SensorSettings& to) const;

  // The table that the options need: on demand, with its two keys, in kIndexed with the index.
  static RecipeTable table_definition(const SensorOptions& options);

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stator

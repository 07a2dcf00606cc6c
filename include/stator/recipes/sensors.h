// SPDX-License-Identifier: Apache-2.0
// SensorRegistry: sensors by id and by place, and their readings by time.
//
// Guarantees: a sensor is registered once; several sensors may share a room; a place names exactly
// itself (floor 1 is not floor 10) whatever characters its names hold; readings are kept to the
// nanosecond and ordered by it.
// Visibility: reads by id are consistent; `at` is in Layout::kLocationItems, and in
// Layout::kIndexed as far as the service keeps indexes up to date (Stator: always).
// Thread safety: every method may be called from any thread at once.
// Lifetime: borrows the client and the time source.
// Errors: kInvalidArgument, kAlreadyExists, kNotFound, kInFuture, kBadCursor, and the client's.
// Layout of items: docs/formats/recipes.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  bool operator==(const Sensor&) const = default;
};

struct Reading {
  SensorId sensor;
  Time at;
  Number value;
  std::string unit = {};
  bool operator==(const Reading&) const = default;
};

enum class SensorLayout {
  kLocationItems,  // version 1: an item a place beside the sensor's; add is a transaction, 4 WCU
  kIndexed,        // version 2: a sparse global index on the sensors' items; add costs 2 WCU
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

enum class Check {
  kStrict,  // kNotFound for readings of sensors that are not registered: a BatchGetItem first
  kNone,
};

struct SensorOptions {
  std::string table;
  SensorLayout layout = SensorLayout::kIndexed;
  LocationKeys location_keys = LocationKeys::kComposed;
  Duplicates duplicates = Duplicates::kReplace;
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);  // beyond: kInFuture
  // When given: readings carry `expires_at` (Unix seconds), their time and this, for a
  // time-to-live setting on the table.
  std::optional<std::chrono::seconds> retention = {};
  std::string cursor_key = {};  // secret of the cursors' tags; set it to share it between hosts
  RetryPolicy retry = {};
  TimeSource* time = nullptr;  // null: system_time()
};

struct SensorReadings {
  Sensor sensor;
  std::vector<Reading> readings;  // newest first
};

struct Recorded {
  int64_t stored = 0;
  int64_t duplicates = 0;  // kept as they were: by policy, or given twice in the call
};

class SensorRegistry {
 public:
  SensorRegistry(Client& client, SensorOptions options);

  // kAlreadyExists when a sensor of this id is registered, wherever it is.
  Result<void> add(const Sensor& sensor) const;

  // kNotFound when it is not registered.
  Result<Sensor> get(const SensorId& id) const;

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

  // Sensors at a place: a city, a building, a floor or a room. Ordered by place, then id.
  Result<Page<SensorId>> at(const Location& place, const PageOptions& page = {}) const;

  // The table that the options need: on demand, partition key `pk`, sort key `sk`, in kIndexed
  // with the global index `ByLocation`.
  static CreateTableRequest table_definition(const SensorOptions& options);

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// A year of weather at Seattle, hour by hour: three sensors in one room, 8,759 readings each, in
// both layouts. A month is recorded twice, as by a redelivery. At the end, every reading must be
// stored once, in order, and each prefix of the location must find the sensors.
#include <fmt/format.h>

#include <array>
#include <map>
#include <span>

#include "stator/recipes/sensors.h"
#include "support/run.h"

namespace stator::examples {
namespace {

struct Instrument {
  const char* id;
  const char* unit;
  std::size_t column;
};
constexpr std::size_t kHoursOfAMonth = 744;  // of 31 days
constexpr std::array<Instrument, 3> kInstruments{
    {{"barometer#1", "hPa", 1}, {"thermometer#1", "Celsius", 2}, {"anemometer#1", "m/s", 3}}};
const Location station{.city = "Seattle", .building = "Airport", .floor = "1", .room = "Station"};

Result<std::vector<Reading>> read_year(const Arguments& arguments, const Instrument& instrument) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                          read_lines(arguments, "seattle-weather-hourly-normals.csv"));
  std::vector<Reading> readings;
  for (const std::string& line : lines) {
    const std::vector<std::string> hour = columns(line);
    if (hour.size() != 4) return fail(Code::kInvalidArgument, "the readings: not four columns");
    STATOR_ASSIGN_OR_RETURN(const Time at, Time::parse(hour[0] + "Z"));
    STATOR_ASSIGN_OR_RETURN(const Number value, Number::parse(hour[instrument.column]));
    readings.push_back({{instrument.id}, at, value, instrument.unit});
  }
  return readings;
}

Result<void> check_places(const SensorRegistry& sensors) {
  // A floor whose name begins with the name of the sensors' floor.
  STATOR_RETURN_IF_ERROR(sensors.add(
      {.id = {"elsewhere"},
       .location = {.city = "Seattle", .building = "Airport", .floor = "10", .room = "Station"}}));
  Location place = station;
  STATOR_ASSIGN_OR_RETURN(const auto in_room, sensors.at(place));
  place.room.clear();
  STATOR_ASSIGN_OR_RETURN(const auto on_floor, sensors.at(place));
  place.floor.clear();
  STATOR_ASSIGN_OR_RETURN(const auto in_building, sensors.at(place));
  place.building.clear();
  STATOR_ASSIGN_OR_RETURN(const auto in_city, sensors.at(place));
  fmt::print("  sensors in the room {}, on the floor {}, in the building {}, in the city {}\n",
             in_room.items.size(), on_floor.items.size(), in_building.items.size(),
             in_city.items.size());
  return expect(in_room.items.size() == 3 && on_floor.items.size() == 3 &&
                    in_building.items.size() == 4 && in_city.items.size() == 4,
                "the sensors by place");
}

Result<void> check_readings(const SensorRegistry& sensors, const std::vector<Reading>& year) {
  const SensorId id = year.front().sensor;
  PageOptions page{.limit = 1000, .newest_first = false};
  std::vector<Reading> stored;
  do {
    STATOR_ASSIGN_OR_RETURN(auto part, sensors.readings(id, {}, page));
    std::move(part.items.begin(), part.items.end(), std::back_inserter(stored));
    page.cursor = part.next;
  } while (!page.cursor.empty());
  STATOR_RETURN_IF_ERROR(expect(stored == year, "the readings of " + id.text));

  STATOR_ASSIGN_OR_RETURN(const auto latest, sensors.latest(id, 24));
  bool same = latest.readings.size() == 24 && latest.sensor.location == station;
  for (std::size_t i = 0; same && i < 24; ++i) {
    same = latest.readings[i] == year[year.size() - 1 - i];
  }
  STATOR_RETURN_IF_ERROR(expect(same, "the last 24 hours of " + id.text));

  STATOR_ASSIGN_OR_RETURN(const Time july, Time::parse("2010-07-01T00:00:00Z"));
  STATOR_ASSIGN_OR_RETURN(const Time august, Time::parse("2010-08-01T00:00:00Z"));
  STATOR_ASSIGN_OR_RETURN(const auto month,
                          sensors.readings(id, {.from = july, .to = august}, {.limit = 1000}));
  Number sum;
  for (const Reading& reading : month.items) {
    STATOR_ASSIGN_OR_RETURN(sum, sum.plus(reading.value));
  }
  const double mean = sum.to_double() / static_cast<double>(month.items.size());
  fmt::print("  {}: {} readings, July's mean {:.2f} {}\n", id.text, stored.size(), mean,
             year.front().unit);
  return expect(month.items.size() == kHoursOfAMonth, "the readings of July");
}

Result<void> play(CountingClient& client, const Arguments& arguments, SensorLayout layout) {
  const SensorOptions options{.table = fresh_name("Sensors"), .layout = layout};
  STATOR_RETURN_IF_ERROR(
      create_table_if_missing(client, SensorRegistry::table_definition(options)));
  const SensorRegistry sensors(client, options);
  const auto start = std::chrono::steady_clock::now();
  Cost before = client.cost();
  for (const Instrument& instrument : kInstruments) {
    STATOR_RETURN_IF_ERROR(sensors.add({.id = {instrument.id}, .location = station}));
    const auto again = sensors.add({.id = {instrument.id}, .location = station});
    STATOR_RETURN_IF_ERROR(expect(!again && again.error().code == Code::kAlreadyExists,
                                  "registering twice must fail"));
  }
  fmt::print("{}: registered {} sensors, and refused each a second time\n  cost {}\n",
             layout == SensorLayout::kIndexed ? "indexed" : "location items", kInstruments.size(),
             (client.cost() - before).text());

  before = client.cost();
  int64_t recorded = 0;
  std::vector<std::vector<Reading>> years;
  for (const Instrument& instrument : kInstruments) {
    STATOR_ASSIGN_OR_RETURN(std::vector<Reading> year, read_year(arguments, instrument));
    STATOR_ASSIGN_OR_RETURN(const Recorded all, sensors.record(year));
    const std::span<const Reading> january(year.data(), kHoursOfAMonth);
    STATOR_ASSIGN_OR_RETURN(const Recorded redelivered, sensors.record(january));
    recorded += all.stored + redelivered.stored;
    years.push_back(std::move(year));
  }
  fmt::print("  recorded {} readings in {}\n  cost {}\n", recorded, seconds_since(start),
             (client.cost() - before).text());

  before = client.cost();
  STATOR_RETURN_IF_ERROR(check_places(sensors));
  for (const auto& year : years) STATOR_RETURN_IF_ERROR(check_readings(sensors, year));
  fmt::print("  cost of all these questions {}\n", (client.cost() - before).text());
  return drop_tables(client, arguments, {options.table});
}

Result<void> year(CountingClient& client, const Arguments& arguments) {
  for (const SensorLayout layout : {SensorLayout::kIndexed, SensorLayout::kLocationItems}) {
    STATOR_RETURN_IF_ERROR(play(client, arguments, layout));
  }
  fmt::print("all as it should be\n");
  return {};
}

}  // namespace
}  // namespace stator::examples

int main(int argc, char** argv) {
  return stator::examples::run(argc, argv,
                               "sensors_example [--data DIR | --memory | --endpoint URL]",
                               stator::examples::year);
}

// SPDX-License-Identifier: Apache-2.0
// stator sensor: sensors by place, their readings by time.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/readings_file.h"
#include "cli/recipe_command.h"
#include "stator/recipes/sensors.h"

namespace stator::cli {
namespace {

struct Flags : RecipeFlags {
  std::string layout = "indexed";
  std::string id;
  Location place;
  std::string type;
  std::string value;
  std::string at;
  std::string from;
  std::string to;
  std::string cursor;
  int limit = 20;
  bool unchecked = false;
  ReadingsFile file;
};

int run(const Flags& flags, const std::function<int(const SensorRegistry&)>& action) {
  const SensorOptions options{
      .table = flags.table,
      .layout = flags.layout == "indexed" ? SensorLayout::kIndexed : SensorLayout::kLocationItems};
  return with_tables(flags, {SensorRegistry::table_definition(options)},
                     [&](Client& client) { return action(SensorRegistry(client, options)); });
}

void answer_sensor(const Flags& flags, const Sensor& sensor) {
  const Location& place = sensor.location;
  answer(flags,
         sensor.id.text + "\t" + place.city + "\t" + place.building + "\t" + place.floor + "\t" +
             place.room + "\t" + sensor.type,
         {{"id", sensor.id.text},
          {"city", place.city},
          {"building", place.building},
          {"floor", place.floor},
          {"room", place.room},
          {"type", sensor.type}});
}

void answer_reading(const Flags& flags, const Reading& reading) {
  answer(flags, reading.at.text() + "\t" + reading.value.to_string() + "\t" + reading.unit,
         {{"at", reading.at.text()}, {"value", reading.value}, {"unit", reading.unit}});
}

void answer_next(const Flags& flags, const std::string& next) {
  if (!next.empty()) answer(flags, "next\t" + next, {{"next", next}});
}

Check check_of(const Flags& flags) {
  return flags.unchecked ? Check::kNone : Check::kStrict;
}

int answer_recorded(const Flags& flags, const Result<Recorded>& recorded) {
  if (!recorded) return report(recorded.error());
  answer(flags,
         std::to_string(recorded->stored) + " stored, " + std::to_string(recorded->duplicates) +
             " duplicates",
         {{"stored", recorded->stored}, {"duplicates", recorded->duplicates}});
  return kSuccess;
}

int add(const Flags& flags) {
  return run(flags, [&](const SensorRegistry& sensors) {
    const Sensor sensor{.id = {flags.id}, .location = flags.place, .type = flags.type};
    if (const auto added = sensors.add(sensor); !added) return report(added.error());
    answer_sensor(flags, sensor);
    return kSuccess;
  });
}

int get(const Flags& flags) {
  return run(flags, [&](const SensorRegistry& sensors) {
    const auto sensor = sensors.get({flags.id});
    if (!sensor) return report(sensor.error());
    answer_sensor(flags, *sensor);
    return kSuccess;
  });
}

int record(const Flags& flags) {
  const auto value = Number::parse(flags.value);
  if (!value) return report_usage("value: " + value.error().message);
  const auto at = flags.at.empty() ? Result<Time>(Time::now()) : Time::parse(flags.at);
  if (!at) return report(at.error());
  return run(flags, [&](const SensorRegistry& sensors) {
    const Reading reading{
        .sensor = {flags.id}, .at = *at, .value = *value, .unit = flags.file.unit};
    return answer_recorded(flags, sensors.record(reading, check_of(flags)));
  });
}

int latest(const Flags& flags) {
  return run(flags, [&](const SensorRegistry& sensors) {
    const auto found = sensors.latest({flags.id}, flags.limit);
    if (!found) return report(found.error());
    answer_sensor(flags, found->sensor);
    for (const Reading& reading : found->readings) answer_reading(flags, reading);
    return kSuccess;
  });
}

Result<TimeRange> range_of(const Flags& flags) {
  TimeRange range;
  if (!flags.from.empty()) {
    STATOR_TRY(range.from, Time::parse(flags.from));
  }
  if (!flags.to.empty()) {
    STATOR_TRY(range.to, Time::parse(flags.to));
  }
  return range;
}

int readings(const Flags& flags) {
  const auto range = range_of(flags);
  if (!range) return report(range.error());
  return run(flags, [&](const SensorRegistry& sensors) {
    const auto page =
        sensors.readings({flags.id}, *range, {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const Reading& reading : page->items) answer_reading(flags, reading);
    answer_next(flags, page->next);
    return kSuccess;
  });
}

int at(const Flags& flags) {
  return run(flags, [&](const SensorRegistry& sensors) {
    const auto page = sensors.at(flags.place, {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const SensorId& id : page->items) answer(flags, id.text, {{"id", id.text}});
    answer_next(flags, page->next);
    return kSuccess;
  });
}

int import(const Flags& flags) {
  ReadingsFile file = flags.file;
  file.sensor = {flags.id};
  std::error_code unknown_size;
  const auto size = std::filesystem::file_size(file.path, unknown_size);
  return run(flags, [&](const SensorRegistry& sensors) {
    Progress progress("importing " + file.path, unknown_size ? 0 : static_cast<int64_t>(size));
    Recorded total;
    constexpr std::size_t kBatch = 1000;
    const auto taken = read_readings(
        file, kBatch, [&](const std::vector<Reading>& batch, int64_t bytes) -> Result<void> {
          STATOR_TRY(const Recorded recorded, sensors.record(batch, check_of(flags)));
          total.stored += recorded.stored;
          total.duplicates += recorded.duplicates;
          progress.advance_to(bytes);
          return {};
        });
    return taken ? answer_recorded(flags, total) : report(taken.error());
  });
}

void add_place(CLI::App& leaf, Location& place, bool whole) {
  leaf.add_option("--city", place.city)->required();
  leaf.add_option("--building", place.building)->required(whole);
  leaf.add_option("--floor", place.floor)->required(whole);
  leaf.add_option("--room", place.room)->required(whole);
}

}  // namespace

void add_sensor(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<Flags>();
  CLI::App* sensor = app.add_subcommand("sensor", "Sensors by place, their readings by time");
  sensor->require_subcommand(1);
  const auto add_leaf = [&](const char* name, const char* description,
                            int (*action)(const Flags&)) {
    CLI::App* leaf = add_action(*sensor, name, description, invocation,
                                [flags, action] { return action(*flags); });
    add_recipe_flags(*leaf, *flags, "Sensors");
    leaf->add_option("--layout", flags->layout, "Of the table: indexed, or location-items")
        ->check(CLI::IsMember({"indexed", "location-items"}))
        ->capture_default_str();
    return leaf;
  };
  const auto add_id = [&](CLI::App* leaf) {
    leaf->add_option("id", flags->id, "The sensor")->required();
  };
  const auto add_page = [&](CLI::App* leaf) {
    leaf->add_option("--limit", flags->limit, "Entries a page")->capture_default_str();
    leaf->add_option("--cursor", flags->cursor, "Where the last page ended");
  };
  const auto add_check = [&](CLI::App* leaf) {
    leaf->add_option("--unit", flags->file.unit, "Of the values");
    leaf->add_flag("--unchecked", flags->unchecked, "Take readings of unregistered sensors too");
  };
  CLI::App* leaf = add_leaf("add", "Register a sensor", add);
  add_id(leaf);
  add_place(*leaf, flags->place, true);
  leaf->add_option("--type", flags->type, "What it measures");
  add_id(add_leaf("get", "Where a sensor is", get));
  leaf = add_leaf("record", "Store one reading", record);
  add_id(leaf);
  leaf->add_option("value", flags->value, "A number")->required();
  leaf->add_option("--at", flags->at, "When it was read (RFC 3339; now)");
  add_check(leaf);
  leaf = add_leaf("latest", "A sensor and its newest readings", latest);
  add_id(leaf);
  leaf->add_option("-n,--limit", flags->limit, "How many")->capture_default_str();
  leaf = add_leaf("readings", "A sensor's readings, newest first", readings);
  add_id(leaf);
  leaf->add_option("--from", flags->from, "From this time on (RFC 3339)");
  leaf->add_option("--to", flags->to, "To before this time");
  add_page(leaf);
  leaf = add_leaf("at", "The sensors at a place, of any precision", at);
  add_place(*leaf, flags->place, false);
  add_page(leaf);
  leaf = add_leaf("import", "Store the readings of a CSV file; safe to repeat", import);
  add_id(leaf);
  leaf->add_option("file", flags->file.path, "With a header line; - is standard input")->required();
  leaf->add_option("--time", flags->file.time_column, "The column of times")->capture_default_str();
  leaf->add_option("--value", flags->file.value_column, "The column of values")->required();
  add_check(leaf);
}

}  // namespace stator::cli

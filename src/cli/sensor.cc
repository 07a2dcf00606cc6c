// SPDX-License-Identifier: Apache-2.0
// stator sensor: sensors by location, their readings by time.
#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/progress.h"
#include "cli/recipe_command.h"
#include "cli/sensor_import.h"
#include "cli/stop_signals.h"
#include "stator/recipes/sensors.h"

namespace stator::cli {
namespace {

struct SensorFlags : RecipeFlags {
  std::string layout = "indexed";
  std::string location_keys = "composed";
  std::string duplicates = "replace";
  std::map<std::string, int> city_shards;
  std::chrono::milliseconds retention{};  // 0: as stored
  std::chrono::milliseconds roll_up_retention{};
  std::string id;
  Location place;
  std::string type;
  int64_t version = 0;  // 0: any version
  std::string value;
  std::string at;
  std::string from;
  std::string to;
  std::string by = "hour";
  std::string cursor;
  int limit = 20;
  bool unchecked = false;
  std::vector<std::string> sensor_and_file;
  bool restart = false;
  ReadingsFile file;
};

SensorOptions sensor_options(const SensorFlags& flags) {
  SensorOptions options{.table = flags.table};
  if (flags.layout == "location-items") options.layout = SensorLayout::kLocationItems;
  if (flags.location_keys == "attributes") options.location_keys = LocationKeys::kMultiAttribute;
  if (flags.duplicates == "keep-first") options.duplicates = Duplicates::kKeepFirst;
  if (flags.duplicates == "refuse") options.duplicates = Duplicates::kRefuse;
  options.city_shards.insert(flags.city_shards.begin(), flags.city_shards.end());
  using std::chrono::seconds;
  if (flags.retention.count() != 0) {
    options.retention = std::chrono::duration_cast<seconds>(flags.retention);
  }
  if (flags.roll_up_retention.count() != 0) {
    options.roll_up_retention = std::chrono::duration_cast<seconds>(flags.roll_up_retention);
  }
  return options;
}

int with_sensors(const SensorFlags& flags, Access access,
                 const std::function<int(const SensorRegistry&)>& action) {
  const SensorOptions options = sensor_options(flags);
  return with_tables(flags, access, {SensorRegistry::table_definition(options)},
                     [&](Client& client) { return action(SensorRegistry(client, options)); });
}

void print_sensor(const SensorFlags& flags, const Sensor& sensor) {
  const Location& place = sensor.location;
  Item item{{"id", sensor.id.text},     {"city", place.city}, {"building", place.building},
            {"floor", place.floor},     {"room", place.room}, {"type", sensor.type},
            {"version", sensor.version}};
  std::string text = sensor.id.text + "\t" + place.city + "\t" + place.building + "\t" +
                     place.floor + "\t" + place.room + "\t" + sensor.type;
  if (sensor.decommissioned) {
    item.emplace("decommissioned_at", sensor.decommissioned->text());
    text += "\tdecommissioned " + sensor.decommissioned->text();
  }
  print_result(flags, text, item);
}

void print_reading(const SensorFlags& flags, const Reading& reading) {
  print_result(flags, reading.at.text() + "\t" + reading.value.to_string() + "\t" + reading.unit,
               {{"at", reading.at.text()}, {"value", reading.value}, {"unit", reading.unit}});
}

Check check_of(const SensorFlags& flags) {
  return flags.unchecked ? Check::kNone : Check::kStrict;
}

void print_recorded(const SensorFlags& flags, const Recorded& recorded, int64_t resumed_after) {
  Item item{{"stored", recorded.stored}, {"duplicates", recorded.duplicates}};
  std::string text = std::to_string(recorded.stored) + " stored, " +
                     std::to_string(recorded.duplicates) + " duplicates";
  if (recorded.expired > 0) {
    item.emplace("expired", recorded.expired);
    text += ", " + std::to_string(recorded.expired) + " expired";
  }
  if (resumed_after > 0) {
    item.emplace("resumed_after", resumed_after);
    text += "; resumed after line " + std::to_string(resumed_after);
  }
  print_result(flags, text, item);
}

int add(const SensorFlags& flags) {
  return with_sensors(flags, Access::kWrite, [&](const SensorRegistry& sensors) {
    const auto added = sensors.add({.id = {flags.id}, .location = flags.place, .type = flags.type});
    if (!added) return report(added.error());
    print_sensor(flags, *added);
    return kSuccess;
  });
}

int move(const SensorFlags& flags) {
  return with_sensors(flags, Access::kWrite, [&](const SensorRegistry& sensors) {
    auto known = sensors.get({flags.id});
    if (!known) return report(known.error());
    if (flags.version != 0) known->version = flags.version;
    const auto moved = sensors.move(*known, flags.place);
    if (!moved) return report(moved.error());
    print_sensor(flags, *moved);
    return kSuccess;
  });
}

int decommission(const SensorFlags& flags) {
  return with_sensors(flags, Access::kWrite, [&](const SensorRegistry& sensors) {
    const auto gone = sensors.decommission({flags.id});
    if (!gone) return report(gone.error());
    const auto sensor = sensors.get({flags.id});
    if (!sensor) return report(sensor.error());
    print_sensor(flags, *sensor);
    return kSuccess;
  });
}

int get(const SensorFlags& flags) {
  return with_sensors(flags, Access::kRead, [&](const SensorRegistry& sensors) {
    const auto sensor = sensors.get({flags.id});
    if (!sensor) return report(sensor.error());
    print_sensor(flags, *sensor);
    return kSuccess;
  });
}

int record(const SensorFlags& flags) {
  const auto value = Number::parse(flags.value);
  if (!value) return report_usage("value: " + value.error().message);
  const auto at = flags.at.empty() ? Result<Time>(Time::now()) : Time::parse(flags.at);
  if (!at) return report(at.error());
  return with_sensors(flags, Access::kWrite, [&](const SensorRegistry& sensors) {
    const Reading reading{
        .sensor = {flags.id}, .at = *at, .value = *value, .unit = flags.file.unit};
    const auto recorded = sensors.record(reading, check_of(flags));
    if (!recorded) return report(recorded.error());
    print_recorded(flags, *recorded, 0);
    return kSuccess;
  });
}

int latest_readings(const SensorFlags& flags) {
  return with_sensors(flags, Access::kRead, [&](const SensorRegistry& sensors) {
    const auto found = sensors.latest({flags.id}, flags.limit);
    if (!found) return report(found.error());
    print_sensor(flags, found->sensor);
    for (const Reading& reading : found->readings) print_reading(flags, reading);
    return kSuccess;
  });
}

Result<TimeRange> range_of(const SensorFlags& flags) {
  TimeRange range;
  if (!flags.from.empty()) {
    STATOR_ASSIGN_OR_RETURN(range.from, Time::parse(flags.from));
  }
  if (!flags.to.empty()) {
    STATOR_ASSIGN_OR_RETURN(range.to, Time::parse(flags.to));
  }
  return range;
}

int readings(const SensorFlags& flags) {
  const auto range = range_of(flags);
  if (!range) return report(range.error());
  return with_sensors(flags, Access::kRead, [&](const SensorRegistry& sensors) {
    const auto page =
        sensors.readings({flags.id}, *range, {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const Reading& reading : page->items) print_reading(flags, reading);
    print_next(flags, page->next);
    return kSuccess;
  });
}

int at(const SensorFlags& flags) {
  return with_sensors(flags, Access::kRead, [&](const SensorRegistry& sensors) {
    const auto page = sensors.at(flags.place, {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const SensorId& id : page->items) print_result(flags, id.text, {{"id", id.text}});
    print_next(flags, page->next);
    return kSuccess;
  });
}

Period period_of(const SensorFlags& flags) {
  if (flags.by == "minute") return Period::kMinute;
  return flags.by == "day" ? Period::kDay : Period::kHour;
}

int roll_up(const SensorFlags& flags) {
  const auto range = range_of(flags);
  if (!range) return report(range.error());
  return with_sensors(flags, Access::kWrite, [&](const SensorRegistry& sensors) {
    const auto made = sensors.roll_up({flags.id}, period_of(flags), *range);
    if (!made) return report(made.error());
    print_result(
        flags, std::to_string(made->made) + " made, " + std::to_string(made->changed) + " changed",
        {{"made", made->made}, {"changed", made->changed}});
    return kSuccess;
  });
}

void print_roll_up(const SensorFlags& flags, const RollUp& roll_up) {
  Item item{{"from", roll_up.from.text()}, {"unit", roll_up.unit}, {"count", roll_up.count},
            {"min", roll_up.min},          {"max", roll_up.max},   {"first", roll_up.first},
            {"last", roll_up.last}};
  if (roll_up.sum) item.emplace("sum", *roll_up.sum);
  const auto mean = roll_up.mean();
  const auto rounded = mean ? Number::from_double(*mean) : fail(Code::kValidation, "");
  if (rounded) item.emplace("mean", *rounded);
  print_result(flags,
               roll_up.from.text() + "\t" + std::to_string(roll_up.count) + "\t" +
                   (rounded ? rounded->to_string() : "") + "\t" + roll_up.min.to_string() + "\t" +
                   roll_up.max.to_string() + "\t" + roll_up.unit,
               item);
}

int roll_ups(const SensorFlags& flags) {
  const auto range = range_of(flags);
  if (!range) return report(range.error());
  return with_sensors(flags, Access::kRead, [&](const SensorRegistry& sensors) {
    const auto page = sensors.roll_ups({flags.id}, period_of(flags), *range,
                                       {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const RollUp& one : page->items) print_roll_up(flags, one);
    print_next(flags, page->next);
    return kSuccess;
  });
}

void print_settings(const SensorFlags& flags, const SensorSettings& settings) {
  Item item;
  std::string text;
  const auto add = [&](const std::string& name, int64_t value) {
    text += (text.empty() ? "" : "\t") + name + "=" + std::to_string(value);
  };
  if (settings.retention) {
    add("retention", settings.retention->count());
    item.emplace("retention_s", settings.retention->count());
  }
  if (settings.roll_up_retention) {
    add("roll-up-retention", settings.roll_up_retention->count());
    item.emplace("roll_up_retention_s", settings.roll_up_retention->count());
  }
  Map shards;
  for (const auto& [city, count] : settings.city_shards) {
    add("city-shards " + city, count);
    shards.emplace(city, count);
  }
  if (!shards.empty()) item.emplace("city_shards", std::move(shards));
  print_result(flags, text.empty() ? "none" : text, item);
}

// Here the flags are values to store; for other commands, they must match stored values.
int settings(const SensorFlags& flags) {
  const SensorOptions wanted = sensor_options(flags);
  SensorOptions options = wanted;
  options.retention.reset();
  options.roll_up_retention.reset();
  const SensorSettings to{.retention = wanted.retention,
                          .roll_up_retention = wanted.roll_up_retention,
                          .city_shards = wanted.city_shards};
  const Access access = to == SensorSettings() ? Access::kRead : Access::kWrite;
  return with_tables(
      flags, access, {SensorRegistry::table_definition(wanted)}, [&](Client& client) {
        const SensorRegistry sensors(client, options);
        const auto stored =
            access == Access::kRead ? sensors.settings() : sensors.change_settings(to);
        if (!stored) return report(stored.error());
        print_settings(flags, *stored);
        return kSuccess;
      });
}

int import(const SensorFlags& flags) {
  ImportOptions options{.file = flags.file, .sensors = sensor_options(flags)};
  const bool by_column = !flags.file.sensor_column.empty();
  if (flags.sensor_and_file.size() != (by_column ? 1U : 2U)) {
    return report_usage(by_column ? "with --sensor-column only the file is given"
                                  : "give the sensor and the file, or --sensor-column");
  }
  options.file.path = flags.sensor_and_file.back();
  if (!by_column) options.file.sensor.text = flags.sensor_and_file.front();
  if (flags.unchecked) options.check = Check::kNone;
  options.restart = flags.restart;
  // Standard input cannot be read again, so signals keep their default action.
  std::optional<StopSignals> signals;
  if (options.file.path != "-") signals.emplace();
  const std::stop_token stop = signals ? signals->token() : std::stop_token();
  return with_tables(flags, Access::kWrite, {SensorRegistry::table_definition(options.sensors)},
                     [&](Client& client) {
                       std::error_code unknown;
                       const auto size = std::filesystem::file_size(options.file.path, unknown);
                       Progress progress("importing " + options.file.path, ProgressUnit::kBytes,
                                         unknown ? 0 : static_cast<int64_t>(size));
                       const auto imported = import_readings(
                           client, options, [&](int64_t bytes) { progress.advance_to(bytes); },
                           stop);
                       if (!imported) return report(imported.error());
                       print_recorded(flags, imported->recorded, imported->resumed_after);
                       return kSuccess;
                     });
}

// Parses CITY=N; the last `=` separates. Throws CLI::ValidationError.
void take_shards(const std::vector<std::string>& given, std::map<std::string, int>& shards) {
  for (const std::string& one : given) {
    const std::size_t equals = one.rfind('=');
    int count = 0;
    const std::string_view digits =
        equals == std::string::npos ? "" : std::string_view(one).substr(equals + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || end != digits.data() + digits.size() || equals == 0) {
      throw CLI::ValidationError("--city-shards", "invalid '" + one + "'; expected CITY=NUMBER");
    }
    shards.insert_or_assign(one.substr(0, equals), count);
  }
}

void add_place(CLI::App& leaf, Location& place, bool whole) {
  leaf.add_option("--city", place.city)->required();
  leaf.add_option("--building", place.building)->required(whole);
  leaf.add_option("--floor", place.floor)->required(whole);
  leaf.add_option("--room", place.room)->required(whole);
}

// `flags` must live until the command has run.
void add_layout(CLI::App& leaf, SensorFlags& flags) {
  leaf.add_option("--layout", flags.layout, "Layout of the table")
      ->check(CLI::IsMember({"indexed", "location-items"}))
      ->capture_default_str();
  leaf.add_option("--location-keys", flags.location_keys, "Keys of the location index")
      ->check(CLI::IsMember({"composed", "attributes"}))
      ->capture_default_str();
  leaf.add_option_function<std::vector<std::string>>(
          "--city-shards",
          [&flags](const std::vector<std::string>& all) { take_shards(all, flags.city_shards); },
          "Number of partitions of a city with many sensors; default: as stored")
      ->type_name("CITY=N");
  const auto add_retention = [&](const char* name, std::chrono::milliseconds& value,
                                 const char* description) {
    add_duration(leaf, name, value, description, std::chrono::seconds(1), 100'000 * kDay)
        ->default_str("as stored");
  };
  add_retention("--retention", flags.retention, "How long readings are kept");
  add_retention("--roll-up-retention", flags.roll_up_retention, "How long roll-ups are kept");
}

void add_file(CLI::App& leaf, SensorFlags& flags) {
  leaf.add_option("sensor", flags.sensor_and_file,
                  "The sensor, unless --sensor-column is given, and the file; - is standard input")
      ->type_name("[SENSOR] FILE")
      ->expected(1, 2)
      ->required();
  leaf.add_option("--sensor-column", flags.file.sensor_column, "The column of sensors");
  leaf.add_option("--unit-column", flags.file.unit_column, "The column of units");
  leaf.add_flag("--restart", flags.restart, "Start from the beginning of the file");
  leaf.add_option("--time", flags.file.time_column, "The column of times")->capture_default_str();
  leaf.add_option("--value", flags.file.value_column, "The column of values")->required();
}

}  // namespace

void add_sensor(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<SensorFlags>();
  CLI::App* sensor =
      app.add_subcommand("sensor", "Sensors by location, and their readings by time");
  sensor->require_subcommand(1);
  const auto add_leaf = [&](const char* name, const char* description,
                            int (*action)(const SensorFlags&)) {
    CLI::App* leaf = add_action(*sensor, name, description, invocation,
                                [flags, action] { return action(*flags); });
    add_recipe_flags(*leaf, *flags, "Sensors");
    add_layout(*leaf, *flags);
    return leaf;
  };
  const auto add_id = [&](CLI::App* leaf) {
    leaf->add_option("id", flags->id, "The sensor")->required();
  };
  const auto add_page = [&](CLI::App* leaf) {
    leaf->add_option("--limit", flags->limit, "Entries per page")->capture_default_str();
    leaf->add_option("--cursor", flags->cursor, "Where the last page ended");
  };
  const auto add_check = [&](CLI::App* leaf) {
    leaf->add_option("--unit", flags->file.unit, "Unit of the values");
    leaf->add_flag("--unchecked", flags->unchecked, "Accept readings of unregistered sensors");
    leaf->add_option("--duplicates", flags->duplicates, "Second reading of the same time")
        ->check(CLI::IsMember({"replace", "keep-first", "refuse"}))
        ->capture_default_str();
  };
  const auto add_range = [&](CLI::App* leaf) {
    leaf->add_option("--from", flags->from, "From this time on (RFC 3339)");
    leaf->add_option("--to", flags->to, "To before this time");
  };
  const auto add_period = [&](CLI::App* leaf) {
    leaf->add_option("--by", flags->by, "minute, hour or day, in UTC")
        ->check(CLI::IsMember({"minute", "hour", "day"}))
        ->capture_default_str();
  };
  CLI::App* leaf = add_leaf("add", "Register a sensor", add);
  add_id(leaf);
  add_place(*leaf, flags->place, true);
  leaf->add_option("--type", flags->type, "Kind of sensor");
  add_id(add_leaf("get", "Show a sensor", get));
  leaf = add_leaf("move", "Change a sensor's location", move);
  add_id(leaf);
  add_place(*leaf, flags->place, true);
  leaf->add_option("--version", flags->version, "Only if it is of this version");
  add_id(add_leaf("decommission", "Remove a sensor from its location; keeps its readings",
                  decommission));
  leaf = add_leaf("record", "Store one reading", record);
  add_id(leaf);
  leaf->add_option("value", flags->value, "A number")->required();
  leaf->add_option("--at", flags->at, "When it was read (RFC 3339; now)");
  add_check(leaf);
  leaf = add_leaf("latest", "Show a sensor and its newest readings", latest_readings);
  add_id(leaf);
  leaf->add_option("-n,--limit", flags->limit, "How many")->capture_default_str();
  leaf = add_leaf("readings", "Print a sensor's readings, newest first", readings);
  add_id(leaf);
  add_range(leaf);
  add_page(leaf);
  leaf = add_leaf("summarize", "Recompute roll-ups from the readings; safe to repeat", roll_up);
  add_id(leaf);
  add_period(leaf);
  add_range(leaf);
  leaf = add_leaf("rollups", "Print a sensor's roll-ups, newest first", roll_ups);
  add_id(leaf);
  add_period(leaf);
  add_range(leaf);
  add_page(leaf);
  add_leaf("settings", "Show or change the settings that the table stores for all", settings);
  leaf = add_leaf("at", "List the sensors at a location or below it", at);
  add_place(*leaf, flags->place, false);
  add_page(leaf);
  leaf = add_leaf("import", "Store the readings of a CSV file; resumes if it was stopped", import);
  add_file(*leaf, *flags);
  add_check(leaf);
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// The sensors, compared with their reference implementations: one put per reading, a sensor with
// its location item (first version) or with an index (second version).
#include <string>
#include <vector>

#include "bench/contests.h"
#include "bench/recipe_cost.h"
#include "stator/database.h"
#include "stator/recipes/sensors.h"

namespace stator::bench {
namespace {

constexpr int kSensors = 1'000;
constexpr int kBatch = 25;
constexpr int kBatches = 100;
constexpr const char* kArticleTable = "SensorsTable";

std::string id_of(int i) {
  return "sensor" + std::to_string(i);
}

Result<void> article_register(Client& client, int i) {
  const Item info{{"pk", "SENSOR#" + id_of(i)},
                  {"sk", "SENSORINFO"},
                  {"id", id_of(i)},
                  {"city", "Poznan"},
                  {"building", "A"},
                  {"floor", "1"},
                  {"room", "2"}};
  const Item place{
      {"pk", "CITY#Poznan"}, {"sk", "LOCATION#A#1#" + std::to_string(i)}, {"id", id_of(i)}};
  STATOR_RETURN_IF_ERROR(client.transact_write_items(
      {.items = {{.action = TransactAction::kPut,
                  .table = kArticleTable,
                  .item = info,
                  .condition = "attribute_not_exists(pk)"},
                 {.action = TransactAction::kPut, .table = kArticleTable, .item = place}}}));
  return {};
}

Result<void> article_record(Client& client, Time start, int batch) {
  for (int i = 0; i < kBatch; ++i) {
    const std::string at = (start + std::chrono::seconds(batch * kBatch + i)).text();
    STATOR_RETURN_IF_ERROR(client.put_item(
        {.table = kArticleTable,
         .item = {{"pk", "SENSOR#sensor0"}, {"sk", "READ#" + at}, {"value", std::to_string(i)}}}));
  }
  return {};
}

Result<void> article_latest(Client& client) {
  STATOR_RETURN_IF_ERROR(
      client.query({.table = kArticleTable,
                    .key_condition = "pk = :pk AND sk <= :sk",
                    .values = Values{{":pk", "SENSOR#sensor0"}, {":sk", "SENSORINFO"}},
                    .limit = 11,
                    .forward = false}));
  return {};
}

Result<void> compare(examples::CountingClient& client, const std::string& name, Time start,
                     const SensorRegistry& sensors) {
  const Location place{.city = "Poznan", .building = "A", .floor = "1", .room = "2"};
  const auto add = [&](int i) -> Result<void> {
    STATOR_RETURN_IF_ERROR(sensors.add({.id = {id_of(i)}, .location = place}));
    return {};
  };
  const auto record = [&](int batch) -> Result<void> {
    std::vector<Reading> readings;
    readings.reserve(kBatch);
    for (int i = 0; i < kBatch; ++i) {
      readings.push_back({{"sensor0"}, start + std::chrono::seconds(batch * kBatch + i), i, "ppm"});
    }
    STATOR_RETURN_IF_ERROR(sensors.record(readings, Check::kCached));
    return {};
  };
  const auto latest = [&](int) -> Result<void> {
    STATOR_RETURN_IF_ERROR(sensors.latest({"sensor0"}, 10));
    return {};
  };
  STATOR_RETURN_IF_ERROR(measure_steps((name + ", register").c_str(), client, kSensors, add));
  STATOR_RETURN_IF_ERROR(measure_steps((name + ", 25 readings").c_str(), client, kBatches, record));
  return measure_steps((name + ", the latest 10").c_str(), client, kBatches, latest);
}

}  // namespace

Result<void> sensors_recipe() {
  STATOR_ASSIGN_OR_RETURN(Database database, Database::open({}));
  examples::CountingClient client(database);
  const SensorOptions indexed{.table = "Indexed"};
  const SensorOptions placed{.table = "Placed", .layout = SensorLayout::kLocationItems};
  RecipeTable article = SensorRegistry::table_definition(placed);
  article.table = kArticleTable;
  for (const RecipeTable& table : {article, SensorRegistry::table_definition(indexed),
                                   SensorRegistry::table_definition(placed)}) {
    STATOR_RETURN_IF_ERROR(create_table_if_missing(database, table));
  }
  const Time start = Time::now() - std::chrono::hours(24);
  std::printf("sensors: registering, recording, asking, in process, in memory\n");
  STATOR_RETURN_IF_ERROR(measure_steps("reference, register", client, kSensors,
                                       [&](int i) { return article_register(client, i); }));
  STATOR_RETURN_IF_ERROR(measure_steps("reference, 25 readings", client, kBatches, [&](int batch) {
    return article_record(client, start, batch);
  }));
  STATOR_RETURN_IF_ERROR(measure_steps("reference, the latest 10", client, kBatches,
                                       [&](int) { return article_latest(client); }));
  STATOR_RETURN_IF_ERROR(compare(client, "indexed", start, SensorRegistry(client, indexed)));
  return compare(client, "location items", start, SensorRegistry(client, placed));
}

}  // namespace stator::bench

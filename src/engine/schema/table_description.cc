// SPDX-License-Identifier: Apache-2.0
#include "engine/schema/table_description.h"

#include <algorithm>

#include "api/validation/table_update.h"
#include "engine/core/arns.h"

namespace stator {
namespace {

constexpr int64_t kDescribedDayMs = 24LL * 3600 * 1000;

// Decreases on an earlier day do not count today.
ThroughputChanges as_of(ThroughputChanges changes, int64_t now_ms) {
  if (!changes.decreased_ms ||
      *changes.decreased_ms / kDescribedDayMs != now_ms / kDescribedDayMs) {
    changes.decreases_today = 0;
  }
  return changes;
}

IndexDescription describe(const EngineCore& engine, const Table& table, std::size_t position,
                          const std::string& table_arn) {
  const Index& index = table.indexes()[position];
  const Counters::Totals counters = table.counters(1 + position).totals();
  IndexDescription description{.definition = index.definition};
  if (!index.complete) {
    description.status = TableStatus::kCreating;
    description.backfilling = true;
  }
  description.size_bytes = counters.bytes;
  description.item_count = counters.items;
  description.arn = table_arn + "/index/" + index.definition.name;
  if (index.local) return description;
  IndexDefinition& definition = description.definition;
  if (!definition.warm_throughput) {
    definition.warm_throughput =
        default_warm_throughput(table.definition().settings, definition.throughput);
  }
  const auto& changes = table.definition().index_throughput_changes;
  if (const auto found = changes.find(definition.name); found != changes.end()) {
    description.throughput_changes = as_of(found->second, engine.now_ms());
  }
  return description;
}

VectorIndexDescription describe_vectors(const Table& table, std::size_t position,
                                        const std::string& table_arn) {
  const VectorIndex& index = table.vector_indexes()[position];
  const Counters::Totals counters = table.counters(1 + table.indexes().size() + position).totals();
  VectorIndexDescription description{.definition = index.definition};
  if (!index.complete) {
    description.status = TableStatus::kCreating;
    description.backfilling = true;
  }
  description.size_bytes = counters.bytes;
  description.item_count = counters.items;
  description.arn = table_arn + "/index/" + index.definition.name;
  return description;
}

}  // namespace

TableDescription describe(const EngineCore& engine, const Table& table) {
  const TableDefinition& definition = table.definition();
  const CreateTableRequest& settings = definition.settings;
  TableDescription description;
  description.table = settings.table;
  description.id = definition.id;
  description.arn = table_arn(engine, settings.table);
  description.created_ms = definition.created_ms;
  const Counters::Totals counters = table.counters(0).totals();
  description.size_bytes = counters.bytes;
  description.item_count = counters.items;
  description.attributes = settings.attributes;
  description.key_schema = settings.key_schema;
  description.billing_mode = settings.billing_mode.value_or(BillingMode::kProvisioned);
  description.throughput = settings.throughput.value_or(Throughput());
  description.throughput_changes = as_of(definition.throughput_changes, engine.now_ms());
  description.on_demand_since_ms = definition.on_demand_since_ms;
  if (description.billing_mode == BillingMode::kPayPerRequest && !description.on_demand_since_ms) {
    description.on_demand_since_ms = definition.created_ms;
  }
  description.on_demand_throughput = settings.on_demand_throughput;
  description.warm_throughput =
      settings.warm_throughput.value_or(default_warm_throughput(settings, settings.throughput));
  description.table_class = settings.table_class;
  description.table_class_changed_ms = definition.table_class_changed_ms;
  description.deletion_protection = settings.deletion_protection.value_or(false);
  if (settings.encryption && settings.encryption->enabled.value_or(false)) {
    description.encryption = settings.encryption;
    EncryptionSpecification& encryption = *description.encryption;
    encryption.type = encryption.type.value_or(EncryptionType::kKms);
    const std::string keys =
        "arn:aws:kms:" + engine.options.region + ":" + engine.options.account + ":key/";
    const std::string key = encryption.key_id.value_or(definition.id);
    encryption.key_id = key.starts_with("arn:") ? key : keys + key;
  }
  if (settings.stream && settings.stream->enabled) description.stream = settings.stream;
  if (definition.latest_stream_ms) {
    description.latest_stream_label = stream_label(*definition.latest_stream_ms);
    description.latest_stream_arn =
        stream_arn(engine, settings.table, *definition.latest_stream_ms);
  }
  description.restore = definition.restored;
  for (std::size_t i = 0; i < table.indexes().size(); ++i) {
    IndexDescription index = describe(engine, table, i, description.arn);
    if (index.status != TableStatus::kActive) description.status = TableStatus::kUpdating;
    (table.indexes()[i].local ? description.local_indexes : description.global_indexes)
        .push_back(std::move(index));
  }
  for (std::size_t i = 0; i < table.vector_indexes().size(); ++i) {
    description.vector_indexes.push_back(describe_vectors(table, i, description.arn));
  }
  return description;
}

TableDescription describe(const EngineCore& engine, const Table& table, TableStatus status) {
  TableDescription description = describe(engine, table);
  description.status = status;
  if (description.restore) description.restore->in_progress = status == TableStatus::kCreating;
  for (IndexDescription& index : description.global_indexes) index.status = status;
  for (VectorIndexDescription& index : description.vector_indexes) index.status = status;
  return description;
}

}  // namespace stator

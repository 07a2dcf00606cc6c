// SPDX-License-Identifier: Apache-2.0
// CreateTable, DescribeTable, ListTables, DeleteTable.
#include <algorithm>
#include <utility>

#include "api/validate.h"
#include "engine/engine_impl.h"
#include "engine/messages.h"

namespace stator {
namespace {

constexpr std::size_t kListedTablesMax = 100;

TableDescription describe(const Engine::Impl& engine, const Table& table, TableStatus status) {
  const TableDefinition& definition = table.definition();
  const CreateTableRequest& settings = definition.settings;
  TableDescription description;
  description.table = settings.table;
  description.id = definition.id;
  description.arn = "arn:aws:dynamodb:" + engine.options.region + ":" + engine.options.account +
                    ":table/" + settings.table;
  description.status = status;
  description.created_ms = definition.created_ms;
  description.size_bytes = std::max<int64_t>(0, table.counters(0).bytes);
  description.item_count = std::max<int64_t>(0, table.counters(0).items);
  description.attributes = settings.attributes;
  description.key_schema = settings.key_schema;
  description.billing_mode = settings.billing_mode.value_or(BillingMode::kProvisioned);
  description.throughput = settings.throughput.value_or(Throughput());
  description.on_demand_throughput = settings.on_demand_throughput;
  description.warm_throughput = settings.warm_throughput;
  description.table_class = settings.table_class;
  description.deletion_protection = settings.deletion_protection.value_or(false);
  for (std::size_t i = 0; i < table.indexes().size(); ++i) {
    const Index& index = table.indexes()[i];
    const Counters& counters = table.counters(1 + i);
    IndexDescription entry{.definition = index.definition};
    entry.status = status;
    entry.size_bytes = std::max<int64_t>(0, counters.bytes);
    entry.item_count = std::max<int64_t>(0, counters.items);
    entry.arn = description.arn + "/index/" + index.definition.name;
    (index.local ? description.local_indexes : description.global_indexes)
        .push_back(std::move(entry));
  }
  return description;
}

// Counts a table of which the process does not know what was there before it started. What is being
// written at the very moment it begins may be counted twice or not at all, so the count is kept for
// later processes only where nothing was.
class CountJob {
 public:
  CountJob(Engine::Impl& engine, TablePtr table) : engine_(engine), table_(std::move(table)) {}
  CountJob(const CountJob&) = delete;
  CountJob& operator=(const CountJob&) = delete;
  ~CountJob() {
    if (!complete_) table_->needs_count() = true;
  }

  void run() {
    const std::optional<uint64_t> writes_before = engine_.writes.entered_if_empty();
    auto view = engine_.store->read_view();
    if (!view) return;
    const std::vector<SpaceId> spaces = table_->spaces();
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      table_->counters(i).items = 0;
      table_->counters(i).bytes = 0;
    }
    table_->counted_roughly() =
        !writes_before || writes_before != engine_.writes.entered_if_empty();
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      if (!count(**view, spaces[i], table_->counters(i))) return;
    }
    complete_ = true;
  }

 private:
  bool count(ReadView& view, SpaceId space, Counters& counters) {
    int64_t items = 0;
    int64_t bytes = 0;
    const auto scanned =
        view.scan({.range = space_range(space)}, [&](std::string_view, std::string_view value) {
          ++items;
          bytes += static_cast<int64_t>(item_size_bytes(ItemView(value)));
          return !engine_.housekeeping.stopping();
        });
    counters.items += items;
    counters.bytes += bytes;
    return scanned && !engine_.housekeeping.stopping();
  }

  Engine::Impl& engine_;
  TablePtr table_;
  bool complete_ = false;
};

}  // namespace

Result<CreateTableResult> Engine::create_table(const CreateTableRequest& request) {
  STATOR_CHECK_OK(validate(request));
  auto table = impl_->catalogue->create(request, impl_->now_ms());
  if (!table) return Failure(service_error(std::move(table).error()));
  return CreateTableResult{describe(*impl_, **table, TableStatus::kActive)};
}

Result<DescribeTableResult> Engine::describe_table(const DescribeTableRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const auto snapshot = impl_->catalogue->snapshot();
  const TablePtr* table = snapshot->find(request.table);
  if (table == nullptr) {
    return fail(Code::kResourceNotFound, messages::table_not_found(request.table));
  }
  if ((*table)->needs_count().exchange(false)) {
    impl_->housekeeping.post([job = std::make_unique<CountJob>(*impl_, *table)] { job->run(); });
  }
  return DescribeTableResult{describe(*impl_, **table, TableStatus::kActive)};
}

Result<ListTablesResult> Engine::list_tables(const ListTablesRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const auto snapshot = impl_->catalogue->snapshot();
  const auto& tables = snapshot->tables;
  const std::size_t limit =
      std::min(kListedTablesMax,
               static_cast<std::size_t>(std::max<int64_t>(1, request.limit.value_or(100))));
  ListTablesResult result;
  auto next = request.exclusive_start_table ? tables.upper_bound(*request.exclusive_start_table)
                                            : tables.begin();
  for (; next != tables.end() && result.tables.size() < limit; ++next) {
    result.tables.push_back(next->first);
  }
  if (next != tables.end()) result.last_evaluated_table = result.tables.back();
  return result;
}

Result<DeleteTableResult> Engine::delete_table(const DeleteTableRequest& request) {
  STATOR_CHECK_OK(validate(request));
  auto table = impl_->catalogue->drop(request.table);
  if (!table) return Failure(service_error(std::move(table).error()));
  return DeleteTableResult{describe(*impl_, **table, TableStatus::kDeleting)};
}

}  // namespace stator

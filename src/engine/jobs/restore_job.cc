// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/restore_job.h"

#include <algorithm>
#include <set>

#include "api/admin/table_parameters.h"
#include "api/validation/table_rules.h"
#include "api/validation/validate.h"
#include "api/wire/wire.h"
#include "base/random.h"
#include "engine/catalog/records.h"
#include "engine/core/leased_job.h"
#include "engine/errors/admin_messages.h"
#include "engine/jobs/table_copy.h"
#include "engine/schema/table_description.h"

namespace stator {
namespace {

CreateTableRequest overrides_of(const Item& request) {
  Item members;
  for (const auto& [name, member] :
       {std::pair("LocalSecondaryIndexOverride", "LocalSecondaryIndexes"),
        std::pair("GlobalSecondaryIndexOverride", "GlobalSecondaryIndexes"),
        std::pair("VectorIndexOverride", "VectorIndexes"),
        std::pair("BillingModeOverride", "BillingMode"),
        std::pair("SSESpecificationOverride", "SSESpecification"),
        std::pair("ProvisionedThroughputOverride", "ProvisionedThroughput"),
        std::pair("OnDemandThroughputOverride", "OnDemandThroughput")}) {
    const auto found = request.find(name);
    if (found != request.end()) members.emplace(member, found->second);
  }
  return table_parameters(members);
}

bool is_same_index(const IndexDefinition& one, const IndexDefinition& other) {
  return one.name == other.name && one.key_schema == other.key_schema &&
         one.projection == other.projection;
}
bool is_same_index(const VectorIndexDefinition& one, const VectorIndexDefinition& other) {
  return one == other;
}

// A request can omit indexes and change their throughput, but not add or change indexes.
template <class Definition>
Result<void> choose_indexes(std::optional<std::vector<Definition>> chosen,
                            std::optional<std::vector<Definition>>& indexes) {
  if (!chosen) return {};
  for (const Definition& index : *chosen) {
    const auto same = [&](const Definition& there) { return is_same_index(there, index); };
    if (!indexes || !std::ranges::any_of(*indexes, same)) {
      return fail(Code::kValidation, messages::no_index_to_restore(index.name));
    }
  }
  indexes = std::move(chosen);
  if (indexes->empty()) indexes.reset();
  return {};
}

void drop_unused_attributes(CreateTableRequest& settings) {
  const std::set<std::string> used = used_attributes(settings);
  std::erase_if(settings.attributes, [&](const AttributeDefinition& attribute) {
    return !used.contains(attribute.name);
  });
}

void choose_settings(const CreateTableRequest& chosen, CreateTableRequest& settings) {
  if (chosen.encryption) settings.encryption = chosen.encryption;
  if (chosen.billing_mode) settings.billing_mode = chosen.billing_mode;
  if (chosen.throughput) settings.throughput = chosen.throughput;
  if (chosen.on_demand_throughput) settings.on_demand_throughput = chosen.on_demand_throughput;
  const bool on_demand = settings.billing_mode == BillingMode::kPayPerRequest;
  if (on_demand && !chosen.throughput) settings.throughput.reset();
  if (settings.global_indexes && on_demand) {
    for (IndexDefinition& index : *settings.global_indexes) index.throughput.reset();
  }
  if (settings.global_indexes && !on_demand) {
    for (IndexDefinition& index : *settings.global_indexes) {
      if (!index.throughput) index.throughput = settings.throughput;
    }
  }
}

Result<void> check_throughput(const Item& request, const CreateTableRequest& source) {
  const std::string billing = text_of(request, "BillingModeOverride");
  const bool has_throughput = request.contains("ProvisionedThroughputOverride");
  const auto refused = [](const char* text) { return fail(Code::kValidation, text); };
  if (billing == "PROVISIONED" && !has_throughput) {
    return refused(messages::kNoThroughputProvisioned);
  }
  if (billing == "PAY_PER_REQUEST" && has_throughput) {
    return refused(messages::kThroughputOnDemand);
  }
  if (billing.empty() && has_throughput && source.billing_mode == BillingMode::kPayPerRequest) {
    return refused(messages::kThroughputNotProvisioned);
  }
  return {};
}

// Copies a table's items and index entries from a backup, or as they were in another table.
class Restore final : public Job {
 public:
  Restore(JobEngine& engine, JobLease& lease, std::string table)
      : engine_(engine), lease_(lease), name_(std::move(table)) {}

  Result<JobState> step() override {
    if (is_copied_) return finish();
    if (!copy_) {
      STATOR_ASSIGN_OR_RETURN(const JobState begun, begin());
      if (!copy_) return begun;
    }
    STATOR_ASSIGN_OR_RETURN(const JobState copied,
                            copy_->step([&](Batch& batch, const std::string& last) {
                              record_["Position"] = Binary{last};
                              put_record(batch, key_, record_);
                            }));
    if (copied == JobState::kMore) return copied;
    is_copied_ = true;
    copy_.reset();
    return finish();
  }

  // The record contains the position of the copy.
  void rest() override { copy_.reset(); }

  Result<void> abandon(const Error&) override {
    copy_.reset();
    return engine_.catalog->cancel_restore(name_, &lease_);
  }

 private:
  Result<JobState> finish() {
    STATOR_RETURN_IF_ERROR(engine_.catalog->finish_restore(name_, &lease_));
    return JobState::kDone;
  }

  // Sets copy_ once the source is known. Returns kDone if there is nothing to copy.
  Result<JobState> begin() {
    STATOR_RETURN_IF_ERROR(engine_.catalog->refresh());
    const auto snapshot = engine_.catalog->snapshot();
    const auto found = snapshot->restoring.find(name_);
    if (found == snapshot->restoring.end()) return JobState::kDone;
    table_ = found->second;
    STATOR_ASSIGN_OR_RETURN(record_, Records(*engine_.store).get(key_));
    STATOR_ASSIGN_OR_RETURN(const bool has_commit_version, find_commit_version());
    if (!has_commit_version) return JobState::kMore;
    CopyPlan plan{.from = {.key = table_->key(), .secret = table_->secret()},
                  .to = table_->definition().space,
                  .indexed = table_.get()};
    plan.from.key.space = static_cast<SpaceId>(integer_of(record_, "From"));
    if (const auto history = history_of(record_)) {
      plan.from.log = history->log;
      plan.commit_version = history->commit_version;
    }
    if (plan.from.key.space < kFirstTableSpace) {
      return fail(Code::kCorruption, "the record of the restored table has no source");
    }
    if (const auto position = record_.find("Position"); position != record_.end()) {
      if (const Binary* bytes = position->second.get_if<Binary>()) plan.after = bytes->bytes;
    }
    copy_.emplace(lease_, plan);
    return JobState::kMore;
  }

  // Returns false if the commit version of the record's time has not been found yet.
  Result<bool> find_commit_version() {
    if (!record_.contains("StampLimit")) return true;
    if (!search_) {
      search_.emplace(history_of(record_)->log, integer_of(record_, "TimeMs"),
                      static_cast<uint64_t>(integer_of(record_, "StampLimit")));
    }
    STATOR_ASSIGN_OR_RETURN(const auto commit_version, search_->step(*engine_.store));
    if (!commit_version) return false;
    Item found = record_;
    found["Stamp"] = static_cast<int64_t>(*commit_version);
    found.erase("StampLimit");
    found.erase("TimeMs");
    const auto replace = [&](Item& kept) -> Result<void> {
      kept = found;
      return {};
    };
    STATOR_RETURN_IF_ERROR(engine_.catalog->change_pinned(key_, replace, &lease_));
    record_ = std::move(found);
    return true;
  }

  JobEngine& engine_;
  JobLease& lease_;
  std::string name_;
  std::string key_ = record_key(RecordKind::kRestore, name_);
  TablePtr table_;
  Item record_;
  std::optional<CommitVersionSearch> search_;
  std::optional<RowCopy> copy_;
  bool is_copied_ = false;
};

}  // namespace

Result<TableDefinition> restored_definition(const JobEngine& engine, const TableDefinition& source,
                                            const Item& request, RestoreSummary summary) {
  TableDefinition target{
      .settings = source.settings, .id = random_uuid(), .created_ms = engine.now_ms()};
  target.restored = std::move(summary);
  CreateTableRequest& settings = target.settings;
  settings.table = text_of(request, "TargetTableName");
  settings.tags.clear();
  settings.resource_policy.reset();
  settings.stream.reset();
  settings.deletion_protection.reset();
  CreateTableRequest overrides = overrides_of(request);
  STATOR_RETURN_IF_ERROR(
      choose_indexes(std::move(overrides.local_indexes), settings.local_indexes));
  STATOR_RETURN_IF_ERROR(
      choose_indexes(std::move(overrides.global_indexes), settings.global_indexes));
  STATOR_RETURN_IF_ERROR(
      choose_indexes(std::move(overrides.vector_indexes), settings.vector_indexes));
  STATOR_RETURN_IF_ERROR(check_throughput(request, settings));
  choose_settings(overrides, settings);
  drop_unused_attributes(settings);
  STATOR_RETURN_IF_ERROR(validate(settings));
  return target;
}

Result<Item> begin_restore(JobEngine& engine, TableDefinition target, Item record,
                           const PinRequest& pin) {
  const std::string name = target.settings.table;
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, engine.catalog->begin_restore(
                                                    std::move(target), std::move(record), &pin));
  start_restore(engine, name);
  return Item{
      {"TableDescription", wire::to_document(describe(engine, *table, TableStatus::kCreating))}};
}

void start_restore(JobEngine& engine, const std::string& table) {
  start_leased(engine, "restoration of table '" + table + "'",
               record_work(record_key(RecordKind::kRestore, table)),
               [&](JobLease& lease) { return std::make_unique<Restore>(engine, lease, table); });
}

Result<void> resume_restores(JobEngine& engine) {
  STATOR_ASSIGN_OR_RETURN(const auto restores, Records(*engine.store).list(RecordKind::kRestore));
  for (const auto& [table, record] : restores) {
    if (record.contains("Import")) continue;  // see imports.h
    if (is_free(engine, RecordKind::kRestore, table)) start_restore(engine, table);
  }
  return {};
}

}  // namespace stator

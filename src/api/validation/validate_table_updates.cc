// SPDX-License-Identifier: Apache-2.0
// Validates UpdateTable, UpdateTimeToLive and DescribeTimeToLive, as far as possible without the
// table.
#include <algorithm>
#include <utility>

#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "api/validation/table_rules.h"
#include "api/validation/validate.h"
#include "api/validation/validate_rules.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kIndexNameBytesMax = 255;

// An empty structure requests no change.
bool changes_warm_throughput(const UpdateTableRequest& request) {
  return request.warm_throughput && *request.warm_throughput != Throughput();
}

// The number of members that request a change.
int changes_of(const UpdateTableRequest& request) {
  const bool changes_indexes = request.global_indexes && !request.global_indexes->empty();
  const bool given[] = {changes_indexes,
                        request.billing_mode.has_value(),
                        request.throughput.has_value(),
                        request.on_demand_throughput.has_value(),
                        changes_warm_throughput(request),
                        request.table_class.has_value(),
                        request.deletion_protection.has_value(),
                        request.encryption.has_value(),
                        request.stream.has_value(),
                        !request.replica_regions.empty(),
                        request.vector_indexes && !request.vector_indexes->empty()};
  return static_cast<int>(std::ranges::count(given, true));
}

// Whether the request creates an index or, unless `only_new`, deletes one.
bool changes_indexes(const UpdateTableRequest& request, bool only_new) {
  if (request.vector_indexes) {
    for (const VectorIndexChange& change : *request.vector_indexes) {
      if (change.create || !only_new) return true;
    }
  }
  if (!request.global_indexes) return false;
  return std::ranges::any_of(*request.global_indexes, [&](const GlobalIndexChange& change) {
    return change.create || (change.remove && !only_new);
  });
}

// Rejects changes that one request cannot combine. The order of the checks is DynamoDB's.
Result<void> check_one_kind(const UpdateTableRequest& request) {
  if (changes_of(request) < 2) return {};
  const std::pair<bool, std::string_view> alone[] = {
      {!request.replica_regions.empty(), "Replica"},
      {request.encryption.has_value(), "Server-Side Encryption"},
      {request.table_class.has_value(), "TableClass"},
      {request.deletion_protection.has_value(), "DeletionProtection"},
  };
  for (const auto& [given, name] : alone) {
    if (given) return invalid(fmt::format(messages::kOnlyOperation, name));
  }
  if (request.on_demand_throughput && (request.stream || changes_warm_throughput(request))) {
    return invalid(messages::kOnDemandWithOther);
  }
  if (changes_warm_throughput(request)) {
    return invalid(changes_indexes(request, true) ? messages::kWarmWithNewIndex
                                                  : messages::kWarmOnlyOperation);
  }
  if (request.throughput && request.stream) return invalid(messages::kStreamWithCapacity);
  if (!changes_indexes(request, false)) return {};
  if (request.throughput) return invalid(messages::kIndexWithCapacity);
  if (request.stream) return invalid(messages::kIndexWithStream);
  return {};
}

Result<void> check_billing(const UpdateTableRequest& request) {
  if (request.billing_mode == BillingMode::kProvisioned && !request.throughput) {
    return invalid(messages::kProvisionedWithout);
  }
  if (request.billing_mode == BillingMode::kPayPerRequest && request.throughput) {
    return invalid(messages::kPaidPerRequest);
  }
  if (request.throughput) return check_bounds(*request.throughput);
  return {};
}

const std::string& index_name(const GlobalIndexChange& change) {
  if (change.update) return change.update->name;
  return change.create ? change.create->name : *change.remove;
}

Result<void> check_index_changes(const UpdateTableRequest& request) {
  if (!request.global_indexes) return {};
  if (request.global_indexes->empty()) return invalid(messages::kNoIndexUpdates);
  std::set<std::string_view> names;
  for (const GlobalIndexChange& change : *request.global_indexes) {
    const int given = (change.update ? 1 : 0) + (change.create ? 1 : 0) + (change.remove ? 1 : 0);
    if (given == 0) {
      return invalid(messages::kNoIndexAction);
    }
    if (given > 1) {
      return invalid(messages::kManyIndexActions);
    }
    if (!names.insert(index_name(change)).second) {
      return invalid(fmt::format(messages::kIndexChangedTwice, index_name(change)));
    }
    if (change.update && change.update->throughput) {
      STATOR_RETURN_IF_ERROR(check_bounds(*change.update->throughput));
    }
    if (change.update && change.update->warm_throughput == Throughput()) {
      return invalid(fmt::format(messages::kWarmEmpty, change.update->name));
    }
    if (!change.create) continue;
    if (change.create->key_schema.empty()) return invalid(messages::kNoIndexKeys);
    if (!request.attributes) {
      return invalid(fmt::format(messages::kNoDefinitions, change.create->name));
    }
  }
  return {};
}

Result<void> check_vector_index_changes(const UpdateTableRequest& request) {
  if (!request.vector_indexes) return {};
  if (request.vector_indexes->empty()) return invalid(messages::kNoVectorIndexUpdates);
  for (const VectorIndexChange& change : *request.vector_indexes) {
    if (change.create.has_value() == change.remove.has_value()) {
      return invalid(messages::kVectorIndexActions);
    }
    if (change.create) STATOR_RETURN_IF_ERROR(check_texts(*change.create));
  }
  return {};
}

Result<void> check_texts(const UpdateTableRequest& request) {
  if (request.attributes) {
    for (const AttributeDefinition& attribute : *request.attributes) {
      STATOR_RETURN_IF_ERROR(check_text(attribute.name));
    }
  }
  if (!request.global_indexes) return {};
  for (const GlobalIndexChange& change : *request.global_indexes) {
    if (!change.create) continue;
    for (const std::string& name : change.create->projection.non_key_attributes) {
      STATOR_RETURN_IF_ERROR(check_text(name));
    }
  }
  return {};
}

}  // namespace

void add_constraints(const UpdateTableRequest& request, Constraints& constraints) {
  constraints.table_operation_table(request.table);
  if (request.attributes) add_attributes(*request.attributes, constraints);
  add_throughput(request.throughput, "provisionedThroughput", constraints);
  if (request.vector_indexes) {
    for (std::size_t i = 0; i < request.vector_indexes->size(); ++i) {
      const VectorIndexChange& change = (*request.vector_indexes)[i];
      const std::string path = fmt::format("vectorIndexUpdates.{}.member.", i + 1);
      if (change.create) add_vector_index(*change.create, path + "create", constraints);
      if (change.remove) constraints.resource_name(*change.remove, path + "delete.indexName");
    }
  }
  if (!request.global_indexes) return;
  for (std::size_t i = 0; i < request.global_indexes->size(); ++i) {
    const GlobalIndexChange& change = (*request.global_indexes)[i];
    const std::string path = fmt::format("globalSecondaryIndexUpdates.{}.member.", i + 1);
    if (change.update) {
      constraints.resource_name(change.update->name, path + "update.indexName");
      add_throughput(change.update->throughput, path + "update.provisionedThroughput", constraints);
    }
    if (change.create) {
      add_index(*change.create, path + "create", kGlobalIndexKeysMax, constraints);
    }
    if (change.remove) constraints.resource_name(*change.remove, path + "delete.indexName");
  }
}

void add_constraints(const UpdateTimeToLiveRequest& request, Constraints& constraints) {
  constraints.table_operation_table(request.table);
  constraints.length(request.specification.attribute, "timeToLiveSpecification.attributeName", 1,
                     kIndexNameBytesMax);
}

void add_constraints(const DescribeTimeToLiveRequest& request, Constraints& constraints) {
  constraints.table_operation_table(request.table);
}

Result<void> validate(const UpdateTableRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  if (changes_of(request) == 0) {
    return fail(Code::kValidation, messages::kNothingToUpdate);
  }
  STATOR_RETURN_IF_ERROR(check_texts(request));
  STATOR_RETURN_IF_ERROR(check_billing(request));
  STATOR_RETURN_IF_ERROR(check_on_demand(request.on_demand_throughput, "table"));
  if (request.stream)
    STATOR_RETURN_IF_ERROR(
        check_stream(*request.stream, messages::kEnabledWithoutView, messages::kDisabledWithView));
  STATOR_RETURN_IF_ERROR(check_index_changes(request));
  STATOR_RETURN_IF_ERROR(check_vector_index_changes(request));
  return check_one_kind(request);
}

Result<void> validate(const UpdateTimeToLiveRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  return check_text(request.specification.attribute);
}

Result<void> validate(const DescribeTimeToLiveRequest& request) {
  return check_constraints(request);
}

}  // namespace stator

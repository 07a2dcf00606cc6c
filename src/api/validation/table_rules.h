// SPDX-License-Identifier: Apache-2.0
// Rules that CreateTable and UpdateTable share.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/model/constraints.h"
#include "stator/requests.h"

namespace stator {

bool is_paid_per_request(const CreateTableRequest& settings);
std::set<std::string> attribute_names(const std::vector<AttributeDefinition>& attributes);

void add_throughput(const std::optional<Throughput>& throughput, const std::string& path,
                    Constraints& constraints);
void add_index(const IndexDefinition& index, const std::string& path, std::size_t key_attributes,
               Constraints& constraints);
void add_vector_index(const VectorIndexDefinition& index, const std::string& path,
                      Constraints& constraints);
void add_attributes(const std::vector<AttributeDefinition>& attributes, Constraints& constraints);

inline constexpr std::size_t kGlobalIndexesMax = 20;
inline constexpr std::size_t kGlobalIndexKeysMax = 8;  // four HASH, four RANGE

Result<void> check_bounds(const Throughput& throughput);
// `of` is the owner: "table", "index : NAME".
Result<void> check_on_demand(const std::optional<OnDemandThroughput>& throughput,
                             std::string_view of);
// For a provisioned table; `of` is "" or " for index: NAME".
Result<void> refuse_on_demand(const std::optional<OnDemandThroughput>& throughput,
                              std::string_view of);
// Checks all indexes of a table with the attributes `defined`: first their keys, then the rest.
Result<void> check_index_keys(const CreateTableRequest& settings,
                              const std::set<std::string>& defined);
Result<void> check_index_settings(const CreateTableRequest& settings);
// Also checks that a table with vector indexes is on demand.
Result<void> check_vector_indexes(const CreateTableRequest& settings);
// A warm throughput must be at least the initial one of the table or index. `of` is the owner:
// "table", "index NAME".
Result<void> check_warm(const CreateTableRequest& settings, const std::optional<Throughput>& warm,
                        const std::optional<Throughput>& provisioned, std::string_view of);
// The attributes that occur in keys and search schemas.
std::set<std::string> used_attributes(const CreateTableRequest& settings);
Result<void> check_texts(const CreateTableRequest& settings);
Result<void> check_texts(const VectorIndexDefinition& index);

}  // namespace stator

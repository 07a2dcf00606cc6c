// SPDX-License-Identifier: Apache-2.0
// The changes that make an existing table match a template.
//
// Without the properties, the template means no stream, no time to live, no point-in-time recovery,
// no deletion protection and the standard class. Throughput, encryption and tags are then not
// changed.
#pragma once

#include <string>
#include <vector>

#include "cli/template.h"
#include "stator/client.h"

namespace stator::cli {

struct TableState {
  TableDescription table;
  DescribeTimeToLiveResult time_to_live;
  Recovery recovery;
  std::vector<Tag> tags;
};

// Reads the tags only if the template has tags. Errors: kResourceNotFound for a missing table.
Result<TableState> read_state(Client& client, const TemplateTable& wanted);

struct TableStep {
  std::string what;       // "add index ByYear"
  std::string operation;  // of the API
  std::string request;    // its JSON
};

// The steps in order; run each when the table is ACTIVE again. Empty if the table matches the
// template. Errors: kConflict for differences that no operation can change: keys, types of key
// attributes, local indexes, the keys and the projection of an index.
Result<std::vector<TableStep>> steps_to(const TemplateTable& wanted, const TableState& found);

}  // namespace stator::cli

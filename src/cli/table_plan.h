// SPDX-License-Identifier: Apache-2.0
// What has to be done to a table that is there, so that it is what a template says.
//
// Where the template says nothing, a table has no stream, no time to live, no recovery to a point
// in time, no protection, the standard class; its throughput, encryption and tags are left alone.
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

// Asks for the tags only where the template has some. kResourceNotFound for a missing table.
Result<TableState> read_state(Client& client, const TemplateTable& wanted);

struct TableStep {
  std::string what;       // "add index ByYear"
  std::string operation;  // of the API
  std::string request;    // its JSON
};

// In the order in which they are to be done, each once the table is ACTIVE again. Empty: the table
// is what the template says. kConflict for what no operation changes: keys, types of key
// attributes, local indexes, the keys and the projection of an index.
Result<std::vector<TableStep>> steps_to(const TemplateTable& wanted, const TableState& found);

}  // namespace stator::cli

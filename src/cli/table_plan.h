// SPDX-License-Identifier: Apache-2.0
// The changes that make an existing table match a wanted one: a template's, or a copy's.
//
// If they are not specified, the stream, time to live, point-in-time recovery and deletion
// protection are turned off, and the table class becomes standard. Throughput, encryption and tags
// are then unchanged.
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

enum class ReadTags { kNo, kYes };

// Errors: kResourceNotFound for a missing table.
Result<TableState> read_state(Client& client, const std::string& table, ReadTags tags);

struct TableStep {
  std::string what;          // "add index ByYear"
  std::string operation;     // of the API
  std::string request;       // its JSON
  bool is_of_index = false;  // creates or deletes an index
};

// The steps in order; run each when the table is ACTIVE again. Empty if the table matches the
// template. Errors: kConflict for differences that no operation can change: keys, types of key
// attributes, local indexes, the keys and the projection of an index.
Result<std::vector<TableStep>> steps_to(const TemplateTable& wanted, const TableState& found);

// Waits without a limit, because the time to build an index depends on the table's size.
Result<void> wait_until_active(Client& client, const std::string& table);
// Waits like wait_until_active() until the table can be changed, then executes a step.
Result<void> carry_out(Client& client, const std::string& table, const TableStep& step);

// Executes an operation of the API whose request and response are documents.
Result<Item> ask(Client& client, const std::string& operation, const Item& request);

}  // namespace stator::cli

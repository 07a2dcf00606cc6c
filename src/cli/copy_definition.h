// SPDX-License-Identifier: Apache-2.0
// Copies a table's definition when `stator copy` creates the target, and the other settings after
// the items are copied.
//
// Settings come last so that the items do not fill a stream, do not expire during the copy, and an
// unfinished table can be deleted.
#pragma once

#include <string>
#include <vector>

#include "cli/table_plan.h"
#include "cli/template.h"
#include "stator/client.h"

namespace stator::cli {

struct CopiedTable {
  TableDescription source;
  // The target. `ignored` has a line for each property of the source that cannot be copied.
  TemplateTable wanted;
  std::string policy;          // JSON, of the table; empty: none
  std::string stream_policy;   // of its stream
  std::vector<Item> insights;  // requests of UpdateContributorInsights
};

// Errors: kResourceInUse if the table is being created or deleted.
Result<CopiedTable> read_copied_table(Client& from, const std::string& table,
                                      const std::string& target);

// Errors: kConflict if an existing table has other keys or indexes.
Result<void> check_same_definition(const CopiedTable& table, const TableState& target);

// Creates the target, unless it exists, and returns it once it is ACTIVE.
Result<TableDescription> create_copy(Client& to, const CopiedTable& table);

// Gives the target all settings of the source. Returns a line for each one that the target refused.
Result<std::vector<std::string>> copy_settings(Client& to, const CopiedTable& table);

// `policy` with the ARN `from` replaced by `to`, also in ARNs of indexes. ARNs of tables whose
// names only begin with the same name are unchanged.
std::string with_arn(const std::string& policy, const std::string& from, const std::string& to);

}  // namespace stator::cli

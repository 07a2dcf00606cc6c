// SPDX-License-Identifier: Apache-2.0
// ExportFilter: selects the items and attributes that an export contains, by its
// FilterSpecification. Its expressions are those of a Query, or those of a Scan if it has no key
// condition.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Filtered.html
#pragma once

#include <memory>
#include <string_view>

#include "engine/query/range_plan.h"

namespace stator {

class ExportFilter {
 public:
  // Borrows the table. Errors: kValidation.
  static Result<std::unique_ptr<ExportFilter>> make(const Table& table, const Item& specification);

  bool reads(std::string_view row_key) const;  // whether its key condition selects the row
  bool selects(ItemView item) const;
  EncodedItem projected(ItemView item) const;

 private:
  QueryRequest query_;  // the request that the plan borrows
  ScanRequest scan_;
  RangePlan plan_;
};

}  // namespace stator

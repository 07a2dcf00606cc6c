// SPDX-License-Identifier: Apache-2.0
// The lines of an export's data files: how an item or a change is written.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
//
// engine/jobs/export_job.cc and cli/export.cc decide which items are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stator/value.h"
#include "transfer/formats.h"

namespace stator::transfer {

// The change of an item between two points in time.
struct ItemChange {
  Item keys;
  int64_t written_us = 0;              // Unix microseconds
  std::optional<Item> old_image = {};  // absent: none existed, or it was not requested
  std::optional<Item> new_image = {};  // absent: the item was deleted
};

// Includes the line break. Only kDynamoDbJson and kIon.
std::string line_of(DataFormat format, const Item& item);
std::string line_of(DataFormat format, const ItemChange& change);

}  // namespace stator::transfer

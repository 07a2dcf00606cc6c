// SPDX-License-Identifier: Apache-2.0
// {"Item": {…}} in DynamoDB JSON, one or more per line.
#pragma once

#include "transfer/item_reader.h"

namespace stator::transfer {

class JsonLines final : public RecordParser {
 public:
  Outcome parse(std::string_view text, Item& item, Error& error, std::size_t& used) override;
};

}  // namespace stator::transfer

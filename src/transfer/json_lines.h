// SPDX-License-Identifier: Apache-2.0
// {"Item": {…}} in DynamoDB JSON, one or more per line.
#pragma once

#include "transfer/item_reader.h"

namespace stator::transfer {

class JsonLines final : public RecordParser {
 public:
  explicit JsonLines(Conditions conditions) : conditions_(conditions) {}

  Outcome parse(std::string_view text, PutItemRequest& put, Error& error,
                std::size_t& used) override;

 private:
  const Conditions conditions_;
};

}  // namespace stator::transfer

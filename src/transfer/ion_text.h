// SPDX-License-Identifier: Apache-2.0
// Amazon Ion's text form, limited to what DynamoDB's exports use: structs, lists, strings,
// decimals, booleans, null, blobs, and sets as annotated lists. One item per line: $ion_1_0
// {Item:{Id:103.,Tags:$dynamodb_SS::["a","b"]}}
// https://amazon-ion.github.io/ion-docs/docs/spec.html
#pragma once

#include <string>

#include "transfer/item_reader.h"

namespace stator::transfer {

class IonLines final : public RecordParser {
 public:
  explicit IonLines(Conditions conditions) : conditions_(conditions) {}

  Outcome parse(std::string_view text, PutItemRequest& put, Error& error,
                std::size_t& used) override;

 private:
  const Conditions conditions_;
};

void append_ion(std::string& out, const AttributeValue& value);

}  // namespace stator::transfer

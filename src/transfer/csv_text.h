// SPDX-License-Identifier: Apache-2.0
// Items as CSV rows: RFC 4180 quoting, one of DynamoDB's delimiters; all values except keys are
// strings.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataImport.Format.html
#pragma once

#include <vector>

#include "transfer/item_reader.h"

namespace stator::transfer {

class CsvRows final : public RecordParser {
 public:
  explicit CsvRows(CsvOptions options)
      : options_(std::move(options)), has_header_(!options_.header.empty()) {}

  Outcome parse(std::string_view text, PutItemRequest& put, Error& error,
                std::size_t& used) override;
  bool goes_on(std::string_view line, bool went_on) const override;
  bool wants_header() const override { return !has_header_; }

 private:
  Result<void> take_header(std::vector<std::string> fields);
  Result<AttributeValue> value_of(const std::string& column, std::string text) const;
  Result<Item> item_of(std::vector<std::string> fields) const;

  CsvOptions options_;
  bool has_header_;
};

}  // namespace stator::transfer

// SPDX-License-Identifier: Apache-2.0
// ItemReader: the items of one file of an import, one after another.
//
// A file of DynamoDB JSON or Ion has one or more {"Item": …} per line. A CSV file has one row per
// item; quoted fields can contain line breaks. Next to "Item", the records of a bulk put can have
// the members of PutItem's condition: ConditionExpression, ExpressionAttributeNames and
// ExpressionAttributeValues.
// Bounds: lines of kRecordBytesMax, the nesting limit of items. A call reads at most one record and
// kNothingBytesMax without a record: empty lines, or bytes before the position to resume at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stator/requests.h"
#include "transfer/byte_source.h"

namespace stator::transfer {

enum class Found {
  kItem,
  kNoItem,   // a record that is not an item; reading can continue
  kNothing,  // no record in the last kNothingBytesMax; reading can continue
  kDamaged,  // nothing after this can be read; the next outcome is kEnd
  kEnd,
};

// Whether the condition of a record is read, or ignored as other members are.
enum class Conditions { kIgnored, kRead };

// Parses the records of a line, one after another.
class RecordParser {
 public:
  enum class Outcome { kItem, kNoItem, kDamaged, kNothing };

  virtual ~RecordParser() = default;
  // `text` has no line break at its end. Sets `used` to the length of the record (kNothing: all),
  // and the item and the condition of `put`, or `error`.
  virtual Outcome parse(std::string_view text, PutItemRequest& put, Error& error,
                        std::size_t& used) = 0;
  // Whether the record continues on the line after `line`, given whether it did on the previous
  // one.
  virtual bool goes_on(std::string_view /*line*/, bool /*went_on*/) const { return false; }
  // Whether the parser needs the file's first line, even if reading starts later.
  virtual bool wants_header() const { return false; }
};

std::unique_ptr<RecordParser> make_parser(DataFormat format, const CsvOptions& csv,
                                          Conditions conditions = Conditions::kIgnored);

class ItemReader {
 public:
  // Starts after `position`, which another reader of the same bytes has reached.
  ItemReader(std::unique_ptr<ByteSource> source, std::unique_ptr<RecordParser> parser,
             uint64_t position = 0);

  static constexpr uint64_t kNothingBytesMax = 1UL << 20;

  Found next();
  Item& item() { return put_.item; }             // of kItem
  PutItemRequest& put() { return put_; }         // of kItem: the item and its condition, no table
  const Error& error() const { return error_; }  // of kNoItem and kDamaged
  // Uncompressed bytes of the file up to the end of the last record, or to where reading starts.
  uint64_t position() const { return std::max(position_, start_); }

 private:
  Found ended();
  bool skip_some();
  bool fill();
  bool extend_line();
  bool read_text();
  std::string_view text() const {
    return std::string_view(buffer_).substr(begin_, line_end_ - begin_);
  }

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<RecordParser> parser_;
  uint64_t start_;
  uint64_t position_ = 0;
  std::string buffer_;         // read bytes; those from begin_ on are not consumed
  std::size_t begin_ = 0;      // start of the rest of the current line
  std::size_t line_end_ = 0;   // end of the current line
  std::size_t next_line_ = 0;  // after its line break
  bool in_line_ = false;       // whether there is a current line
  bool source_ended_ = false;
  bool failed_ = false;
  bool ended_ = false;
  PutItemRequest put_;
  Error error_;
};

Result<std::unique_ptr<ItemReader>> read_items(std::unique_ptr<ByteSource> source,
                                               DataFormat format, Compression compression,
                                               const CsvOptions& csv, uint64_t position = 0,
                                               Conditions conditions = Conditions::kIgnored);

}  // namespace stator::transfer

// SPDX-License-Identifier: Apache-2.0
// ItemReader: the items of one file of an import, one after another.
//
// A file of DynamoDB JSON or Ion has {"Item": …} on lines of their own, or several on a line; one
// of CSV a row each, and quoted fields may hold line breaks.
// Bounds: a line of kRecordBytesMax, values nested as items may be.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "transfer/byte_source.h"

namespace stator::transfer {

enum class Found {
  kItem,
  kNoItem,   // something that is no item; what follows can be read
  kDamaged,  // nothing from here on can be read: the next answer is kEnd
  kEnd,
};

// Reads one record after another off a line.
class RecordParser {
 public:
  enum class Outcome { kItem, kNoItem, kDamaged, kNothing };

  virtual ~RecordParser() = default;
  // `text` has no line break at its end. Sets `used` to how much of it the record took (kNothing:
  // all), and `item` or `error`.
  virtual Outcome parse(std::string_view text, Item& item, Error& error, std::size_t& used) = 0;
  // Whether the record goes on in the line behind `line`, given whether it did in the one before.
  virtual bool goes_on(std::string_view /*line*/, bool /*went_on*/) const { return false; }
  // Whether the file's next line belongs to it, from wherever its records are wanted.
  virtual bool wants_header() const { return false; }
};

std::unique_ptr<RecordParser> make_parser(DataFormat format, const CsvOptions& csv);

class ItemReader {
 public:
  // Goes on behind `position`, which another reader of the same bytes had come to.
  ItemReader(std::unique_ptr<ByteSource> source, std::unique_ptr<RecordParser> parser,
             uint64_t position = 0);

  Found next();
  Item& item() { return item_; }                 // of kItem
  const Error& error() const { return error_; }  // of kNoItem and kDamaged
  // Unfolded bytes of the file up to the end of the last record.
  uint64_t position() const { return position_; }

 private:
  Found damaged();
  bool start();
  bool skip(uint64_t bytes);
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
  std::string buffer_;         // read, from begin_ on not yet taken
  std::size_t begin_ = 0;      // of the text that is next
  std::size_t line_end_ = 0;   // of that text
  std::size_t next_line_ = 0;  // behind the line break
  bool in_line_ = false;       // there is such a text
  bool source_ended_ = false;
  bool started_ = false;
  bool failed_ = false;
  bool ended_ = false;
  Item item_;
  Error error_;
};

Result<std::unique_ptr<ItemReader>> read_items(std::unique_ptr<ByteSource> source,
                                               DataFormat format, Compression compression,
                                               const CsvOptions& csv, uint64_t position = 0);

}  // namespace stator::transfer

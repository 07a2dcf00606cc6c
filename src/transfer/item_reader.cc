// SPDX-License-Identifier: Apache-2.0
#include "transfer/item_reader.h"

#include <algorithm>
#include <utility>

#include "transfer/csv_text.h"
#include "transfer/ion_text.h"
#include "transfer/json_lines.h"

namespace stator::transfer {
namespace {

constexpr std::size_t kChunkBytes = 128UL << 10;

}  // namespace

std::unique_ptr<RecordParser> make_parser(DataFormat format, const CsvOptions& csv,
                                          Conditions conditions) {
  switch (format) {
    case DataFormat::kDynamoDbJson:
      return std::make_unique<JsonLines>(conditions);
    case DataFormat::kIon:
      return std::make_unique<IonLines>(conditions);
    case DataFormat::kCsv:
      return std::make_unique<CsvRows>(csv);
  }
  return nullptr;
}

Result<std::unique_ptr<ItemReader>> read_items(std::unique_ptr<ByteSource> source,
                                               DataFormat format, Compression compression,
                                               const CsvOptions& csv, uint64_t position,
                                               Conditions conditions) {
  STATOR_ASSIGN_OR_RETURN(auto plain, unfolded(std::move(source), compression));
  return std::make_unique<ItemReader>(std::move(plain), make_parser(format, csv, conditions),
                                      position);
}

ItemReader::ItemReader(std::unique_ptr<ByteSource> source, std::unique_ptr<RecordParser> parser,
                       uint64_t position)
    : source_(std::move(source)), parser_(std::move(parser)), start_(position) {}

// The outcome if no more bytes can be read.
Found ItemReader::ended() {
  ended_ = true;
  if (!failed_ && position_ >= start_) return Found::kEnd;
  if (!failed_) {
    error_ = {.code = Code::kCorruption, .message = "input ends before the position to resume at"};
  }
  return Found::kDamaged;
}

// Reads more; false at the end or after an error.
bool ItemReader::fill() {
  if (source_ended_) return false;
  if (begin_ > kChunkBytes || begin_ == buffer_.size()) {
    buffer_.erase(0, begin_);
    line_end_ -= begin_;
    next_line_ -= begin_;
    begin_ = 0;
  }
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kChunkBytes);
  const auto count = source_->read({buffer_.data() + size, kChunkBytes});
  buffer_.resize(size + count.value_or(0));
  source_ended_ = !count || *count == 0;
  if (!count) {
    failed_ = true;
    error_ = count.error();
  }
  return !source_ended_;
}

// Appends one line to the text; false at the end or after an error.
bool ItemReader::extend_line() {
  for (std::size_t searched = next_line_;;) {
    const std::size_t found = buffer_.find('\n', searched);
    if (found != std::string::npos) {
      line_end_ = found;
      next_line_ = found + 1;
      break;
    }
    if (buffer_.size() - begin_ > kRecordBytesMax) {
      line_end_ = next_line_ = buffer_.size();
      break;
    }
    const std::size_t unsearched = buffer_.size() - begin_;
    if (fill()) {
      searched = begin_ + unsearched;
      continue;
    }
    if (failed_ || next_line_ == buffer_.size()) return false;
    line_end_ = next_line_ = buffer_.size();
    break;
  }
  if (line_end_ - begin_ <= kRecordBytesMax) return true;
  failed_ = true;
  error_ = {.code = Code::kCorruption, .message = "a line is too long"};
  return false;
}

// Reads the lines of the next record or records; false at the end or after an error.
bool ItemReader::read_text() {
  line_end_ = next_line_ = begin_;
  bool goes_on = false;
  do {
    const std::size_t read = next_line_ - begin_;
    if (!extend_line()) {
      if (goes_on && !failed_) {
        failed_ = true;
        error_ = {.code = Code::kCorruption, .message = "a quote is open at the end"};
      }
      return false;
    }
    goes_on = parser_->goes_on(text().substr(std::min(read, text().size())), goes_on);
  } while (goes_on);
  in_line_ = true;
  return true;
}

// Skips buffered bytes before the position to resume at, or reads more; false at the end or after
// an error.
bool ItemReader::skip_some() {
  const uint64_t buffered = buffer_.size() - begin_;
  const uint64_t skipped = std::min(start_ - position_, buffered);
  begin_ += static_cast<std::size_t>(skipped);
  position_ += skipped;
  line_end_ = next_line_ = begin_;
  return skipped > 0 || fill();
}

Found ItemReader::next() {
  if (ended_) return Found::kEnd;
  const uint64_t limit = position_ + kNothingBytesMax;
  while (position_ < limit) {
    if (position_ < start_ && !parser_->wants_header()) {
      if (!skip_some()) return ended();
      continue;
    }
    if (!in_line_ && !read_text()) return ended();
    std::size_t used = 0;
    const auto outcome = parser_->parse(text(), put_, error_, used);
    in_line_ = outcome != RecordParser::Outcome::kNothing && used < text().size();
    const std::size_t after = in_line_ ? begin_ + used : next_line_;
    position_ += after - begin_;
    begin_ = after;
    switch (outcome) {
      case RecordParser::Outcome::kItem:
        return Found::kItem;
      case RecordParser::Outcome::kNoItem:
        return Found::kNoItem;
      case RecordParser::Outcome::kDamaged:
        ended_ = true;
        return Found::kDamaged;
      case RecordParser::Outcome::kNothing:
        break;
    }
  }
  return Found::kNothing;
}

}  // namespace stator::transfer

// SPDX-License-Identifier: Apache-2.0
// ItemOutput: how items are printed for people, scripts and spreadsheets.
//
//   table     aligned columns, truncated; the default on a terminal
//   lines     one plain JSON object per line; the default otherwise
//   json      one array of plain JSON objects
//   dynamodb  one DynamoDB JSON object per line, which distinguishes sets and binary values
//   csv       RFC 4180, with a header line
//
// `table` and `csv` hold all items in memory until the end, because the last item can add a column.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "stator/client.h"

namespace CLI {
class App;
}

namespace stator::cli {

bool is_output_format(std::string_view text);
// Adds --output; `format` is empty if it is not given.
void add_output_flag(CLI::App& command, std::string& format);

class ItemOutput {
 public:
  // `first` are the columns that come before the others, such as keys.
  ItemOutput(std::FILE* file, const std::string& format, std::vector<std::string> first = {});
  ItemOutput(const ItemOutput&) = delete;
  ItemOutput& operator=(const ItemOutput&) = delete;
  ~ItemOutput();  // prints the rest

  void add(Item item);

 private:
  std::vector<std::string> columns() const;
  void print_table() const;
  void print_csv() const;

  std::FILE* file_;
  std::string format_;
  std::vector<std::string> first_;
  std::vector<Item> items_;  // only for table and csv
  int64_t count_ = 0;
};

// Strings unchanged, binary values as base64, other values as plain JSON.
std::string value_text(const AttributeValue& value);

// `rows`, the first of which is the header, in aligned columns. A cell wider than `cell_max`
// characters is truncated and ends in "…".
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t cell_max);

// The number of characters in UTF-8 text.
std::size_t width_of(std::string_view text);

}  // namespace stator::cli

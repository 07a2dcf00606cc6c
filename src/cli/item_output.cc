// SPDX-License-Identifier: Apache-2.0
#include "cli/item_output.h"
#include "api/json/item_json.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "api/wire/wire.h"
#include "base/utf8.h"
#include "cli/command.h"

namespace stator::cli {
namespace {

constexpr std::size_t kCellMax = 40;
constexpr std::array kFormats = {"table", "lines", "json", "dynamodb", "csv"};

// At most `most` characters, the last of which is "…" if any were left out.
std::string cut(std::string text, std::size_t most) {
  if (width_of(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end) {
    if (!is_utf8_continuation(text[end]) && kept++ == most - 1) break;
  }
  return text.substr(0, end) + "…";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_utf8_continuation));
}

std::string value_text(const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  const std::string object = wire::item_to_plain_json({{"v", value}});
  constexpr std::string_view kBefore = "{\"v\":";
  std::string text = object.substr(kBefore.size(), object.size() - kBefore.size() - 1);
  // Base64 is printed without quotes.
  const bool quoted = value.is<Binary>() && text.size() >= 2;
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t cell_max) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    auto& shown = cells.emplace_back();
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = one_line(row[i]);
      std::ranges::replace(cell, '\t', ' ');
      shown.push_back(cut(std::move(cell), cell_max));
      widths[i] = std::max(widths[i], width_of(shown.back()));
    }
  }
  std::string text;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

bool is_output_format(std::string_view text) {
  return std::ranges::find(kFormats, text) != kFormats.end();
}

void add_output_flag(CLI::App& command, std::string& format) {
  command
      .add_option("--output", format,
                  "How items are printed. Default: table on a terminal, lines (of JSON) otherwise")
      ->type_name("table|lines|json|dynamodb|csv")
      ->check(CLI::IsMember(std::vector<std::string>(kFormats.begin(), kFormats.end()))
                  .description(""));
}

ItemOutput::ItemOutput(std::FILE* file, const std::string& format, std::vector<std::string> first)
    : file_(file), format_(format), first_(std::move(first)) {
  if (format_.empty()) format_ = isatty(fileno(file)) == 1 ? "table" : "lines";
}

void ItemOutput::add(Item item) {
  ++count_;
  if (format_ == "table" || format_ == "csv") {
    items_.push_back(std::move(item));
    return;
  }
  std::string line =
      format_ == "dynamodb" ? wire::item_to_json(item) : wire::item_to_plain_json(item);
  if (format_ == "json") line.insert(0, count_ == 1 ? "[" : ",\n ");
  if (format_ != "json") line += '\n';
  std::fwrite(line.data(), 1, line.size(), file_);
}

std::vector<std::string> ItemOutput::columns() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const auto occurs = [&](const std::string& name) {
    return std::ranges::any_of(items_, [&](const Item& item) { return item.contains(name); });
  };
  for (const std::string& name : first_) {
    if (occurs(name)) add(name);
  }
  std::set<std::string, std::less<>> others;
  for (const Item& item : items_) {
    for (const auto& [name, value] : item) others.insert(name);
  }
  for (const std::string& name : others) add(name);
  return names;
}

void ItemOutput::print_table() const {
  if (items_.empty()) return;
  std::vector<std::vector<std::string>> rows = {columns()};
  for (const Item& item : items_) {
    auto& row = rows.emplace_back();
    for (const std::string& name : rows.front()) {
      const auto found = item.find(name);
      row.push_back(found == item.end() ? "" : value_text(found->second));
    }
  }
  const std::string text = aligned(rows, kCellMax);
  std::fwrite(text.data(), 1, text.size(), file_);
}

void ItemOutput::print_csv() const {
  const std::vector<std::string> names = columns();
  const auto print = [&](auto&& field_of) {
    std::string line;
    for (const std::string& name : names) {
      line += (line.empty() && &name == &names.front() ? "" : ",") + csv_field(field_of(name));
    }
    line += "\r\n";
    std::fwrite(line.data(), 1, line.size(), file_);
  };
  if (names.empty()) return;
  print([](const std::string& name) { return name; });
  for (const Item& item : items_) {
    print([&](const std::string& name) {
      const auto found = item.find(name);
      return found == item.end() ? "" : value_text(found->second);
    });
  }
}

ItemOutput::~ItemOutput() {
  if (format_ == "table") print_table();
  if (format_ == "csv") print_csv();
  if (format_ == "json") std::fputs(count_ == 0 ? "[]\n" : "]\n", file_);
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
#include "metrics/text.h"

#include <charconv>

namespace stator::metrics {
namespace {

template <class T>
std::string to_text(T value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

// Replaces bytes that are not printable ASCII with question marks, so that the text is always
// UTF-8.
void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') out.push_back('\\');
    out.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
}

void append_label(std::string& out, std::string_view name, std::string_view value, bool& first) {
  out.push_back(first ? '{' : ',');
  first = false;
  out.append(name).append("=\"");
  append_escaped(out, value);
  out.push_back('"');
}

}  // namespace

void Text::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void Text::write(std::string_view suffix, Labels labels, std::string_view bound,
                 std::string_view value) {
  text_.append(name_).append(suffix);
  bool first = true;
  for (const auto& [name, label] : labels) append_label(text_, name, label, first);
  if (!bound.empty()) append_label(text_, "le", bound, first);
  if (!first) text_.push_back('}');
  text_.append(" ").append(value).append("\n");
}

void Text::sample(Labels labels, uint64_t value) {
  write("", labels, "", to_text(value));
}

void Text::sample(Labels labels, double value) {
  write("", labels, "", to_text(value));
}

// The count is the sum of the buckets, so that they agree while requests are counted.
void Text::write_histogram(Labels labels, std::span<const uint64_t> bounds,
                           const Counters& counters, std::size_t first, double scale) {
  uint64_t count = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    count += counters.total(first + i);
    write("_bucket", labels, to_text(static_cast<double>(bounds[i]) / scale), to_text(count));
  }
  count += counters.total(first + bounds.size());
  write("_bucket", labels, "+Inf", to_text(count));
  const auto sum = static_cast<double>(counters.total(first + bounds.size() + 1));
  write("_sum", labels, "", to_text(sum / scale));
  write("_count", labels, "", to_text(count));
}

}  // namespace stator::metrics

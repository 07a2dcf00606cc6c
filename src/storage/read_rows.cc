// SPDX-License-Identifier: Apache-2.0
#include "storage/read_rows.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace stator {
namespace {

class RowReader {
 public:
  RowReader(ReadView& view, ReadRequest request) : view_(view), request_(std::move(request)) {
    STATOR_CHECK(request_.rows_max > 0 && request_.bytes_max > 0);
  }

  Result<ReadResult> run() {
    result_.values.reserve(std::min(request_.keys.size(), request_.rows_max));
    for (; keys_ < request_.keys.size() && !is_full(); ++keys_) {
      STATOR_RETURN_IF_ERROR(read_key(request_.keys[keys_]));
    }
    for (; ranges_ < request_.ranges.size() && !is_full(); ++ranges_) {
      STATOR_ASSIGN_OR_RETURN(const bool complete, read_range(request_.ranges[ranges_]));
      if (!complete) break;
    }
    if (keys_ < request_.keys.size() || ranges_ < request_.ranges.size()) leave_rest();
    return std::move(result_);
  }

 private:
  bool is_full() const { return rows_ >= request_.rows_max || bytes_ >= request_.bytes_max; }

  Result<void> read_key(const std::string& key) {
    std::optional<std::string>& value = result_.values.emplace_back();
    STATOR_RETURN_IF_ERROR(view_.get(key, [&](std::string_view found) { value = found; }));
    ++rows_;
    if (value) bytes_ += key.size() + value->size();
    return {};
  }

  // False: a limit ended it, and the range begins behind its last row.
  Result<bool> read_range(RangeRead& wanted) {
    std::vector<StoredRow>& rows = result_.ranges.emplace_back();
    const ScanOptions options{.range = wanted.range,
                              .direction = wanted.direction,
                              .expected_rows = request_.rows_max - rows_};
    STATOR_RETURN_IF_ERROR(view_.scan(options, [&](std::string_view key, std::string_view value) {
      rows.push_back({std::string(key), std::string(value)});
      ++rows_;
      bytes_ += key.size() + value.size();
      return !is_full();
    }));
    if (rows.empty() || !is_full()) return true;
    if (wanted.direction == Direction::kForward) {
      wanted.range.begin = rows.back().key + '\0';
      return !wanted.range.end.empty() && wanted.range.begin >= wanted.range.end;
    }
    wanted.range.end = rows.back().key;
    return wanted.range.end <= wanted.range.begin;
  }

  void leave_rest() {
    ReadRequest& rest = result_.rest.emplace(std::move(request_));
    rest.keys.erase(rest.keys.begin(), rest.keys.begin() + static_cast<std::ptrdiff_t>(keys_));
    rest.ranges.erase(rest.ranges.begin(),
                      rest.ranges.begin() + static_cast<std::ptrdiff_t>(ranges_));
  }

  ReadView& view_;
  ReadRequest request_;
  ReadResult result_;
  std::size_t keys_ = 0;    // read
  std::size_t ranges_ = 0;  // read to their ends
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<ReadResult> read_rows(ReadView& view, ReadRequest request) {
  return RowReader(view, std::move(request)).run();
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// A range is read in pages, all in one transaction, so that they show one state. The transaction
// begins in the pipeline of the first page. It ends in a pipeline whose results are ignored.
#include "storage/postgres/reading.h"

#include <algorithm>
#include <utility>

#include "base/prefix_end.h"
#include "storage/postgres/row_key.h"

namespace stator::postgres {
namespace {

constexpr std::size_t kRowsFirst = 32;      // of a page, if the caller does not set a limit
constexpr std::size_t kRowsFirstMax = 128;  // before the rows' sizes are known
constexpr std::size_t kRowsMax = 2048;
constexpr std::size_t kPageBytes = 1UL << 20;
constexpr std::size_t kRangesAhead = 16;  // number of ranges whose first pages are read together
constexpr std::size_t kDropRows = 1000;

bool is_empty(const KeyRange& range) {
  return !range.end.empty() && range.end <= range.begin;
}

// Reports whether all keys of the range have the same p.
bool is_in_partition(const KeyRange& range) {
  if (range.begin.size() < kPartitionBytes || range.end.empty()) return false;
  const RowKey begin(range.begin);
  return RowKey(range.end).p == begin.p || range.end == prefix_end(begin.p);
}

void send_page(Connection& connection, const KeyRange& range, Direction direction,
               std::size_t limit) {
  const RowKey begin(range.begin);
  const RowKey end(range.end);
  const bool in_partition = is_in_partition(range);
  const bool to_end = in_partition ? end.p != begin.p : range.end.empty();
  const auto kind = static_cast<std::size_t>(Statement::kScan) + (in_partition ? 4 : 0) +
                    (direction == Direction::kBackward ? 2 : 0) + (to_end ? 1 : 0);
  Parameters parameters;
  parameters.bytes(begin.p).bytes(begin.s);
  if (!to_end && !in_partition) parameters.bytes(end.p);
  if (!to_end) parameters.bytes(end.s);
  parameters.int4(static_cast<int32_t>(limit));
  connection.send(static_cast<Statement>(kind), parameters);
}

std::size_t first_limit(const RangeRead& read) {
  if (read.expected_rows == 0) return kRowsFirst;
  return std::min(read.expected_rows + 1, kRowsFirstMax);
}

SqlResult<Rows> next_rows(Connection& connection) {
  connection.end();
  auto rows = connection.results();
  if (!rows) return std::unexpected(std::move(rows).error());
  return std::move(rows->back());
}

// Visits the rows of a range, beginning with its first page. Returns whether `visit` wants more.
SqlResult<bool> visit_range(Connection& connection, const RangeRead& read, Rows page,
                            RowVisitor visit) {
  std::size_t limit = first_limit(read);
  KeyRange rest = read.range;
  std::string key;
  std::size_t rows = 0;
  std::size_t bytes = 0;
  for (;;) {
    const auto count = static_cast<std::size_t>(page.count());
    for (int row = 0; row < page.count(); ++row) {
      const std::string_view value = page.bytes(row, 2);
      key.assign(page.bytes(row, 0)).append(page.bytes(row, 1));
      bytes += key.size() + value.size();
      if (!visit(key, value)) return false;
    }
    if (count < limit) return true;
    rows += count;
    limit = std::clamp<std::size_t>(kPageBytes * rows / std::max<std::size_t>(bytes, 1), 1,
                                    std::min(kRowsMax, 4 * limit));
    if (read.direction == Direction::kForward) {
      rest.begin = key + '\0';
    } else {
      rest.end = key;
    }
    if (is_empty(rest)) return true;
    send_page(connection, rest, read.direction, limit);
    auto next = next_rows(connection);
    if (!next) return std::unexpected(std::move(next).error());
    page = std::move(*next);
  }
}

struct KeyArrays {
  ArrayValue p{ElementType::kBytea};
  ArrayValue s{ElementType::kBytea};
  void add(std::string_view key) {
    const RowKey row(key);
    p.add_bytes(row.p);
    s.add_bytes(row.s);
  }
};

void send_keys(Connection& connection, std::span<const std::string> keys) {
  if (keys.size() == 1) {
    const RowKey row(keys[0]);
    return connection.send(Statement::kGet, Parameters().bytes(row.p).bytes(row.s));
  }
  KeyArrays arrays;
  for (const std::string& key : keys) arrays.add(key);
  connection.send(Statement::kGetMany, Parameters().array(arrays.p).array(arrays.s));
}

// Returns whether `visit` wants more. A single absent key has no row; one of several has a null.
bool visit_keys(std::span<const std::string> keys, const Rows& rows, ReadVisitor visit) {
  for (int row = 0; row < rows.count(); ++row) {
    const auto part = static_cast<std::size_t>(row);
    if (!rows.is_null(row, 0) && !visit(part, keys[part], rows.bytes(row, 0))) return false;
  }
  return true;
}

// Visits ranges whose first pages are `pages`. `part`: the number of the first range.
SqlResult<bool> visit_ranges(Connection& connection, std::span<const RangeRead> ranges,
                             std::span<Rows> pages, std::size_t part, ReadVisitor visit) {
  std::size_t next = 0;
  for (const RangeRead& read : ranges) {
    if (!is_empty(read.range)) {
      auto more = visit_range(
          connection, read, std::move(pages[next++]),
          [&](std::string_view key, std::string_view value) { return visit(part, key, value); });
      if (!more || !*more) return more;
    }
    ++part;
  }
  return true;
}

SqlResult<void> read_in_transaction(Connection& connection, const ReadRequest& request,
                                    ReadVisitor visit) {
  connection.send(Statement::kBeginReadOnly);
  if (!request.keys.empty()) send_keys(connection, request.keys);
  for (std::size_t from = 0; from < request.ranges.size(); from += kRangesAhead) {
    const auto ranges =
        request.ranges.subspan(from, std::min(kRangesAhead, request.ranges.size() - from));
    for (const RangeRead& read : ranges) {
      if (!is_empty(read.range)) {
        send_page(connection, read.range, read.direction, first_limit(read));
      }
    }
    connection.end();
    auto rows = connection.results();
    if (!rows) return std::unexpected(std::move(rows).error());
    std::span<Rows> pages(*rows);
    if (from == 0) {
      pages = pages.subspan(1);
      if (!request.keys.empty()) {
        if (!visit_keys(request.keys, pages[0], visit)) return {};
        pages = pages.subspan(1);
      }
    }
    const auto more = visit_ranges(connection, ranges, pages, request.keys.size() + from, visit);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

}  // namespace

SqlResult<void> read_request(Connection& connection, const ReadRequest& request, ReadVisitor visit,
                             bool& visited) {
  const auto noted = [&](std::size_t part, std::string_view key, std::string_view value) {
    visited = true;
    return visit(part, key, value);
  };
  if (!request.ranges.empty()) {
    auto done = read_in_transaction(connection, request, noted);
    connection.send(done ? Statement::kCommit : Statement::kRollback);
    connection.end_and_ignore();
    return done;
  }
  if (request.keys.empty()) return {};
  send_keys(connection, request.keys);
  const auto rows = next_rows(connection);
  if (!rows) return std::unexpected(rows.error());
  visit_keys(request.keys, *rows, noted);
  return {};
}

SnapshotView::~SnapshotView() {
  if (!begun_) return;
  connection_.roll_back();
}

void SnapshotView::begin() {
  if (!std::exchange(begun_, true)) connection_.send(Statement::kBeginReadOnly);
}

Result<bool> SnapshotView::get(std::string_view key, ValueVisitor visit) {
  begin();
  const RowKey row(key);
  connection_.send(Statement::kGet, Parameters().bytes(row.p).bytes(row.s));
  const auto rows = next_rows(connection_);
  if (!rows) return Failure(to_error(rows.error()));
  if (rows->count() == 0) return false;
  visit(rows->bytes(0, 0));
  return true;
}

Result<void> SnapshotView::scan(const RangeRead& range, RowVisitor visit) {
  if (is_empty(range.range)) return {};
  begin();
  send_page(connection_, range.range, range.direction, first_limit(range));
  auto page = next_rows(connection_);
  if (!page) return Failure(to_error(page.error()));
  const auto done = visit_range(connection_, range, std::move(*page), visit);
  if (!done) return Failure(to_error(done.error()));
  return {};
}

void send_versioned(Connection& connection, std::span<const std::string_view> keys) {
  KeyArrays arrays;
  for (const std::string_view key : keys) arrays.add(key);
  connection.send(Statement::kGetVersioned, Parameters().array(arrays.p).array(arrays.s));
}

std::vector<VersionedRow> versioned_rows(const Rows& rows) {
  std::vector<VersionedRow> found(static_cast<std::size_t>(rows.count()));
  for (int row = 0; row < rows.count(); ++row) {
    if (rows.is_null(row, 0)) continue;
    found[static_cast<std::size_t>(row)] = {.version = static_cast<int64_t>(rows.number(row, 0)),
                                            .value = std::string(rows.bytes(row, 1))};
  }
  return found;
}

SqlResult<std::optional<std::string>> drop_chunk(Connection& connection, const KeyRange& range) {
  if (is_empty(range)) return std::nullopt;
  const RowKey begin(range.begin);
  const RowKey end(range.end);
  Parameters parameters;
  parameters.bytes(begin.p).bytes(begin.s);
  if (!range.end.empty()) parameters.bytes(end.p).bytes(end.s);
  parameters.int4(kDropRows);
  const auto rows =
      connection.execute(range.end.empty() ? Statement::kDropToEnd : Statement::kDrop, parameters);
  if (!rows) return std::unexpected(rows.error());
  if (rows->count() == 0) return std::nullopt;
  return std::string(rows->bytes(0, 0)).append(rows->bytes(0, 1));
}

}  // namespace stator::postgres

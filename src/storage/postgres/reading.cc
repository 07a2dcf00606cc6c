// SPDX-License-Identifier: Apache-2.0
// A range is read in pages, all in one transaction, so that they show one state. The transaction
// begins in the pipeline of the first page. It ends in a pipeline whose results are ignored.
//
// Most queries need one page. A request that can start over is read with one statement first, which
// saves the statements of the transaction and the second pipeline, unless the last range had more
// rows than such a page.
#include "storage/postgres/reading.h"

#include <algorithm>
#include <utility>

#include "base/prefix_end.h"
#include "storage/postgres/row_key.h"

namespace stator::postgres {
namespace {

// The first page of a range, before the sizes of its rows are known; the first of all if nobody
// expects a number of rows.
constexpr std::size_t kRowsFirstMax = 128;
constexpr std::size_t kRowsUnknown = 32;
constexpr std::size_t kRowsMax = 2048;
constexpr std::size_t kRowsOfMany = 4 * kRowsFirstMax;  // if more than a first page are expected
constexpr std::size_t kPageBytes = 1UL << 20;
constexpr std::size_t kRangesAhead = 16;  // number of ranges whose first pages are read together
constexpr std::size_t kDropRows = 1000;

bool is_empty(const KeyRange& range) {
  return !range.end.empty() && range.end <= range.begin;
}

// Whether all keys of the range have the same p.
bool is_in_partition(const KeyRange& range) {
  if (range.begin.size() < kPartitionBytes || range.end.empty()) return false;
  const RowKey begin(range.begin);
  return RowKey(range.end).p == begin.p || range.end == prefix_end(begin.p);
}

// With `key`, the row of that key comes first.
void send_page(Connection& connection, const KeyRange& range, Direction direction,
               std::size_t limit, const std::string* key = nullptr) {
  const RowKey begin(range.begin);
  const RowKey end(range.end);
  const bool in_partition = is_in_partition(range);
  const bool to_end = in_partition ? end.p != begin.p : range.end.empty();
  const Statement first = key != nullptr ? Statement::kGetAndScan
                          : in_partition ? Statement::kScanPartition
                                         : Statement::kScan;
  const auto kind = static_cast<std::size_t>(first) + (direction == Direction::kBackward ? 2 : 0) +
                    (to_end ? 1 : 0);
  Parameters parameters;
  if (key != nullptr) parameters.bytes(RowKey(*key).p).bytes(RowKey(*key).s);
  parameters.bytes(begin.p).bytes(begin.s);
  if (!to_end && !in_partition) parameters.bytes(end.p);
  if (!to_end) parameters.bytes(end.s);
  parameters.int4(static_cast<int32_t>(limit));
  connection.send(static_cast<Statement>(kind), parameters);
}

// Assumes that the rows are as large as those of the previous range.
std::size_t first_limit(const Connection& connection, const RangeRead& read,
                        std::size_t rows_max = kRowsFirstMax) {
  const std::size_t row_bytes = connection.usual_row_bytes;
  const std::size_t most =
      row_bytes == 0 ? rows_max : std::clamp<std::size_t>(kPageBytes / row_bytes, 1, rows_max);
  if (read.expected_rows > 0) return std::min(read.expected_rows + 1, most);
  return row_bytes == 0 ? kRowsUnknown : most;
}

SqlResult<Rows> next_rows(Connection& connection) {
  connection.end();
  auto rows = connection.results();
  if (!rows) return std::unexpected(std::move(rows).error());
  return std::move(rows->back());
}

constexpr int kValueColumn = 2;

// The visits to the rows of a range. Notes their usual size for later reads of the connection.
class RangeVisit {
 public:
  // Borrows both.
  RangeVisit(Connection& connection, RowVisitor visit) : connection_(connection), visit_(visit) {}

  // Visits the rows of a page that was sent for `range`, from the row number `first` on. Returns
  // whether the visitor wants more.
  bool visit_page(const Rows& page, const KeyRange& range, int first = 0) {
    std::string_view partition;  // the p of all rows, which they lack
    if (is_in_partition(range)) partition = RowKey(range.begin).p;
    bool more = true;
    for (int row = first; more && row < page.count(); ++row) {
      const std::string_view value = page.bytes(row, kValueColumn);
      key_.assign(partition.empty() ? page.bytes(row, 0) : partition).append(page.bytes(row, 1));
      bytes_ += key_.size() + value.size();
      ++rows_;
      more = visit_(key_, value);
    }
    if (rows_ > 0) connection_.usual_row_bytes = row_bytes();
    connection_.usual_rows = rows_;
    return more;
  }

  const std::string& last_key() const { return key_; }
  // The average. Requires a row.
  std::size_t row_bytes() const { return std::max<std::size_t>(bytes_ / rows_, 1); }

 private:
  Connection& connection_;
  const RowVisitor visit_;
  std::string key_;
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
};

// Visits the rows of a range from its first page on, which has up to `limit` rows. Returns whether
// `visit` wants more.
SqlResult<bool> visit_range(Connection& connection, const RangeRead& read, std::size_t limit,
                            Rows page, RowVisitor visit) {
  KeyRange rest = read.range;
  RangeVisit visits(connection, visit);
  for (;;) {
    const auto count = static_cast<std::size_t>(page.count());
    const bool more = visits.visit_page(page, rest);
    if (!more) return false;
    if (count < limit) return true;
    limit =
        std::clamp<std::size_t>(kPageBytes / visits.row_bytes(), 1, std::min(kRowsMax, 4 * limit));
    if (read.direction == Direction::kForward) {
      rest.begin = visits.last_key() + '\0';
    } else {
      rest.end = visits.last_key();
    }
    if (is_empty(rest)) return true;
    send_page(connection, rest, read.direction, limit);
    auto next = next_rows(connection);
    if (!next) return std::unexpected(std::move(next).error());
    page = std::move(*next);
  }
}

// A range whose first page was sent for.
struct SentRange {
  const RangeRead& read;
  std::size_t part;  // its number in the request
  std::size_t limit;
};

// Visits ranges with their first pages.
SqlResult<bool> visit_ranges(Connection& connection, std::span<const SentRange> ranges,
                             std::span<Rows> pages, ReadVisitor visit) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& [read, part, limit] = ranges[i];
    auto more = visit_range(connection, read, limit, std::move(pages[i]),
                            [&, part](std::string_view key, std::string_view value) {
                              return visit(part, key, value);
                            });
    if (!more || !*more) return more;
  }
  return true;
}

// Whether a page of its only range, with its only key, can be read with one statement.
bool can_be_one_statement(const ReadRequest& request) {
  return request.start_over && request.keys.size() == 1 && request.ranges.size() == 1 &&
         is_in_partition(request.ranges[0].range) && !is_empty(request.ranges[0].range);
}

// Whether its only range probably has more rows than a first page.
bool has_many_rows(const Connection& connection, const ReadRequest& request) {
  if (request.ranges.size() != 1 || connection.usual_rows <= kRowsFirstMax) return false;
  const std::size_t expected = request.ranges[0].expected_rows;
  return expected == 0 || expected > kRowsFirstMax;
}

// Returns whether this was all that `visit` wants.
SqlResult<bool> read_in_one_statement(Connection& connection, const ReadRequest& request,
                                      ReadVisitor visit) {
  const std::string& key = request.keys[0];
  const RangeRead& read = request.ranges[0];
  const std::size_t limit = first_limit(connection, read);
  send_page(connection, read.range, read.direction, limit, &key);
  const auto rows = next_rows(connection);
  if (!rows) return std::unexpected(rows.error());
  if (!rows->is_null(0, kValueColumn) && !visit(0, key, rows->bytes(0, kValueColumn))) return true;
  const auto visit_row = [&](std::string_view row, std::string_view value) {
    return visit(1, row, value);
  };
  RangeVisit visits(connection, visit_row);
  const bool more = visits.visit_page(*rows, read.range, 1);
  return !more || static_cast<std::size_t>(rows->count()) <= limit;
}

// `rows_max`: limit of the first page of each range.
SqlResult<void> read_in_transaction(Connection& connection, const ReadRequest& request,
                                    ReadVisitor visit, std::size_t rows_max) {
  connection.send(Statement::kBeginReadOnly);
  SentKeys keys;
  for (const std::string& key : request.keys) keys.add(key);
  if (keys.count() > 0) keys.send(connection);
  for (std::size_t from = 0; from < request.ranges.size(); from += kRangesAhead) {
    const std::size_t end = std::min(from + kRangesAhead, request.ranges.size());
    std::vector<SentRange> sent;
    for (std::size_t i = from; i < end; ++i) {
      const RangeRead& read = request.ranges[i];
      if (is_empty(read.range)) continue;
      const std::size_t limit = first_limit(connection, read, rows_max);
      send_page(connection, read.range, read.direction, limit);
      sent.push_back({read, request.keys.size() + i, limit});
    }
    connection.end();
    auto rows = connection.results();
    if (!rows) return std::unexpected(std::move(rows).error());
    std::span<Rows> pages(*rows);
    if (from == 0) {
      pages = pages.subspan(1);
      if (keys.count() > 0) {
        if (!visit_keys(request.keys, keys.rows(pages[0]), visit)) return {};
        pages = pages.subspan(1);
      }
    }
    const auto more = visit_ranges(connection, sent, pages, visit);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

// Returns the error of the statement.
std::optional<Error> try_keys(Session& session, std::span<const std::unique_ptr<KeyRead>> reads) {
  SentKeys keys;
  for (const auto& read : reads) {
    for (std::size_t i = 0; i < read->key_count(); ++i) keys.add(read->key(i));
  }
  const auto rows = session.read([&](Connection& connection) {
    keys.send(connection);
    return next_rows(connection);
  });
  if (!rows) return rows.error();
  std::size_t first = 0;
  for (const auto& read : reads) {
    const std::size_t count = read->key_count();
    read->finish(keys.rows(*rows, first, count));
    first += count;
  }
  return std::nullopt;
}

}  // namespace

bool visit_keys(std::span<const std::string> keys, const KeyRows& rows, ReadVisitor visit) {
  for (std::size_t part = 0; part < keys.size(); ++part) {
    if (rows.is_present(part) && !visit(part, keys[part], rows.value(part))) return false;
  }
  return true;
}

void read_keys(Session& session, std::span<const std::unique_ptr<KeyRead>> reads) {
  const auto failed = try_keys(session, reads);
  if (!failed) return;
  if (reads.size() == 1 || !session.is_connected()) {
    for (const auto& read : reads) read->finish(Failure(*failed));
    return;
  }
  for (std::size_t i = 0; i < reads.size(); ++i) read_keys(session, reads.subspan(i, 1));
}

void SentKeys::add(std::string_view borrowed) {
  const auto [found, added] = found_.try_emplace(borrowed, static_cast<int>(different_.size()));
  if (added) different_.push_back(borrowed);
  numbers_.push_back(found->second);
}

void SentKeys::send(Connection& connection) const {
  if (!different_.empty() && different_.size() <= kFewKeys) {
    Parameters parameters;
    for (const std::string_view key : different_) {
      const RowKey row(key);
      parameters.bytes(row.p).bytes(row.s);
    }
    return connection.send(get_few(different_.size()), parameters);
  }
  ArrayValue p(ElementType::kBytea);
  ArrayValue s(ElementType::kBytea);
  for (const std::string_view key : different_) {
    const RowKey row(key);
    p.add_bytes(row.p);
    s.add_bytes(row.s);
  }
  connection.send(Statement::kGetMany, Parameters().array(p).array(s));
}

SqlResult<void> read_ranges(Connection& connection, const ReadRequest& request, ReadVisitor visit,
                            bool& visited) {
  const auto note = [&](std::size_t part, std::string_view key, std::string_view value) {
    visited = true;
    return visit(part, key, value);
  };
  bool has_many = has_many_rows(connection, request);
  if (!has_many && can_be_one_statement(request)) {
    const auto complete = read_in_one_statement(connection, request, note);
    if (!complete) return std::unexpected(complete.error());
    if (*complete) return {};
    (*request.start_over)();
    visited = false;
    has_many = true;
  }
  auto done =
      read_in_transaction(connection, request, note, has_many ? kRowsOfMany : kRowsFirstMax);
  connection.send(done ? Statement::kCommit : Statement::kRollback);
  connection.end_and_ignore();
  return done;
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

Result<void> SnapshotView::get_many(std::span<const std::string> keys, ReadVisitor visit) {
  if (keys.empty()) return {};
  begin();
  SentKeys sent;
  for (const std::string& key : keys) sent.add(key);
  sent.send(connection_);
  const auto rows = next_rows(connection_);
  if (!rows) return Failure(to_error(rows.error()));
  visit_keys(keys, sent.rows(*rows), visit);
  return {};
}

Result<void> SnapshotView::scan(const RangeRead& range, RowVisitor visit) {
  if (is_empty(range.range)) return {};
  begin();
  const std::size_t limit = first_limit(connection_, range);
  send_page(connection_, range.range, range.direction, limit);
  auto page = next_rows(connection_);
  if (!page) return Failure(to_error(page.error()));
  const auto done = visit_range(connection_, range, limit, std::move(*page), visit);
  if (!done) return Failure(to_error(done.error()));
  return {};
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

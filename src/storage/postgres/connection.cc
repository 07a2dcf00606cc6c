// SPDX-License-Identifier: Apache-2.0
// After connecting, libpq does not block: receive_result() sends and receives until a result is
// complete. So an unresponsive server costs at most response_timeout.
#include "storage/postgres/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>
#include <utility>

#include "storage/postgres/libpq_library.h"

namespace stator::postgres {
namespace {

constexpr const char* kOutOfMemoryState = "53200";

// libpq's message has a line for each host. Further explanations, which begin with a tab, are left
// out.
std::string one_line(const char* text) {
  std::string line;
  for (const auto part : std::views::split(std::string_view(text == nullptr ? "" : text), '\n')) {
    const std::string_view next(part.begin(), part.end());
    if (next.empty() || next.front() == '\t') continue;
    line.append(line.empty() ? "" : "; ").append(next);
  }
  return line;
}

SqlError error_of(const PGresult* result) {
  const char* const state = libpq().error_field(result, PG_DIAG_SQLSTATE);
  return {.state = state == nullptr ? kLostState : state,
          .message = one_line(libpq().error_field(result, PG_DIAG_MESSAGE_PRIMARY))};
}

// Reports whether the transaction can succeed if it is repeated.
bool is_conflict(const SqlError& error) {
  return error.state == "40001" || error.state == "40P01" || error.state == "55P03";
}

// Reports whether the server is shutting down or is no longer the primary. A new connection can
// then lead to the new primary.
bool ends_connection(const SqlError& error) {
  return error.state.starts_with("08") || error.state.starts_with("57P") ||
         error.state == kReadOnlyState;
}

}  // namespace

bool is_schema_name(std::string_view name) {
  constexpr std::size_t kBytesMax = 63;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kBytesMax && std::ranges::all_of(name, is_plain) &&
         (name[0] < '0' || name[0] > '9');
}

Error to_error(const SqlError& error) {
  if (error.state == kOutOfMemoryState && error.message.contains("shared memory")) {
    return {.code = Code::kUnavailable,
            .message =
                "PostgreSQL's table of locks is full; raise max_locks_per_transaction and "
                "restart PostgreSQL"};
  }
  Code code = error.state.starts_with("XX00") ? Code::kCorruption : Code::kUnavailable;
  if (is_conflict(error)) code = Code::kConflict;
  return {.code = code, .message = fmt::format("PostgreSQL: {} ({})", error.message, error.state)};
}

void Rows::Clear::operator()(pg_result* result) const {
  libpq().clear(result);
}

int Rows::count() const {
  return libpq().row_count(result_.get());
}

int Rows::columns() const {
  return libpq().column_count(result_.get());
}

bool Rows::is_null(int row, int column) const {
  return libpq().is_null(result_.get(), row, column) != 0;
}

std::string_view Rows::bytes(int row, int column) const {
  return {libpq().value(result_.get(), row, column),
          static_cast<std::size_t>(libpq().length(result_.get(), row, column))};
}

std::vector<std::optional<std::string_view>> Rows::elements(int row, int column) const {
  constexpr std::size_t kHeaderBytes = 20;
  constexpr uint32_t kNull = 0xffff'ffff;
  std::vector<std::optional<std::string_view>> elements;
  if (is_null(row, column)) return elements;
  const std::string_view encoded = bytes(row, column);
  for (std::size_t at = kHeaderBytes; at < encoded.size();) {
    const auto length = static_cast<uint32_t>(read_big_endian(encoded.substr(at, 4)));
    at += 4;
    if (length == kNull) {
      elements.emplace_back();
    } else {
      elements.emplace_back(encoded.substr(at, length));
      at += length;
    }
  }
  return elements;
}

std::vector<int32_t> Rows::numbers(int row, int column) const {
  std::vector<int32_t> numbers;
  for (const auto& element : elements(row, column)) {
    numbers.push_back(static_cast<int32_t>(read_big_endian(*element)));
  }
  return numbers;
}

std::vector<std::optional<std::string>> Rows::texts(int row, int column) const {
  std::vector<std::optional<std::string>> texts;
  for (const auto& element : elements(row, column)) {
    texts.push_back(element ? std::optional<std::string>(*element) : std::nullopt);
  }
  return texts;
}

void Connection::Finish::operator()(pg_conn* connection) const {
  libpq().finish(connection);
}

Connection::~Connection() = default;

SqlResult<std::unique_ptr<Connection>> Connection::connect(const ConnectionOptions& options,
                                                           bool read_write) {
  std::unique_ptr<Connection> connection(new Connection(options));
  // The names before dbname are defaults, which the connection string can replace.
  const std::array<const char*, 7> names{"application_name",
                                         "connect_timeout",
                                         "keepalives_idle",
                                         "tcp_user_timeout",
                                         "target_session_attrs",
                                         "dbname",
                                         nullptr};
  const std::string user_timeout = std::to_string(options.response_timeout.count());
  const std::array<const char*, 7> values{"stator",
                                          "5",
                                          "10",
                                          user_timeout.c_str(),
                                          read_write ? "read-write" : "any",
                                          options.dsn.c_str(),
                                          nullptr};
  connection->connection_.reset(libpq().connect(names.data(), values.data(), 1));
  PGconn* const raw = connection->connection_.get();
  if (raw == nullptr) return std::unexpected(connection->lost("out of memory"));
  if (libpq().status(raw) != CONNECTION_OK) return std::unexpected(connection->lost());
  if (libpq().set_nonblocking(raw, 1) != 0) return std::unexpected(connection->lost());
  libpq().set_notice_receiver(raw, notice, connection.get());
  return connection;
}

SqlResult<Rows> Connection::run_script(const std::string& sql) {
  PGconn* const raw = connection_.get();
  if (libpq().send_query(raw, sql.c_str()) == 0) return std::unexpected(lost());
  std::optional<SqlError> failed;
  Rows last(nullptr);
  while (receive_result()) {
    PGresult* const result = libpq().get_result(raw);
    if (result == nullptr) {
      if (libpq().status(raw) == CONNECTION_BAD) break;
      if (failed) return std::unexpected(std::move(*failed));
      return last;
    }
    last = Rows(result);
    const ExecStatusType status = libpq().result_status(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) failed = error_of(result);
  }
  return std::unexpected(lost());
}

void Connection::prepare(Statement statement) {
  if (broken_) return;
  if (!std::exchange(in_pipelines_, true) && libpq().enter_pipeline_mode(connection_.get()) == 0) {
    lost();
    return;
  }
  const StatementText& text = statement_text(statement);
  if (libpq().send_prepare(connection_.get(), text.name.c_str(), text.sql.c_str(), 0, nullptr) ==
      0) {
    lost();
  }
}

void Connection::send(Statement statement, const Parameters& parameters) {
  if (broken_) return;
  static constexpr int kBinary = 1;
  static constexpr auto kFormats = [] {
    std::array<int, Parameters::kMax> formats{};
    formats.fill(kBinary);
    return formats;
  }();
  if (libpq().send_prepared(connection_.get(), statement_text(statement).name.c_str(),
                            parameters.count(), parameters.values(), parameters.lengths(),
                            kFormats.data(), kBinary) == 0) {
    lost();
  }
}

void Connection::end() {
  if (broken_) return;
  if (libpq().pipeline_sync(connection_.get()) == 0) lost();
  ++pending_;
}

void Connection::end_and_ignore() {
  end();
  ignored_ = pending_;
}

void Connection::roll_back() {
  send(Statement::kRollback);
  end_and_ignore();
}

SqlResult<std::vector<Rows>> Connection::results() {
  std::vector<Rows> rows;
  std::optional<SqlError> failed;
  while (!broken_ && pending_ > 0) {
    if (!receive_result()) break;
    PGresult* const result = libpq().get_result(connection_.get());
    if (result == nullptr) {
      if (libpq().status(connection_.get()) == CONNECTION_BAD) lost();
      continue;  // the end of a statement
    }
    Rows received(result);
    switch (libpq().result_status(result)) {
      case PGRES_PIPELINE_SYNC:
        --pending_;
        if (ignored_ > 0) {
          --ignored_;
          rows.clear();
          continue;
        }
        if (failed) return std::unexpected(std::move(*failed));
        return rows;
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        rows.push_back(std::move(received));
        break;
      case PGRES_PIPELINE_ABORTED:
        break;
      default: {
        SqlError error = error_of(result);
        if (ends_connection(error) || libpq().status(connection_.get()) == CONNECTION_BAD) {
          lost(error.message);
          return std::unexpected(std::move(error));
        }
        if (!failed && ignored_ == 0) failed = std::move(error);
      }
    }
  }
  return std::unexpected(SqlError{.state = kLostState, .message = lost_message_});
}

SqlResult<Rows> Connection::execute(Statement statement, const Parameters& parameters) {
  send(statement, parameters);
  end();
  auto rows = results();
  if (!rows) return std::unexpected(std::move(rows).error());
  return std::move(rows->front());
}

bool Connection::is_usable() {
  if (broken_ || libpq().status(connection_.get()) != CONNECTION_OK) return false;
  pollfd ready{.fd = libpq().socket(connection_.get()), .events = POLLIN, .revents = 0};
  // Unrequested bytes: the results of an ignored pipeline, or a last message and the end of the
  // connection.
  while (!broken_ && poll(&ready, 1, 0) != 0) {
    if (libpq().consume_input(connection_.get()) == 0) lost();
    if (pending_ == 0 && libpq().is_busy(connection_.get()) == 0) {
      static_cast<void>(libpq().get_result(connection_.get()));
    }
    if (libpq().status(connection_.get()) != CONNECTION_OK) lost();
  }
  return !broken_;
}

bool Connection::responds_within(std::chrono::milliseconds timeout) {
  return broken_ || wait_for_result(timeout);
}

bool Connection::wait_for_result(std::chrono::milliseconds timeout) {
  PGconn* const raw = connection_.get();
  for (;;) {
    const int unsent = libpq().flush(raw);
    if (unsent < 0) break;
    if (libpq().is_busy(raw) == 0) return true;
    pollfd ready{.fd = libpq().socket(raw),
                 .events = static_cast<int16_t>(unsent > 0 ? POLLIN | POLLOUT : POLLIN),
                 .revents = 0};
    const int count = poll(&ready, 1, static_cast<int>(timeout.count()));
    if (count == 0) return false;
    if (count > 0 && (ready.revents & ~POLLOUT) != 0 && libpq().consume_input(raw) == 0) break;
  }
  lost();
  return true;
}

// Returns false if the connection broke.
bool Connection::receive_result() {
  if (!wait_for_result(response_timeout_)) {
    lost(fmt::format("no response within {} ms", response_timeout_.count()));
  }
  return !broken_;
}

std::string Connection::address() const {
  const std::string host = libpq().host(connection_.get());
  return (host.empty() || host.starts_with('/') ? "socket" : host) + ":" +
         libpq().port(connection_.get());
}

int Connection::backend_pid() const {
  return libpq().backend_pid(connection_.get());
}

SqlError Connection::lost(std::string message) {
  if (!broken_) {
    broken_ = true;
    lost_message_ =
        message.empty() ? one_line(libpq().error_message(connection_.get())) : std::move(message);
  }
  return {.state = kLostState, .message = lost_message_};
}

void Connection::notice(void* self, const pg_result* result) {
  const char* const state = libpq().error_field(result, PG_DIAG_SQLSTATE);
  if (state != nullptr && std::string_view(state).starts_with("01")) {
    static_cast<Connection*>(self)->warned_ = true;
  }
}

}  // namespace stator::postgres

// SPDX-License-Identifier: Apache-2.0
// Connection: one connection to PostgreSQL with the store's prepared statements, in pipeline mode.
//
// Statements are sent in pipelines: send() for each, end(), then results(). Those of one pipeline
// run as one transaction unless they contain BEGIN or COMMIT.
// Thread safety: none; one thread at a time.
// Errors: after a broken connection every call fails; nothing reconnects.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/big_endian.h"
#include "stator/result.h"
#include "storage/postgres/binary_values.h"
#include "storage/postgres/statements.h"

struct pg_conn;
struct pg_result;

namespace stator::postgres {

struct ConnectionOptions {
  std::string dsn;     // a connection string or URI of libpq
  std::string schema;  // see is_schema_name()
  std::chrono::milliseconds response_timeout{10'000};
  // Of each lock in the server. A commit must wait for it less long than for a response.
  std::chrono::milliseconds lock_timeout{5'000};
};

// Lower-case letters, digits and '_', 1 to 63, not a digit first.
bool is_schema_name(std::string_view name);

struct SqlError {
  std::string state;  // SQLSTATE; kLostState if the connection broke
  std::string message;
};
inline constexpr const char* kLostState = "08006";
// The server accepts no writes, for example because it is no longer the primary.
inline constexpr const char* kReadOnlyState = "25006";
// The message while the server does not respond to commits.
inline constexpr const char* kUnconfirmed =
    "PostgreSQL does not confirm commits; if synchronous_standby_names is set, check that its "
    "standbys run";
// Returns kConflict after a deadlock or a lock timeout: the same transaction can succeed if
// repeated.
Error to_error(const SqlError& error);

template <class T>
using SqlResult = std::expected<T, SqlError>;

// The result of one statement. Returned bytes are borrowed from it.
class Rows {
 public:
  explicit Rows(pg_result* owned) : result_(owned) {}

  int count() const;
  int columns() const;
  bool is_null(int row, int column) const;
  std::string_view bytes(int row, int column) const;
  uint64_t number(int row, int column) const { return read_big_endian(bytes(row, column)); }
  // The elements of an int4[]; empty if it is null.
  std::vector<int32_t> numbers(int row, int column) const;
  // The same of a bytea[].
  std::vector<std::optional<std::string>> texts(int row, int column) const;

 private:
  // Of an array; borrowed.
  std::vector<std::optional<std::string_view>> elements(int row, int column) const;

  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

class Connection {
 public:
  // Connects. With `read_write`, only to a server that accepts writes, unless the connection string
  // has its own target.
  static SqlResult<std::unique_ptr<Connection>> connect(const ConnectionOptions& options,
                                                        bool read_write);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs several SQL statements and returns the result of the last one, with values as text. Call
  // it only before the first statement is prepared.
  SqlResult<Rows> run_script(const std::string& sql);
  // Part of a pipeline. The statement must be prepared before it is sent.
  void prepare(Statement statement);
  void send(Statement statement, const Parameters& parameters = {});
  void end();
  // Returns the results of the oldest pipeline whose results were not taken, one for each
  // statement, or its first error.
  SqlResult<std::vector<Rows>> results();
  // Ends a pipeline whose results are ignored.
  void end_and_ignore();
  void roll_back();  // without waiting for it
  // Runs a pipeline of one statement.
  SqlResult<Rows> execute(Statement statement, const Parameters& parameters = {});

  // Whether the server has begun to respond, or the connection has broken. If not, the results can
  // still be taken later.
  bool responds_within(std::chrono::milliseconds timeout);
  // Whether needed results are outstanding.
  bool is_waiting() const { return !broken_ && pending_ > ignored_; }
  // Checks whether the server has closed the connection. Does not wait.
  bool is_usable();
  bool is_broken() const { return broken_; }
  // Whether the server has sent a warning since the last call: a commit was not replicated.
  bool take_warning() { return std::exchange(warned_, false); }
  std::string address() const;  // "db1:5432", or "socket:5432"
  // The process id in the server's greeting.
  int backend_pid() const;
  std::chrono::milliseconds response_timeout() const { return response_timeout_; }

  // The average of the last range that was read, for the first page of the next one. 0: unknown.
  std::size_t usual_row_bytes = 0;
  std::size_t usual_rows = 0;  // of that range
  // See risk_of(); set by open_connection().
  std::string risk = {};

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  explicit Connection(const ConnectionOptions& options)
      : response_timeout_(options.response_timeout) {}

  // False if nothing arrives within `timeout`. Also returns true if the connection is broken.
  bool wait_for_result(std::chrono::milliseconds timeout);
  bool receive_result();
  SqlError lost(std::string message = {});
  static void notice(void* self, const pg_result* result);

  std::unique_ptr<pg_conn, Finish> connection_;
  const std::chrono::milliseconds response_timeout_;
  int ignored_ = 0;  // pipelines before the next one whose results are needed
  int pending_ = 0;  // pipelines whose results were not received, those ignored included
  bool broken_ = false;
  bool in_pipelines_ = false;
  bool warned_ = false;
  std::string lost_message_;
};

}  // namespace stator::postgres

// SPDX-License-Identifier: Apache-2.0
// Pages by key: after the last id in index order, never by offset, so that concurrent inserts and
// deletes do not make other rows repeat or disappear.
#include "mariadb/followers.h"

#include <errmsg.h>
#include <fmt/format.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace stator::mariadb {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxUserBytes = 1024;

struct Close {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
using Connection = std::unique_ptr<MYSQL, Close>;
using Statement = std::unique_ptr<MYSQL_STMT, CloseStatement>;

Result<void> check_name(std::string_view argument, std::string_view name) {
  const bool plain = std::ranges::all_of(
      name, [](char c) { return is_ascii_alphanumeric(c) || c == '_' || c == '$'; });
  if (plain && !name.empty() && name.size() <= kMaxNameBytes) return {};
  return fail(Code::kInvalidArgument,
              fmt::format("{}: must be 1 to 64 letters, digits, '_' and '$'", argument));
}

Code code_of(unsigned error) {
  switch (error) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
      return Code::kAccessDenied;
    case ER_BAD_DB_ERROR:
    case ER_BAD_FIELD_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_PARSE_ERROR:
      return Code::kInvalidArgument;
    default:
      return Code::kUnavailable;
  }
}

// True if the connection is lost; a new connection might work.
bool is_broken(unsigned error) {
  return error == CR_SERVER_GONE_ERROR || error == CR_SERVER_LOST ||
         error == CR_SERVER_LOST_EXTENDED || error == ER_SERVER_SHUTDOWN ||
         error == ER_CONNECTION_KILLED || error == ER_UNKNOWN_STMT_HANDLER;
}

struct Failed {
  unsigned error = 0;
  std::string message;
};

Failure failure(const Failed& failed) {
  return fail(code_of(failed.error), "the followers' database: " + failed.message);
}

class SqlFollowers final : public Followers {
 public:
  explicit SqlFollowers(FollowersOptions options) : options_(std::move(options)) {}

  Result<void> connect() {
    const std::scoped_lock lock(mutex_);
    if (auto failed = open_connection()) return failure(*failed);
    return {};
  }

  Result<Page<UserId>> page(const UserId& author, int limit, const std::string& cursor) override {
    return ask(options_.author_column, options_.follower_column, author, limit, cursor);
  }
  Result<Page<UserId>> following(const UserId& user, int limit,
                                 const std::string& cursor) override {
    return ask(options_.follower_column, options_.author_column, user, limit, cursor);
  }

 private:
  // The values of column `wanted` in rows where `given` is `user`.
  Result<Page<UserId>> ask(const std::string& given, const std::string& wanted, const UserId& user,
                           int limit, const std::string& cursor) {
    if (limit < 1) return fail(Code::kInvalidArgument, "limit: must be positive");
    // The first comparison finds the rows by index. The second distinguishes 12 from "12a" and "a"
    // from "A", regardless of the column's type and collation. The length check excludes invalid
    // user ids.
    const std::string query = fmt::format(
        "SELECT CAST(`{1}` AS CHAR) FROM `{2}` WHERE `{0}` = ? AND "
        "CAST(CONVERT(`{0}` USING utf8mb4) AS BINARY) = CAST(? AS BINARY) "
        "AND OCTET_LENGTH(`{1}`) BETWEEN 1 AND {3} {4} ORDER BY `{1}` LIMIT ?",
        given, wanted, options_.table, kMaxUserBytes,
        cursor.empty() ? std::string() : fmt::format("AND `{}` > ?", wanted));
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    auto failed = run(query, user.text, cursor, limit + 1, found);
    if (failed && is_broken(failed->error)) {
      connection_.reset();
      found.clear();
      failed = run(query, user.text, cursor, limit + 1, found);
    }
    if (failed) return failure(*failed);
    Page<UserId> page;
    if (found.size() > static_cast<std::size_t>(limit)) {
      found.pop_back();
      page.next = found.back();
    }
    for (std::string& text : found) page.items.push_back({std::move(text)});
    return page;
  }

  std::optional<Failed> open_connection() {
    connection_.reset(mysql_init(nullptr));
    if (!connection_) return Failed{CR_OUT_OF_MEMORY, "out of memory"};
    MYSQL* const connection = connection_.get();
    const auto seconds = static_cast<unsigned>(options_.timeout.count());
    mysql_options(connection, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(connection, MYSQL_OPT_READ_TIMEOUT, &seconds);
    mysql_options(connection, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    mysql_options(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    const bool by_socket = !options_.socket.empty();
    if (mysql_real_connect(connection, by_socket ? nullptr : options_.host.c_str(),
                           options_.user.c_str(), options_.password.c_str(),
                           options_.database.c_str(), by_socket ? 0 : options_.port,
                           by_socket ? options_.socket.c_str() : nullptr, 0) != nullptr) {
      return std::nullopt;
    }
    Failed failed{mysql_errno(connection), mysql_error(connection)};
    connection_.reset();
    return failed;
  }

  std::optional<Failed> run(const std::string& query, const std::string& user,
                            const std::string& cursor, int64_t most,
                            std::vector<std::string>& found) {
    if (!connection_) {
      if (auto failed = open_connection()) return failed;
    }
    const Statement statement(mysql_stmt_init(connection_.get()));
    if (!statement) return Failed{CR_OUT_OF_MEMORY, "out of memory"};
    if (mysql_stmt_prepare(statement.get(), query.data(), query.size()) != 0 ||
        !bind(statement.get(), user, cursor, most) || mysql_stmt_execute(statement.get()) != 0 ||
        !fetch(statement.get(), found)) {
      return Failed{mysql_stmt_errno(statement.get()), mysql_stmt_error(statement.get())};
    }
    return std::nullopt;
  }

  static MYSQL_BIND text_parameter(const std::string& text, unsigned long& length) {
    MYSQL_BIND bind{};
    length = text.size();
    bind.buffer_type = MYSQL_TYPE_STRING;
    bind.buffer = const_cast<char*>(text.data());  // NOLINT: read only, by an old interface
    bind.buffer_length = length;
    bind.length = &length;
    return bind;
  }

  bool bind(MYSQL_STMT* statement, const std::string& user, const std::string& cursor,
            int64_t& most) {
    parameters_.clear();
    parameters_.push_back(text_parameter(user, user_length_));
    parameters_.push_back(text_parameter(user, user_length_));
    if (!cursor.empty()) parameters_.push_back(text_parameter(cursor, cursor_length_));
    MYSQL_BIND limit{};
    limit.buffer_type = MYSQL_TYPE_LONGLONG;
    limit.buffer = &most;
    parameters_.push_back(limit);
    return mysql_stmt_bind_param(statement, parameters_.data()) == 0;
  }

  static bool fetch(MYSQL_STMT* statement, std::vector<std::string>& found) {
    std::array<char, kMaxUserBytes> buffer{};
    unsigned long length = 0;
    MYSQL_BIND column{};
    column.buffer_type = MYSQL_TYPE_STRING;
    column.buffer = buffer.data();
    column.buffer_length = buffer.size();
    column.length = &length;
    if (mysql_stmt_bind_result(statement, &column) != 0) return false;
    for (;;) {
      const int status = mysql_stmt_fetch(statement);
      if (status == MYSQL_NO_DATA) return true;
      if (status != 0) return false;
      found.emplace_back(buffer.data(), length);
    }
  }

  const FollowersOptions options_;
  std::mutex mutex_;
  Connection connection_;  // guarded by mutex_, as the members below
  std::vector<MYSQL_BIND> parameters_;
  unsigned long user_length_ = 0;
  unsigned long cursor_length_ = 0;
};

}  // namespace

Result<std::shared_ptr<Followers>> open_followers(const FollowersOptions& options) {
  STATOR_RETURN_IF_ERROR(check_name("table", options.table));
  STATOR_RETURN_IF_ERROR(check_name("author_column", options.author_column));
  STATOR_RETURN_IF_ERROR(check_name("follower_column", options.follower_column));
  auto followers = std::make_shared<SqlFollowers>(options);
  STATOR_RETURN_IF_ERROR(followers->connect());
  return followers;
}

}  // namespace stator::mariadb

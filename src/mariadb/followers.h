// SPDX-License-Identifier: Apache-2.0
// Followers in a table of MySQL or MariaDB, through MariaDB Connector/C.
//
// The table has a row for each (author, follower), with columns of text or whole numbers. The pair
// must be unique. An index in this order makes page() cheap; an index in the reverse order makes
// following() cheap. Authors are compared byte for byte, regardless of the column's collation or
// type.
// Thread safety: any thread; queries run one at a time. A broken connection is reopened, once per
// query.
// Errors: kInvalidArgument (names of table or columns), kAccessDenied, kUnavailable (no server, no
// response in time).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "stator/recipes/feed.h"

namespace stator::mariadb {

struct FollowersOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 3306;
  std::string socket = {};  // a local Unix socket, instead of host and port
  std::string user = {};
  std::string password = {};
  std::string database = {};
  // Names: 1 to 64 letters, digits, `_` and `$`.
  std::string table = "followers";
  std::string author_column = "author_id";
  std::string follower_column = "follower_id";
  std::chrono::seconds timeout{10};  // for connecting, and for each response
};

// Checks the names and connects.
Result<std::shared_ptr<Followers>> open_followers(const FollowersOptions& options);

}  // namespace stator::mariadb

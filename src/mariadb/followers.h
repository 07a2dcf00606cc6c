// SPDX-License-Identifier: Apache-2.0
// Followers in a table of MySQL or MariaDB, through MariaDB Connector/C.
//
// The table has a row for each (author, follower), columns of text or whole numbers; that pair must
// be unique, and an index in this order makes pages cheap (one in the other order `following`).
// Authors are compared byte for byte, whatever the column's collation or type says.
// Thread safety: from any thread at once, one query at a time. A connection that broke is made
// anew, once for each query.
// Errors: kInvalidArgument (names of table or columns), kAccessDenied, kUnavailable (no server, no
// answer in time).
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
  std::string socket = {};  // of the server's own machine, instead of host and port
  std::string user = {};
  std::string password = {};
  std::string database = {};
  // Names: 1 to 64 letters, digits, `_` and `$`.
  std::string table = "followers";
  std::string author_column = "author_id";
  std::string follower_column = "follower_id";
  std::chrono::seconds timeout{10};  // of connecting, and of each answer
};

// Checks the names and connects.
Result<std::shared_ptr<Followers>> open_followers(const FollowersOptions& options);

}  // namespace stator::mariadb

// SPDX-License-Identifier: Apache-2.0
// The URL that names a PostgreSQL database: postgresql://USER@HOST:PORT/DATABASE?PARAMETER=VALUE,
// or postgres://…, as libpq reads it. It can contain a password, so no message quotes it.
#pragma once

#include <string>
#include <string_view>

#include "stator/result.h"

namespace stator {

// Whether `text` begins with postgresql:// or postgres://.
bool is_postgres_url(std::string_view text);

struct PostgresUrl {
  std::string url;            // as given, with the password: not for messages
  std::string name;           // without user, password and parameters, for messages
  bool has_password = false;  // in `url`, as opposed to PGPASSWORD or a password file
};

// Errors: kInvalidArgument, also for URLs for which libpq would quote parts of a password; kIo
// without libpq.
Result<PostgresUrl> parse_postgres_url(const std::string& text);

}  // namespace stator

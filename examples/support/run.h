// SPDX-License-Identifier: Apache-2.0
// What the examples share: their arguments, the client these ask for, tables of their own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/client.h"
#include "support/counting_client.h"

namespace stator::examples {

struct Arguments {
  // Where the tables are: one of the three; in memory where none is given.
  std::string data;      // --data DIR
  bool memory = false;   // --memory
  std::string endpoint;  // --endpoint URL

  std::string input;   // --input DIR: the data files, where not beside the sources
  std::string stator;  // --stator FILE: the server's binary, for programs of several processes
  bool keep = false;   // --keep: leave the tables
  std::vector<std::string> others;
};

// kInvalidArgument for a flag that is none.
Result<Arguments> parse_arguments(int argc, char** argv);
Result<std::unique_ptr<Client>> open_client(const Arguments& arguments);
// HttpClient with the credentials and region of the environment, where it has them.
Result<std::unique_ptr<Client>> open_endpoint(const std::string& endpoint);

// The lines of a file of --input, without the first; the columns of a line.
Result<std::vector<std::string>> read_lines(const Arguments& arguments, std::string_view file);
std::vector<std::string> columns(std::string_view line);
Result<std::string> read_file(const Arguments& arguments, std::string_view file);

// A table name of this run's own, so that runs do not see each other.
std::string fresh_name(std::string_view base);
Result<void> drop_tables(Client& client, const Arguments& arguments,
                         const std::vector<std::string>& tables);

// kConflict with `what` unless it holds: an example's own verdict.
Result<void> expect(bool holds, std::string_view what);

// Runs `body` with the client that the arguments ask for; prints an error on standard error.
// The exit status: 0, 1 where the body fails, 2 for bad arguments.
int run(int argc, char** argv, std::string_view usage,
        const std::function<Result<void>(CountingClient&, const Arguments&)>& body);

// "1.23 s".
std::string seconds_since(std::chrono::steady_clock::time_point start);

}  // namespace stator::examples

// SPDX-License-Identifier: Apache-2.0
// Shared parts of the examples: arguments, clients, tables.
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
  // The backend: at most one of the three; in memory by default.
  std::string data;      // --data DIR
  bool memory = false;   // --memory
  std::string endpoint;  // --endpoint URL

  std::string input;   // --input DIR: the data files; default: next to the sources
  std::string stator;  // --stator FILE: the server's binary, for examples with several processes
  bool keep = false;   // --keep: leave the tables
  std::vector<std::string> others;
};

// Errors: kInvalidArgument for an unknown flag, a missing value, or several backends.
Result<Arguments> parse_arguments(int argc, char** argv);
Result<std::unique_ptr<Client>> open_client(const Arguments& arguments);
// Opens an HttpClient with the credentials and region of the environment, if they are set.
Result<std::unique_ptr<Client>> open_endpoint(const std::string& endpoint);

// The lines of a file in --input, without the first line and empty lines. columns() splits a line
// at its commas.
Result<std::vector<std::string>> read_lines(const Arguments& arguments, std::string_view file);
std::vector<std::string> columns(std::string_view line);
Result<std::string> read_file(const Arguments& arguments, std::string_view file);

// A table name with a random suffix, so that runs do not share tables.
std::string fresh_name(std::string_view base);
Result<void> drop_tables(Client& client, const Arguments& arguments,
                         const std::vector<std::string>& tables);

// Returns kConflict with `what` if `holds` is false.
Result<void> expect(bool holds, std::string_view what);

// Runs `body` with the client that the arguments select. Prints errors on standard error. Returns
// the exit status: 0, 1 if the client or `body` fails, 2 for invalid arguments.
int run(int argc, char** argv, std::string_view usage,
        const std::function<Result<void>(CountingClient&, const Arguments&)>& body);

// "1.23 s".
std::string seconds_since(std::chrono::steady_clock::time_point start);

}  // namespace stator::examples

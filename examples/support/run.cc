// SPDX-License-Identifier: Apache-2.0
#include "support/run.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "stator/database.h"
#include "stator/http_client.h"

namespace stator::examples {
namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

Result<Arguments> check(Arguments arguments) {
  const int places = (arguments.data.empty() ? 0 : 1) + (arguments.memory ? 1 : 0) +
                     (arguments.endpoint.empty() ? 0 : 1);
  if (places > 1) {
    return fail(Code::kInvalidArgument, "give one of --data, --memory and --endpoint");
  }
  if (places == 0) arguments.memory = true;
  if (arguments.input.empty()) arguments.input = STATOR_EXAMPLE_DATA;
  return arguments;
}

}  // namespace

Result<Arguments> parse_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    std::string* value = flag == "--data"       ? &arguments.data
                         : flag == "--endpoint" ? &arguments.endpoint
                         : flag == "--input"    ? &arguments.input
                         : flag == "--stator"   ? &arguments.stator
                                                : nullptr;
    if (value != nullptr) {
      ++i;
      if (i >= argc || *argv[i] == '\0') {
        return fail(Code::kInvalidArgument, std::string(flag) + " needs a value");
      }
      *value = argv[i];
    } else if (flag == "--memory") {
      arguments.memory = true;
    } else if (flag == "--keep") {
      arguments.keep = true;
    } else if (flag.starts_with("--")) {
      return fail(Code::kInvalidArgument, "unknown flag " + std::string(flag));
    } else {
      arguments.others.emplace_back(flag);
    }
  }
  return check(std::move(arguments));
}

Result<std::unique_ptr<Client>> open_endpoint(const std::string& endpoint) {
  STATOR_ASSIGN_OR_RETURN(
      HttpClient http,
      HttpClient::open({.endpoint = endpoint,
                        .region = environment("AWS_REGION", "us-east-1"),
                        .credentials = {environment("AWS_ACCESS_KEY_ID", "stator"),
                                        environment("AWS_SECRET_ACCESS_KEY", "stator"),
                                        environment("AWS_SESSION_TOKEN", "")}}));
  return std::unique_ptr<Client>(std::make_unique<HttpClient>(std::move(http)));
}

Result<std::unique_ptr<Client>> open_client(const Arguments& arguments) {
  if (!arguments.endpoint.empty()) return open_endpoint(arguments.endpoint);
  STATOR_ASSIGN_OR_RETURN(Database database, Database::open({.path = arguments.data}));
  return std::unique_ptr<Client>(std::make_unique<Database>(std::move(database)));
}

Result<std::string> read_file(const Arguments& arguments, std::string_view file) {
  const std::string path = arguments.input + "/" + std::string(file);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(Code::kIo, "cannot read " + path + " (see --input)");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

Result<std::vector<std::string>> read_lines(const Arguments& arguments, std::string_view file) {
  STATOR_ASSIGN_OR_RETURN(const std::string text, read_file(arguments, file));
  std::vector<std::string> lines;
  for (std::size_t from = text.find('\n'); from != std::string::npos && from + 1 < text.size();) {
    const std::size_t end = std::min(text.find('\n', from + 1), text.size());
    std::string line = text.substr(from + 1, end - from - 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    from = end;
  }
  return lines;
}

std::vector<std::string> columns(std::string_view line) {
  std::vector<std::string> values;
  for (;;) {
    const std::size_t comma = line.find(',');
    values.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return values;
    line.remove_prefix(comma + 1);
  }
}

std::string fresh_name(std::string_view base) {
  return fmt::format("{}-{:08x}", base, std::random_device()());
}

Result<void> drop_tables(Client& client, const Arguments& arguments,
                         const std::vector<std::string>& tables) {
  if (arguments.keep) return {};
  for (const std::string& table : tables)
    STATOR_RETURN_IF_ERROR(client.delete_table({.table = table}));
  return {};
}

Result<void> expect(bool holds, std::string_view what) {
  if (holds) return {};
  return fail(Code::kConflict, "wrong: " + std::string(what));
}

int run(int argc, char** argv, std::string_view usage,
        const std::function<Result<void>(CountingClient&, const Arguments&)>& body) {
  const auto arguments = parse_arguments(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "{}\nusage: {}\n", arguments.error().message, usage);
    return 2;
  }
  const auto client = open_client(*arguments);
  if (!client) {
    fmt::print(stderr, "{}\n", client.error().message);
    return 1;
  }
  CountingClient counting(**client);
  const auto done = body(counting, *arguments);
  if (!done) {
    fmt::print(stderr, "{}: {}\n", code_name(done.error().code), done.error().message);
    return 1;
  }
  return 0;
}

std::string seconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return fmt::format("{:.2f} s", passed.count());
}

}  // namespace stator::examples

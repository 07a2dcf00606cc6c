// SPDX-License-Identifier: Apache-2.0
#include "cli/feed_sources.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "cli/duration.h"

namespace stator::cli {
namespace {

// HOST, HOST:PORT, [IPv6]:PORT, or the path of a socket.
Result<void> take_address(const std::string& address, mariadb::FollowersOptions& options) {
  if (address.starts_with('/')) {
    options.socket = address;
    return {};
  }
  const std::size_t colon = address.rfind(':');
  const bool has_port = colon != std::string::npos && address.find(']', colon) == std::string::npos;
  options.host = address.substr(0, has_port ? colon : std::string::npos);
  if (options.host.starts_with('[') && options.host.ends_with(']')) {
    options.host = options.host.substr(1, options.host.size() - 2);
  }
  if (!has_port) return {};
  const char* const end = address.data() + address.size();
  const auto parsed = std::from_chars(address.data() + colon + 1, end, options.port);
  if (parsed.ec == std::errc() && parsed.ptr == end && options.port != 0) return {};
  return fail(Code::kInvalidArgument,
              "--mysql: invalid port in '" + address + "'; expected 1 to 65535");
}

Result<std::string> read_password(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open()) {
    return fail(Code::kInvalidArgument, "--mysql-password-file: cannot read '" + path + "'");
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

void add_nats_flags(CLI::App& command, FeedSources& sources, bool worker) {
  auto* nats = command
                   .add_option("--nats", sources.nats_url,
                               worker ? "Wait for announcements on this NATS server's JetStream"
                                      : "Announce the post on this NATS server's JetStream")
                   ->type_name("URL");
  const auto add = [&](const char* name, std::string& value, const char* description) {
    command.add_option(name, value, description)
        ->type_name("NAME")
        ->needs(nats)
        ->capture_default_str();
  };
  add("--nats-stream", sources.bus.stream, "JetStream stream, created if missing");
  add("--nats-subject", sources.bus.subject, "Subject of the announcements");
  command.add_option("--nats-credentials", sources.bus.credentials_file, "A .creds file")
      ->type_name("FILE")
      ->needs(nats);
  if (!worker) return;
  add("--nats-durable", sources.bus.durable, "Name that workers share to divide the announcements");
  add_duration(
      command, "--ack-wait", sources.ack_wait,
      "Redeliver messages that are not acknowledged in this time; set by the first consumer",
      std::chrono::milliseconds(100), std::chrono::hours(1))
      ->needs(nats);
}

void add_mysql_flags(CLI::App& command, FeedSources& sources) {
  auto* mysql = command
                    .add_option("--mysql", sources.mysql_address,
                                "Read followers from this MySQL or MariaDB server, or its socket")
                    ->type_name("HOST[:PORT]|PATH");
  const auto add = [&](const char* name, std::string& value, const char* description) {
    return command.add_option(name, value, description)
        ->type_name("NAME")
        ->needs(mysql)
        ->capture_default_str();
  };
  add("--mysql-user", sources.mysql.user, "User name");
  add("--mysql-password-file", sources.mysql_password_file, "File with the user's password")
      ->type_name("FILE");
  add("--mysql-database", sources.mysql.database, "Database");
  add("--mysql-table", sources.mysql.table, "Table of followers");
  add("--mysql-author-column", sources.mysql.author_column, "Column of the followed author");
  add("--mysql-follower-column", sources.mysql.follower_column, "Column of the follower");
}

Result<void> open_sources(FeedSources sources, FeedOptions& options) {
  if (!sources.nats_url.empty()) {
    sources.bus.url = sources.nats_url;
    sources.bus.ack_wait = sources.ack_wait;
    STATOR_ASSIGN_OR_RETURN(options.bus, nats::open_feed_bus(sources.bus));
  }
  if (!sources.mysql_address.empty()) {
    STATOR_RETURN_IF_ERROR(take_address(sources.mysql_address, sources.mysql));
    STATOR_ASSIGN_OR_RETURN(sources.mysql.password, read_password(sources.mysql_password_file));
    STATOR_ASSIGN_OR_RETURN(options.followers, mariadb::open_followers(sources.mysql));
  }
  return {};
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// stator serve: the DynamoDB API over HTTP until SIGTERM or SIGINT.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cli/commands.h"
#include "server/server.h"

namespace stator::cli {
namespace {

struct ServeFlags {
  std::string data = "./stator-data";
  bool memory = false;
  std::string listen = "127.0.0.1:8000";
  std::string durability = "sync";
  int threads = 0;
  std::size_t memory_mb = 0;
  std::size_t cache_mb = 0;
  std::string credentials;
  std::vector<std::string> allowed_hosts;
  std::string buckets;
  double idle_seconds = 120;
  double request_seconds = 30;
  double expire_seconds = 1;
  double drain_seconds = 0;
  std::string metrics;
  std::size_t metrics_tables = 100;
  std::string access_log;
  std::string log_format = "text";
  int64_t slow_ms = 0;
};

// A connection is a file descriptor, and the usual limit is there for programs that use select().
void raise_descriptor_limit() {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return;
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
}

// SIGHUP opens an access log again. Without one it ends the process, as when a terminal closes.
sigset_t awaited_signals(bool reopens_log) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (reopens_log) sigaddset(&signals, SIGHUP);
  return signals;
}

int serve(const ServeFlags& flags) {
  auto listen = server::parse_listen_address(flags.listen);
  if (!listen) return report(listen.error());
  server::ServerOptions options{.listen = std::move(*listen),
                                .threads = flags.threads,
                                .idle_timeout = milliseconds_of(flags.idle_seconds),
                                .request_timeout = milliseconds_of(flags.request_seconds),
                                .sweep_interval = milliseconds_of(flags.expire_seconds)};
  if (!flags.metrics.empty()) {
    auto metrics = server::parse_listen_address(flags.metrics);
    if (!metrics) return report(metrics.error());
    options.metrics = std::move(*metrics);
  }
  options.metrics_tables = flags.metrics_tables;
  options.version = STATOR_VERSION;
  options.access_log = flags.access_log;
  options.slow_request = std::chrono::milliseconds(flags.slow_ms);
  options.log_format =
      flags.log_format == "json" ? server::LogFormat::kJson : server::LogFormat::kText;
  options.durability = flags.durability == "os" ? Durability::kOs : Durability::kSync;
  options.memory_bytes = flags.memory_mb != 0 ? flags.memory_mb << 20 : usable_memory_bytes();
  options.cache_bytes = flags.cache_mb << 20;
  options.allowed_hosts = flags.allowed_hosts;
  options.buckets = flags.buckets;
  if (!flags.memory) options.data = flags.data;
  if (!flags.credentials.empty()) {
    auto credentials = server::read_credentials(flags.credentials);
    if (!credentials) return report(credentials.error());
    options.credentials = std::move(*credentials);
  }

  tune_allocator(options.memory_bytes);
  // Every thread started from here on leaves these signals to the sigwait below.
  const sigset_t signals = awaited_signals(!flags.access_log.empty() && flags.access_log != "-");
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  const auto server = server::Server::start(options);
  if (!server) return report(server.error());
  std::printf("listening on %s\n", (*server)->url().c_str());
  if (options.metrics) std::printf("metrics on %s\n", (*server)->metrics_url().c_str());
  std::fflush(stdout);

  int received = 0;
  while (sigwait(&signals, &received) == 0 && received == SIGHUP) {
    if (const auto reopened = (*server)->reopen_access_log(); !reopened) {
      server::log_error(reopened.error().message);
    }
  }
  // Whoever cannot wait for the requests under way may ask again.
  const sigset_t stop_signals = awaited_signals(false);
  pthread_sigmask(SIG_UNBLOCK, &stop_signals, nullptr);
  (*server)->drain(milliseconds_of(flags.drain_seconds));
  (*server)->stop();
  return kSuccess;
}

}  // namespace

void add_serve(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command =
      app.add_subcommand("serve", "Serve the DynamoDB API over HTTP to any AWS SDK");
  auto* data =
      command->add_option("--data", flags->data, "Directory of the tables, made if missing")
          ->type_name("DIR")
          ->capture_default_str();
  command->add_flag("--memory", flags->memory, "Keep the tables in memory, gone with the server")
      ->excludes(data);
  command->add_option("--listen", flags->listen, "Address and port; port 0 is a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command
      ->add_option(
          "--durability", flags->durability,
          "sync: an answered write survives loss of power; os: the end of the process only")
      ->type_name("sync|os")
      ->check(CLI::IsMember({"sync", "os"}).description(""))
      ->capture_default_str();
  command->add_option("--threads", flags->threads, "Event loops; 0 is one a core")
      ->type_name("N")
      ->check(CLI::Range(0, 256).description(""))
      ->capture_default_str();
  command
      ->add_option("--memory-limit", flags->memory_mb,
                   "Memory to use; 0 is what the control group, the resource limits and the "
                   "machine allow")
      ->type_name("MB")
      ->check(CLI::Range(0, 1'048'576).description(""))
      ->capture_default_str();
  command
      ->add_option("--cache", flags->cache_mb,
                   "Part of that for data that was read; 0 is an eighth of it")
      ->type_name("MB")
      ->check(CLI::Range(0, 1'048'576).description(""))
      ->capture_default_str();
  const auto add_seconds = [&](const char* name, double& value, const char* description) {
    command->add_option(name, value, description)
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 86'400.0).description(""))
        ->capture_default_str();
  };
  add_seconds("--idle-timeout", flags->idle_seconds,
              "Connections without a request are closed after this");
  add_seconds("--request-timeout", flags->request_seconds,
              "For a request to arrive whole, and for an answer to be taken further");
  add_seconds("--expire-every", flags->expire_seconds, "How often expired items are deleted");
  command
      ->add_option("--drain-time", flags->drain_seconds,
                   "On SIGTERM, refuse requests and report \"not ready\" for at least this long "
                   "before the server stops listening")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3'600.0).description(""))
      ->capture_default_str();
  command
      ->add_option("--metrics", flags->metrics,
                   "Serve /metrics and the health checks here too, without a signature; with "
                   "--credentials, /metrics is served here only")
      ->type_name("HOST:PORT");
  command
      ->add_option("--metrics-tables", flags->metrics_tables,
                   "Tables that have metrics of their own; the rest are counted together")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000).description(""))
      ->capture_default_str();
  command
      ->add_option("--access-log", flags->access_log,
                   "Append a line for each request to this file, opened again on SIGHUP; - is "
                   "standard output")
      ->type_name("FILE");
  command
      ->add_option("--slow-ms", flags->slow_ms,
                   "Log requests that take this long or longer on standard error; 0 is none")
      ->type_name("N")
      ->check(CLI::Range(0, 86'400'000).description(""))
      ->capture_default_str();
  command
      ->add_option("--log-format", flags->log_format,
                   "Of the access log and of the lines on standard error")
      ->type_name("text|json")
      ->check(CLI::IsMember({"text", "json"}).description(""))
      ->capture_default_str();
  command
      ->add_option("--credentials", flags->credentials,
                   "Accept the signatures of this file's access keys alone (AWS's credentials file "
                   "form); without it anybody's, on loopback only")
      ->type_name("FILE");
  command
      ->add_option("--allow-host", flags->allowed_hosts,
                   "Without --credentials, also serve requests whose Host or Origin has this name; "
                   "can be repeated")
      ->type_name("NAME");
  command
      ->add_option("--buckets", flags->buckets,
                   "A directory whose directories stand for S3's buckets, for ImportTable and "
                   "ExportTableToPointInTime; without it there are no buckets")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory.description(""));
  command->callback([&invocation, flags] { invocation.run = [flags] { return serve(*flags); }; });
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
// stator serve: the DynamoDB API over HTTP until SIGTERM or SIGINT.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cli/aws_settings.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/endpoint.h"
#include "cli/store_flags.h"
#include "cli/test_mode.h"
#include "server/server.h"
#include "server/service_manager.h"

namespace stator::cli {
namespace {

constexpr const char* kTestModeVariable = "STATOR_TEST_MODE";

struct ServeFlags {
  std::string data = "./stator-data";
  bool memory = false;
  bool sets_local_store = false;  // a flag of a store in a directory or in memory was given
  StoreFlags store;
  std::string listen = "127.0.0.1:8000";
  int port = -1;  // -1: the port of `listen`
  std::string durability = "sync";
  int threads = 0;
  std::size_t memory_mb = 0;
  std::size_t cache_mb = 0;
  std::size_t vector_cache_mb = 0;
  std::size_t approximate_search_rows = 50'000;
  std::string credentials;
  bool unsigned_beyond_loopback = false;
  http::TlsFiles tls;
  std::vector<std::string> allowed_hosts;
  std::string buckets;
  std::string console_directory;
  std::string test_mode;
  std::chrono::milliseconds idle_timeout{120'000};
  std::chrono::milliseconds request_timeout{30'000};
  std::chrono::milliseconds expire_every{1'000};
  std::chrono::milliseconds drain_time{0};
  std::string metrics;
  std::size_t metrics_tables = 100;
  std::string access_log;
  std::string decision_log;
  bool log_allowed = false;
  std::string log_format = "text";
  int64_t slow_ms = 0;
};

// Each connection uses a file descriptor. The usual soft limit exists for programs that use
// select().
void raise_descriptor_limit() {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return;
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
}

// SIGHUP reloads files. Without files to reload, it keeps its default action, to end the process.
sigset_t awaited_signals(bool reloads) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (reloads) sigaddset(&signals, SIGHUP);
  return signals;
}

// A lost report does not stop the server: the service manager decides how to react.
void notify_service_manager(server::ServiceState state) {
  if (const auto reported = server::report_state(state); !reported) {
    server::log_error(reported.error().message);
  }
}

void reload(server::Server& server) {
  notify_service_manager(server::ServiceState::kReloading);
  server.reload();
  notify_service_manager(server::ServiceState::kReady);
}

// The first line is for scripts, which read the address from it.
void greet(const ServeFlags& flags, const std::string& store, bool test_mode,
           const server::Server& server) {
  const std::string url = server.url();
  std::printf("listening on %s\n", url.c_str());
  if (!store.empty()) {
    std::printf(
        "tables are in schema %s of %s; an acknowledged write is as durable as its "
        "synchronous_commit says\n",
        flags.store.schema.c_str(), one_line(store).c_str());
  } else if (flags.memory) {
    std::puts("tables are in memory and end with this process");
  } else {
    std::error_code unknown;
    const std::filesystem::path directory = std::filesystem::absolute(flags.data, unknown);
    std::printf("tables are in %s; an acknowledged write survives %s\n",
                one_line(unknown ? flags.data : directory.lexically_normal().string()).c_str(),
                flags.durability == "sync" ? "loss of power" : "the end of this process only");
  }
  if (!flags.tls.client_ca.empty()) {
    std::printf("clients need a certificate of %s\n",
                one_line(flags.tls.client_ca.string()).c_str());
  }
  if (flags.credentials.empty()) {
    std::printf("any access key and region are accepted%s\n",
                server.is_on_loopback() ? ", from this machine only" : "");
  } else {
    std::printf("requests are signed with a key of %s\n", one_line(flags.credentials).c_str());
  }
  std::printf("console: %s/console/\n", url.c_str());
  if (test_mode) std::puts("test mode is on: faults are injected into responses");
  if (!flags.metrics.empty()) std::printf("metrics are on %s\n", server.metrics_url().c_str());
  std::printf("try: %s%sstator tables%s\n", flags.tls.certificate.empty() ? "" : "AWS_CA_BUNDLE=… ",
              flags.credentials.empty() ? "" : "AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… ",
              url == kLocalEndpoint ? "" : (" --endpoint " + url).c_str());
  std::fflush(stdout);
}

// Which store to serve, if it is not a directory or memory.
Result<NamedStore> store_to_serve(const ServeFlags& flags) {
  STATOR_ASSIGN_OR_RETURN(NamedStore store, named_store(flags.store));
  if (!store.url.empty() && flags.sets_local_store) {
    return fail(Code::kInvalidArgument,
                "STATOR_STORE is set, so the tables are not in a directory or in memory; unset it, "
                "or omit --data, --memory, --durability, --cache, --vector-cache and "
                "--approximate-search");
  }
  return store;
}

// The rules of the test mode in JSON. std::nullopt if it is off.
Result<std::optional<std::string>> test_mode_of(const ServeFlags& flags) {
  const std::string given =
      flags.test_mode.empty() ? environment_variable(kTestModeVariable) : flags.test_mode;
  if (given.empty()) return std::nullopt;
  return read_test_mode(given);
}

int serve(const ServeFlags& flags) {
  const auto store = store_to_serve(flags);
  if (!store) return report(store.error());
  auto listen = server::parse_listen_address(flags.listen);
  if (!listen) return report(listen.error());
  if (flags.port >= 0) listen->port = static_cast<uint16_t>(flags.port);
  server::ServerOptions options{.listen = std::move(*listen),
                                .threads = flags.threads,
                                .idle_timeout = flags.idle_timeout,
                                .request_timeout = flags.request_timeout,
                                .sweep_interval = flags.expire_every};
  if (!flags.metrics.empty()) {
    auto metrics = server::parse_listen_address(flags.metrics);
    if (!metrics) return report(metrics.error());
    options.metrics = std::move(*metrics);
  }
  options.metrics_tables = flags.metrics_tables;
  options.version = STATOR_VERSION;
  options.access_log = flags.access_log;
  options.decision_log = flags.decision_log;
  options.decisions = flags.log_allowed ? server::Decisions::kAll : server::Decisions::kDenied;
  options.slow_request = std::chrono::milliseconds(flags.slow_ms);
  options.log_format =
      flags.log_format == "json" ? server::LogFormat::kJson : server::LogFormat::kText;
  options.durability = flags.durability == "os" ? Durability::kOs : Durability::kSync;
  options.memory_bytes = flags.memory_mb != 0 ? flags.memory_mb << 20 : usable_memory_bytes();
  options.cache_bytes = flags.cache_mb << 20;
  options.vector_cache_bytes = flags.vector_cache_mb << 20;
  options.approximate_search_rows = flags.approximate_search_rows;
  options.unsigned_beyond_loopback = flags.unsigned_beyond_loopback;
  options.allowed_hosts = flags.allowed_hosts;
  options.buckets = flags.buckets;
  options.console_directory = flags.console_directory;
  auto test_mode = test_mode_of(flags);
  if (!test_mode) return report(test_mode.error());
  options.test_mode = std::move(*test_mode);
  options.store = store->url;
  options.schema = flags.store.schema;
  if (!flags.memory && store->url.empty()) options.data = flags.data;
  if (!flags.credentials.empty()) {
    options.credentials_file = flags.credentials;
  }

  if (!flags.tls.certificate.empty()) options.tls = flags.tls;

  tune_allocator(options.memory_bytes);
  // Every thread started from here on leaves these signals to the sigwait below.
  const auto is_file = [](const std::string& log) { return !log.empty() && log != "-"; };
  const sigset_t signals =
      awaited_signals(is_file(flags.access_log) || is_file(flags.decision_log) || options.tls ||
                      !flags.credentials.empty() || server::has_service_manager());
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  const auto server = server::Server::start(options);
  if (!server) return report(server.error());
  greet(flags, store->name, options.test_mode.has_value(), **server);
  if (!(*server)->is_on_loopback() && flags.credentials.empty()) {
    server::log(LogLevel::kWarning, "signatures are not checked; anyone who can connect to " +
                                        (*server)->url() + " can read and change all tables");
  }
  notify_service_manager(server::ServiceState::kReady);
  unmap_clean_code();

  int received = 0;
  while (sigwait(&signals, &received) == 0 && received == SIGHUP) reload(**server);
  notify_service_manager(server::ServiceState::kStopping);
  // A second signal ends the process without waiting for requests in progress.
  const sigset_t stop_signals = awaited_signals(false);
  pthread_sigmask(SIG_UNBLOCK, &stop_signals, nullptr);
  (*server)->drain(flags.drain_time);
  (*server)->stop();
  return kSuccess;
}

void add_monitoring_options(CLI::App& command, ServeFlags& flags) {
  command
      .add_option("--metrics", flags.metrics,
                  "Serve /metrics and the health checks here too, without a signature; with "
                  "--credentials, /metrics is served here only")
      ->type_name("HOST:PORT");
  command
      .add_option("--metrics-tables", flags.metrics_tables,
                  "Tables that have metrics of their own; the rest are counted together")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000).description(""))
      ->capture_default_str();
  command
      .add_option("--access-log", flags.access_log,
                  "Append a line for each request to this file, opened again on SIGHUP; - is "
                  "standard output")
      ->type_name("FILE");
  command
      .add_option(
          "--slow-ms", flags.slow_ms,
          "Log requests that take this many milliseconds or longer on standard error; 0: off")
      ->type_name("N")
      ->check(CLI::Range(0, 86'400'000).description(""))
      ->capture_default_str();
  command
      .add_option("--log-format", flags.log_format,
                  "Format of the access log and of the lines on standard error")
      ->type_name("text|json")
      ->check(CLI::IsMember({"text", "json"}).description(""))
      ->capture_default_str();
}

// Options for access control and its log.
void add_access_options(CLI::App& command, ServeFlags& flags) {
  auto* credentials = command.add_option(
      "--credentials", flags.credentials,
      "Only accept signatures of this file's access keys (in the form of AWS's credentials file, "
      "with policies and limits), read again when it changes and on SIGHUP; without it any key is "
      "accepted, on loopback only");
  credentials->type_name("FILE");
  command
      .add_flag("--allow-unsigned-beyond-loopback", flags.unsigned_beyond_loopback,
                "Listen on any address without --credentials: anyone who can connect can read and "
                "change all tables. For containers whose port is published on loopback only")
      ->excludes(credentials);
  command
      .add_option("--allow-host", flags.allowed_hosts,
                  "Without --credentials, also serve requests whose Host or Origin has this name; "
                  "can be repeated")
      ->type_name("NAME");
  auto* log =
      command.add_option("--decision-log", flags.decision_log,
                         "Append a line for each request that a policy denies to this file, "
                         "opened again on SIGHUP; - is standard output");
  log->type_name("FILE");
  command.add_flag("--log-allowed", flags.log_allowed, "Also for each action that a policy allows")
      ->needs(log);
}

void add_tls_options(CLI::App& command, http::TlsFiles& files) {
  auto* certificate =
      command
          .add_option(
              "--tls-cert", files.certificate,
              "Serve HTTPS with this certificate, followed by its chain, in PEM; read again "
              "when it changes and on SIGHUP")
          ->type_name("FILE");
  auto* key = command.add_option("--tls-key", files.key, "The certificate's key, in PEM")
                  ->type_name("FILE")
                  ->needs(certificate);
  certificate->needs(key);
  command
      .add_option("--tls-client-ca", files.client_ca,
                  "Only accept clients with a certificate of these authorities, in PEM")
      ->type_name("FILE")
      ->needs(certificate);
}

void add_development_options(CLI::App& command, ServeFlags& flags) {
  command
      .add_option("--test-mode", flags.test_mode,
                  "Inject faults into responses, for the tests of applications: rules in JSON, or "
                  "a file of them (docs/testing.md). Default: $STATOR_TEST_MODE")
      ->type_name("JSON|FILE");
  command
      .add_option("--console-dir", flags.console_directory,
                  "Read the console's files from this directory, to develop them")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory.description(""));
}

struct CacheOptions {
  CLI::Option* blocks;
  CLI::Option* vectors;
  CLI::Option* approximate;
};

CacheOptions add_memory_options(CLI::App& command, ServeFlags& flags) {
  const auto add = [&](const char* name, std::size_t& megabytes, const char* description) {
    return command.add_option(name, megabytes, description)
        ->type_name("MB")
        ->check(CLI::Range(0, 1'048'576).description(""))
        ->capture_default_str();
  };
  add("--memory-limit", flags.memory_mb,
      "Memory to use; 0 is all that the control group, the resource limits and the machine allow");
  return {
      .blocks = add("--cache", flags.cache_mb, "Part of it for cached data; 0 is an eighth"),
      .vectors = add("--vector-cache", flags.vector_cache_mb,
                     "Part of it for vectors that are searched often; 0 is an eighth"),
      .approximate =
          command
              .add_option("--approximate-search", flags.approximate_search_rows,
                          "Searches of so many vectors can miss some of the nearest; 0 is never")
              ->type_name("ROWS")
              ->capture_default_str()};
}

}  // namespace

void add_serve(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command =
      app.add_subcommand("serve", "Serve the DynamoDB API over HTTP to any AWS SDK");
  auto* data =
      command->add_option("--data", flags->data, "Data directory, created if missing")
          ->type_name("DIR")
          ->check(CLI::Validator(
              [](const std::string& path) { return path.empty() ? "the name is empty" : ""; }, ""))
          ->capture_default_str();
  auto* memory = command->add_flag("--memory", flags->memory,
                                   "Keep the tables in memory until the server ends");
  memory->excludes(data);
  auto* listen =
      command->add_option("--listen", flags->listen, "Address and port; port 0 is a free one");
  listen->type_name("HOST:PORT")->capture_default_str();
  command->add_option("--port", flags->port, "Port on 127.0.0.1; 0 is a free one")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65'535).description(""))
      ->excludes(listen);
  auto* durability =
      command
          ->add_option("--durability", flags->durability,
                       "sync: an acknowledged write survives loss of power; os: it survives the "
                       "end of the process only")
          ->type_name("sync|os")
          ->check(CLI::IsMember({"sync", "os"}).description(""))
          ->capture_default_str();
  command
      ->add_option("--threads", flags->threads,
                   "Event loops; 0 is one for each processor that the process may use")
      ->type_name("N")
      ->check(CLI::Range(0, 256).description(""))
      ->capture_default_str();
  const CacheOptions caches = add_memory_options(*command, *flags);
  CLI::Option* const store = add_store_flags(*command, flags->store).store;
  const std::array local_store = {data,          memory,         durability,
                                  caches.blocks, caches.vectors, caches.approximate};
  for (CLI::Option* option : local_store) store->excludes(option);
  using std::chrono::milliseconds;
  const auto add_timeout = [&](const char* name, milliseconds& value, const char* description) {
    add_duration(*command, name, value, description, milliseconds(100), kDay);
  };
  add_timeout("--idle-timeout", flags->idle_timeout, "Close connections idle for this long");
  add_timeout("--request-timeout", flags->request_timeout,
              "Time for a request to arrive, and for a client to read more of a response");
  add_timeout("--expire-every", flags->expire_every, "Interval between deletions of expired items");
  add_duration(*command, "--drain-time", flags->drain_time,
               "On SIGTERM, refuse requests and report \"not ready\" for at least this long before "
               "the server stops listening",
               milliseconds(0), std::chrono::hours(1));
  add_monitoring_options(*command, *flags);
  add_access_options(*command, *flags);
  add_tls_options(*command, flags->tls);
  command
      ->add_option("--buckets", flags->buckets,
                   "Use the subdirectories of this directory as S3 buckets for ImportTable, "
                   "StartBulkPutItems and ExportTableToPointInTime; without it, no bucket exists")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory.description(""));
  add_development_options(*command, *flags);
  command->callback([&invocation, flags, local_store] {
    flags->sets_local_store = std::ranges::any_of(
        local_store, [](const CLI::Option* option) { return option->count() > 0; });
    invocation.run = [flags] { return serve(*flags); };
  });
}

}  // namespace stator::cli

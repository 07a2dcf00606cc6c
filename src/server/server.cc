// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "http/server.h"
#include "protocol/facts.h"
#include "server/control_socket.h"
#include "server/dynamodb_service.h"
#include "server/file_watch.h"
#include "server/line_writer.h"
#include "server/log.h"
#include "server/memory_plan.h"
#include "server/metrics_history.h"
#include "server/metrics_page.h"
#include "server/request_log.h"
#include "server/request_metrics.h"
#include "server/sampler.h"
#include "storage/open/open_store.h"
#include "testmode/spec.h"
#include "testmode/test_mode.h"
#include "testmode/timer.h"

namespace stator::server {

// In the order of construction: members use those above them.
struct Server::Impl {
  ListenAddress address;
  ListenAddress metrics_address = {};
  std::string version = {};
  std::chrono::system_clock::time_point start = std::chrono::system_clock::now();
  std::filesystem::path data = {};  // empty: no directory
  std::unique_ptr<RequestMetrics> metrics = {};
  std::unique_ptr<MetricsHistory> history = {};
  std::unique_ptr<LineWriter> access_log = {};
  std::unique_ptr<LineWriter> slow_log = {};
  std::unique_ptr<RequestLog> request_log = {};
  std::unique_ptr<LineWriter> decision_lines = {};
  std::unique_ptr<DecisionLog> decision_log = {};
  std::unique_ptr<testmode::Timer> timer = {};  // responses of the engine can use it
  std::unique_ptr<Engine> engine = {};
  std::unique_ptr<testmode::TestMode> test_mode = {};
  std::unique_ptr<SignatureVerifier> verifier = {};
  std::unique_ptr<DynamoDbService> service = {};
  std::shared_ptr<http::Tls> tls = {};
  std::unique_ptr<http::Server> http = {};
  std::atomic<const http::Server*> http_for_metrics = nullptr;  // null until it has started
  std::unique_ptr<http::Server> monitoring = {};
  std::unique_ptr<ControlSocket> control = {};
  FileWatch watch = {};
  std::unique_ptr<Sampler> sampler = {};

  std::string url(const ListenAddress& at) const {
    return (tls ? "https://" : "http://") + at.to_string();
  }
  std::string metrics_text() const {
    const http::Server* running = http_for_metrics;
    return metrics_page({.requests = *metrics,
                         .engine = *engine,
                         .http = running == nullptr ? http::ServerStats{} : running->stats(),
                         .version = version,
                         .start = start,
                         .stopping = service->is_stopping(),
                         .dropped_log_lines = (access_log ? access_log->dropped() : 0) +
                                              (slow_log ? slow_log->dropped() : 0) +
                                              (decision_lines ? decision_lines->dropped() : 0)});
  }
  void sample() const;
  void serve_pages() const;
  void open_control();
  http::ServerOptions http_options(const ServerOptions& options, const MemoryPlan& memory) const;
  Result<void> open_logs(const ServerOptions& options);
  Result<void> load_access(const ServerOptions& options);
  Result<void> load_credentials(const std::filesystem::path& file);
  Result<void> load_tls(const http::TlsFiles& files);
  Result<void> start_test_mode(const std::string& json);
  Result<void> start_monitoring(const ListenAddress& at, bool verifies_signatures);
};

namespace {

constexpr std::chrono::seconds kFileWatchInterval{2};

StoreOptions store_options(const ServerOptions& options, const MemoryPlan& memory) {
  return {.store = options.store,
          .schema = options.schema,
          .directory = {.path = options.data.value_or(std::filesystem::path()),
                        .durability = options.durability,
                        .cache_bytes =
                            options.cache_bytes != 0 ? options.cache_bytes : memory.cache_bytes,
                        .write_buffer_bytes = memory.write_buffer_bytes,
                        .queue_bytes_max = memory.queue_bytes_max,
                        .report = [](const std::string& text) { log(LogLevel::kWarning, text); }},
          .report = log};
}

// Limits `wanted` to the available file descriptors, less those that the store's files need.
std::size_t connections_max(std::size_t wanted) {
  constexpr rlim_t kFilesMax = 1024;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return wanted;
  const rlim_t left = descriptors.rlim_cur - std::min(kFilesMax, descriptors.rlim_cur / 2);
  return std::min<std::size_t>(wanted, left);
}

bool has_credentials(const ServerOptions& options) {
  return options.credentials || !options.credentials_file.empty();
}

// Anyone who can reach a server without signature checks has all rights.
Result<void> check_reach(const ServerOptions& options) {
  if (!options.listen.is_loopback() && !has_credentials(options) &&
      !options.unsigned_beyond_loopback) {
    return fail(
        Code::kInvalidArgument,
        "refusing to listen on " + options.listen.to_string() +
            ": beyond this machine a server needs credentials to check signatures with; give "
            "--credentials FILE, listen on 127.0.0.1 or [::1], or see "
            "--allow-unsigned-beyond-loopback");
  }
  return {};
}

}  // namespace

void Server::Impl::sample() const {
  const http::Server* running = http_for_metrics;
  const TransactStore& store = engine->store();
  std::error_code none;  // on error, the free space is 0
  const auto space = data.empty()
                         ? std::filesystem::space_info{.capacity = 0, .free = 0, .available = 0}
                         : std::filesystem::space(data, none);
  history->add({.unix_ms = system_clock().unix_ms(),
                .steady = std::chrono::steady_clock::now().time_since_epoch(),
                .requests = metrics->totals(),
                .http = running == nullptr ? http::ServerStats{} : running->stats(),
                .store = store.stats(),
                .engine = engine->stats(),
                .process = process_stats(),
                .disk_free_bytes = none ? 0 : space.available,
                .ready = engine->health().writable && !service->is_stopping()});
}

void Server::Impl::serve_pages() const {
  service->serve_metrics([this] { return metrics_text(); });
  service->serve_history([this](uint64_t after) {
    const auto since = start.time_since_epoch();
    return history->to_json(
        {.version = version,
         .start_ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count()},
        after);
  });
}

// If the file system does not support sockets, only backups of the running server are unavailable.
void Server::Impl::open_control() {
  auto opened = ControlSocket::open(data, [this](const std::filesystem::path& target) {
    return copy_files(engine->store(), target);
  });
  if (opened) control = std::move(*opened);
}

Result<void> Server::Impl::open_logs(const ServerOptions& options) {
  set_log_format(options.log_format);
  if (!options.access_log.empty()) {
    STATOR_ASSIGN_OR_RETURN(access_log, LineWriter::open(options.access_log));
  }
  if (!options.decision_log.empty()) {
    STATOR_ASSIGN_OR_RETURN(decision_lines, LineWriter::open(options.decision_log));
    decision_log =
        std::make_unique<DecisionLog>(options.log_format, options.decisions, *decision_lines);
  }
  if (options.slow_request.count() > 0) slow_log = LineWriter::to_standard_error();
  if (!access_log && !slow_log) return {};
  request_log = std::make_unique<RequestLog>(options.log_format, access_log.get(), slow_log.get(),
                                             options.slow_request);
  return {};
}

Result<void> Server::Impl::load_access(const ServerOptions& options) {
  if (!options.credentials_file.empty()) return load_credentials(options.credentials_file);
  if (options.credentials) verifier = std::make_unique<SignatureVerifier>(*options.credentials);
  return {};
}

Result<void> Server::Impl::load_credentials(const std::filesystem::path& file) {
  // Watches the files before reading them, so that no change is missed.
  watch.add([file] { return files_of_credentials(file); },
            [this, file] {
              auto changed = read_credentials(file);
              if (changed) {
                verifier->replace(std::move(*changed));
              } else {
                log_error("access keys and policies stay as they were: " + changed.error().message);
              }
            });
  STATOR_ASSIGN_OR_RETURN(Credentials credentials, read_credentials(file));
  verifier = std::make_unique<SignatureVerifier>(std::move(credentials));
  return {};
}

Result<void> Server::Impl::load_tls(const http::TlsFiles& files) {
  STATOR_ASSIGN_OR_RETURN(tls, http::Tls::load(files));
  watch.add([files] { return std::vector{files.certificate, files.key, files.client_ca}; },
            [this] {
              if (const auto reloaded = tls->reload(); !reloaded) {
                log_error("TLS certificate not reloaded: " + reloaded.error().message);
              }
            });
  return {};
}

Result<void> Server::Impl::start_test_mode(const std::string& json) {
  STATOR_ASSIGN_OR_RETURN(const testmode::Spec spec,
                          testmode::parse_spec(json, DynamoDbService::operation_names()));
  timer = std::make_unique<testmode::Timer>();
  STATOR_ASSIGN_OR_RETURN(test_mode, testmode::TestMode::start(*engine, *timer, spec));
  service->set_test_mode(test_mode.get());
  return {};
}

// A separate listener with its own limits, so that it responds even if the main one is overloaded.
Result<void> Server::Impl::start_monitoring(const ListenAddress& at, bool verifies_signatures) {
  http::ServerOptions options{.address = at.host, .port = at.port, .threads = 1, .tls = tls};
  options.body_bytes_max = 0;
  options.header_bytes_max = 16UL << 10;
  options.connections_max = 64;
  options.held_bytes_max = 16UL << 20;
  const bool checks_host = !verifies_signatures || at.is_loopback();
  STATOR_ASSIGN_OR_RETURN(
      monitoring, http::Server::start(
                      std::move(options), [kept = service.get(), checks_host](
                                              const http::Request& request, http::Respond respond) {
                        kept->handle_monitoring(request, checks_host, std::move(respond));
                      }));
  metrics_address = {.host = at.host, .port = monitoring->port()};
  return {};
}

http::ServerOptions Server::Impl::http_options(const ServerOptions& options,
                                               const MemoryPlan& memory) const {
  http::ServerOptions result{.address = options.listen.host,
                             .port = options.listen.port,
                             .threads = options.threads,
                             .tls = tls,
                             .body_bytes_max = kBodyBytesMax,
                             .held_bytes_max = memory.held_bytes_max,
                             .idle_timeout = options.idle_timeout,
                             .request_timeout = options.request_timeout};
  result.connections_max = connections_max(memory.connections_max);
  result.screen = [service = service.get()](const http::Request& head) {
    return service->screen(head);
  };
  result.aside = [service = service.get()](const http::Request& request) {
    return service->aside(request);
  };
  result.demand = DynamoDbService::demand;
  const auto counted = [metrics = metrics.get()](Rejection rejection, auto response) {
    return [metrics, rejection, response] {
      metrics->count(rejection);
      return response();
    };
  };
  result.overloaded = counted(Rejection::kOverloaded, DynamoDbService::overloaded);
  result.too_large = counted(Rejection::kTooLarge, DynamoDbService::too_large);
  result.malformed = counted(Rejection::kMalformed, DynamoDbService::malformed);
  return result;
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  STATOR_RETURN_IF_ERROR(check_reach(options));
  const MemoryPlan memory =
      plan_memory(options.memory_bytes != 0 ? options.memory_bytes : usable_memory_bytes(),
                  options.tls ? kTlsConnectionBytes : kConnectionBytes);
  STATOR_ASSIGN_OR_RETURN(auto store, open_store(store_options(options, memory)));
  auto impl = std::make_unique<Impl>();
  impl->address = options.listen;
  impl->version = options.version;
  impl->metrics =
      std::make_unique<RequestMetrics>(DynamoDbService::operation_names(), options.metrics_tables);
  impl->history = std::make_unique<MetricsHistory>(*impl->metrics);
  impl->data = options.data.value_or(std::filesystem::path());
  STATOR_RETURN_IF_ERROR(impl->open_logs(options));
  const std::size_t vector_cache_bytes =
      options.vector_cache_bytes != 0 ? options.vector_cache_bytes : memory.vector_cache_bytes;
  STATOR_ASSIGN_OR_RETURN(
      impl->engine,
      Engine::open(std::move(store),
                   {.buckets = options.buckets,
                    .report = log,
                    .sweep_interval = options.sweep_interval,
                    .vector_cache = {.bytes_max = vector_cache_bytes,
                                     .graph_rows_min = options.approximate_search_rows}}));
  STATOR_RETURN_IF_ERROR(impl->load_access(options));
  impl->service = std::make_unique<DynamoDbService>(
      *impl->engine, impl->verifier.get(), options.allowed_hosts,
      RequestObserver{.metrics = impl->metrics.get(), .log = impl->request_log.get()},
      console::Console(options.console_directory));
  impl->service->set_access(impl->decision_log.get(), options.tls.has_value());
  if (options.tls) STATOR_RETURN_IF_ERROR(impl->load_tls(*options.tls));
  if (options.test_mode) {
    if (auto started = impl->start_test_mode(*options.test_mode); !started) {
      return fail(started.error().code, "test mode: " + started.error().message);
    }
  }
  impl->serve_pages();
  impl->sample();  // before any request, so that the next sample has all of them
  // Monitoring starts first, so that nothing can fail once http_for_metrics is set.
  if (options.metrics) {
    STATOR_RETURN_IF_ERROR(impl->start_monitoring(*options.metrics, has_credentials(options)));
  }
  STATOR_ASSIGN_OR_RETURN(
      impl->http, http::Server::start(impl->http_options(options, memory),
                                      [service = impl->service.get()](const http::Request& request,
                                                                      http::Respond respond) {
                                        service->handle(request, std::move(respond));
                                      }));
  impl->address.port = impl->http->port();
  impl->http_for_metrics = impl->http.get();
  impl->sampler =
      std::make_unique<Sampler>(options.sample_interval, [state = impl.get()] { state->sample(); });
  if (options.data) impl->open_control();
  if (impl->test_mode) {
    log(LogLevel::kWarning,
        "test mode is on: responses can be false, late and out of date; read "
        "and replace its rules at " +
            impl->url(impl->address) + std::string(protocol::kTestModePath) + ": " +
            impl->test_mode->to_json());
  }
  impl->watch.start(kFileWatchInterval);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
}

std::string Server::url() const {
  return impl_->url(impl_->address);
}

void Server::reload() {
  for (LineWriter* lines : {impl_->access_log.get(), impl_->decision_lines.get()}) {
    if (lines == nullptr) continue;
    if (const auto reopened = lines->reopen(); !reopened) log_error(reopened.error().message);
  }
  impl_->watch.check();
}

std::string Server::metrics_url() const {
  return impl_->monitoring ? impl_->url(impl_->metrics_address) + "/metrics" : "";
}

uint16_t Server::port() const {
  return impl_->address.port;
}

bool Server::is_on_loopback() const {
  return impl_->address.is_loopback();
}

void Server::drain(std::chrono::milliseconds at_least) {
  constexpr std::chrono::seconds kRequestsMax{5};
  constexpr std::chrono::milliseconds kPause{10};
  impl_->service->refuse_operations();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
  while (elapsed() < at_least ||
         (impl_->http->stats().requests_in_progress > 0 && elapsed() < at_least + kRequestsMax)) {
    std::this_thread::sleep_for(kPause);
  }
}

void Server::stop() {
  impl_->sampler.reset();  // it uses the members below
  if (impl_->http) impl_->http->stop();
  if (impl_->monitoring) impl_->monitoring->stop();
  impl_->control.reset();
  impl_->service.reset();
  impl_->test_mode.reset();
  impl_->engine.reset();  // waits for writes in progress; their late responses are dropped
  impl_->timer.reset();   // drops responses that are not due
}

}  // namespace stator::server

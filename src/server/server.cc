// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/memory.h"
#include "engine/engine.h"
#include "http/server.h"
#include "server/control_socket.h"
#include "server/dynamodb_service.h"
#include "server/log.h"
#include "server/memory_plan.h"
#include "storage/stores.h"

namespace stator::server {

// In the order of construction: what comes first is used by what follows.
struct Server::Impl {
  ListenAddress address;
  std::unique_ptr<Engine> engine = {};
  std::unique_ptr<SignatureVerifier> verifier = {};
  std::unique_ptr<DynamoDbService> service = {};
  std::unique_ptr<http::Server> http = {};
  std::unique_ptr<ControlSocket> control = {};
};

namespace {

Result<std::unique_ptr<Store>> open_store(const ServerOptions& options, const MemoryPlan& memory) {
  if (!options.data) return make_memory_store();
  return open_rocks_store(
      {.path = *options.data,
       .durability = options.durability,
       .cache_bytes = options.cache_bytes != 0 ? options.cache_bytes : memory.cache_bytes,
       .write_buffer_bytes = memory.write_buffer_bytes,
       .queue_bytes_max = memory.queue_bytes_max,
       .report = log_error});
}

// As many as there are file descriptors for, less those that the store's files need.
std::size_t connections_max(std::size_t wanted) {
  constexpr rlim_t kFilesMax = 1024;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return wanted;
  const rlim_t left = descriptors.rlim_cur - std::min(kFilesMax, descriptors.rlim_cur / 2);
  return std::min<std::size_t>(wanted, left);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  if (!options.listen.is_loopback() && !options.credentials) {
    return fail(
        Code::kInvalidArgument,
        "refusing to listen on " + options.listen.to_string() +
            ": beyond this machine a server needs credentials to check signatures with; give "
            "--credentials FILE, or listen on 127.0.0.1 or [::1]");
  }
  const MemoryPlan memory =
      plan_memory(options.memory_bytes != 0 ? options.memory_bytes : usable_memory_bytes());
  STATOR_TRY(auto store, open_store(options, memory));
  auto impl = std::make_unique<Impl>(Impl{.address = options.listen});
  STATOR_TRY(impl->engine,
             Engine::open(std::move(store), {.buckets = options.buckets,
                                             .report = log_error,
                                             .sweep_interval = options.sweep_interval}));
  if (options.credentials) {
    impl->verifier = std::make_unique<SignatureVerifier>(*options.credentials);
  }
  impl->service =
      std::make_unique<DynamoDbService>(*impl->engine, impl->verifier.get(), options.allowed_hosts);
  http::ServerOptions http_options{.address = options.listen.host,
                                   .port = options.listen.port,
                                   .threads = options.threads,
                                   .body_bytes_max = kBodyBytesMax,
                                   .held_bytes_max = memory.held_bytes_max,
                                   .idle_timeout = options.idle_timeout,
                                   .request_timeout = options.request_timeout};
  http_options.connections_max = connections_max(memory.connections_max);
  http_options.screen = [service = impl->service.get()](const http::Request& head) {
    return service->screen(head);
  };
  http_options.aside = [service = impl->service.get()](const http::Request& request) {
    return service->aside(request);
  };
  http_options.demand = DynamoDbService::demand;
  http_options.overloaded = DynamoDbService::overloaded;
  http_options.too_large = DynamoDbService::too_large;
  http_options.malformed = DynamoDbService::malformed;
  STATOR_TRY(impl->http,
             http::Server::start(std::move(http_options),
                                 [service = impl->service.get()](const http::Request& request,
                                                                 http::Respond respond) {
                                   service->handle(request, std::move(respond));
                                 }));
  impl->address.port = impl->http->port();
  if (options.data) {
    // A file system without sockets costs backups while the server runs, nothing else.
    auto control = ControlSocket::open(
        *options.data, [engine = impl->engine.get()](const std::filesystem::path& target) {
          return engine->store().checkpoint(target);
        });
    if (control) impl->control = std::move(*control);
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
}

std::string Server::url() const {
  return "http://" + impl_->address.to_string();
}

uint16_t Server::port() const {
  return impl_->address.port;
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
  if (impl_->http) impl_->http->stop();
  impl_->control.reset();
  impl_->service.reset();
  impl_->engine.reset();  // waits for writes under way, whose late answers nobody hears
}

}  // namespace stator::server

// SPDX-License-Identifier: Apache-2.0
// stator_bench: get and put in process beside raw RocksDB, and over HTTP beside the same HTTP
// server answering a constant, in one run on one machine.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "bench/http_connection.h"
#include "bench/measure.h"
#include "bench/raw_rocks.h"
#include "http/server.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::bench {
namespace {

struct Settings {
  std::string self;
  std::string stator;
  uint64_t items = 100'000;
  Plan plan;
};

const std::string& filler() {
  static const std::string text(950, 'x');
  return text;
}

std::string id_of(uint64_t number) {
  return fmt::format("item-{:012}", number);
}

// Makes each put a change: the engine writes nothing for a put that changes nothing.
uint64_t next_version() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Item item_of(uint64_t number, uint64_t version = 0) {
  return {{"pk", id_of(number)}, {"n", version}, {"filler", filler()}};
}

CreateTableRequest table_definition() {
  return {.table = "Bench",
          .attributes = {{"pk", ScalarType::kS}},
          .key_schema = {{"pk", KeyType::kHash}},
          .billing_mode = BillingMode::kPayPerRequest};
}

bool fill(Client& client, uint64_t items) {
  if (!client.create_table(table_definition())) return false;
  for (uint64_t first = 0; first < items; first += 25) {
    BatchWriteItemRequest batch;
    for (uint64_t i = first; i < std::min(first + 25, items); ++i) {
      batch.items["Bench"].push_back({.put = item_of(i)});
    }
    if (!client.batch_write_item(batch)) return false;
  }
  return true;
}

// A stream of item numbers, different in each thread.
class Numbers {
 public:
  Numbers(int thread, uint64_t items) : random_(static_cast<uint64_t>(thread) + 1), items_(items) {}
  uint64_t next() { return random_() % items_; }

 private:
  std::mt19937_64 random_;
  uint64_t items_;
};

bool in_process(const Settings& settings) {
  const test::TempDir directory;
  RawRocks raw(directory.path() / "raw");
  for (uint64_t i = 0; i < settings.items; ++i) {
    if (!raw.put(i, filler(), false)) return false;
  }
  auto database = Database::open({.path = directory.path() / "stator"});
  auto memory = Database::open();
  if (!database || !memory || !fill(*database, settings.items) || !fill(*memory, settings.items))
    return false;

  const auto get_from = [&](Client& client) -> OperationFactory {
    return [&](int thread) -> Operation {
      return [&, numbers = Numbers(thread, settings.items)](uint64_t) mutable {
        auto got = client.get_item({.table = "Bench", .key = {{"pk", id_of(numbers.next())}}});
        return got && got->item;
      };
    };
  };
  const auto put_to = [&](Client& client) -> OperationFactory {
    return [&](int thread) -> Operation {
      return [&, numbers = Numbers(thread, settings.items)](uint64_t) mutable {
        return client.put_item({.table = "Bench", .item = item_of(numbers.next(), next_version())})
            .has_value();
      };
    };
  };
  const OperationFactory raw_get = [&](int thread) -> Operation {
    return [&, numbers = Numbers(thread, settings.items)](uint64_t) mutable {
      return raw.get(numbers.next());
    };
  };
  const OperationFactory raw_put = [&](int thread) -> Operation {
    return [&, numbers = Numbers(thread, settings.items)](uint64_t) mutable {
      return raw.put(numbers.next(), filler(), true);
    };
  };
  bool good = run_contest({"in process: get",
                           1,
                           {{"raw RocksDB Get", raw_get},
                            {"Database, on disk", get_from(*database)},
                            {"Database, in memory", get_from(*memory)}}},
                          settings.plan);
  for (const int threads : {1, 64}) {
    good = good && run_contest({"in process: durable put",
                                threads,
                                {{"raw RocksDB synced Put", raw_put},
                                 {"Database, on disk, sync", put_to(*database)}}},
                               settings.plan);
  }
  return good;
}

// An operation that sends what `request` gives for a number.
OperationFactory over(const std::string& url, uint64_t items,
                      std::function<std::string(uint64_t)> request) {
  return [=](int thread) -> Operation {
    auto connection = std::make_shared<HttpConnection>(url);
    return [=, numbers = Numbers(thread, items)](uint64_t) mutable {
      return connection->exchange(request(numbers.next()));
    };
  };
}

std::string get_request(uint64_t number) {
  return dynamodb_request(
      "GetItem",
      fmt::format(R"({{"TableName":"Bench","Key":{{"pk":{{"S":"{}"}}}}}})", id_of(number)));
}

std::string put_request(uint64_t number) {
  return dynamodb_request(
      "PutItem",
      fmt::format(
          R"({{"TableName":"Bench","Item":{{"pk":{{"S":"{}"}},"n":{{"N":"{}"}},"filler":{{"S":"{}"}}}}}})",
          id_of(number), next_version(), filler()));
}

bool over_http(const Settings& settings) {
  const test::TempDir directory;
  test::ServerProcess constant(settings.self, {"--constant"});
  test::ServerProcess disk(settings.stator, {"--data", (directory.path() / "data").string()});
  test::ServerProcess memory(settings.stator, {"--memory"});
  for (const test::ServerProcess* server : {&disk, &memory}) {
    auto client = HttpClient::open({.endpoint = server->url()});
    if (!client || !fill(*client, settings.items)) return false;
  }
  RawRocks raw(directory.path() / "raw");
  const OperationFactory raw_put = [&](int thread) -> Operation {
    return [&, numbers = Numbers(thread, settings.items)](uint64_t) mutable {
      return raw.put(numbers.next(), filler(), true);
    };
  };
  for (const int connections : {1, 16, 64}) {
    if (!run_contest(
            {"HTTP: GetItem",
             connections,
             {{"constant answer of 1 KB", over(constant.url(), settings.items, get_request)},
              {"stator serve, on disk", over(disk.url(), settings.items, get_request)},
              {"stator serve, in memory", over(memory.url(), settings.items, get_request)}}},
            settings.plan) ||
        !run_contest(
            {"HTTP: durable PutItem",
             connections,
             {{"raw RocksDB synced Put", raw_put},
              {"stator serve, on disk, sync", over(disk.url(), settings.items, put_request)},
              {"stator serve, in memory", over(memory.url(), settings.items, put_request)}}},
            settings.plan)) {
      return false;
    }
  }
  return true;
}

// The yardstick for HTTP: the same server, a constant in place of a database.
int serve_constant() {
  http::ServerOptions options;
  auto server = http::Server::start(options, [](const http::Request&, http::Respond respond) {
    respond({.status = 200,
             .headers = {{"Content-Type", "application/x-amz-json-1.0"}},
             .body = filler()});
  });
  if (!server) return 1;
  std::printf("listening on http://127.0.0.1:%d\n", (*server)->port());
  std::fflush(stdout);
  pause();
  return 0;
}

int run(int argc, char** argv) {
  Settings settings{.self = argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--constant") return serve_constant();
    if (i + 1 == argc) break;
    if (option == "--stator") settings.stator = argv[++i];
    if (option == "--items") settings.items = std::strtoull(argv[++i], nullptr, 10);
    if (option == "--turns") settings.plan.turns = std::atoi(argv[++i]);
    if (option == "--turn-ms") settings.plan.turn = std::chrono::milliseconds(std::atoi(argv[++i]));
  }
  if (settings.stator.empty() || settings.items == 0 || settings.plan.turns <= 0) {
    std::fprintf(stderr,
                 "usage: stator_bench --stator BINARY [--items N] [--turns N] [--turn-ms N]\n");
    return 2;
  }
  std::printf(
      "%u cores; %lu items of 1 KB; median of %d turns of %ld ms each, contenders in turn; closed "
      "loop\n",
      std::thread::hardware_concurrency(), settings.items, settings.plan.turns,
      static_cast<long>(settings.plan.turn.count()));
  return in_process(settings) && over_http(settings) ? 0 : 1;
}

}  // namespace
}  // namespace stator::bench

int main(int argc, char** argv) {
  return stator::bench::run(argc, argv);
}

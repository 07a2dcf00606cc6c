// SPDX-License-Identifier: Apache-2.0
#include "histories/answering_home.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/call_and_wait.h"
#include "engine/engine.h"
#include "http/server.h"
#include "server/dynamodb_service.h"
#include "storage/postgres/postgres_fixture.h"
#include "storage/stores.h"
#include "support/must.h"
#include "support/raw_connection.h"
#include "support/shared_store.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

class StoppedClock final : public Clock {
 public:
  std::chrono::system_clock::time_point now() const override {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'000));
  }
};

std::unique_ptr<Engine> open_engine(std::unique_ptr<TransactStore> store) {
  static const StoppedClock clock;
  return must(Engine::open(std::move(store), {.clock = &clock}));
}

using Rows = std::vector<std::pair<std::string, std::string>>;

// The rows that an engine writes to an empty store, which include the secret.
const Rows& first_rows() {
  static const Rows written = [] {
    const auto engine = open_engine(make_memory_store());
    Rows rows;
    const auto read =
        read_range(engine->store(), {}, [&](std::string_view key, std::string_view row) {
          rows.emplace_back(key, row);
          return true;
        });
    if (!read) std::abort();
    return rows;
  }();
  return written;
}

std::unique_ptr<TransactStore> with_first_rows(std::unique_ptr<TransactStore> store) {
  Batch batch;
  for (const auto& [key, row] : first_rows()) batch.put(key, row);
  if (write_and_wait(*store, std::move(batch)).outcome != CommitOutcome::kCommitted) std::abort();
  return store;
}

std::string without_table_id(std::string json) {
  constexpr std::string_view kMember = "\"TableId\":\"";
  const std::size_t at = json.find(kMember);
  if (at == std::string::npos) return json;
  const std::size_t begin = at + kMember.size();
  return json.replace(begin, json.find('"', begin) - begin, "");
}

template <class T>
std::string json_of(const Result<T>& result) {
  return result ? wire::to_json(*result) : wire::error_to_json(result.error());
}

class Ask {
 public:
  explicit Ask(Engine& engine) : engine_(engine) {}

  std::string operator()(const CreateTableRequest& r) { return json_of(engine_.create_table(r)); }
  std::string operator()(const DeleteTableRequest& r) { return json_of(engine_.delete_table(r)); }
  std::string operator()(const ListTablesRequest& r) { return json_of(engine_.list_tables(r)); }
  std::string operator()(const DescribeTableRequest& r) {
    return json_of(engine_.describe_table(r));
  }
  std::string operator()(const GetItemRequest& r) { return call(&Engine::get_item, r); }
  std::string operator()(const QueryRequest& r) { return call(&Engine::query, r); }
  std::string operator()(const ScanRequest& r) { return call(&Engine::scan, r); }
  std::string operator()(const BatchGetItemRequest& r) { return call(&Engine::batch_get_item, r); }
  std::string operator()(const TransactGetItemsRequest& r) {
    return call(&Engine::transact_get_items, r);
  }
  std::string operator()(const PutItemRequest& r) { return call(&Engine::put_item, r); }
  std::string operator()(const UpdateItemRequest& r) { return call(&Engine::update_item, r); }
  std::string operator()(const DeleteItemRequest& r) { return call(&Engine::delete_item, r); }
  std::string operator()(const BatchWriteItemRequest& r) {
    return call(&Engine::batch_write_item, r);
  }
  std::string operator()(const TransactWriteItemsRequest& r) {
    return call(&Engine::transact_write_items, r);
  }

 private:
  template <class Request, class T>
  std::string call(void (Engine::*operation)(const Request&, Done<T>), const Request& request) {
    return json_of(call_and_wait(engine_, operation, request));
  }

  Engine& engine_;
};

class MemoryHome final : public AnsweringHome {
 public:
  std::string answer(const AnyRequest& request) override {
    return without_table_id(std::visit(Ask(*engine_), request));
  }

 private:
  std::unique_ptr<Engine> engine_ = open_engine(with_first_rows(make_memory_store()));
};

class TinyRocksHome final : public RocksHome {
 public:
  explicit TinyRocksHome(Reopening reopening) : reopening_(reopening) {
    engine_ = open_engine(with_first_rows(open_store()));
  }

  std::string answer(const AnyRequest& request) override {
    return without_table_id(std::visit(Ask(*engine_), request));
  }

  void reopen() override {
    if (reopening_ == Reopening::kNever) return;
    engine_.reset();
    engine_ = open_engine(open_store());
  }

  RocksWork work() const override {
    RocksWork work;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      if (entry.path().filename() != "LOG") continue;
      std::ifstream log(entry.path());
      for (std::string line; std::getline(log, line);) {
        if (line.find("\"flush_finished\"") != std::string::npos) ++work.flushes;
        if (line.find("\"compaction_finished\"") != std::string::npos) ++work.compactions;
      }
    }
    return work;
  }

 private:
  std::unique_ptr<TransactStore> open_store() {
    return must(open_rocks_store({.path = directory_.path() / "data",
                                  .durability = Durability::kOs,
                                  .cache_bytes = 4096,
                                  .write_buffer_bytes = 64UL << 10}));
  }

  const Reopening reopening_;
  TempDir directory_;
  std::unique_ptr<Engine> engine_;
};

class HttpHome final : public AnsweringHome {
 public:
  HttpHome()
      : engine_(open_engine(with_first_rows(make_memory_store()))),
        service_(*engine_),
        server_(
            must(http::Server::start({.threads = 1},
                                     [this](const http::Request& request, http::Respond respond) {
                                       service_.handle(request, std::move(respond));
                                     }))),
        connection_(server_->port()) {}

  std::string answer(const AnyRequest& request) override {
    const std::string body = to_json(request);
    const bool sent = connection_.send(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Target: DynamoDB_20120810." +
        std::string(operation_of(request)) +
        "\r\nX-Amz-Date: 20260101T000000Z\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    return sent ? without_table_id(connection_.read_answer().body) : "the connection has ended";
  }

 private:
  std::unique_ptr<Engine> engine_;
  server::DynamoDbService service_;
  std::unique_ptr<http::Server> server_;
  RawConnection connection_;
};

class PairHome final : public AnsweringHome {
 public:
  using OpenStore = std::function<std::unique_ptr<TransactStore>()>;

  PairHome(uint32_t seed, OpenStore open_store)
      : random_(seed), open_store_(std::move(open_store)) {
    engines_[0] = open_engine(with_first_rows(open_store_()));
    engines_[1] = open_engine(open_store_());
  }

  std::string answer(const AnyRequest& request) override {
    return without_table_id(std::visit(Ask(*engines_[random_() % 2]), request));
  }

 private:
  std::mt19937 random_;
  OpenStore open_store_;  // owns the shared parts of the stores
  std::array<std::unique_ptr<Engine>, 2> engines_;
};

}  // namespace

std::unique_ptr<AnsweringHome> home_on_pair(uint32_t seed) {
  const SharedFaults faults{
      .conflicts = 50, .lost_replies = 50, .late = 50, .outages = 0, .slow = 0};
  auto backend = std::make_shared<SharedBackend>(seed, faults);
  return std::make_unique<PairHome>(seed, [backend, next = seed]() mutable {
    return std::make_unique<SharedStore>(*backend, ++next);
  });
}

std::unique_ptr<AnsweringHome> home_on_postgres(uint32_t seed) {
  auto schema = std::make_shared<PostgresSchema>();
  return std::make_unique<PairHome>(seed, [schema] { return schema->open(); });
}

std::unique_ptr<AnsweringHome> home_in_memory() {
  return std::make_unique<MemoryHome>();
}

std::unique_ptr<AnsweringHome> home_over_http() {
  return std::make_unique<HttpHome>();
}

std::unique_ptr<RocksHome> home_on_disk(Reopening reopening) {
  return std::make_unique<TinyRocksHome>(reopening);
}

}  // namespace stator::test

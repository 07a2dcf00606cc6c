// SPDX-License-Identifier: Apache-2.0
#include "stator/database.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "client/database_on_store.h"
#include "client/decode.h"
#include "engine/call_and_wait.h"
#include "engine/engine.h"
#include "protocol/operations.h"
#include "storage/open/open_store.h"
#include "testmode/spec.h"
#include "testmode/test_mode.h"
#include "testmode/timer.h"

namespace stator {
namespace {

// Receives the response of an operation by name.
class Responding {
 public:
  // `delay`: set if test mode delays the response.
  Responding(Done<std::string> done, std::chrono::milliseconds& delay)
      : done_(std::move(done)), delay_(&delay) {}
  Responding(Responding&&) = default;
  Responding& operator=(Responding&&) = delete;
  ~Responding() {
    if (done_) done_(fail(Code::kInternalServerError, "not enough memory for the response"));
  }
  void operator()(Result<std::string> response) { std::exchange(done_, {})(std::move(response)); }
  void inject(std::unique_ptr<testmode::Injection> what) {
    injection = std::move(what);
    *delay_ = injection->delay;
  }

  std::unique_ptr<testmode::Injection> injection = {};

 private:
  Done<std::string> done_;
  std::chrono::milliseconds* delay_;
};
using Operations = protocol::Operations<Responding>;

// A result that test mode holds back. If the timer drops it, `done` runs at once.
template <class T>
class HeldBack {
 public:
  HeldBack(Done<T> done, Result<T> result) : done_(std::move(done)), result_(std::move(result)) {}
  HeldBack(HeldBack&& other) noexcept
      : done_(std::exchange(other.done_, {})), result_(std::move(other.result_)) {}
  HeldBack& operator=(HeldBack&&) = delete;
  ~HeldBack() {
    if (done_) done_(std::move(result_));
  }
  void operator()() { std::exchange(done_, {})(std::move(result_)); }

 private:
  Done<T> done_;
  Result<T> result_;
};

Failure no_test_mode() {
  return fail(Code::kInvalidArgument,
              "the database was opened without test mode; set DatabaseOptions::test_mode");
}

}  // namespace

struct Database::Impl {
  explicit Impl(std::unique_ptr<Engine> open) : engine(std::move(open)) {}

  testmode::Timer timer = {};  // of results that test mode delays; outlives the engine
  std::unique_ptr<Engine> engine;
  std::unique_ptr<testmode::TestMode> test_mode = {};  // null: off

  // Calls run(request), with the faults that test mode injects.
  template <class Request, class Run>
  std::invoke_result_t<Run&, const Request&> run(std::string_view operation, const Request& request,
                                                 Run run) {
    if (!test_mode) return run(request);
    Request own = request;
    const auto injection = test_mode->on_request(operation, own);
    std::invoke_result_t<Run&, const Request&> result;
    if (injection->refusal) {
      result = Failure(std::move(*injection->refusal));
    } else {
      result = run(own);
    }
    injection->amend(result);
    std::this_thread::sleep_for(injection->delay);
    return result;
  }
  template <class T, class Request>
  Result<T> call(std::string_view name, void (Engine::*operation)(const Request&, Done<T>),
                 const Request& request) {
    return run(name, request,
               [&](const Request& own) { return call_and_wait(*engine, operation, own); });
  }
  template <class T, class Request>
  Result<T> call(std::string_view name, Result<T> (Engine::*operation)(const Request&),
                 const Request& request) {
    return run(name, request, [&](const Request& own) { return ((*engine).*operation)(own); });
  }

  // Any engine borrows the request during the call; a shared engine also until `done` has run.
  template <class T, class Request, class Finish>
  void start(std::string_view name, void (Engine::*operation)(const Request&, stator::Done<T>),
             const Request& request, Finish done) {
    if (!engine->is_shared() && !test_mode) {
      return ((*engine).*operation)(request, std::move(done));
    }
    const auto kept = std::make_shared<Request>(request);  // until `done` ran and the call returned
    stator::Done<T> finish = std::move(done);
    if (test_mode) {
      std::shared_ptr injection = test_mode->on_request(name, *kept);
      finish = [this, injection, done = std::move(finish)](Result<T> result) mutable {
        injection->amend(result);
        if (injection->delay.count() == 0) return done(std::move(result));
        timer.after(injection->delay, HeldBack<T>(std::move(done), std::move(result)));
      };
      if (injection->refusal) return finish(Failure(std::move(*injection->refusal)));
    }
    ((*engine).*operation)(*kept, [kept, done = std::move(finish)](Result<T> result) mutable {
      done(std::move(result));
    });
  }

  template <class Request>
  void start_write(std::string_view name,
                   void (Engine::*operation)(const Request&, stator::Done<WriteResponse>),
                   const Request& request, Database::Done<WriteResult> done) {
    start(name, operation, request,
          [done = std::move(done)](Result<WriteResponse> response) mutable {
            done(decode(std::move(response)));
          });
  }
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> open_database_on(std::unique_ptr<TransactStore> store) {
  STATOR_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::open(std::move(store)));
  return database_on(std::move(engine));
}

Database database_on(std::unique_ptr<Engine> engine) {
  return Database(std::make_unique<Database::Impl>(std::move(engine)));
}

Result<Database> Database::open(const DatabaseOptions& options) {
  std::optional<testmode::Spec> rules;
  if (options.test_mode) {
    STATOR_ASSIGN_OR_RETURN(rules, testmode::parse_spec(*options.test_mode, Operations::names()));
  }
  STATOR_ASSIGN_OR_RETURN(std::unique_ptr<TransactStore> store,
                          open_store({.store = options.store,
                                      .schema = options.schema,
                                      .directory = {.path = options.path,
                                                    .durability = options.durability,
                                                    .create_if_missing = options.create_if_missing,
                                                    .cache_bytes = options.cache_bytes}}));
  STATOR_ASSIGN_OR_RETURN(
      std::unique_ptr<Engine> engine,
      Engine::open(std::move(store),
                   {.buckets = options.buckets,
                    .vector_cache = {.bytes_max = options.vector_cache_bytes,
                                     .graph_rows_min = options.approximate_search_rows}}));
  Database database = database_on(std::move(engine));
  if (rules) {
    Impl& opened = *database.impl_;
    STATOR_ASSIGN_OR_RETURN(opened.test_mode,
                            testmode::TestMode::start(*opened.engine, opened.timer, *rules));
  }
  return database;
}

Result<void> Database::set_test_mode(std::string_view rules) {
  if (!impl_->test_mode) return no_test_mode();
  STATOR_ASSIGN_OR_RETURN(const testmode::Spec spec,
                          testmode::parse_spec(rules, Operations::names()));
  return impl_->test_mode->replace(spec);
}

Result<std::string> Database::test_mode() const {
  if (!impl_->test_mode) return no_test_mode();
  return impl_->test_mode->to_json();
}

Result<void> Database::backup(const std::filesystem::path& directory) {
  return copy_files(impl_->engine->store(), directory);
}

Result<CreateTableResult> Database::create_table(const CreateTableRequest& request) {
  return impl_->call("CreateTable", &Engine::create_table, request);
}

Result<DescribeTableResult> Database::describe_table(const DescribeTableRequest& request) {
  return impl_->call("DescribeTable", &Engine::describe_table, request);
}

Result<ListTablesResult> Database::list_tables(const ListTablesRequest& request) {
  return impl_->call("ListTables", &Engine::list_tables, request);
}

Result<DeleteTableResult> Database::delete_table(const DeleteTableRequest& request) {
  return impl_->call("DeleteTable", &Engine::delete_table, request);
}

Result<UpdateTableResult> Database::update_table(const UpdateTableRequest& request) {
  return impl_->call("UpdateTable", &Engine::update_table, request);
}

Result<UpdateTimeToLiveResult> Database::update_time_to_live(
    const UpdateTimeToLiveRequest& request) {
  return impl_->call("UpdateTimeToLive", &Engine::update_time_to_live, request);
}

Result<DescribeTimeToLiveResult> Database::describe_time_to_live(
    const DescribeTimeToLiveRequest& request) {
  return impl_->call("DescribeTimeToLive", &Engine::describe_time_to_live, request);
}

Result<WriteResult> Database::put_item(const PutItemRequest& request) {
  return decode(impl_->call("PutItem", &Engine::put_item, request));
}

Result<GetItemResult> Database::get_item(const GetItemRequest& request) {
  return impl_->call("GetItem", &Engine::get_item_result, request);
}

Result<WriteResult> Database::update_item(const UpdateItemRequest& request) {
  return decode(impl_->call("UpdateItem", &Engine::update_item, request));
}

Result<WriteResult> Database::delete_item(const DeleteItemRequest& request) {
  return decode(impl_->call("DeleteItem", &Engine::delete_item, request));
}

Result<PageResult> Database::query(const QueryRequest& request) {
  return impl_->call("Query", &Engine::query_result, request);
}

Result<PageResult> Database::scan(const ScanRequest& request) {
  return impl_->call("Scan", &Engine::scan_result, request);
}

Result<SearchVectorsResult> Database::search_vectors(const SearchVectorsRequest& request) {
  return decode(impl_->call("SearchVectors", &Engine::search_vectors, request));
}

Result<BatchGetItemResult> Database::batch_get_item(const BatchGetItemRequest& request) {
  return decode(impl_->call("BatchGetItem", &Engine::batch_get_item, request));
}

Result<BatchWriteItemResult> Database::batch_write_item(const BatchWriteItemRequest& request) {
  return impl_->call("BatchWriteItem", &Engine::batch_write_item, request);
}

Result<TransactWriteItemsResult> Database::transact_write_items(
    const TransactWriteItemsRequest& request) {
  return impl_->call("TransactWriteItems", &Engine::transact_write_items, request);
}

Result<TransactGetItemsResult> Database::transact_get_items(
    const TransactGetItemsRequest& request) {
  return decode(impl_->call("TransactGetItems", &Engine::transact_get_items, request));
}

Result<ExecuteStatementResult> Database::execute_statement(const ExecuteStatementRequest& request) {
  return decode(impl_->call("ExecuteStatement", &Engine::execute_statement, request));
}

Result<BatchExecuteStatementResult> Database::batch_execute_statement(
    const BatchExecuteStatementRequest& request) {
  return impl_->call("BatchExecuteStatement", &Engine::batch_execute_statement, request);
}

Result<ExecuteTransactionResult> Database::execute_transaction(
    const ExecuteTransactionRequest& request) {
  return impl_->call("ExecuteTransaction", &Engine::execute_transaction, request);
}

Result<ListStreamsResult> Database::list_streams(const ListStreamsRequest& request) {
  return impl_->call("ListStreams", &Engine::list_streams, request);
}

Result<DescribeStreamResult> Database::describe_stream(const DescribeStreamRequest& request) {
  return impl_->call("DescribeStream", &Engine::describe_stream, request);
}

Result<GetShardIteratorResult> Database::get_shard_iterator(
    const GetShardIteratorRequest& request) {
  return impl_->call("GetShardIterator", &Engine::get_shard_iterator, request);
}

Result<GetRecordsResult> Database::get_records(const GetRecordsRequest& request) {
  return decode(impl_->call("GetRecords", &Engine::get_records, request));
}

Result<std::string> Database::call(std::string_view operation, std::string_view json) {
  const auto run = Operations::find(operation);
  if (run == nullptr) return fail(Code::kUnknownOperation, "");
  Outcome<std::string> outcome;
  std::chrono::milliseconds delay{0};
  run({.engine = *impl_->engine,
       .waiting = nullptr,
       .operation = operation,
       .test_mode = impl_->test_mode.get()},
      json, Responding(outcome.done(), delay));
  auto response = outcome.wait(*impl_->engine);
  std::this_thread::sleep_for(delay);
  return response;
}

void Database::put_item(const PutItemRequest& request, Done<WriteResult> done) {
  impl_->start_write("PutItem", &Engine::put_item, request, std::move(done));
}

void Database::update_item(const UpdateItemRequest& request, Done<WriteResult> done) {
  impl_->start_write("UpdateItem", &Engine::update_item, request, std::move(done));
}

void Database::delete_item(const DeleteItemRequest& request, Done<WriteResult> done) {
  impl_->start_write("DeleteItem", &Engine::delete_item, request, std::move(done));
}

void Database::batch_write_item(const BatchWriteItemRequest& request,
                                Done<BatchWriteItemResult> done) {
  impl_->start("BatchWriteItem", &Engine::batch_write_item, request, std::move(done));
}

void Database::transact_write_items(const TransactWriteItemsRequest& request,
                                    Done<TransactWriteItemsResult> done) {
  impl_->start("TransactWriteItems", &Engine::transact_write_items, request, std::move(done));
}

}  // namespace stator

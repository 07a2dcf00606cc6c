// SPDX-License-Identifier: Apache-2.0
#include "stator/database.h"

#include <functional>
#include <memory>
#include <utility>

#include "client/database_on_store.h"
#include "client/decode.h"
#include "engine/call_and_wait.h"
#include "engine/engine.h"
#include "protocol/operations.h"
#include "storage/open/open_store.h"

namespace stator {
namespace {

// What an operation by name answers to; waits on the thread that asked.
class Answering {
 public:
  explicit Answering(Done<std::string> done) : done_(std::move(done)) {}
  Answering(Answering&&) = default;
  Answering& operator=(Answering&&) = delete;
  ~Answering() {
    if (done_) done_(fail(Code::kInternalServerError, "Not enough memory for the response"));
  }
  void operator()(Result<std::string> answer) { std::exchange(done_, {})(std::move(answer)); }

 private:
  Done<std::string> done_;
};

}  // namespace

struct Database::Impl {
  std::unique_ptr<Engine> engine;

  template <class T, class Request>
  Result<T> call(void (Engine::*operation)(const Request&, Done<T>), const Request& request) {
    return call_and_wait(*engine, operation, request);
  }

  // A shared engine borrows the request until `done` has run.
  template <class T, class Request, class Finish>
  void start(void (Engine::*operation)(const Request&, stator::Done<T>), const Request& request,
             Finish done) {
    if (!engine->is_shared()) return ((*engine).*operation)(request, std::move(done));
    auto kept = std::make_unique<const Request>(request);
    const Request& borrowed = *kept;
    ((*engine).*operation)(borrowed, [kept = std::move(kept), done = std::move(done)](
                                         Result<T> result) mutable { done(std::move(result)); });
  }

  template <class Request>
  void start_write(void (Engine::*operation)(const Request&, stator::Done<WriteResponse>),
                   const Request& request, Database::Done<WriteResult> done) {
    start(operation, request, [done = std::move(done)](Result<WriteResponse> response) mutable {
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
  return Database(std::make_unique<Database::Impl>(Database::Impl{std::move(engine)}));
}

Result<Database> Database::open(const DatabaseOptions& options) {
  STATOR_ASSIGN_OR_RETURN(std::unique_ptr<TransactStore> store,
                          open_store({.store = options.store,
                                      .schema = options.schema,
                                      .directory = {.path = options.path,
                                                    .durability = options.durability,
                                                    .create_if_missing = options.create_if_missing,
                                                    .cache_bytes = options.cache_bytes}}));
  STATOR_ASSIGN_OR_RETURN(
      std::unique_ptr<Engine> engine,
      Engine::open(std::move(store), {.buckets = options.buckets,
                                      .vector_cache = {.bytes_max = options.vector_cache_bytes}}));
  return database_on(std::move(engine));
}

Result<void> Database::backup(const std::filesystem::path& directory) {
  return copy_files(impl_->engine->store(), directory);
}

Result<CreateTableResult> Database::create_table(const CreateTableRequest& request) {
  return impl_->engine->create_table(request);
}

Result<DescribeTableResult> Database::describe_table(const DescribeTableRequest& request) {
  return impl_->engine->describe_table(request);
}

Result<ListTablesResult> Database::list_tables(const ListTablesRequest& request) {
  return impl_->engine->list_tables(request);
}

Result<DeleteTableResult> Database::delete_table(const DeleteTableRequest& request) {
  return impl_->engine->delete_table(request);
}

Result<UpdateTableResult> Database::update_table(const UpdateTableRequest& request) {
  return impl_->engine->update_table(request);
}

Result<UpdateTimeToLiveResult> Database::update_time_to_live(
    const UpdateTimeToLiveRequest& request) {
  return impl_->engine->update_time_to_live(request);
}

Result<DescribeTimeToLiveResult> Database::describe_time_to_live(
    const DescribeTimeToLiveRequest& request) {
  return impl_->engine->describe_time_to_live(request);
}

Result<WriteResult> Database::put_item(const PutItemRequest& request) {
  return decode(impl_->call(&Engine::put_item, request));
}

Result<GetItemResult> Database::get_item(const GetItemRequest& request) {
  return decode(impl_->call(&Engine::get_item, request));
}

Result<WriteResult> Database::update_item(const UpdateItemRequest& request) {
  return decode(impl_->call(&Engine::update_item, request));
}

Result<WriteResult> Database::delete_item(const DeleteItemRequest& request) {
  return decode(impl_->call(&Engine::delete_item, request));
}

Result<PageResult> Database::query(const QueryRequest& request) {
  return decode(impl_->call(&Engine::query, request));
}

Result<PageResult> Database::scan(const ScanRequest& request) {
  return decode(impl_->call(&Engine::scan, request));
}

Result<SearchVectorsResult> Database::search_vectors(const SearchVectorsRequest& request) {
  return decode(impl_->call(&Engine::search_vectors, request));
}

Result<BatchGetItemResult> Database::batch_get_item(const BatchGetItemRequest& request) {
  return decode(impl_->call(&Engine::batch_get_item, request));
}

Result<BatchWriteItemResult> Database::batch_write_item(const BatchWriteItemRequest& request) {
  return impl_->call(&Engine::batch_write_item, request);
}

Result<TransactWriteItemsResult> Database::transact_write_items(
    const TransactWriteItemsRequest& request) {
  return impl_->call(&Engine::transact_write_items, request);
}

Result<TransactGetItemsResult> Database::transact_get_items(
    const TransactGetItemsRequest& request) {
  return decode(impl_->call(&Engine::transact_get_items, request));
}

Result<ExecuteStatementResult> Database::execute_statement(const ExecuteStatementRequest& request) {
  return decode(impl_->call(&Engine::execute_statement, request));
}

Result<BatchExecuteStatementResult> Database::batch_execute_statement(
    const BatchExecuteStatementRequest& request) {
  return impl_->call(&Engine::batch_execute_statement, request);
}

Result<ExecuteTransactionResult> Database::execute_transaction(
    const ExecuteTransactionRequest& request) {
  return impl_->call(&Engine::execute_transaction, request);
}

Result<ListStreamsResult> Database::list_streams(const ListStreamsRequest& request) {
  return impl_->engine->list_streams(request);
}

Result<DescribeStreamResult> Database::describe_stream(const DescribeStreamRequest& request) {
  return impl_->engine->describe_stream(request);
}

Result<GetShardIteratorResult> Database::get_shard_iterator(
    const GetShardIteratorRequest& request) {
  return impl_->engine->get_shard_iterator(request);
}

Result<GetRecordsResult> Database::get_records(const GetRecordsRequest& request) {
  return decode(impl_->call(&Engine::get_records, request));
}

Result<std::string> Database::call(std::string_view operation, std::string_view json) {
  const auto run = protocol::Operations<Answering>::find(operation);
  if (run == nullptr) return fail(Code::kUnknownOperation, "");
  Outcome<std::string> outcome;
  run({.engine = *impl_->engine, .waiting = nullptr}, json, Answering(outcome.done()));
  return outcome.wait();
}

void Database::put_item(const PutItemRequest& request, Done<WriteResult> done) {
  impl_->start_write(&Engine::put_item, request, std::move(done));
}

void Database::update_item(const UpdateItemRequest& request, Done<WriteResult> done) {
  impl_->start_write(&Engine::update_item, request, std::move(done));
}

void Database::delete_item(const DeleteItemRequest& request, Done<WriteResult> done) {
  impl_->start_write(&Engine::delete_item, request, std::move(done));
}

void Database::batch_write_item(const BatchWriteItemRequest& request,
                                Done<BatchWriteItemResult> done) {
  impl_->start(&Engine::batch_write_item, request, std::move(done));
}

void Database::transact_write_items(const TransactWriteItemsRequest& request,
                                    Done<TransactWriteItemsResult> done) {
  impl_->start(&Engine::transact_write_items, request, std::move(done));
}

}  // namespace stator

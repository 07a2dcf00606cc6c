// SPDX-License-Identifier: Apache-2.0
// FaultyClient: wraps a client and injects network faults.
//
// Thread safety: as Client; the hooks are called with no locks held and must be thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "stator/client.h"

namespace stator::test {

// The fate of one request.
struct Fate {
  enum class Kind {
    kPass,
    kLoseRequest,  // the request does not arrive; the caller gets kOutcomeUnknown
    kLoseReply,    // the request takes effect; the caller gets kOutcomeUnknown
    kRepeat,       // the request arrives twice; the caller gets the second response
    kRefuse,       // the request does not arrive; the caller gets `error`
    kDelay,        // the request arrives when the test decides; the caller gets kOutcomeUnknown
    kEcho,         // the request arrives, and again when the test decides
  } kind = Kind::kPass;
  Error error = {};
};

inline Fate pass() {
  return {};
}
inline Fate lose_request() {
  return {.kind = Fate::Kind::kLoseRequest};
}
inline Fate lose_reply() {
  return {.kind = Fate::Kind::kLoseReply};
}
inline Fate repeat() {
  return {.kind = Fate::Kind::kRepeat};
}
inline Fate delay() {
  return {.kind = Fate::Kind::kDelay};
}
inline Fate echo() {
  return {.kind = Fate::Kind::kEcho};
}
inline Fate refuse(Error error) {
  return {.kind = Fate::Kind::kRefuse, .error = std::move(error)};
}
inline Fate refuse(Code code) {
  return refuse(Error{.code = code, .message = "by the test"});
}

// A cancelled transaction with these codes as reasons.
inline Fate cancel(const std::vector<std::string>& codes) {
  auto detail = std::make_shared<ErrorDetail>();
  for (const std::string& code : codes) detail->reasons.emplace_back().code = code;
  return refuse({.code = Code::kTransactionCanceled,
                 .message = "Transaction cancelled, by the test",
                 .detail = std::move(detail)});
}

class FaultyClient final : public Client {
 public:
  // `operation`: for example "PutItem". `nth`: counts the requests of that operation from 1.
  using Hook = std::function<Fate(std::string_view operation, int nth)>;

  explicit FaultyClient(Client& inner) : inner_(inner) {}

  ~FaultyClient() override { check_spent(); }
  FaultyClient(const FaultyClient&) = delete;
  FaultyClient& operator=(const FaultyClient&) = delete;

  // Decides the fate of each request from now on. The hook can also run other code before it.
  void before(Hook hook) {
    check_spent();
    before_ = std::move(hook);
  }
  // Runs after each request, when its fate is decided but the caller does not know it yet.
  void after(std::function<void(std::string_view operation)> hook) { after_ = std::move(hook); }
  // The next `count` requests of an operation get `fate`. The test fails if there is no such
  // request, because its result would not depend on the fault.
  void first(const std::string& operation, int count, const Fate& fate) {
    check_spent();
    unspent_ = true;
    before_ = [this, operation, count, fate, done = sent(operation)](std::string_view name,
                                                                     int nth) {
      if (name != operation || nth - done > count) return pass();
      unspent_ = false;
      return fate;
    };
  }

  int sent(const std::string& operation) const {
    const std::scoped_lock lock(mutex_);
    const auto found = sent_.find(operation);
    return found == sent_.end() ? 0 : found->second;
  }
  int sent() const {
    const std::scoped_lock lock(mutex_);
    int all = 0;
    for (const auto& [operation, count] : sent_) all += count;
    return all;
  }
  // The latest UpdateItem and TransactWriteItems, for tests that deliver a copy late.
  UpdateItemRequest latest_update() const {
    const std::scoped_lock lock(mutex_);
    return latest_update_;
  }
  TransactWriteItemsRequest latest_transaction() const {
    const std::scoped_lock lock(mutex_);
    return latest_transaction_;
  }

  Result<CreateTableResult> create_table(const CreateTableRequest& request) override {
    return run("CreateTable", [this, request] { return inner_.create_table(request); });
  }
  Result<DescribeTableResult> describe_table(const DescribeTableRequest& request) override {
    return run("DescribeTable", [this, request] { return inner_.describe_table(request); });
  }
  Result<ListTablesResult> list_tables(const ListTablesRequest& request) override {
    return run("ListTables", [this, request] { return inner_.list_tables(request); });
  }
  Result<DeleteTableResult> delete_table(const DeleteTableRequest& request) override {
    return run("DeleteTable", [this, request] { return inner_.delete_table(request); });
  }
  Result<UpdateTableResult> update_table(const UpdateTableRequest& request) override {
    return run("UpdateTable", [this, request] { return inner_.update_table(request); });
  }
  Result<UpdateTimeToLiveResult> update_time_to_live(
      const UpdateTimeToLiveRequest& request) override {
    return run("UpdateTimeToLive", [this, request] { return inner_.update_time_to_live(request); });
  }
  Result<DescribeTimeToLiveResult> describe_time_to_live(
      const DescribeTimeToLiveRequest& request) override {
    return run("DescribeTimeToLive",
               [this, request] { return inner_.describe_time_to_live(request); });
  }
  Result<WriteResult> put_item(const PutItemRequest& request) override {
    return run("PutItem", [this, request] { return inner_.put_item(request); });
  }
  Result<GetItemResult> get_item(const GetItemRequest& request) override {
    return run("GetItem", [this, request] { return inner_.get_item(request); });
  }
  Result<WriteResult> update_item(const UpdateItemRequest& request) override {
    {
      const std::scoped_lock lock(mutex_);
      latest_update_ = request;
    }
    return run("UpdateItem", [this, request] { return inner_.update_item(request); });
  }
  Result<WriteResult> delete_item(const DeleteItemRequest& request) override {
    return run("DeleteItem", [this, request] { return inner_.delete_item(request); });
  }
  Result<PageResult> query(const QueryRequest& request) override {
    return run("Query", [this, request] { return inner_.query(paged(request)); });
  }
  Result<PageResult> scan(const ScanRequest& request) override {
    return run("Scan", [this, request] { return inner_.scan(request); });
  }
  Result<SearchVectorsResult> search_vectors(const SearchVectorsRequest& request) override {
    return run("SearchVectors", [this, request] { return inner_.search_vectors(request); });
  }
  Result<BatchGetItemResult> batch_get_item(const BatchGetItemRequest& request) override {
    return run("BatchGetItem", [this, request] { return inner_.batch_get_item(request); });
  }
  Result<BatchWriteItemResult> batch_write_item(const BatchWriteItemRequest& request) override {
    return run("BatchWriteItem", [this, request] { return partly(request); });
  }
  Result<TransactWriteItemsResult> transact_write_items(
      const TransactWriteItemsRequest& request) override {
    {
      const std::scoped_lock lock(mutex_);
      latest_transaction_ = request;
    }
    return run("TransactWriteItems",
               [this, request] { return inner_.transact_write_items(request); });
  }
  Result<TransactGetItemsResult> transact_get_items(
      const TransactGetItemsRequest& request) override {
    return run("TransactGetItems", [this, request] { return inner_.transact_get_items(request); });
  }
  Result<ExecuteStatementResult> execute_statement(
      const ExecuteStatementRequest& request) override {
    return run("ExecuteStatement", [this, request] { return inner_.execute_statement(request); });
  }
  Result<BatchExecuteStatementResult> batch_execute_statement(
      const BatchExecuteStatementRequest& request) override {
    return run("BatchExecuteStatement", [this, request] { return partly(request); });
  }
  Result<ExecuteTransactionResult> execute_transaction(
      const ExecuteTransactionRequest& request) override {
    return run("ExecuteTransaction",
               [this, request] { return inner_.execute_transaction(request); });
  }
  Result<ListStreamsResult> list_streams(const ListStreamsRequest& request) override {
    return run("ListStreams", [this, request] { return inner_.list_streams(request); });
  }
  Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request) override {
    return run("DescribeStream", [this, request] { return inner_.describe_stream(request); });
  }
  Result<GetShardIteratorResult> get_shard_iterator(
      const GetShardIteratorRequest& request) override {
    return run("GetShardIterator", [this, request] { return inner_.get_shard_iterator(request); });
  }
  Result<GetRecordsResult> get_records(const GetRecordsRequest& request) override {
    return run("GetRecords", [this, request] { return inner_.get_records(request); });
  }
  Result<std::string> call(std::string_view operation, std::string_view json) override {
    return run(std::string(operation).c_str(),
               [this, operation = std::string(operation), json = std::string(json)] {
                 return inner_.call(operation, json);
               });
  }

  // The number of requests in transit, because of kDelay or kEcho.
  std::size_t delayed() const {
    const std::scoped_lock lock(mutex_);
    return delayed_.size();
  }
  void arrive(std::size_t index) {
    std::function<void()> request;
    {
      const std::scoped_lock lock(mutex_);
      request = std::move(delayed_.at(index));
      delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    request();
  }

  // BatchWriteItem processes this many of its writes and returns the others; 0: all. In
  // BatchExecuteStatement, the other statements are throttled.
  void process_at_most(std::size_t writes) { process_at_most_ = writes; }
  // Query examines at most this many items, as if they were large; 0: as many as requested.
  void page_at_most(int64_t items) { page_at_most_ = items; }
  // Failed conditions are reported without their items, as by some endpoints.
  void withhold_items() { withholds_items_ = true; }

 private:
  template <class Call>
  auto run(const char* operation, Call call) -> decltype(call()) {
    int nth = 0;
    {
      const std::scoped_lock lock(mutex_);
      nth = ++sent_[operation];
    }
    const Fate fate = before_ ? before_(operation, nth) : pass();
    auto answer = meet(fate, call);
    if (after_) after_(operation);
    return answer;
  }

  template <class Call>
  auto meet(const Fate& fate, Call call) -> decltype(call()) {
    const auto unknown = [] { return fail(Code::kOutcomeUnknown, "lost by the test"); };
    switch (fate.kind) {
      case Fate::Kind::kPass:
        return sent_on(call());
      case Fate::Kind::kLoseRequest:
        return unknown();
      case Fate::Kind::kLoseReply:
        (void)call();
        return unknown();
      case Fate::Kind::kRepeat:
        (void)call();
        return sent_on(call());
      case Fate::Kind::kRefuse:
        return Failure(fate.error);
      case Fate::Kind::kDelay:
        put_aside(std::move(call));
        return unknown();
      case Fate::Kind::kEcho:
        put_aside(call);
        return sent_on(call());
    }
    return unknown();
  }

  template <class Call>
  void put_aside(Call call) {
    const std::scoped_lock lock(mutex_);
    delayed_.push_back([call = std::move(call)] { (void)call(); });
  }

  template <class T>
  Result<T> sent_on(Result<T> answer) const {
    if (answer || !withholds_items_ || !answer.error().detail) return answer;
    Error error = answer.error();
    auto detail = std::make_shared<ErrorDetail>(*error.detail);
    detail->item.reset();
    for (CancellationReason& reason : detail->reasons) reason.item.reset();
    error.detail = std::move(detail);
    return Failure(std::move(error));
  }

  QueryRequest paged(QueryRequest request) const {
    const bool is_longer = !request.limit || *request.limit > page_at_most_;
    if (page_at_most_ > 0 && is_longer) request.limit = page_at_most_;
    return request;
  }

  Result<BatchWriteItemResult> partly(const BatchWriteItemRequest& request) {
    if (process_at_most_ == 0 || request.items.size() != 1) return inner_.batch_write_item(request);
    const auto& [table, writes] = *request.items.begin();
    if (writes.size() <= process_at_most_) return inner_.batch_write_item(request);
    const auto middle = writes.begin() + static_cast<std::ptrdiff_t>(process_at_most_);
    BatchWriteItemRequest some = request;
    some.items[table] = std::vector<WriteRequest>(writes.begin(), middle);
    auto result = inner_.batch_write_item(some);
    if (result) result->unprocessed[table] = std::vector<WriteRequest>(middle, writes.end());
    return result;
  }

  Result<BatchExecuteStatementResult> partly(const BatchExecuteStatementRequest& request) {
    const std::size_t count = request.statements.size();
    if (process_at_most_ == 0 || count <= process_at_most_) {
      return inner_.batch_execute_statement(request);
    }
    BatchExecuteStatementRequest some = request;
    some.statements.resize(process_at_most_);
    auto result = inner_.batch_execute_statement(some);
    if (result) {
      result->responses.resize(
          count, {.error = StatementError{.code = "ThrottlingError", .message = "by the test"}});
    }
    return result;
  }

  void check_spent() {
    EXPECT_FALSE(unspent_.exchange(false)) << "a fault that no request has met";
  }

  Client& inner_;
  Hook before_;
  std::function<void(std::string_view)> after_;
  std::atomic<bool> unspent_ = false;
  std::size_t process_at_most_ = 0;
  int64_t page_at_most_ = 0;
  bool withholds_items_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::string, int> sent_;
  UpdateItemRequest latest_update_;
  TransactWriteItemsRequest latest_transaction_;
  std::vector<std::function<void()>> delayed_;
};

}  // namespace stator::test

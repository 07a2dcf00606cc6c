// SPDX-License-Identifier: Apache-2.0
// FaultyClient: another client, over a network that tests decide about.
//
// Thread safety: as Client; the hooks are called under no lock and must be safe themselves.
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

// What becomes of one request.
struct Fate {
  enum class Kind {
    kPass,
    kLoseRequest,  // it never arrives; the caller sees kOutcomeUnknown
    kLoseReply,    // it takes effect; the caller sees kOutcomeUnknown
    kRepeat,       // it arrives twice, and the caller sees the second answer
    kRefuse,       // it never arrives; the caller sees `error`
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
inline Fate refuse(Error error) {
  return {.kind = Fate::Kind::kRefuse, .error = std::move(error)};
}
inline Fate refuse(Code code) {
  return refuse(Error{.code = code, .message = "by the test"});
}

// A cancelled transaction with these codes as its reasons.
inline Fate cancel(const std::vector<std::string>& codes) {
  auto detail = std::make_shared<ErrorDetail>();
  for (const std::string& code : codes) detail->reasons.emplace_back().code = code;
  return refuse({.code = Code::kTransactionCanceled,
                 .message = "Transaction cancelled, by the test",
                 .detail = std::move(detail)});
}

class FaultyClient final : public Client {
 public:
  // `operation` is "PutItem" and so on; `nth` counts the requests of that operation from 1.
  using Hook = std::function<Fate(std::string_view operation, int nth)>;

  explicit FaultyClient(Client& inner) : inner_(inner) {}

  ~FaultyClient() override { check_spent(); }
  FaultyClient(const FaultyClient&) = delete;
  FaultyClient& operator=(const FaultyClient&) = delete;

  // Decides about each request from now on, and may do things of its own before it.
  void before(Hook hook) {
    check_spent();
    before_ = std::move(hook);
  }
  // The next `count` requests of an operation get `fate`. A test fails where none comes: what it
  // shows would not depend on the fault.
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
  // The latest UpdateItem, for a test that lets a copy of it arrive late.
  UpdateItemRequest latest_update() const {
    const std::scoped_lock lock(mutex_);
    return latest_update_;
  }

  Result<CreateTableResult> create_table(const CreateTableRequest& request) override {
    return run("CreateTable", [&] { return inner_.create_table(request); });
  }
  Result<DescribeTableResult> describe_table(const DescribeTableRequest& request) override {
    return run("DescribeTable", [&] { return inner_.describe_table(request); });
  }
  Result<ListTablesResult> list_tables(const ListTablesRequest& request) override {
    return run("ListTables", [&] { return inner_.list_tables(request); });
  }
  Result<DeleteTableResult> delete_table(const DeleteTableRequest& request) override {
    return run("DeleteTable", [&] { return inner_.delete_table(request); });
  }
  Result<UpdateTableResult> update_table(const UpdateTableRequest& request) override {
    return run("UpdateTable", [&] { return inner_.update_table(request); });
  }
  Result<UpdateTimeToLiveResult> update_time_to_live(
      const UpdateTimeToLiveRequest& request) override {
    return run("UpdateTimeToLive", [&] { return inner_.update_time_to_live(request); });
  }
  Result<DescribeTimeToLiveResult> describe_time_to_live(
      const DescribeTimeToLiveRequest& request) override {
    return run("DescribeTimeToLive", [&] { return inner_.describe_time_to_live(request); });
  }
  Result<WriteResult> put_item(const PutItemRequest& request) override {
    return run("PutItem", [&] { return inner_.put_item(request); });
  }
  Result<GetItemResult> get_item(const GetItemRequest& request) override {
    return run("GetItem", [&] { return inner_.get_item(request); });
  }
  Result<WriteResult> update_item(const UpdateItemRequest& request) override {
    {
      const std::scoped_lock lock(mutex_);
      latest_update_ = request;
    }
    return run("UpdateItem", [&] { return inner_.update_item(request); });
  }
  Result<WriteResult> delete_item(const DeleteItemRequest& request) override {
    return run("DeleteItem", [&] { return inner_.delete_item(request); });
  }
  Result<PageResult> query(const QueryRequest& request) override {
    return run("Query", [&] { return inner_.query(request); });
  }
  Result<PageResult> scan(const ScanRequest& request) override {
    return run("Scan", [&] { return inner_.scan(request); });
  }
  Result<BatchGetItemResult> batch_get_item(const BatchGetItemRequest& request) override {
    return run("BatchGetItem", [&] { return inner_.batch_get_item(request); });
  }
  Result<BatchWriteItemResult> batch_write_item(const BatchWriteItemRequest& request) override {
    return run("BatchWriteItem", [&] { return partly(request); });
  }
  Result<TransactWriteItemsResult> transact_write_items(
      const TransactWriteItemsRequest& request) override {
    return run("TransactWriteItems", [&] { return inner_.transact_write_items(request); });
  }
  Result<TransactGetItemsResult> transact_get_items(
      const TransactGetItemsRequest& request) override {
    return run("TransactGetItems", [&] { return inner_.transact_get_items(request); });
  }
  Result<ExecuteStatementResult> execute_statement(
      const ExecuteStatementRequest& request) override {
    return run("ExecuteStatement", [&] { return inner_.execute_statement(request); });
  }
  Result<BatchExecuteStatementResult> batch_execute_statement(
      const BatchExecuteStatementRequest& request) override {
    return run("BatchExecuteStatement", [&] { return inner_.batch_execute_statement(request); });
  }
  Result<ExecuteTransactionResult> execute_transaction(
      const ExecuteTransactionRequest& request) override {
    return run("ExecuteTransaction", [&] { return inner_.execute_transaction(request); });
  }
  Result<ListStreamsResult> list_streams(const ListStreamsRequest& request) override {
    return run("ListStreams", [&] { return inner_.list_streams(request); });
  }
  Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request) override {
    return run("DescribeStream", [&] { return inner_.describe_stream(request); });
  }
  Result<GetShardIteratorResult> get_shard_iterator(
      const GetShardIteratorRequest& request) override {
    return run("GetShardIterator", [&] { return inner_.get_shard_iterator(request); });
  }
  Result<GetRecordsResult> get_records(const GetRecordsRequest& request) override {
    return run("GetRecords", [&] { return inner_.get_records(request); });
  }
  Result<std::string> call(std::string_view operation, std::string_view json) override {
    return run(std::string(operation).c_str(), [&] { return inner_.call(operation, json); });
  }

  // BatchWriteItem processes this many of its writes and hands the rest back; 0: all.
  void process_at_most(std::size_t writes) { process_at_most_ = writes; }
  // Failed conditions come without their items, as some endpoints send them.
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
    }
    return unknown();
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

  void check_spent() {
    EXPECT_FALSE(unspent_.exchange(false)) << "a fault that no request has met";
  }

  Client& inner_;
  Hook before_;
  std::atomic<bool> unspent_ = false;
  std::size_t process_at_most_ = 0;
  bool withholds_items_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::string, int> sent_;
  UpdateItemRequest latest_update_;
};

}  // namespace stator::test

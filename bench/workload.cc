// SPDX-License-Identifier: Apache-2.0
#include "bench/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>

#include "bench/http_connection.h"
#include "bench/signer.h"

namespace stator::bench {
namespace {

constexpr uint64_t kBatchItems = 25;
constexpr uint64_t kTransactItems = 4;

std::string id_of(uint64_t number) {
  return fmt::format("item-{:012}", number);
}

uint64_t next_version() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Item page_item_of(uint64_t partition, uint64_t position, const std::string& filler) {
  return {{"pk", id_of(partition)}, {"sk", position}, {"filler", filler}};
}

bool report(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s: %s\n", what, code_name(error.code), error.message.c_str());
  return false;
}

bool create(Client& client, CreateTableRequest request) {
  request.billing_mode = BillingMode::kPayPerRequest;
  if (auto made = client.create_table(request); !made) return report("CreateTable", made.error());
  return true;
}

bool write_batches(Client& client, const char* table, uint64_t count,
                   const std::function<Item(uint64_t)>& item) {
  for (uint64_t first = 0; first < count; first += kBatchItems) {
    BatchWriteItemRequest batch;
    for (uint64_t i = first; i < std::min(first + kBatchItems, count); ++i) {
      batch.items[table].push_back({.put = item(i)});
    }
    if (auto written = client.batch_write_item(batch); !written) {
      return report("BatchWriteItem", written.error());
    }
  }
  return true;
}

// ---- As JSON

std::string json_item(uint64_t number, const std::string& filler) {
  return fmt::format(R"({{"pk":{{"S":"{}"}},"n":{{"N":"{}"}},"filler":{{"S":"{}"}}}})",
                     id_of(number), next_version(), filler);
}

std::string json_key(uint64_t number) {
  return fmt::format(R"({{"pk":{{"S":"{}"}}}})", id_of(number));
}

std::string request_of(Kind kind, Numbers& numbers, const WorkOptions& options) {
  switch (kind) {
    case Kind::kGet:
      return dynamodb_request(
          "GetItem", fmt::format(R"({{"TableName":"Bench","Key":{}}})", json_key(numbers.next())));
    case Kind::kPut:
      return dynamodb_request("PutItem", fmt::format(R"({{"TableName":"Bench","Item":{}}})",
                                                     json_item(numbers.next(), options.filler)));
    case Kind::kUpdate:
      return dynamodb_request(
          "UpdateItem",
          fmt::format(R"({{"TableName":"Bench","Key":{},"UpdateExpression":"ADD n :one",)"
                      R"("ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}})",
                      json_key(numbers.next())));
    case Kind::kQuery:
      return dynamodb_request(
          "Query", fmt::format(R"({{"TableName":"Pages","KeyConditionExpression":"pk = :pk",)"
                               R"("ExpressionAttributeValues":{{":pk":{{"S":"{}"}}}}}})",
                               id_of(numbers.next() % kPartitions)));
    case Kind::kBatchWrite: {
      std::string puts;
      const uint64_t first = numbers.next();
      for (uint64_t i = 0; i < kBatchItems; ++i) {
        puts += fmt::format(R"({}{{"PutRequest":{{"Item":{}}}}})", i == 0 ? "" : ",",
                            json_item((first + i) % options.items, options.filler));
      }
      return dynamodb_request("BatchWriteItem",
                              fmt::format(R"({{"RequestItems":{{"Bench":[{}]}}}})", puts));
    }
    case Kind::kTransact: {
      std::string puts;
      const uint64_t first = numbers.next();
      for (uint64_t i = 0; i < kTransactItems; ++i) {
        puts += fmt::format(R"({}{{"Put":{{"TableName":"Bench","Item":{}}}}})", i == 0 ? "" : ",",
                            json_item((first + i) % options.items, options.filler));
      }
      return dynamodb_request("TransactWriteItems",
                              fmt::format(R"({{"TransactItems":[{}]}})", puts));
    }
  }
  return {};
}

// ---- In C++

bool run(Client& client, Kind kind, Numbers& numbers, const WorkOptions& options) {
  switch (kind) {
    case Kind::kGet: {
      const auto got = client.get_item({.table = "Bench", .key = {{"pk", id_of(numbers.next())}}});
      return got && got->item;
    }
    case Kind::kPut:
      return client.put_item({.table = "Bench", .item = item_of(numbers.next(), options.filler)})
          .has_value();
    case Kind::kUpdate:
      return client
          .update_item({.table = "Bench",
                        .key = {{"pk", id_of(numbers.next())}},
                        .update = "ADD n :one",
                        .values = Values{{":one", 1}}})
          .has_value();
    case Kind::kQuery: {
      const auto page =
          client.query({.table = "Pages",
                        .key_condition = "pk = :pk",
                        .values = Values{{":pk", id_of(numbers.next() % kPartitions)}}});
      return page && page->items.size() == kPageItems;
    }
    case Kind::kBatchWrite: {
      BatchWriteItemRequest batch;
      const uint64_t first = numbers.next();
      for (uint64_t i = 0; i < kBatchItems; ++i) {
        batch.items["Bench"].push_back(
            {.put = item_of((first + i) % options.items, options.filler)});
      }
      return client.batch_write_item(batch).has_value();
    }
    case Kind::kTransact: {
      TransactWriteItemsRequest request;
      const uint64_t first = numbers.next();
      for (uint64_t i = 0; i < kTransactItems; ++i) {
        request.items.push_back({.action = TransactAction::kPut,
                                 .table = "Bench",
                                 .item = item_of((first + i) % options.items, options.filler)});
      }
      const auto done = client.transact_write_items(request);
      // Two transactions can conflict at an item, as in DynamoDB.
      return done || done.error().code == Code::kTransactionCanceled;
    }
  }
  return false;
}

}  // namespace

Item item_of(uint64_t number, const std::string& filler) {
  return {{"pk", id_of(number)}, {"n", next_version()}, {"filler", filler}};
}

bool fill(Client& client, const WorkOptions& options) {
  return create(client, {.table = "Bench",
                         .attributes = {{"pk", ScalarType::kS}},
                         .key_schema = {{"pk", KeyType::kHash}}}) &&
         create(client, {.table = "Pages",
                         .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}},
                         .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}}}) &&
         write_batches(client, "Bench", options.items,
                       [&](uint64_t i) { return item_of(i, options.filler); }) &&
         write_batches(client, "Pages", kPartitions * kPageItems, [&](uint64_t i) {
           return page_item_of(i / kPageItems, i % kPageItems, options.filler);
         });
}

const char* title_of(Kind kind) {
  switch (kind) {
    case Kind::kGet:
      return "GetItem";
    case Kind::kPut:
      return "PutItem";
    case Kind::kUpdate:
      return "UpdateItem";
    case Kind::kQuery:
      return "Query of 100 items";
    case Kind::kBatchWrite:
      return "BatchWriteItem of 25";
    case Kind::kTransact:
      return "TransactWriteItems of 4";
  }
  return "";
}

bool writes(Kind kind) {
  return kind != Kind::kGet && kind != Kind::kQuery;
}

OperationFactory on_client(Client& client, Kind kind, const WorkOptions& options) {
  return [&client, kind, options](int thread) -> Operation {
    return [&client, kind, options, numbers = Numbers(thread, options.items)]() mutable {
      return run(client, kind, numbers, options);
    };
  };
}

OperationFactory count_on_client(Client& client) {
  return [&client](int) -> Operation {
    return [&client] {
      return client
          .update_item({.table = "Bench",
                        .key = {{"pk", "counter"}},
                        .update = "ADD n :one",
                        .values = Values{{":one", 1}}})
          .has_value();
    };
  };
}

OperationFactory over_http(const std::string& url, Kind kind, const WorkOptions& options) {
  return [url, kind, options](int thread) -> Operation {
    auto connection = std::make_shared<HttpConnection>(url);
    return [=, numbers = Numbers(thread, options.items)]() mutable {
      if (!connection->exchange(request_of(kind, numbers, options))) return false;
      return connection->status() == 200 ||
             connection->body().find("TransactionConflict") != std::string_view::npos;
    };
  };
}

OperationFactory signed_gets_over_http(const std::string& url, const WorkOptions& options) {
  constexpr uint64_t kRequests = 1'000;
  auto requests = std::make_shared<std::vector<std::string>>();
  Numbers numbers(0, options.items);
  for (uint64_t i = 0; i < kRequests; ++i) {
    requests->push_back(signed_request(
        url.substr(url.rfind('/') + 1), "GetItem",
        fmt::format(R"({{"TableName":"Bench","Key":{}}})", json_key(numbers.next()))));
  }
  return [url, requests](int thread) -> Operation {
    auto connection = std::make_shared<HttpConnection>(url);
    return [=, next = Numbers(thread, kRequests)]() mutable {
      return connection->exchange((*requests)[next.next()]) && connection->status() == 200;
    };
  };
}

}  // namespace stator::bench

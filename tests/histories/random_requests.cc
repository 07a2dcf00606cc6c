// SPDX-License-Identifier: Apache-2.0
#include "histories/random_requests.h"

#include <set>
#include <utility>

namespace stator::test {
namespace {

// Adds an expression's placeholders to a request, and returns the expression's text.
template <class Request, class Expression>
std::string use(Expression expression, Request& request) {
  if (!expression.names.empty()) {
    if (!request.names) request.names.emplace();
    request.names->merge(expression.names);
  }
  if constexpr (requires { request.values; }) {
    if (!expression.values.empty()) {
      if (!request.values) request.values.emplace();
      request.values->merge(expression.values);
    }
  }
  return std::move(expression.text);
}

template <class Request>
bool go_on(Request& request, std::string_view answer) {
  auto page = wire::read_result<PageResult>(answer);
  if (!page || !page->last_evaluated_key) return false;
  request.exclusive_start_key = std::move(page->last_evaluated_key);
  return true;
}

}  // namespace

RandomRequests::RandomRequests(uint64_t seed) : random_(seed) {
  next_.emplace_back(create_table("One"));
  next_.emplace_back(create_table("Two"));
}

AnyRequest RandomRequests::next() {
  AnyRequest request = [&]() -> AnyRequest {
    if (!next_.empty()) {
      AnyRequest first = std::move(next_.front());
      next_.pop_front();
      return first;
    }
    const int choice = pick(100);
    if (choice < 40) return write_one();
    if (choice < 48) return get_item();
    if (choice < 60) return query();
    if (choice < 68) return scan();
    if (choice < 73) return batch_get();
    if (choice < 80) return batch_write();
    if (choice < 84) return transact_get();
    if (choice < 96) return transact_write();
    return about_tables();
  }();
  asked_.reset();
  if (std::holds_alternative<QueryRequest>(request) ||
      std::holds_alternative<ScanRequest>(request)) {
    asked_ = request;
  }
  return request;
}

void RandomRequests::learn(std::string_view answer) {
  if (!asked_ || pick(4) == 0) return;
  auto* const query = std::get_if<QueryRequest>(&*asked_);
  const bool more =
      query != nullptr ? go_on(*query, answer) : go_on(std::get<ScanRequest>(*asked_), answer);
  if (!more) return;
  if (pick(2) == 0) next_.push_back(write_one());
  next_.push_back(std::move(*asked_));
}

std::string RandomRequests::pick_table() {
  const int choice = pick(40);
  return choice == 0 ? "None" : choice < 10 ? "Two" : "One";
}

std::optional<std::string> RandomRequests::pick_index() {
  return pick_of<std::optional<std::string>>({std::nullopt, "ByGroup", "ByN"});
}

std::optional<int64_t> RandomRequests::pick_limit() {
  if (pick(6) == 0) return std::nullopt;
  return pick(50) == 0 ? 0 : 1 + pick(6);
}

Item RandomRequests::pick_key() {
  Item key = {{"pk", "p" + std::to_string(pick(5))}, {"sk", pick(12) - 4}};
  if (pick(80) == 0) key["sk"] = "text";
  if (pick(80) == 0) key.erase("sk");
  return key;
}

Item RandomRequests::pick_item() {
  Item item = pick_key();
  if (pick(3) > 0) item["n"] = pick(20) - 10;
  if (pick(3) > 0) item["group"] = pick_text();
  if (pick(3) == 0) item["tags"] = StringSet{pick_text(), "t"};
  if (pick(4) == 0) item["map"] = Map{{"parts", List{1, "x", nullptr, true}}};
  if (pick(8) == 0) item["decimal"] = *Number::parse("-1.25e-" + std::to_string(pick(120)));
  if (pick(4) == 0) {
    item["payload"] = Binary{std::string(static_cast<std::size_t>(pick(4000)), '\xff')};
  }
  if (pick(60) == 0) item["n"] = "no number, but an index's key";
  return item;
}

RandomRequests::Expression RandomRequests::pick_condition() {
  const int c = pick(20) - 10;
  return pick_of<Expression>({
      {"attribute_not_exists(pk)"},
      {"attribute_exists(pk)"},
      {"n < :c", {{":c", c}}},
      {"n <> :c OR attribute_not_exists(n)", {{":c", c}}},
      {"#g = :ct", {{":ct", pick_text()}}, {{"#g", "group"}}},
      {"#g IN (:ct, :c) OR n IN (:c)", {{":ct", pick_text()}, {":c", c}}, {{"#g", "group"}}},
      {"contains(tags, :ct) AND size(tags) < :c", {{":ct", pick_text()}, {":c", 3}}},
      {"NOT (n BETWEEN :c AND :cc)", {{":c", c}, {":cc", c + 4}}},
      {"attribute_type(n, :ct) AND size(#m.parts) > :c",
       {{":ct", "N"}, {":c", 1}},
       {{"#m", "map"}}},
      {"begins_with(#g, :ct) AND n > previous", {{":ct", pick_text()}}, {{"#g", "group"}}},
      {"begins_with(#g, :c)", {{":c", c}}, {{"#g", "group"}}},
      {"n < :undefined", {{":c", c}}},
      {"n <", {{":c", c}}},
  });
}

RandomRequests::Expression RandomRequests::pick_update() {
  const int u = pick(20) - 10;
  return pick_of<Expression>({
      {"ADD n :u", {{":u", u}}},
      {"SET n = if_not_exists(n, :zero) + :u", {{":u", u}, {":zero", 0}}},
      {"SET previous = n, n = :u", {{":u", u}}},
      {"SET #g = :ut", {{":ut", pick_text()}}, {{"#g", "group"}}},
      {"REMOVE #g, n", {}, {{"#g", "group"}}},
      {"ADD tags :us", {{":us", StringSet{pick_text()}}}},
      {"DELETE tags :us", {{":us", StringSet{pick_text()}}}},
      {"SET entries = list_append(if_not_exists(entries, :none), :one)",
       {{":none", List{}}, {":one", List{u}}}},
      {"REMOVE entries[0], entries[2]"},
      {"SET #m.leaf = :ut", {{":ut", pick_text()}}, {{"#m", "map"}}},
      {"SET #m = :um REMOVE payload", {{":um", Map{{"n", u}}}}, {{"#m", "map"}}},
      {"SET pk = :ut", {{":ut", pick_text()}}},
      {"SET n = :u, n = :u", {{":u", u}}},
      {"SET n = tags + :u", {{":u", u}}},
  });
}

RandomRequests::Expression RandomRequests::pick_key_condition(bool by_group) {
  const int low = pick(20) - 10;
  const std::string range = by_group || pick(4) == 0 ? "n" : "sk";
  Expression key;
  if (by_group) {
    key = {"#g = :k", {{":k", pick_text()}}, {{"#g", "group"}}};
  } else {
    key = {"pk = :k", {{":k", "p" + std::to_string(pick(5))}}};
  }
  switch (pick(4)) {
    case 0:
      key.text += " AND " + range + " BETWEEN :low AND :high";
      key.values.insert({{":low", low}, {":high", low + pick(12) - 1}});
      break;
    case 1:
      key.text += " AND " + range + " >= :low";
      key.values.insert({{":low", low}});
      break;
    case 2:
      key.text += " AND " + range + " = :low";
      key.values.insert({{":low", low}});
      break;
    default:
      break;
  }
  return key;
}

RandomRequests::Expression RandomRequests::pick_projection() {
  return pick_of<Expression>({{"pk, n"},
                              {"sk, #p.parts[1], entries[0], tags", {}, {{"#p", "map"}}},
                              {"#p", {}, {{"#p", "group"}}},
                              {"#p, #p.parts", {}, {{"#p", "map"}}}});
}

CreateTableRequest RandomRequests::create_table(std::string table) {
  const auto projection = [&] {
    return pick_of<Projection>(
        {{},
         {.type = ProjectionType::kKeysOnly},
         {.type = ProjectionType::kInclude, .non_key_attributes = {"tags"}}});
  };
  return {.table = std::move(table),
          .attributes = {{"pk", ScalarType::kS},
                         {"sk", ScalarType::kN},
                         {"group", ScalarType::kS},
                         {"n", ScalarType::kN}},
          .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
          .local_indexes = {{{.name = "ByN",
                              .key_schema = {{"pk", KeyType::kHash}, {"n", KeyType::kRange}},
                              .projection = projection()}}},
          .global_indexes = {{{.name = "ByGroup",
                               .key_schema = {{"group", KeyType::kHash}, {"n", KeyType::kRange}},
                               .projection = projection()}}},
          .billing_mode = BillingMode::kPayPerRequest};
}

AnyRequest RandomRequests::write_one() {
  const auto finish = [&](auto request) -> AnyRequest {
    if (pick(2) == 0) request.condition = use(pick_condition(), request);
    request.on_condition_failure = static_cast<ReturnValuesOnConditionCheckFailure>(pick(2));
    request.return_capacity = pick_capacity();
    request.return_metrics = static_cast<ReturnItemCollectionMetrics>(pick(2));
    return request;
  };
  const auto old_or_none = [&] { return static_cast<ReturnValues>(pick(2)); };
  switch (pick(4)) {
    case 0:
      return finish(DeleteItemRequest{
          .table = pick_table(), .key = pick_key(), .return_values = old_or_none()});
    case 1: {
      UpdateItemRequest update{.table = pick_table(),
                               .key = pick_key(),
                               .return_values = static_cast<ReturnValues>(pick(5))};
      update.update = use(pick_update(), update);
      return finish(update);
    }
    default:
      return finish(PutItemRequest{
          .table = pick_table(), .item = pick_item(), .return_values = old_or_none()});
  }
}

GetItemRequest RandomRequests::get_item() {
  GetItemRequest get{.table = pick_table(),
                     .key = pick_key(),
                     .consistent_read = pick(2) == 0,
                     .return_capacity = pick_capacity()};
  if (pick(3) == 0) get.projection = use(pick_projection(), get);
  return get;
}

QueryRequest RandomRequests::query() {
  QueryRequest query{.table = pick_table(),
                     .index = pick_index(),
                     .limit = pick_limit(),
                     .forward = pick(2) == 0,
                     .return_capacity = pick_capacity()};
  const bool by_group = query.index == "ByGroup";
  query.key_condition = use(pick_key_condition(by_group), query);
  query.consistent_read = !by_group && pick(2) == 0;
  if (pick(3) == 0) query.filter = use(pick_condition(), query);
  if (pick(4) == 0) query.projection = use(pick_projection(), query);
  if (pick(6) == 0) query.select = static_cast<Select>(pick(4));
  if (pick(20) == 0) query.exclusive_start_key = pick_item();
  return query;
}

ScanRequest RandomRequests::scan() {
  ScanRequest scan{.table = pick_table(),
                   .index = pick_index(),
                   .limit = pick_limit(),
                   .return_capacity = pick_capacity()};
  if (pick(3) == 0) {
    scan.total_segments = 1 + pick(4);
    scan.segment = pick(static_cast<int>(*scan.total_segments) + (pick(20) == 0 ? 1 : 0));
  }
  if (pick(3) == 0) scan.filter = use(pick_condition(), scan);
  if (pick(4) == 0) scan.projection = use(pick_projection(), scan);
  if (pick(20) == 0) scan.exclusive_start_key = pick_key();
  return scan;
}

BatchGetItemRequest RandomRequests::batch_get() {
  BatchGetItemRequest batch{.items = {}, .return_capacity = pick_capacity()};
  for (int tables = 1 + pick(2); tables > 0; --tables) {
    KeysAndAttributes& wanted = batch.items[pick_table()];
    if (wanted.keys.empty() && pick(3) == 0) wanted.projection = use(pick_projection(), wanted);
    for (int keys = 1 + pick(8); keys > 0; --keys) wanted.keys.push_back(pick_key());
    // Usually removes repeated keys, because they are an error.
    if (pick(10) > 0) {
      std::set<std::string> seen;
      std::erase_if(wanted.keys,
                    [&](const Item& key) { return !seen.insert(to_debug_string(key)).second; });
    }
  }
  return batch;
}

BatchWriteItemRequest RandomRequests::batch_write() {
  BatchWriteItemRequest batch{.items = {}, .return_capacity = pick_capacity()};
  std::set<std::string> seen;
  for (int writes = 1 + pick(12); writes > 0; --writes) {
    Item key = pick_key();
    if (!seen.insert(to_debug_string(key)).second) continue;
    WriteRequest write;
    if (pick(3) == 0) {
      write.delete_key = std::move(key);
    } else {
      write.put = pick_item();
      for (auto& [name, value] : key) (*write.put)[name] = std::move(value);
    }
    batch.items[pick(3) == 0 ? "Two" : "One"].push_back(std::move(write));
  }
  return batch;
}

TransactGetItemsRequest RandomRequests::transact_get() {
  TransactGetItemsRequest request{.items = {}, .return_capacity = pick_capacity()};
  for (int gets = 1 + pick(5); gets > 0; --gets) {
    TransactGetItem get{.table = pick_table(), .key = pick_key()};
    if (pick(3) == 0) get.projection = use(pick_projection(), get);
    request.items.push_back(std::move(get));
  }
  return request;
}

TransactWriteItem RandomRequests::transact_item() {
  TransactWriteItem item{.action = static_cast<TransactAction>(pick(4)), .table = pick_table()};
  item.item = item.action == TransactAction::kPut ? pick_item() : pick_key();
  if (item.action == TransactAction::kUpdate) item.update = use(pick_update(), item);
  if (item.action == TransactAction::kConditionCheck || pick(3) == 0) {
    item.condition = use(pick_condition(), item);
  }
  item.on_condition_failure = static_cast<ReturnValuesOnConditionCheckFailure>(pick(2));
  return item;
}

TransactWriteItemsRequest RandomRequests::transact_write() {
  const bool known = !with_token_.items.empty();
  if (known && pick(5) == 0) return with_token_;
  TransactWriteItemsRequest request{.items = {}, .return_capacity = pick_capacity()};
  for (int items = 1 + pick(4); items > 0; --items) request.items.push_back(transact_item());
  if (known && pick(20) == 0) {
    request.client_request_token = with_token_.client_request_token;  // of another transaction
  } else if (pick(3) == 0) {
    request.client_request_token = "token-" + std::to_string(random_());
    with_token_ = request;
  }
  return request;
}

AnyRequest RandomRequests::about_tables() {
  switch (pick(5)) {
    case 0:
      return create_table(pick_table() == "One" ? "One" : "Two");
    case 1: {
      // The table is missing for some time, or is created again immediately.
      std::string table = pick(3) == 0 ? "One" : "Two";
      if (pick(8) > 0) next_.emplace_back(create_table(table));
      return DeleteTableRequest{.table = std::move(table)};
    }
    case 2:
      return ListTablesRequest{.limit = 1 + pick(3)};
    default:
      return DescribeTableRequest{.table = pick_table()};
  }
}

}  // namespace stator::test

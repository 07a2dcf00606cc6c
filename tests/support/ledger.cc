// SPDX-License-Identifier: Apache-2.0
#include "support/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "support/stream_consumer.h"

namespace stator::test {
namespace {

constexpr const char* kItems = "Items";    // pk, sk: each writer has its own
constexpr const char* kShared = "Shared";  // pk
constexpr const char* kByShelf = "ByShelf";
constexpr const char* kByVersion = "ByVersion";
constexpr const char* kCounter = "counter";
constexpr StreamSpecification kStream{.enabled = true, .view = StreamViewType::kNewAndOldImages};
constexpr int kItemsPerWriter = 6;
constexpr int kAccounts = 4;
constexpr int64_t kBalance = 1'000'000'000;  // initial balance of each account: it never runs out
constexpr std::size_t kFillerBytesMax = 2000;

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::string account(uint64_t number) {
  return "account-" + std::to_string(number % kAccounts);
}

int64_t number_of(const Item& item, const std::string& attribute) {
  const auto found = item.find(attribute);
  const Number* number = found == item.end() ? nullptr : found->second.get_if<Number>();
  return number == nullptr ? 0 : number->to_int64().value_or(0);
}

Item key_of(const std::string& name, int sk) {
  return {{"pk", name}, {"sk", sk}};
}

template <class T>
Result<void> outcome(const Result<T>& result) {
  if (!result) return Failure(result.error());
  return {};
}

// Returns every item of a table or index that has `attribute`.
std::multiset<std::string> all_items(Client& client, const std::string& table,
                                     const std::optional<std::string>& index,
                                     const std::string& attribute) {
  std::multiset<std::string> found;
  ScanRequest request{.table = table, .index = index};
  request.filter = "attribute_exists(" + attribute + ")";
  do {
    const auto page = client.scan(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return found;
    for (const Item& item : page->items) found.insert(to_debug_string(item));
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return found;
}

void take_effect(const std::vector<std::pair<int, std::optional<Item>>>& written,
                 std::map<int, Item>& items) {
  for (const auto& [sk, item] : written) {
    if (item) {
      items[sk] = *item;
    } else {
      items.erase(sk);
    }
  }
}

std::size_t acknowledged_of(const auto& writes) {
  return static_cast<std::size_t>(std::ranges::count_if(
      writes, [](const auto& write) { return write.returned_ns.has_value(); }));
}

void check_indexes(Client& client) {
  EXPECT_EQ(all_items(client, kItems, {}, "shelf"), all_items(client, kItems, kByShelf, "shelf"))
      << "a global index is not equal to its table";
  EXPECT_EQ(all_items(client, kItems, {}, "version"),
            all_items(client, kItems, kByVersion, "version"))
      << "a local index is not equal to its table";
}

// The changes in a table's stream, from its beginning, must result in the content of the table.
void check_stream(Client& client, const std::string& table) {
  const auto described = client.describe_table({.table = table});
  ASSERT_TRUE(described) << described.error().message;
  StreamReplay replay;
  StreamConsumer consumer;
  for (const StreamRecord& record :
       consumer.read(client, described->table.latest_stream_arn.value_or("none"))) {
    replay.apply(record);
  }
  std::multiset<std::string> told;
  for (const auto& [keys, item] : replay.items()) told.insert(to_debug_string(item));
  EXPECT_EQ(told, all_items(client, table, {}, "pk")) << "the stream of " << table;
}

}  // namespace

Ledger::Ledger(std::size_t writers, uint64_t seed) {
  for (std::size_t i = 0; i < writers; ++i) {
    writers_.emplace_back(Writer{.name = "writer-" + std::to_string(i),
                                 .random = std::mt19937_64(seed + i),
                                 .before = {},
                                 .now = {},
                                 .writes = {},
                                 .last_held_transaction = {},
                                 .unanswered_transaction = {}});
  }
  shared_[kCounter] = 0;
  for (uint64_t i = 0; i < kAccounts; ++i) shared_[account(i)] = kBalance;
}

Result<void> Ledger::create(Client& client) {
  CreateTableRequest items{
      .table = kItems,
      .attributes = {{"pk", ScalarType::kS},
                     {"sk", ScalarType::kN},
                     {"shelf", ScalarType::kN},
                     {"version", ScalarType::kN}},
      .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
      .local_indexes = {{{.name = kByVersion,
                          .key_schema = {{"pk", KeyType::kHash}, {"version", KeyType::kRange}},
                          .projection = {}}}},
      .global_indexes = {{{.name = kByShelf,
                           .key_schema = {{"shelf", KeyType::kHash}, {"version", KeyType::kRange}},
                           .projection = {}}}},
      .billing_mode = BillingMode::kPayPerRequest,
      .stream = kStream};
  STATOR_RETURN_IF_ERROR(client.create_table(items));
  STATOR_RETURN_IF_ERROR(client.create_table({.table = kShared,
                                              .attributes = {{"pk", ScalarType::kS}},
                                              .key_schema = {{"pk", KeyType::kHash}},
                                              .billing_mode = BillingMode::kPayPerRequest,
                                              .stream = kStream}));
  STATOR_RETURN_IF_ERROR(
      client.put_item({.table = kShared, .item = {{"pk", kCounter}, {"amount", 0}}}));
  for (uint64_t i = 0; i < kAccounts; ++i) {
    STATOR_RETURN_IF_ERROR(
        client.put_item({.table = kShared, .item = {{"pk", account(i)}, {"amount", kBalance}}}));
  }
  return {};
}

// ---- Writing

Result<void> Ledger::write(Client& client, std::size_t writer, const std::atomic<bool>& stop) {
  while (!stop) STATOR_RETURN_IF_ERROR(call(client, writers_[writer]));
  return {};
}

Result<void> Ledger::call(Client& client, Writer& writer) {
  Write& write = writer.writes.emplace_back();
  const auto choice = writer.random() % 100;
  Result<void> done;
  if (choice < 30) {
    done = put(client, writer, write);
  } else if (choice < 50) {
    done = update(client, writer, write);
  } else if (choice < 60) {
    done = erase(client, writer, write);
  } else if (choice < 75) {
    done = count(client, write);
  } else {
    done = transact(client, writer, write);
  }
  if (done) write.returned_ns = now_ns();
  return done;
}

// Makes a new version of the item. Half of them have no shelf, so they are in no global index.
Item Ledger::make_item(Writer& writer, int sk) {
  Item item = key_of(writer.name, sk);
  item["version"] = ++writer.last_version;
  const uint64_t shelf = writer.random() % 8;
  if (shelf < 4) item["shelf"] = shelf;
  item["filler"] = std::string(writer.random() % kFillerBytesMax, 'x');
  return item;
}

Result<void> Ledger::put(Client& client, Writer& writer, Write& write) {
  const int sk = static_cast<int>(writer.random() % kItemsPerWriter);
  Item item = make_item(writer, sk);
  write.items.emplace_back(sk, item);
  writer.now[sk] = item;
  write.called_ns = now_ns();
  return outcome(client.put_item({.table = kItems, .item = std::move(item)}));
}

Result<void> Ledger::update(Client& client, Writer& writer, Write& write) {
  const int sk = static_cast<int>(writer.random() % kItemsPerWriter);
  const auto found = writer.now.find(sk);
  Item item = make_item(writer, sk);
  UpdateItemRequest request{.table = kItems, .key = key_of(writer.name, sk)};
  request.update = "SET version = :version, filler = :filler";
  request.values = Values{{":version", item["version"]}, {":filler", item["filler"]}};
  if (item.contains("shelf")) {
    *request.update += ", shelf = :shelf";
    (*request.values)[":shelf"] = item["shelf"];
  } else {
    *request.update += " REMOVE shelf";
  }
  if (found == writer.now.end()) {
    request.condition = "attribute_not_exists(pk)";
  } else {
    request.condition = "version = :before";
    (*request.values)[":before"] = found->second["version"];
  }
  write.items.emplace_back(sk, item);
  writer.now[sk] = std::move(item);
  write.called_ns = now_ns();
  return outcome(client.update_item(request));
}

// Erases the oldest of several items. The newest version remains, so that no state occurs twice.
Result<void> Ledger::erase(Client& client, Writer& writer, Write& write) {
  if (writer.now.size() < 2) return put(client, writer, write);
  const auto oldest = std::ranges::min_element(
      writer.now, {}, [](const auto& item) { return number_of(item.second, "version"); });
  const int sk = oldest->first;
  const AttributeValue version = oldest->second.at("version");
  write.items.emplace_back(sk, std::nullopt);
  writer.now.erase(oldest);
  write.called_ns = now_ns();
  return outcome(client.delete_item({.table = kItems,
                                     .key = key_of(writer.name, sk),
                                     .condition = "version = :before",
                                     .values = Values{{":before", version}}}));
}

Result<void> Ledger::count(Client& client, Write& write) {
  write.added[kCounter] = 1;
  write.called_ns = now_ns();
  return outcome(client.update_item({.table = kShared,
                                     .key = {{"pk", kCounter}},
                                     .update = "ADD amount :one",
                                     .values = Values{{":one", 1}}}));
}

// Writes two of the writer's items and two accounts. The sum does not change.
Result<void> Ledger::transact(Client& client, Writer& writer, Write& write) {
  TransactWriteItemsRequest request;
  const int first = static_cast<int>(writer.random() % kItemsPerWriter);
  for (const int sk : {first, (first + 1) % kItemsPerWriter}) {
    Item item = make_item(writer, sk);
    write.items.emplace_back(sk, item);
    writer.now[sk] = item;
    request.items.push_back(
        {.action = TransactAction::kPut, .table = kItems, .item = std::move(item)});
  }
  const uint64_t from = writer.random() % kAccounts;
  const int64_t amount = 1 + static_cast<int64_t>(writer.random() % 100);
  write.added = {{account(from), -amount}, {account(from + 1), amount}};
  for (const auto& [name, difference] : write.added) {
    request.items.push_back({.action = TransactAction::kUpdate,
                             .table = kShared,
                             .item = {{"pk", name}},
                             .update = "ADD amount :difference",
                             .condition = "amount >= :enough",
                             .values = Values{{":difference", difference}, {":enough", 100}}});
  }
  request.client_request_token = writer.name + "/" + std::to_string(writer.last_version);
  write.transaction = request;
  write.called_ns = now_ns();
  return outcome(client.transact_write_items(request));
}

// ---- Checking

Ledger::Held Ledger::compare_writer(Client& client, const Writer& writer, Kept kept) {
  const auto page = client.query({.table = kItems,
                                  .key_condition = "pk = :pk",
                                  .values = Values{{":pk", writer.name}},
                                  .consistent_read = true});
  EXPECT_TRUE(page) << page.error().message;
  if (!page) return {};
  Items found;
  for (const Item& item : page->items) found[static_cast<int>(number_of(item, "sk"))] = item;

  const std::size_t all = writer.writes.size();
  const std::size_t acknowledged = acknowledged_of(writer.writes);
  const std::size_t least = kept == Kept::kPrefix ? 0 : acknowledged;
  const std::size_t most = kept == Kept::kOnlyAcknowledged ? acknowledged : all;
  std::optional<Held> held;
  bool held_too_few = false;
  Items then = writer.before;
  for (std::size_t count = 0; count <= most; ++count) {
    if (count > 0) take_effect(writer.writes[count - 1].items, then);
    if (then != found) continue;
    held_too_few |= count < least;
    if (count < least) continue;
    if (!held) held = Held{.shortest = count, .longest = count};
    held->longest = count;
  }
  EXPECT_TRUE(held) << writer.name
                    << (held_too_few ? " lost an acknowledged write"
                                     : " has what no number of its writes leads to");
  return held.value_or(Held{});
}

// If a later write exists, a write that was acknowledged before its call must exist too.
void Ledger::check_order(const std::vector<Held>& held) const {
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    if (held[i].longest == writers_[i].writes.size()) continue;
    const Write& lost = writers_[i].writes[held[i].longest];
    for (std::size_t j = 0; j < writers_.size(); ++j) {
      if (held[j].shortest == 0 || !lost.returned_ns) continue;
      EXPECT_LE(writers_[j].writes[held[j].shortest - 1].called_ns, *lost.returned_ns)
          << writers_[j].name << " has a write that came after one that " << writers_[i].name
          << " lost";
    }
  }
}

void Ledger::check_shared(const Shared& found, const std::vector<Held>& held) const {
  Shared least = shared_;
  Shared most = shared_;
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    for (std::size_t n = 0; n < held[i].longest; ++n) {
      for (const auto& [key, difference] : writers_[i].writes[n].added) {
        if (n < held[i].shortest) least[key] += difference;
        most[key] += difference;
      }
    }
  }
  for (const auto& [key, amount] : most) {
    const auto there = found.find(key);
    ASSERT_NE(there, found.end()) << key << " is lost";
    EXPECT_GE(there->second, least[key]) << key;
    EXPECT_LE(there->second, amount) << key;
  }
}

Ledger::Comparison Ledger::compare(Client& client, Kept kept) const {
  Comparison comparison;
  for (const Writer& writer : writers_) {
    comparison.held.push_back(compare_writer(client, writer, kept));
  }
  const auto page = client.scan({.table = kShared, .consistent_read = true});
  EXPECT_TRUE(page) << page.error().message;
  if (page) {
    for (const Item& item : page->items) {
      comparison.shared[*item.at("pk").get_if<std::string>()] = number_of(item, "amount");
    }
    check_shared(comparison.shared, comparison.held);
  }
  check_order(comparison.held);
  check_indexes(client);
  check_stream(client, kItems);
  check_stream(client, kShared);
  return comparison;
}

void Ledger::settle(Client& client, Kept kept) {
  Comparison comparison = compare(client, kept);
  shared_ = std::move(comparison.shared);
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    Writer& writer = writers_[i];
    const std::size_t held = comparison.held[i].longest;
    const std::size_t acknowledged = acknowledged_of(writer.writes);
    acknowledged_ += acknowledged;
    lost_ += acknowledged - std::min(acknowledged, held);
    writer.last_held_transaction.reset();
    writer.unanswered_transaction.reset();
    for (std::size_t n = 0; n < held; ++n) {
      take_effect(writer.writes[n].items, writer.before);
      if (writer.writes[n].transaction) writer.last_held_transaction = writer.writes[n];
    }
    if (held < writer.writes.size() && held == acknowledged && writer.writes[held].transaction) {
      writer.unanswered_transaction = writer.writes[held];
    }
    writer.now = writer.before;
    writer.writes.clear();
  }
}

void Ledger::repeat_transactions(Client& client) {
  for (Writer& writer : writers_) {
    if (writer.last_held_transaction) {
      const auto repeated = client.transact_write_items(*writer.last_held_transaction->transaction);
      EXPECT_TRUE(repeated) << repeated.error().message;
    }
    if (writer.unanswered_transaction) {
      const Write& write = *writer.unanswered_transaction;
      const auto repeated = client.transact_write_items(*write.transaction);
      EXPECT_TRUE(repeated) << repeated.error().message;
      take_effect(write.items, writer.before);
      writer.now = writer.before;
      for (const auto& [key, difference] : write.added) shared_[key] += difference;
    }
  }
  check(client, Kept::kAcknowledged);
}

std::size_t Ledger::acknowledged() const {
  return acknowledged_;
}

std::size_t Ledger::lost() const {
  return lost_;
}

}  // namespace stator::test

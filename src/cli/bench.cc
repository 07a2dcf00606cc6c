// SPDX-License-Identifier: Apache-2.0
// stator bench: measures a backend's requests per second and latencies, on a separate table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "base/random.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/endpoint.h"
#include "cli/item_output.h"
#include "cli/latencies.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"

namespace stator::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct BenchFlags {
  EndpointFlags where;
  std::vector<std::string> operations = {"put", "get", "update", "query", "transact"};
  milliseconds time{5'000};
  int clients = 16;
  int64_t items = 10'000;
  std::size_t item_bytes = 400;
  bool json = false;
};

constexpr int64_t kPartitionItems = 100;
constexpr int64_t kBatchItems = 25;
constexpr std::size_t kTransactionItems = 2;

// The table that all clients use.
struct BenchTable {
  Client& client;
  std::string name;
  int64_t items;
  std::string filler;

  static Item key(int64_t number) {
    return {{"partition", fmt::format("p{}", number / kPartitionItems)},
            {"position", number % kPartitionItems}};
  }
  Item item(int64_t number, int64_t version) const {
    Item item = key(number);
    item.emplace("version", version);
    item.emplace("filler", filler);
    return item;
  }
};

// The requests of one client.
class BenchClient {
 public:
  BenchClient(const BenchTable& table, uint64_t seed) : table_(table), random_(seed) {}

  Result<void> run(const std::string& operation) {
    if (operation == "put") {
      // A new version each time, because a put without a change costs a backend less.
      return done(table_.client.put_item(
          {.table = table_.name,
           .item = table_.item(any(), static_cast<int64_t>(random_() >> 1))}));
    }
    if (operation == "get") {
      return done(table_.client.get_item({.table = table_.name, .key = BenchTable::key(any())}));
    }
    if (operation == "update") {
      return done(table_.client.update_item({.table = table_.name,
                                             .key = BenchTable::key(any()),
                                             .update = "ADD version :one",
                                             .values = Values{{":one", 1}}}));
    }
    if (operation == "query") {
      return done(
          table_.client.query({.table = table_.name,
                               .key_condition = "#p = :p",
                               .names = Names{{"#p", "partition"}},
                               .values = Values{{":p", BenchTable::key(any()).at("partition")}}}));
    }
    return transact();
  }

 private:
  template <class T>
  static Result<void> done(Result<T> result) {
    if (!result) return Failure(std::move(result).error());
    return {};
  }
  Result<void> transact() {
    TransactWriteItemsRequest request;
    const int64_t first = any();
    for (std::size_t i = 0; i < kTransactionItems; ++i) {
      const int64_t number = (first + static_cast<int64_t>(i) * kPartitionItems) % table_.items;
      request.items.push_back({.action = TransactAction::kUpdate,
                               .table = table_.name,
                               .item = BenchTable::key(number),
                               .update = "ADD version :one",
                               .values = Values{{":one", 1}}});
    }
    return done(table_.client.transact_write_items(request));
  }
  int64_t any() { return std::uniform_int_distribution<int64_t>(0, table_.items - 1)(random_); }

  const BenchTable& table_;
  std::mt19937_64 random_;
};

struct Outcome {
  Latencies latencies = {};
  std::map<std::string, int64_t> errors = {};  // by code
  double seconds = 0;
};

Outcome run_operation(const BenchTable& table, const std::string& operation,
                      const BenchFlags& flags, const std::stop_token& stop) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(flags.clients));
  const auto start = SteadyClock::now();
  const auto end = start + flags.time;
  {
    std::vector<std::jthread> clients;
    clients.reserve(outcomes.size());
    for (Outcome& outcome : outcomes) {
      clients.emplace_back([&, seed = static_cast<uint64_t>(&outcome - outcomes.data()) + 1] {
        BenchClient client(table, seed);
        for (auto before = start; before < end && !stop.stop_requested();) {
          const auto result = client.run(operation);
          const auto after = SteadyClock::now();
          if (result) {
            outcome.latencies.add(after - before);
          } else {
            ++outcome.errors[code_name(result.error().code)];
          }
          before = after;
        }
      });
    }
  }
  Outcome all;
  all.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  for (const Outcome& outcome : outcomes) {
    all.latencies.add(outcome.latencies);
    for (const auto& [code, count] : outcome.errors) all.errors[code] += count;
  }
  return all;
}

double to_ms(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string errors_text(const Outcome& outcome) {
  std::string text;
  for (const auto& [code, count] : outcome.errors) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, code);
  }
  return text;
}

void print_text(const std::string& operation, const Outcome& outcome) {
  const auto ms = [&](double part) { return to_ms(outcome.latencies.quantile(part)); };
  fmt::print("{:<10} {:>12.0f} {:>10.3f} {:>10.3f} {:>10.3f}  {}\n", operation,
             static_cast<double>(outcome.latencies.count()) / outcome.seconds, ms(0.5), ms(0.99),
             ms(0.999), errors_text(outcome));
  std::fflush(stdout);
}

void print_json(const std::string& operation, const Outcome& outcome) {
  const auto ms = [&](double part) { return to_ms(outcome.latencies.quantile(part)); };
  std::string errors;
  for (const auto& [code, count] : outcome.errors) {
    errors += fmt::format(R"({}"{}":{})", errors.empty() ? "" : ",", code, count);
  }
  fmt::print(
      R"({{"operation":"{}","requests":{},"per_second":{:.1f},"p50_ms":{:.4f},"p99_ms":{:.4f},)"
      R"("p999_ms":{:.4f},"errors":{{{}}}}})"
      "\n",
      operation, outcome.latencies.count(),
      static_cast<double>(outcome.latencies.count()) / outcome.seconds, ms(0.5), ms(0.99),
      ms(0.999), errors);
  std::fflush(stdout);
}

Result<void> create_table(Client& client, const std::string& name) {
  STATOR_RETURN_IF_ERROR(client.create_table(
      {.table = name,
       .attributes = {{"partition", ScalarType::kS}, {"position", ScalarType::kN}},
       .key_schema = {{"partition", KeyType::kHash}, {"position", KeyType::kRange}},
       .billing_mode = BillingMode::kPayPerRequest}));
  constexpr int kAttempts = 600;
  for (int i = 0; i < kAttempts; ++i) {
    STATOR_ASSIGN_OR_RETURN(const auto described, client.describe_table({.table = name}));
    if (described.table.status == TableStatus::kActive) return {};
    std::this_thread::sleep_for(milliseconds(100));
  }
  return fail(Code::kTimeout, "table '" + name + "' is not active after a minute");
}

Result<void> fill(const BenchTable& table, const std::stop_token& stop) {
  Progress progress("fill", ProgressUnit::kItems, table.items);
  for (int64_t first = 0; first < table.items && !stop.stop_requested(); first += kBatchItems) {
    BatchWriteItemRequest batch;
    const int64_t end = std::min(first + kBatchItems, table.items);
    for (int64_t i = first; i < end; ++i) {
      batch.items[table.name].push_back({.put = table.item(i, 0)});
    }
    while (!batch.items.empty() && !stop.stop_requested()) {
      STATOR_ASSIGN_OR_RETURN(auto written, table.client.batch_write_item(batch));
      batch.items = std::move(written.unprocessed);
    }
    progress.advance_to(end);
  }
  return {};
}

int measure(const BenchTable& table, const BenchFlags& flags, const std::stop_token& stop) {
  if (const auto filled = fill(table, stop); !filled) return report(filled.error());
  if (!flags.json) {
    fmt::print("{} clients, {} items of {} bytes, {} for each operation\n\n", flags.clients,
               flags.items, flags.item_bytes, duration_text(flags.time));
    fmt::print("{:<10} {:>12} {:>10} {:>10} {:>10}\n", "", "per second", "p50 ms", "p99 ms",
               "p99.9 ms");
  }
  bool failed = false;
  for (const std::string& operation : flags.operations) {
    if (stop.stop_requested()) return kFailure;
    const Outcome outcome = run_operation(table, operation, flags, stop);
    flags.json ? print_json(operation, outcome) : print_text(operation, outcome);
    failed = failed || !outcome.errors.empty();
  }
  return failed ? kFailure : kSuccess;
}

int run_bench(const BenchFlags& flags) {
  const StopSignals signals;
  const auto client = open_client(flags.where);
  if (!client) return report(client.error());
  const BenchTable table{.client = **client,
                         .name = "stator-bench-" + random_uuid(),
                         .items = flags.items,
                         .filler = std::string(flags.item_bytes, 'x')};
  if (const auto created = create_table(**client, table.name); !created) {
    return report(created.error());
  }
  const int status = measure(table, flags, signals.token());
  const auto deleted = (*client)->delete_table({.table = table.name});
  return deleted ? status : report(deleted.error());
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure requests per second and latencies, on a table that is deleted afterwards");
  add_endpoint_flags(*command, flags->where);
  command->add_option("--operations", flags->operations, "What to measure, in this order")
      ->type_name("put|get|update|query|transact,...")
      ->delimiter(',')
      ->check(CLI::IsMember({"put", "get", "update", "query", "transact"}).description(""))
      ->capture_default_str();
  add_duration(*command, "--time", flags->time, "For each operation", milliseconds(100),
               std::chrono::hours(24));
  command
      ->add_option("--clients", flags->clients,
                   "Concurrent clients, each waiting for a response before its next request")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000).description(""))
      ->capture_default_str();
  command->add_option("--items", flags->items, "In the table, 100 in each partition")
      ->type_name("N")
      ->check(CLI::Range(200, 100'000'000).description(""))
      ->capture_default_str();
  command->add_option("--item-bytes", flags->item_bytes, "Size of an item, in addition to its key")
      ->type_name("N")
      ->check(CLI::Range(1, 400'000).description(""))
      ->capture_default_str();
  add_json_flag(*command, flags->json);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_bench(*flags); }; });
}

}  // namespace stator::cli

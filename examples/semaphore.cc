// SPDX-License-Identifier: Apache-2.0
// Sixteen processes purge and rebuild one shared record, the use case of the semaphore.
// The record is ten items. A rebuild deletes them all and writes them again, one by one, so two
// concurrent rebuilds would mix or lose items. Each rebuild ends by adding its fencing token to a
// log, in a transaction that requires the lease to be current.
//
// Every process checks that the record is complete before it purges it. At the end, the record must
// consist of items of the last fencing token only, and the log must contain each rebuild once.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "stator/recipes/semaphore.h"
#include "support/run.h"
#include "support/server_process.h"

namespace stator::examples {
namespace {

using namespace std::chrono_literals;

constexpr int kProcesses = 16;
constexpr int64_t kRounds = 6;
constexpr int kParts = 10;

SemaphoreOptions lock_options(const std::string& table) {
  return {
      .table = table, .retry = {.max_attempts = 100}, .backoff_base = 5ms, .backoff_max = 200ms};
}

Item part_key(int part) {
  return {{"pk", "PART#" + std::to_string(part)}};
}

// The generations of the existing parts.
Result<std::vector<int64_t>> read_parts(Client& client, const std::string& table) {
  std::vector<int64_t> generations;
  for (int part = 0; part < kParts; ++part) {
    STATOR_ASSIGN_OR_RETURN(
        const GetItemResult found,
        client.get_item({.table = table, .key = part_key(part), .consistent_read = true}));
    if (!found.item) continue;
    const auto generation = found.item->find("generation");
    const Number* number =
        generation == found.item->end() ? nullptr : generation->second.get_if<Number>();
    generations.push_back(number != nullptr ? number->to_int64().value_or(-1) : -1);
  }
  return generations;
}

bool is_whole(const std::vector<int64_t>& parts) {
  return parts.empty() ||
         (parts.size() == kParts && std::ranges::count(parts, parts.front()) == kParts);
}

// Purges, then rebuilds. Must not run twice concurrently.
Result<void> rebuild(Client& client, const std::string& table, const Lease& lease) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<int64_t> before, read_parts(client, table));
  STATOR_RETURN_IF_ERROR(expect(is_whole(before), "the record is mixed: two were at it at once"));
  STATOR_RETURN_IF_ERROR(expect(before.empty() || before.front() < to_int64(lease.fence()),
                                "the record is of a later fence"));
  for (int part = 0; part < kParts; ++part) {
    STATOR_RETURN_IF_ERROR(client.delete_item({.table = table, .key = part_key(part)}));
  }
  for (int part = 0; part < kParts; ++part) {
    Item item = part_key(part);
    item.emplace("generation", to_int64(lease.fence()));
    STATOR_RETURN_IF_ERROR(client.put_item({.table = table, .item = std::move(item)}));
  }
  const TransactWriteItemsRequest entry{
      .items = {
          {.table = table,
           .item = {{"pk", fmt::format("RUN#{}", to_int64(lease.fence()))}, {"process", getpid()}},
           .condition = "attribute_not_exists(pk)"},
          {.action = TransactAction::kUpdate,
           .table = table,
           .item = {{"pk", "SUMMARY"}},
           .update = "SET last_fence = :fence ADD runs :one",
           .values = Values{{":fence", to_int64(lease.fence())}, {":one", 1}}}}};
  STATOR_RETURN_IF_ERROR(lease.commit(entry));
  return {};
}

// The work of one process.
Result<void> work(CountingClient& client, const std::string& table) {
  Semaphore locks(client, lock_options(table));
  for (int round = 0; round < kRounds; ++round) {
    STATOR_ASSIGN_OR_RETURN(
        Lease lease,
        locks.acquire("record",
                      {.lease = 30s, .wait = kWaitForEver, .user = std::to_string(getpid())}));
    STATOR_RETURN_IF_ERROR(rebuild(client, table, lease));
    STATOR_RETURN_IF_ERROR(lease.release());
  }
  const Cost cost = client.cost();
  STATOR_RETURN_IF_ERROR(
      client.put_item({.table = table,
                       .item = {{"pk", fmt::format("COST#{}", getpid())},
                                {"requests", cost.requests},
                                {"written", static_cast<int64_t>(cost.write_units)},
                                {"read", static_cast<int64_t>(cost.read_units)},
                                {"refused", cost.refused}}}));
  return {};
}

// Runs this program sixteen times, as workers on the endpoint. Returns false if a worker failed.
Result<bool> run_workers(const std::string& self, const std::string& endpoint,
                         const std::string& table) {
  std::vector<pid_t> workers;
  for (int i = 0; i < kProcesses; ++i) {
    std::vector<std::string> words{self, "--endpoint", endpoint, "worker", table};
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t worker = 0;
    if (posix_spawn(&worker, self.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
      return fail(Code::kIo, "cannot start " + self);
    }
    workers.push_back(worker);
  }
  bool all_well = true;
  for (const pid_t worker : workers) {
    int status = 0;
    if (waitpid(worker, &status, 0) < 0) return fail(Code::kIo, "cannot wait for a worker");
    all_well = all_well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return all_well;
}

int64_t number_of(const Item& item, std::string_view name) {
  const auto found = item.find(name);
  const Number* number = found == item.end() ? nullptr : found->second.get_if<Number>();
  return number != nullptr ? number->to_int64().value_or(-1) : -1;
}

// Checks the items that the processes left in the table.
Result<void> check_outcome(Client& client, const std::string& table) {
  int64_t runs = 0;
  int64_t last_fence = 0;
  Cost cost;
  std::optional<Item> start;
  do {
    STATOR_ASSIGN_OR_RETURN(
        PageResult page,
        client.scan(
            {.table = table, .consistent_read = true, .exclusive_start_key = std::move(start)}));
    for (const Item& item : page.items) {
      const std::string key = *item.at("pk").get_if<std::string>();
      if (key.starts_with("RUN#")) {
        ++runs;
        last_fence = std::max<int64_t>(last_fence, std::stoll(key.substr(4)));
      } else if (key.starts_with("COST#")) {
        cost.requests += number_of(item, "requests");
        cost.refused += number_of(item, "refused");
        cost.write_units += static_cast<double>(number_of(item, "written"));
        cost.read_units += static_cast<double>(number_of(item, "read"));
      }
    }
    start = std::move(page.last_evaluated_key);
  } while (start);
  fmt::print("{} rebuilds by {} processes, the last with fence {}\n", runs, kProcesses, last_fence);
  fmt::print("  cost {} requests, {:.0f} write units, {:.0f} read units, and {} refused attempts\n",
             cost.requests, cost.write_units, cost.read_units, cost.refused);

  STATOR_RETURN_IF_ERROR(expect(runs == kProcesses * kRounds, "the number of rebuilds"));
  STATOR_ASSIGN_OR_RETURN(const std::vector<int64_t> parts, read_parts(client, table));
  STATOR_RETURN_IF_ERROR(
      expect(parts.size() == kParts && is_whole(parts) && parts.front() == last_fence,
             "the record is not the last holder's"));
  STATOR_ASSIGN_OR_RETURN(
      const GetItemResult summary,
      client.get_item({.table = table, .key = {{"pk", "SUMMARY"}}, .consistent_read = true}));
  return expect(summary.item && number_of(*summary.item, "runs") == runs &&
                    number_of(*summary.item, "last_fence") == last_fence,
                "the summary");
}

Result<void> purge_and_rebuild(CountingClient& client, const Arguments& arguments,
                               const std::string& self) {
  if (arguments.others.size() == 2 && arguments.others[0] == "worker") {
    return work(client, arguments.others[1]);
  }
  const std::string table = fresh_name("Record");
  STATOR_RETURN_IF_ERROR(
      create_table_if_missing(client, Semaphore::table_definition(lock_options(table))));
  const auto start = std::chrono::steady_clock::now();
  STATOR_ASSIGN_OR_RETURN(const bool all_well, run_workers(self, arguments.endpoint, table));
  fmt::print("{} processes were done in {}\n", kProcesses, seconds_since(start));
  STATOR_RETURN_IF_ERROR(expect(all_well, "a process failed"));
  STATOR_RETURN_IF_ERROR(check_outcome(client, table));
  fmt::print("all as it should be\n");
  return drop_tables(client, arguments, {table});
}

}  // namespace
}  // namespace stator::examples

// The processes share an endpoint. Without one, the program starts a server on --data or --memory.
int main(int argc, char** argv) {
  using namespace stator::examples;
  constexpr const char* kUsage =
      "semaphore_example [--data DIR | --memory | --endpoint URL] [--stator FILE]";
  std::vector<std::string> words(argv, argv + argc);
  std::optional<stator::test::ServerProcess> server;
  const auto arguments = parse_arguments(argc, argv);
  if (arguments && arguments->endpoint.empty()) {
    const std::string binary = arguments->stator.empty() ? STATOR_BINARY : arguments->stator;
    server.emplace(binary, arguments->data.empty()
                               ? std::vector<std::string>{"--memory"}
                               : std::vector<std::string>{"--data", arguments->data});
    if (server->url().empty()) {
      fmt::print(stderr, "cannot start {} (see --stator)\n", binary);
      return 1;
    }
    words = {argv[0], "--endpoint", server->url()};
    if (arguments->keep) words.emplace_back("--keep");
  }
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) pointers.push_back(word.data());
  const std::string self = "/proc/self/exe";
  return run(static_cast<int>(pointers.size()), pointers.data(), kUsage,
             [&](CountingClient& client, const Arguments& given) {
               return purge_and_rebuild(client, given, self);
             });
}

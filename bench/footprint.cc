// SPDX-License-Identifier: Apache-2.0
// Start-up time, memory, size on disk, and how costs grow with a table.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "bench/contests.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "support/process_memory.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double memory_mb(pid_t pid, std::string_view field) {
  return static_cast<double>(test::process_memory(pid, field)) / (1 << 20);
}

// Of a server that has had no request for some seconds.
void note_idle_memory(Findings& findings, const std::string& where, pid_t pid) {
  std::this_thread::sleep_for(std::chrono::seconds(5));
  note(findings, "idle " + where + ", MB", memory_mb(pid, "VmRSS"));
  note(findings, "idle " + where + ", private, MB", memory_mb(pid, "RssAnon"));
}

double size_mb(const std::filesystem::path& directory) {
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return static_cast<double>(bytes) / (1 << 20);
}

double start_ms(const std::string& stator, const std::vector<std::string>& arguments) {
  const SteadyClock::time_point start = SteadyClock::now();
  const test::ServerProcess server(stator, arguments);
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

double median_start_ms(const Settings& settings, const std::vector<std::string>& arguments) {
  std::vector<double> all(5);
  for (double& took : all) took = start_ms(settings.stator, arguments);
  std::ranges::sort(all);
  return all[2];
}

// The median latency of one operation by one thread, in microseconds; 0 if it was not measured.
double cost_us(Client& client, Kind kind, const WorkOptions& work, const Plan& plan) {
  std::vector<Measurement> measured;
  const Contest contest{
      .title = fmt::format("{} of {} items: {}", "growth", work.items, title_of(kind)),
      .contenders = {{"Database, on disk", on_client(client, kind, work)}}};
  return run_contest(contest, plan, measured) && !measured.empty() ? measured[0].p50_us : 0;
}

bool measure_reads(const Settings& settings, uint64_t items, const std::string& data,
                   Findings& findings) {
  const WorkOptions work{.items = items, .filler = std::string(60, 'x')};
  auto database = Database::open({.path = data, .durability = Durability::kOs});
  if (!database || !fill(*database, work)) return false;
  for (const Kind kind : {Kind::kGet, Kind::kQuery}) {
    const double cost = cost_us(*database, kind, work, settings.plan);
    if (cost == 0) continue;
    note(findings, fmt::format("{} of {} items, us", title_of(kind), items), cost);
  }
  return true;
}

}  // namespace

bool footprint(const Settings& settings, Findings& findings) {
  std::printf("\nfootprint\n");
  const test::TempDir directory;
  note(findings, "start in memory, ms", median_start_ms(settings, {"--memory"}));
  test::ServerProcess memory(settings.stator, {"--memory"});
  note_idle_memory(findings, "in memory", memory.pid());

  const std::string data = (directory.path() / "data").string();
  test::ServerProcess disk(settings.stator, {"--data", data});
  note_idle_memory(findings, "on disk", disk.pid());
  auto client = HttpClient::open({.endpoint = disk.url()});
  if (!client || !fill(*client, settings.work)) return false;
  note(findings, "after loading on disk, MB", memory_mb(disk.pid(), "VmHWM"));
  disk.kill_now();
  note(findings, "start after a crash, ms", start_ms(settings.stator, {"--data", data}));
  {
    test::ServerProcess again(settings.stator, {"--data", data});
    again.terminate();
  }
  const double stored = size_mb(data);
  note(findings, "on disk, MB", stored);
  note(findings, "on disk, bytes an item of 1 KB",
       stored * (1 << 20) / static_cast<double>(settings.work.items + kPartitions * kPageItems));
  note(findings, "start on disk, ms", median_start_ms(settings, {"--data", data}));
  return true;
}

bool growth(const Settings& settings, Findings& findings) {
  std::printf("\ngrowth, items of 100 bytes\n");
  for (const uint64_t items : {10'000UL, 1'000'000UL, 10'000'000UL}) {
    const test::TempDir directory;
    const std::string data = (directory.path() / "data").string();
    if (!measure_reads(settings, items, data, findings)) return false;
    note(findings, fmt::format("on disk with {} items, MB", items), size_mb(data));
    note(findings, fmt::format("start with {} items, ms", items),
         median_start_ms(settings, {"--data", data}));
  }
  return true;
}

}  // namespace stator::bench

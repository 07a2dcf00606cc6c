// SPDX-License-Identifier: Apache-2.0
// Prints figures and the budget table, and writes the findings as JSON.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "base/processors.h"
#include "bench/contests.h"

namespace stator::bench {
namespace {

const Measurement* find(const Findings& findings, const std::string& contest,
                        const std::string& contender, int threads) {
  for (const Measurement& row : findings.measurements) {
    if (row.contest == contest && row.contender == contender && row.threads == threads) return &row;
  }
  return nullptr;
}

// `reached`: 0 if this run did not measure it.
void print_line(const char* what, double reached, const char* unit, bool at_least, double wanted) {
  if (reached <= 0) {
    std::printf("  %-58s not measured in this run\n", what);
    return;
  }
  const bool met = at_least ? reached >= wanted : reached <= wanted;
  std::printf("  %-58s %8.2f %-3s  %s %.2f  %s\n", what, reached, unit,
              at_least ? "at least" : "at most ", wanted, met ? "met" : "NOT MET");
}

double fact(const Findings& findings, const std::string& name) {
  const auto found = findings.facts.find(name);
  return found == findings.facts.end() ? 0 : found->second;
}

double quotient(double above, double below) {
  return below > 0 ? above / below : 0;
}

}  // namespace

void note(Findings& findings, const std::string& name, double value) {
  findings.facts[name] = value;
  std::printf("  %-52s %10.1f\n", name.c_str(), value);
  std::fflush(stdout);
}

double Findings::ratio(const std::string& contest, const std::string& contender,
                       int threads) const {
  const Measurement* const row = find(*this, contest, contender, threads);
  return row ? row->ratio : 0;
}

double Findings::rate(const std::string& contest, const std::string& contender, int threads) const {
  const Measurement* const row = find(*this, contest, contender, threads);
  return row ? row->per_second : 0;
}

void print_budget(const Findings& findings) {
  std::printf("\nbudget\n");
  print_line("in-process GetItem, times a raw RocksDB Get",
             quotient(1, findings.ratio("in process: GetItem", "Database, on disk, sync", 1)), "x",
             false, 1.3);
  print_line("in-process GetItem, two threads to one",
             quotient(findings.rate("in process: GetItem", "Database, on disk, sync", 2),
                      findings.rate("in process: GetItem", "Database, on disk, sync", 1)),
             "x", true, 1.9);
  print_line("in-process durable PutItem, 64 threads, to raw synced puts",
             findings.ratio("in process: PutItem", "Database, on disk, sync", 64), "x", true, 0.8);
  print_line(
      "one counter, 64 clients, to one synced writer",
      quotient(findings.rate("in process: one counter", "UpdateItem ADD, sync", 64),
               findings.rate("in process: one counter", "raw RocksDB synced Put, one writer", 1)),
      "x", true, 15);
  print_line("HTTP GetItem, 16 connections, to a constant answer",
             findings.ratio("HTTP: GetItem", "stator serve, sync", 16), "x", true, 0.75);
  print_line("HTTP durable PutItem, 64 connections, to raw synced puts",
             findings.ratio("HTTP: PutItem", "stator serve, sync", 64), "x", true, 0.9);
  const auto put_time = [&](const char* contender) {
    return quotient(1, findings.rate("HTTP: PutItem", contender, 1));
  };
  print_line("HTTP durable PutItem, 1 connection, to a raw put and a constant",
             quotient(put_time("stator serve, sync"),
                      put_time("raw RocksDB synced Put") + put_time("constant answer of 1 KB")),
             "x", false, 1.15);
  print_line(
      "HTTP GetItem, checked signatures, one loop, to a constant",
      findings.ratio("HTTP: GetItem on one event loop", "stator serve, signatures checked", 16),
      "x", true, 48.0 / 115);
  print_line("start in memory", fact(findings, "start in memory, ms"), "ms", false, 5);
  print_line("start on disk (size above)", fact(findings, "start on disk, ms"), "ms", false, 100);
  print_line("idle memory", fact(findings, "idle in memory, MB"), "MB", false, 10);
  print_line("point read, 10^7 items to 10^4",
             quotient(fact(findings, "GetItem of 10000000 items, us"),
                      fact(findings, "GetItem of 10000 items, us")),
             "x", false, 2);
}

bool write_json(const std::string& path, const Settings& settings, const Findings& findings) {
  std::ofstream out(path);
  out << fmt::format(R"({{"cores":{},"items":{},"turns":{},"turn_ms":{},"measurements":[)",
                     usable_processors(), settings.work.items, settings.plan.turns,
                     settings.plan.turn.count());
  const char* separator = "\n";
  for (const Measurement& row : findings.measurements) {
    out << separator
        << fmt::format(R"({{"contest":"{}","at_once":{},"contender":"{}","per_second":{:.0f},)"
                       R"("p50_us":{:.1f},"p99_us":{:.1f},"p999_us":{:.1f},"ratio":{:.3f}}})",
                       row.contest, row.threads, row.contender, row.per_second, row.p50_us,
                       row.p99_us, row.p999_us, row.ratio);
    separator = ",\n";
  }
  out << "],\"facts\":{";
  separator = "\n";
  for (const auto& [name, value] : findings.facts) {
    out << separator << fmt::format(R"("{}":{:.2f})", name, value);
    separator = ",\n";
  }
  out << "}}\n";
  return out.flush().good();
}

}  // namespace stator::bench

// SPDX-License-Identifier: Apache-2.0
// stator_bench: compares Stator's operations with their baselines, in one run on one machine.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/processors.h"
#include "bench/contests.h"

namespace stator::bench {
namespace {

constexpr const char* kUsage =
    "usage: stator_bench --stator BINARY [PART…] [options]\n"
    "       stator_bench compare NAME=URL… [options]\n"
    "parts (default: the first three): process http footprint growth vectors bulk recipes\n"
    "                postgres postgres-growth (on a server that they start)\n"
    "  --items N       items of the table (100000)\n"
    "  --turns N       turns of each contender; the median counts (3)\n"
    "  --turn-ms N     length of a turn (1000)\n"
    "  --only TEXT     the contests whose title contains it\n"
    "  --json FILE     the figures for programs\n";

struct Arguments {
  Settings settings;
  std::string json;
  std::vector<std::string_view> parts;
  std::vector<std::pair<std::string, std::string>> urls;
  bool compare = false;

  bool wants(std::string_view part) const {
    if (parts.empty()) return part == "process" || part == "http" || part == "footprint";
    return std::ranges::find(parts, part) != parts.end();
  }
};

bool parse(int argc, char** argv, Arguments& arguments) {
  arguments.settings.self = argv[0];
  Settings& settings = arguments.settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      if (word == "compare") {
        arguments.compare = true;
      } else if (const std::size_t at = word.find('='); arguments.compare && at != word.npos) {
        arguments.urls.emplace_back(word.substr(0, at), word.substr(at + 1));
      } else {
        arguments.parts.push_back(word);
      }
      continue;
    }
    if (++i == argc) return false;
    if (word == "--stator") {
      settings.stator = argv[i];
    } else if (word == "--items") {
      settings.work.items = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--turns") {
      settings.plan.turns = std::atoi(argv[i]);
    } else if (word == "--turn-ms") {
      settings.plan.turn = std::chrono::milliseconds(std::atoi(argv[i]));
    } else if (word == "--only") {
      settings.plan.only = argv[i];
    } else if (word == "--json") {
      arguments.json = argv[i];
    } else {
      return false;
    }
  }
  const bool target = arguments.compare ? !arguments.urls.empty() : !settings.stator.empty();
  return target && settings.work.items >= 100 && settings.plan.turns > 0 &&
         settings.plan.turn.count() > 0;
}

bool recipes() {
  constexpr std::array<std::pair<const char*, Result<void> (*)()>, 4> kRecipes{
      {{"toggle", toggle_recipe},
       {"semaphore", semaphore_recipe},
       {"feed", feed_recipe},
       {"sensors", sensors_recipe}}};
  for (const auto& [name, recipe] : kRecipes) {
    if (const auto done = recipe(); !done) {
      std::fprintf(stderr, "%s: %s\n", name, done.error().message.c_str());
      return false;
    }
  }
  return true;
}

int run(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "serve") == 0) {
    const bool one = argc > 4 && std::strcmp(argv[3], "--threads") == 0;
    return serve_constant(one ? std::atoi(argv[4]) : 0);
  }
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const Settings& settings = arguments.settings;
  std::printf(
      "%d cores; %lu items of 1 KB; median of %d turns of %ld ms each, contenders in turn; "
      "closed loop where not said otherwise\n",
      usable_processors(), settings.work.items, settings.plan.turns,
      static_cast<long>(settings.plan.turn.count()));
  Findings findings;
  bool good = true;
  if (arguments.compare) {
    good = compare(settings, arguments.urls, findings);
  } else {
    good = (!arguments.wants("process") || in_process(settings, findings)) &&
           (!arguments.wants("http") || over_http(settings, findings)) &&
           (!arguments.wants("footprint") || footprint(settings, findings)) &&
           (!arguments.wants("growth") || growth(settings, findings)) &&
           (!arguments.wants("vectors") || vectors(settings, findings)) &&
           (!arguments.wants("bulk") || bulk(settings, findings)) &&
           (!arguments.wants("postgres") || over_postgres(settings, findings)) &&
           (!arguments.wants("postgres-growth") || postgres_growth(settings, findings)) &&
           (!arguments.wants("recipes") || recipes());
    print_budget(findings);
  }
  if (!arguments.json.empty()) good = write_json(arguments.json, settings, findings) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace stator::bench

int main(int argc, char** argv) {
  return stator::bench::run(argc, argv);
}

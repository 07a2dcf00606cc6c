// SPDX-License-Identifier: Apache-2.0
// The parts of the benchmark and their findings.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure.h"
#include "bench/workload.h"

namespace stator::bench {

struct Settings {
  std::string self;    // path of this program, which also serves constant responses
  std::string stator;  // path of the stator command
  WorkOptions work = {};
  Plan plan = {};
};

struct Findings {
  std::vector<Measurement> measurements;
  std::map<std::string, double> facts;  // by name, such as "start in memory, ms"

  // The ratio of a candidate in a contest, and its operations per second; 0 if it was not measured.
  double ratio(const std::string& contest, const std::string& contender, int threads) const;
  double rate(const std::string& contest, const std::string& contender, int threads) const;
};

// Prints a figure and keeps it as a fact.
void note(Findings& findings, const std::string& name, double value);

// Each prints its results as it runs, and returns false if something failed.
bool in_process(const Settings& settings, Findings& findings);
bool over_http(const Settings& settings, Findings& findings);
bool footprint(const Settings& settings, Findings& findings);
// Cost of a point read and of a page as a table grows tenfold and a thousandfold.
bool growth(const Settings& settings, Findings& findings);
// Searches of vectors, compared with a loop over them.
bool vectors(const Settings& settings, Findings& findings);
// Bulk puts into a directory.
bool bulk(const Settings& settings, Findings& findings);
// Operations on PostgreSQL, compared with libpq alone, from one and from two processes' stores.
bool over_postgres(const Settings& settings, Findings& findings);
// The same for 10^4 items and each tenfold number up to that of the settings.
bool postgres_growth(const Settings& settings, Findings& findings);
// Recipes, each compared with its reference implementation.
Result<void> feed_recipe();
Result<void> semaphore_recipe();
Result<void> toggle_recipe();
Result<void> sensors_recipe();
// The same load on running endpoints.
bool compare(const Settings& settings, const std::vector<std::pair<std::string, std::string>>& urls,
             Findings& findings);

// Prints the project's performance budget, each line with the figure of this run.
void print_budget(const Findings& findings);
bool write_json(const std::string& path, const Settings& settings, const Findings& findings);

// Serves a constant response on a free port until killed: the baseline for HTTP.
int serve_constant(int threads);

}  // namespace stator::bench

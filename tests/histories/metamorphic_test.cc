// SPDX-License-Identifier: Apache-2.0
// One random history of all operations in several homes. They are in memory, on RocksDB with the
// smallest buffers, the same but reopened at random, and over HTTP. Others are two engines on one
// backend or one PostgreSQL database. The responses must be equal, byte for byte. STATOR_SEED
// repeats a history, STATOR_STEPS lengthens it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "histories/answering_home.h"
#include "histories/random_requests.h"
#include "support/from_environment.h"

namespace stator::test {
namespace {

struct Step {
  AnyRequest request;
  bool reopens = false;  // before it is sent
};

struct Difference {
  std::string home;
  std::string answer;
  std::string answer_in_memory;
};

std::string without_counts(const std::string& json) {
  static const std::regex counts(R"re("(ItemCount|TableSizeBytes|IndexSizeBytes)":[0-9]+)re");
  return std::regex_replace(json, counts, "\"$1\":");
}

struct NamedHome {
  std::string name;
  std::unique_ptr<AnsweringHome> home;
  bool has_counts = true;  // false: each process counts only its own writes
};

std::vector<NamedHome> homes_of_one_process() {
  std::vector<NamedHome> homes;
  homes.push_back({.name = "RocksDB", .home = home_on_disk(Reopening::kNever)});
  homes.push_back({.name = "RocksDB, reopened", .home = home_on_disk(Reopening::kWhenTold)});
  homes.push_back({.name = "HTTP", .home = home_over_http()});
  homes.push_back({.name = "pair", .home = home_on_pair(1), .has_counts = false});
  return homes;
}

std::vector<NamedHome> homes_on_postgres() {
  std::vector<NamedHome> homes;
  homes.push_back({.name = "PostgreSQL", .home = home_on_postgres(1), .has_counts = false});
  return homes;
}

using MakeHomes = std::vector<NamedHome> (*)();

class Homes {
 public:
  explicit Homes(MakeHomes make) : others_(make()) {}

  // Returns true if all homes have the same response. Sets `answer` to the first home's response.
  bool agree(const Step& step, std::string& answer) {
    answer = memory_->answer(step.request);
    return std::ranges::all_of(others_, [&](const NamedHome& other) {
      if (step.reopens) other.home->reopen();
      return is_same(other, step, answer);
    });
  }

  const Difference& difference() const { return difference_; }
  AnsweringHome& first() { return *others_.front().home; }

 private:
  bool is_same(const NamedHome& other, const Step& step, const std::string& answer) {
    std::string answered = other.home->answer(step.request);
    if (answered == answer) return true;
    if (!other.has_counts && without_counts(answered) == without_counts(answer)) return true;
    difference_ = {.home = other.name, .answer = std::move(answered), .answer_in_memory = answer};
    return false;
  }

  std::unique_ptr<AnsweringHome> memory_ = home_in_memory();
  std::vector<NamedHome> others_;
  Difference difference_;
};

// Truncates a history after its first difference. Absent if there is none.
std::optional<Difference> first_difference(MakeHomes make, std::vector<Step>& steps) {
  Homes homes(make);
  std::string answer;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (homes.agree(steps[i], answer)) continue;
    steps.resize(i + 1);
    return homes.difference();
  }
  return std::nullopt;
}

// Removes steps that the difference does not need, larger pieces first.
Difference shrink(MakeHomes make, std::vector<Step>& steps, Difference difference) {
  constexpr int kAttemptsMax = 300;
  int attempts = 0;
  for (std::size_t piece = steps.size() / 2; piece > 0; piece /= 2) {
    for (std::size_t at = 0; at < steps.size() && attempts < kAttemptsMax; ++attempts) {
      std::vector<Step> fewer = steps;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(piece, fewer.size() - at)));
      if (auto still = first_difference(make, fewer)) {
        steps = std::move(fewer);
        difference = std::move(*still);
      } else {
        at += piece;
      }
    }
  }
  return difference;
}

void report(const std::vector<Step>& steps, const Difference& difference) {
  std::string text;
  for (const Step& step : steps) {
    if (step.reopens) text += "(reopen)\n";
    text += std::string(operation_of(step.request)) + " " + to_json(step.request) + "\n";
  }
  ADD_FAILURE() << "after\n"
                << text << "in memory: " << difference.answer_in_memory << "\n"
                << difference.home << ": " << difference.answer;
}

void compare(MakeHomes make, Homes& homes, uint64_t count) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  std::cout << "STATOR_SEED=" << seed << " STATOR_STEPS=" << count << std::endl;
  RandomRequests requests(seed);
  std::vector<Step> steps;
  while (steps.size() < count) {
    AnyRequest request = requests.next();
    steps.push_back({.request = std::move(request), .reopens = requests.pick(300) == 0});
    std::string answer;
    if (!homes.agree(steps.back(), answer)) {
      std::cout << "step " << steps.size() << ", " << operation_of(steps.back().request) << ": "
                << homes.difference().answer << " of " << homes.difference().home << ", not "
                << answer << std::endl;
      const Difference shortest = shrink(make, steps, homes.difference());
      return report(steps, shortest);
    }
    requests.learn(answer);
  }
}

TEST(Metamorphic, OneHistoryHasTheSameResultsOnEveryBackend) {
  const uint64_t count = number_from_environment("STATOR_STEPS", 6000);
  Homes homes(homes_of_one_process);
  compare(homes_of_one_process, homes, count);
  // Otherwise the smallest buffers would be too large to have an effect.
  if (count >= 6000) {
    const RocksWork work = dynamic_cast<RocksHome&>(homes.first()).work();
    EXPECT_GT(work.flushes, 3);
    EXPECT_GT(work.compactions, 0);
  }
}

TEST(Metamorphic, OneHistoryHasTheSameResultsOnPostgres) {
  Homes homes(homes_on_postgres);
  compare(homes_on_postgres, homes, number_from_environment("STATOR_STEPS", 6000));
}

}  // namespace
}  // namespace stator::test

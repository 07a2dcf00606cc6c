// SPDX-License-Identifier: Apache-2.0
// Rain in two cities: for each day of four years, one event records whether it rained. Ten thousand
// deliveries, shuffled and with duplicates, go to four concurrent consumers. At the end, each
// toggle must have the state of the last day, and its log must contain each day once. The state as
// of any day must be the state of that day.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "stator/recipes/toggle.h"
#include "support/run.h"

namespace stator::examples {
namespace {

constexpr std::size_t kDeliveries = 10'000;
constexpr std::size_t kConsumers = 4;
constexpr unsigned kSeed = 9;

struct Event {
  std::string city;
  std::string id;
  Time at;
  bool rain = false;
};

Result<std::vector<Event>> read_events(const Arguments& arguments) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                          read_lines(arguments, "weather.csv"));
  std::vector<Event> events;
  for (const std::string& line : lines) {
    const std::vector<std::string> day = columns(line);
    if (day.size() != 7) return fail(Code::kInvalidArgument, "weather.csv: not seven columns");
    STATOR_ASSIGN_OR_RETURN(const Time at, Time::parse(day[1] + "T00:00:00Z"));
    STATOR_ASSIGN_OR_RETURN(const Number precipitation, Number::parse(day[2]));
    events.push_back({day[0], day[0] + " " + day[1], at, !precipitation.is_zero()});
  }
  return events;
}

// Every event once, and random repetitions, in random order.
std::vector<const Event*> deliveries_of(const std::vector<Event>& events) {
  std::mt19937 random(kSeed);
  std::vector<const Event*> deliveries;
  deliveries.reserve(kDeliveries);
  for (const Event& event : events) deliveries.push_back(&event);
  while (deliveries.size() < kDeliveries) {
    deliveries.push_back(&events[random() % events.size()]);
  }
  std::ranges::shuffle(deliveries, random);
  return deliveries;
}

struct Answers {
  std::array<std::atomic<int64_t>, 4> counts{};
  std::mutex mutex;
  Result<void> failure;  // the first; guarded by mutex

  int64_t of(Saved saved) const { return counts[static_cast<std::size_t>(saved)]; }
};

void consume(const Toggle<bool>& toggle, const std::vector<const Event*>& deliveries,
             std::size_t consumer, Answers& answers) {
  for (std::size_t i = consumer; i < deliveries.size(); i += kConsumers) {
    const Event& event = *deliveries[i];
    const auto saved = toggle.save({event.city}, event.rain, event.at, {event.id});
    if (saved) {
      ++answers.counts[static_cast<std::size_t>(*saved)];
      continue;
    }
    const std::scoped_lock lock(answers.mutex);
    if (answers.failure) answers.failure = Failure(saved.error());
    return;
  }
}

Result<void> check_log(const Toggle<bool>& toggle, const std::vector<Event>& events,
                       const std::string& city) {
  PageOptions page{.limit = 500, .newest_first = false};
  std::size_t entries = 0;
  do {
    STATOR_ASSIGN_OR_RETURN(const auto part, toggle.history({city}, {}, page));
    entries += part.items.size();
    page.cursor = part.next;
  } while (!page.cursor.empty());
  const auto days = std::ranges::count(events, city, &Event::city);
  STATOR_RETURN_IF_ERROR(expect(entries == static_cast<std::size_t>(days), "the log's length"));
  for (const Event& event : events) {
    if (event.city != city) continue;
    STATOR_ASSIGN_OR_RETURN(const auto state,
                            toggle.as_of({city}, event.at + std::chrono::hours(12)));
    STATOR_RETURN_IF_ERROR(expect(state.state == event.rain && state.event.text == event.id,
                                  "the state as of " + event.id));
  }
  return {};
}

Result<void> play(CountingClient& client, const Arguments& arguments,
                  const std::vector<Event>& events, ToggleMode mode) {
  const bool log = mode == ToggleMode::kOrderedLog;
  ToggleOptions options{.table = fresh_name("Rain"), .mode = mode};
  options.retry.max_attempts = 100;
  STATOR_RETURN_IF_ERROR(create_table_if_missing(client, Toggle<bool>::table_definition(options)));
  const Toggle<bool> toggle(client, options);
  const std::vector<const Event*> deliveries = deliveries_of(events);

  Answers answers;
  const auto start = std::chrono::steady_clock::now();
  const Cost before = client.cost();
  {
    std::vector<std::jthread> consumers;
    consumers.reserve(kConsumers);
    for (std::size_t i = 0; i < kConsumers; ++i) {
      consumers.emplace_back([&, i] { consume(toggle, deliveries, i, answers); });
    }
  }
  if (!answers.failure) return answers.failure;
  fmt::print("{}: {} deliveries of {} events to {} consumers in {}\n",
             log ? "ordered log" : "gated", deliveries.size(), events.size(), kConsumers,
             seconds_since(start));
  fmt::print("  answered {} newest, {} late, {} duplicate\n", answers.of(Saved::kNewest),
             answers.of(Saved::kLate), answers.of(Saved::kDuplicate));
  fmt::print("  cost {}\n", (client.cost() - before).text());

  const auto newest_first = [](const Event& a, const Event& b) { return a.at < b.at; };
  for (const char* city : {"Seattle", "New York"}) {
    std::vector<Event> own;
    std::ranges::copy_if(events, std::back_inserter(own),
                         [&](const Event& event) { return event.city == city; });
    const Event& last = *std::ranges::max_element(own, newest_first);
    STATOR_ASSIGN_OR_RETURN(const auto latest, toggle.latest({city}));
    fmt::print("  {}: {} since {}\n", city, latest.state ? "rain" : "no rain", latest.at.text());
    STATOR_RETURN_IF_ERROR(expect(latest.state == last.rain && latest.event.text == last.id,
                                  std::string("the latest of ") + city));
    if (log) STATOR_RETURN_IF_ERROR(check_log(toggle, events, city));
  }
  if (log) {
    STATOR_RETURN_IF_ERROR(expect(
        answers.of(Saved::kDuplicate) == static_cast<int64_t>(deliveries.size() - events.size()),
        "the number of duplicates"));
  }
  STATOR_RETURN_IF_ERROR(expect(answers.of(Saved::kNewest) >= 2, "the number of newest"));
  return drop_tables(client, arguments, {options.table});
}

Result<void> rain(CountingClient& client, const Arguments& arguments) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<Event> events, read_events(arguments));
  for (const ToggleMode mode : {ToggleMode::kOrderedLog, ToggleMode::kGated}) {
    STATOR_RETURN_IF_ERROR(play(client, arguments, events, mode));
  }
  fmt::print("all as it should be\n");
  return {};
}

}  // namespace
}  // namespace stator::examples

int main(int argc, char** argv) {
  return stator::examples::run(argc, argv,
                               "toggle_example [--data DIR | --memory | --endpoint URL]",
                               stator::examples::rain);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/toggle_consume.h"
#include "api/json/item_json.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "api/wire/wire.h"
#include "base/files.h"
#include "cli/command.h"

namespace stator::cli {
namespace {

constexpr std::chrono::milliseconds kBackoffMin{100};
constexpr std::chrono::milliseconds kBackoffMax{5'000};

// Whether the event can never be saved, at any time and by any consumer. After other errors, such
// as those of the settings and options, the event is delivered again.
bool is_of_the_event(const Error& error) {
  switch (error.code) {
    case Code::kInvalidArgument:
    case Code::kConflict:
    case Code::kValidation:
      return std::ranges::any_of(std::array{"id: ", "at: ", "event: "}, [&](const char* argument) {
        return error.message.starts_with(argument);
      });
    default:
      return false;
  }
}

Result<std::string> text_member(const Item& event, std::string_view name) {
  const auto found = event.find(name);
  const auto* text = found == event.end() ? nullptr : found->second.get_if<std::string>();
  if (text == nullptr) {
    return fail(Code::kInvalidArgument, fmt::format("{}: must be a string", name));
  }
  return *text;
}

class Rejects {
 public:
  static Result<Rejects> open(const std::string& path) {
    if (path.empty()) return Rejects(Descriptor(-1));
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (file.get() < 0) return fail(Code::kIo, fmt::format("could not write '{}'", path));
    return Rejects(std::move(file));
  }

  void add(std::string_view text, std::string_view reason) {
    const std::string line =
        wire::item_to_plain_json({{"reason", std::string(reason)}, {"text", std::string(text)}});
    if (file_.get() < 0) {
      std::fprintf(stderr, "stator: rejected: %s\n", one_line(line).c_str());
    } else {
      lines_ += line + "\n";
    }
  }

  Result<void> sync() {
    if (lines_.empty()) return {};
    const bool kept = write_all(file_.get(), lines_) && fdatasync(file_.get()) == 0;
    lines_.clear();
    if (!kept) return fail(Code::kIo, "could not write the file of rejects");
    return {};
  }

 private:
  explicit Rejects(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
  std::string lines_;
};

// The messages of one call of next(), until they are settled.
class Turn {
 public:
  Turn(const std::vector<std::string>& texts, Rejects& rejects, Consumed& consumed)
      : texts_(texts),
        rejects_(rejects),
        consumed_(consumed),
        settlements_(texts.size(), Settlement::kLeft) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      auto event = parse_toggle_event(texts[i]);
      if (event) {
        places_.push_back(i);
        events_.push_back(std::move(*event));
      } else {
        reject(i, event.error());
      }
    }
  }

  // Retries after retryable errors until `stop`. Leaves events that are in the future by this
  // clock.
  Result<void> save(const AnyToggle& toggle, const ConsumeOptions& options,
                    const std::stop_token& stop) {
    TimeSource& time = options.time != nullptr ? *options.time : system_time();
    auto wait = kBackoffMin;
    while (!events_.empty() && !stop.stop_requested()) {
      const std::vector<Result<Saved>> results = toggle.save_all(events_, options.parallel, stop);
      const std::size_t before = events_.size();
      STATOR_RETURN_IF_ERROR(take(results));
      if (events_.empty()) break;
      wait = events_.size() < before ? kBackoffMin : std::min(wait * 2, kBackoffMax);
      time.sleep(wait, stop);
    }
    return {};
  }

  const std::vector<Settlement>& settlements() const { return settlements_; }

 private:
  Result<void> take(const std::vector<Result<Saved>>& results) {
    std::vector<std::size_t> places;
    std::vector<ToggleEvent> events;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i]) {
        settlements_[places_[i]] = Settlement::kHandled;
        count(*results[i]);
        continue;
      }
      const Error& error = results[i].error();
      if (is_of_the_event(error)) {
        reject(places_[i], error);
      } else if (error.code == Code::kInFuture) {
        ++consumed_.left;
      } else if (error.retryable() || error.code == Code::kCancelled) {
        places.push_back(places_[i]);
        events.push_back(std::move(events_[i]));
      } else {
        return Failure(error);
      }
    }
    places_ = std::move(places);
    events_ = std::move(events);
    return {};
  }

  void reject(std::size_t place, const Error& error) {
    settlements_[place] = Settlement::kRejected;
    ++consumed_.rejected;
    rejects_.add(texts_[place], fmt::format("{}: {}", code_name(error.code), error.message));
  }

  void count(Saved saved) {
    switch (saved) {
      case Saved::kNewest:
        ++consumed_.newest;
        break;
      case Saved::kLate:
        ++consumed_.late;
        break;
      case Saved::kStored:
        ++consumed_.stored;
        break;
      case Saved::kDuplicate:
        ++consumed_.duplicates;
        break;
    }
  }

  const std::vector<std::string>& texts_;
  Rejects& rejects_;
  Consumed& consumed_;
  std::vector<Settlement> settlements_;
  std::vector<std::size_t> places_;  // positions of events_ in texts_
  std::vector<ToggleEvent> events_;  // not settled yet
};

}  // namespace

Result<ToggleEvent> parse_toggle_event(std::string_view json) {
  if (json.size() > kEventBytesMax) {
    return fail(Code::kInvalidArgument, "the event is longer than 512 KB");
  }
  STATOR_ASSIGN_OR_RETURN(const Item event, wire::item_from_plain_json(json));
  const auto state = event.find("state");
  if (state == event.end()) return fail(Code::kInvalidArgument, "state: is missing");
  STATOR_ASSIGN_OR_RETURN(std::string id, text_member(event, "id"));
  STATOR_ASSIGN_OR_RETURN(const std::string at, text_member(event, "at"));
  STATOR_ASSIGN_OR_RETURN(const Time time, Time::parse(at));
  ToggleEvent parsed{.id = {std::move(id)}, .state = state->second, .at = time};
  if (event.contains("event")) {
    STATOR_ASSIGN_OR_RETURN(parsed.event.text, text_member(event, "event"));
  }
  return parsed;
}

Result<Consumed> consume(EventSource& source, const AnyToggle& toggle,
                         const ConsumeOptions& options, const std::stop_token& stop) {
  STATOR_ASSIGN_OR_RETURN(Rejects rejects, Rejects::open(options.rejects_file));
  Consumed consumed;
  while (!stop.stop_requested()) {
    STATOR_ASSIGN_OR_RETURN(const auto texts, source.next(stop));
    if (!texts) break;
    if (texts->empty()) continue;
    Turn turn(*texts, rejects, consumed);
    const bool warned = consumed.left > 0;
    const Result<void> saved = turn.save(toggle, options, stop);
    if (consumed.left > 0 && !warned) {
      std::fputs("stator: events are dated ahead of this machine's clock; check the clock\n",
                 stderr);
    }
    STATOR_RETURN_IF_ERROR(rejects.sync());
    STATOR_RETURN_IF_ERROR(source.settle(turn.settlements()));
    STATOR_RETURN_IF_ERROR(saved);
  }
  return consumed;
}

}  // namespace stator::cli

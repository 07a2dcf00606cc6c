// SPDX-License-Identifier: Apache-2.0
// stator toggle: saves events that arrive late and out of order, and prints states.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/recipe_command.h"
#include "cli/stop_signals.h"
#include "cli/toggle_consume.h"
#include "stator/recipes/toggle.h"

namespace stator::cli {
namespace {

struct ToggleFlags : RecipeFlags {
  std::string id;
  std::string state;
  std::string at;
  std::string event;
  std::string from;
  std::string to;
  std::string cursor;
  int limit = 20;
  bool gated = false;
  bool exact = false;
  std::string file = "-";
  std::string checkpoint;
  NatsSource nats;
  std::chrono::milliseconds ack_wait{30'000};
  ConsumeOptions consume;
};

ToggleOptions toggle_options(const ToggleFlags& flags) {
  return {.table = flags.table, .mode = flags.gated ? ToggleMode::kGated : ToggleMode::kOrderedLog};
}

int with_toggle(const ToggleFlags& flags, Access access,
                const std::function<int(const AnyToggle&)>& action) {
  const ToggleOptions options = toggle_options(flags);
  return with_tables(flags, access, {AnyToggle::table_definition(options)},
                     [&](Client& client) { return action(AnyToggle(client, options)); });
}

// on and off are booleans, numbers are numbers, anything else is text.
AttributeValue state_of(const std::string& text) {
  if (text == "on" || text == "true") return true;
  if (text == "off" || text == "false") return false;
  if (const auto number = Number::parse(text)) return *number;
  return text;
}

std::string state_text(const AttributeValue& state) {
  if (const auto* on = state.get_if<bool>()) return *on ? "on" : "off";
  if (const auto* text = state.get_if<std::string>()) return *text;
  if (const auto* number = state.get_if<Number>()) return number->to_string();
  return to_debug_string(state);
}

Result<std::optional<Time>> optional_time(const std::string& text) {
  if (text.empty()) return std::optional<Time>();
  STATOR_ASSIGN_OR_RETURN(const Time time, Time::parse(text));
  return std::optional<Time>(time);
}

void print_switch(const ToggleFlags& flags, const Switch<AttributeValue>& found) {
  print_result(flags, state_text(found.state) + "\t" + found.at.text() + "\t" + found.event.text,
               {{"state", found.state}, {"at", found.at.text()}, {"event", found.event.text}});
}

int print_found(const ToggleFlags& flags, const Result<Switch<AttributeValue>>& found) {
  if (!found) return report(found.error());
  print_switch(flags, *found);
  return kSuccess;
}

int save(const ToggleFlags& flags) {
  const auto given = optional_time(flags.at);
  if (!given) return report(given.error());
  return with_toggle(flags, Access::kWrite, [&](const AnyToggle& toggle) {
    const auto saved =
        toggle.save({flags.id}, state_of(flags.state), given->value_or(Time::now()), {flags.event});
    if (!saved) return report(saved.error());
    print_result(flags, saved_name(*saved), {{"saved", saved_name(*saved)}});
    return kSuccess;
  });
}

int latest_switch(const ToggleFlags& flags) {
  return with_toggle(flags, Access::kRead, [&](const AnyToggle& toggle) {
    return print_found(flags, toggle.latest({flags.id}));
  });
}

int as_of(const ToggleFlags& flags) {
  const auto at = Time::parse(flags.at);
  if (!at) return report(at.error());
  return with_toggle(flags, Access::kRead, [&](const AnyToggle& toggle) {
    return print_found(flags, toggle.as_of({flags.id}, *at));
  });
}

int history(const ToggleFlags& flags) {
  const auto from = optional_time(flags.from);
  if (!from) return report(from.error());
  const auto to = optional_time(flags.to);
  if (!to) return report(to.error());
  return with_toggle(flags, Access::kRead, [&](const AnyToggle& toggle) {
    const auto page = toggle.history({flags.id}, {.from = *from, .to = *to},
                                     {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const auto& entry : page->items) print_switch(flags, entry);
    print_next(flags, page->next);
    return kSuccess;
  });
}

Result<std::unique_ptr<EventSource>> open_source(const ToggleFlags& flags) {
  if (!flags.nats.server.url.empty()) {
    NatsSource nats = flags.nats;
    nats.ack_wait = flags.ack_wait;
    return open_nats(nats);
  }
  if (flags.file == "-") return open_lines(STDIN_FILENO, flags.checkpoint);
  // Stays open until the process ends, like standard input.
  const int input = open(flags.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (input < 0) return fail(Code::kInvalidArgument, "cannot read '" + flags.file + "'");
  return open_lines(input, flags.checkpoint);
}

void print_consumed(const ToggleFlags& flags, const Consumed& consumed) {
  std::string text =
      fmt::format("{} newest, {} late, {} stored, {} duplicates, {} rejected", consumed.newest,
                  consumed.late, consumed.stored, consumed.duplicates, consumed.rejected);
  Item item{{"newest", consumed.newest},
            {"late", consumed.late},
            {"stored", consumed.stored},
            {"duplicates", consumed.duplicates},
            {"rejected", consumed.rejected}};
  if (consumed.left > 0) {
    text += fmt::format(", {} left", consumed.left);
    item.emplace("left", consumed.left);
  }
  print_result(flags, text, item);
}

int consume_events(const ToggleFlags& flags) {
  const StopSignals signals;
  ToggleOptions options = toggle_options(flags);
  if (!flags.exact && !flags.gated) options.answer = Answer::kStored;
  return with_tables(
      flags, Access::kWrite, {AnyToggle::table_definition(options)}, [&](Client& client) {
        const auto source = open_source(flags);
        if (!source) return report(source.error());
        const auto consumed =
            consume(**source, AnyToggle(client, options), flags.consume, signals.token());
        if (!consumed) return report(consumed.error());
        print_consumed(flags, *consumed);
        // NATS redelivers events that were left; lines are read again only by another run.
        const bool all_settled = consumed->left == 0 || !flags.nats.server.url.empty();
        return all_settled ? kSuccess : kFailure;
      });
}

void add_consume(CLI::App& command, ToggleFlags& flags) {
  command.add_option("file", flags.file, "JSON lines {id, state, at, event}; - is standard input")
      ->type_name("FILE")
      ->capture_default_str();
  auto* checkpoint = command.add_option("--checkpoint", flags.checkpoint,
                                        "File that stores the position, to resume from");
  checkpoint->type_name("FILE");
  command
      .add_option("--rejects", flags.consume.rejects_file,
                  "File for events that cannot be saved, with the reason; default: standard error")
      ->type_name("FILE");
  command.add_option("--parallel", flags.consume.parallel, "Concurrent saves")
      ->check(CLI::Range(1, 64).description(""))
      ->capture_default_str();
  command.add_flag("--exact", flags.exact, "Tell newest from late events, for 1 more RCU per save");
  flags.nats.server.url.clear();
  auto* nats = command.add_option("--nats", flags.nats.server.url,
                                  "Consume from JetStream on this NATS server instead");
  nats->type_name("URL")->excludes(checkpoint);
  const auto add = [&](const char* name, std::string& value, const char* description) {
    return command.add_option(name, value, description)
        ->type_name("NAME")
        ->needs(nats)
        ->capture_default_str();
  };
  flags.nats = {.server = flags.nats.server,
                .stream = "TOGGLES",
                .subject = "toggles.>",
                .durable = "stator"};
  add("--nats-stream", flags.nats.stream, "JetStream stream, created if missing");
  add("--nats-subject", flags.nats.subject, "Subject of the events");
  add("--nats-durable", flags.nats.durable, "Name that consumers share to divide the events");
  add_duration(
      command, "--ack-wait", flags.ack_wait,
      "Redeliver messages that are not acknowledged in this time; set by the first consumer",
      std::chrono::milliseconds(100), std::chrono::hours(1))
      ->needs(nats);
  add("--nats-credentials", flags.nats.server.credentials_file, "A .creds file")->type_name("FILE");
}

}  // namespace

void add_toggle(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ToggleFlags>();
  CLI::App* toggle =
      app.add_subcommand("toggle", "Toggles whose events arrive late, repeatedly and out of order");
  toggle->require_subcommand(1);
  const auto add = [&](const char* name, const char* description,
                       int (*action)(const ToggleFlags&)) {
    CLI::App* leaf = add_action(*toggle, name, description, invocation,
                                [flags, action] { return action(*flags); });
    add_recipe_flags(*leaf, *flags, "Toggles");
    leaf->add_flag("--gated", flags->gated, "Store only accepted events; discard late ones");
    if (action != consume_events) leaf->add_option("id", flags->id, "The toggle")->required();
    return leaf;
  };
  CLI::App* save_command = add("save", "Save an event; prints newest, late or duplicate", save);
  save_command->add_option("state", flags->state, "on, off, a number or a text")->required();
  save_command->add_option("--at", flags->at, "Time of the event in RFC 3339; default: now");
  save_command->add_option("--event", flags->event,
                           "Id of the event, so that it can be saved again");
  add("latest", "Print the current state", latest_switch);
  add("as-of", "Print the state at a time", as_of)
      ->add_option("at", flags->at, "RFC 3339")
      ->required();
  CLI::App* log = add("history", "Print the events, newest first", history);
  log->add_option("--from", flags->from, "Events from this time on, in RFC 3339");
  log->add_option("--to", flags->to, "Events before this time");
  log->add_option("--limit", flags->limit, "Events per page")->capture_default_str();
  log->add_option("--cursor", flags->cursor, "Position from an earlier page");
  add_consume(*add("consume", "Save events from a file or NATS until stopped", consume_events),
              *flags);
}

}  // namespace stator::cli

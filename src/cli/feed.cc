// SPDX-License-Identifier: Apache-2.0
// stator feed: post, follow, read; deliver posts to followers.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/feed_sources.h"
#include "cli/recipe_command.h"
#include "cli/stop_signals.h"
#include "stator/recipes/feed.h"

namespace stator::cli {
namespace {

struct FeedFlags : RecipeFlags {
  std::string followers_table = "Followers";
  std::string user;
  std::string author;
  std::string content;
  std::string post;
  std::string cursor;
  int limit = 20;
  int keep = 0;
  int backfill = 0;
  int merge_over = 0;
  bool stream = false;
  std::chrono::milliseconds claim{30'000};
  std::chrono::milliseconds sweep{30'000};
  FeedSources sources;
};

// One line for each failed attempt to deliver a post.
void warn_undelivered(const Undelivered& post) {
  const auto pause = std::chrono::ceil<std::chrono::seconds>(post.next_attempt).count();
  std::fprintf(stderr, "stator: post %s of '%s' was not delivered: %s; next attempt in %lld s\n",
               post.id.text().c_str(), one_line(post.author.text).c_str(),
               one_line(post.error.message).c_str(), static_cast<long long>(pause));
}

int with_feed(const FeedFlags& flags, Access access, const std::function<int(const Feed&)>& action,
              void (*on_undelivered)(const Undelivered&) = nullptr) {
  FeedOptions options{.table = flags.table,
                      .followers_table = flags.followers_table,
                      .sweep = flags.sweep,
                      .claim = flags.claim,
                      .on_undelivered = on_undelivered,
                      .merge_over = flags.merge_over,
                      .outbox = flags.stream ? Outbox::kStream : Outbox::kIndex};
  const auto opened = open_sources(flags.sources, options);
  if (!opened) return report(opened.error());
  return with_tables(flags, access, Feed::table_definitions(options),
                     [&](Client& client) { return action(Feed(client, options)); });
}

int print_done(const FeedFlags& flags, const Result<void>& result, const char* what) {
  if (!result) return report(result.error());
  print_result(flags, what, {{"done", what}});
  return kSuccess;
}

int post(const FeedFlags& flags) {
  std::optional<PostId> id;
  if (!flags.post.empty()) {
    const auto parsed = PostId::parse(flags.post);
    if (!parsed) return report(parsed.error());
    id = *parsed;
  }
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    const auto published = feed.publish({flags.author}, flags.content, id);
    if (!published) return report(published.error());
    print_result(flags, published->id.text(),
                 {{"id", published->id.text()}, {"created", published->created}});
    return kSuccess;
  });
}

int read_feed(const FeedFlags& flags) {
  return with_feed(flags, Access::kRead, [&](const Feed& feed) {
    const auto page = feed.read({flags.user}, flags.limit, flags.cursor);
    if (!page) return report(page.error());
    for (const Post& entry : page->items) {
      print_result(flags,
                   entry.id.text() + "\t" + entry.at.text() + "\t" + entry.author.text + "\t" +
                       entry.content,
                   {{"id", entry.id.text()},
                    {"author", entry.author.text},
                    {"at", entry.at.text()},
                    {"content", entry.content}});
    }
    print_next(flags, page->next);
    return kSuccess;
  });
}

int edit(const FeedFlags& flags) {
  const auto id = PostId::parse(flags.post);
  if (!id) return report(id.error());
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    return print_done(flags, feed.edit({flags.author}, *id, flags.content), "edited");
  });
}

int trim(const FeedFlags& flags) {
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    const auto trimmed = feed.trim({flags.user}, flags.keep);
    if (!trimmed) return report(trimmed.error());
    print_result(flags, std::to_string(*trimmed) + " posts deleted", {{"deleted", *trimmed}});
    return kSuccess;
  });
}

int retract(const FeedFlags& flags) {
  const auto id = PostId::parse(flags.post);
  if (!id) return report(id.error());
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    return print_done(flags, feed.retract({flags.author}, *id), "retracted");
  });
}

int follow(const FeedFlags& flags) {
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    return print_done(flags, feed.follow({flags.user}, {flags.author}, flags.backfill), "follows");
  });
}

int unfollow(const FeedFlags& flags) {
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    return print_done(flags, feed.unfollow({flags.user}, {flags.author}), "does not follow");
  });
}

int followers(const FeedFlags& flags) {
  return with_feed(flags, Access::kRead, [&](const Feed& feed) {
    const auto page =
        feed.followers({flags.author}, {.limit = flags.limit, .cursor = flags.cursor});
    if (!page) return report(page.error());
    for (const UserId& user : page->items) print_result(flags, user.text, {{"user", user.text}});
    print_next(flags, page->next);
    return kSuccess;
  });
}

int print_delivered(const FeedFlags& flags, const Result<Delivered>& delivered) {
  if (!delivered && delivered.error().code != Code::kCancelled) return report(delivered.error());
  const Delivered counts = delivered.value_or(Delivered{});
  print_result(flags,
               std::to_string(counts.posts) + " posts, " + std::to_string(counts.copies) +
                   " copies, " + std::to_string(counts.batches) + " batches",
               {{"posts", counts.posts}, {"copies", counts.copies}, {"batches", counts.batches}});
  return kSuccess;
}

int deliver(const FeedFlags& flags) {
  return with_feed(flags, Access::kWrite, [&](const Feed& feed) {
    return print_delivered(flags, feed.deliver_pending());
  });
}

int run_worker(const FeedFlags& flags) {
  const StopSignals signals;
  const auto action = [&](const Feed& feed) {
    return print_delivered(flags, feed.run_worker(signals.token()));
  };
  return with_feed(flags, Access::kWrite, action, warn_undelivered);
}

}  // namespace

void add_feed(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<FeedFlags>();
  CLI::App* feed = app.add_subcommand("feed", "Feeds: posts, newest first, delivered to followers");
  feed->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, int (*action)(const FeedFlags&)) {
    CLI::App* leaf = add_action(*feed, name, description, invocation,
                                [flags, action] { return action(*flags); });
    add_recipe_flags(*leaf, *flags, "Feeds");
    leaf->add_option("--followers-table", flags->followers_table, "Table of followers")
        ->type_name("NAME")
        ->capture_default_str();
    leaf->add_option("--merge-over", flags->merge_over,
                     "Merge the posts of authors with more followers when feeds are read")
        ->type_name("FOLLOWERS")
        ->capture_default_str();
    leaf->add_flag("--stream-outbox", flags->stream,
                   "Find posts to deliver in the table's stream instead of an index");
    return leaf;
  };
  const auto add_user = [&](CLI::App* leaf) {
    leaf->add_option("user", flags->user, "The reader")->required();
  };
  const auto add_author = [&](CLI::App* leaf) {
    leaf->add_option("author", flags->author, "The author")->required();
  };
  const auto add_page = [&](CLI::App* leaf) {
    leaf->add_option("--limit", flags->limit, "Entries per page")->capture_default_str();
    leaf->add_option("--cursor", flags->cursor, "Position from an earlier page");
  };
  CLI::App* leaf = add("post", "Publish a post; prints its id", post);
  add_author(leaf);
  leaf->add_option("content", flags->content, "Text of the post")->required();
  leaf->add_option("--id", flags->post, "Id of the post, so that the command can be repeated");
  add_nats_flags(*leaf, flags->sources, false);
  leaf = add("edit", "Replace the content of a post", edit);
  add_author(leaf);
  leaf->add_option("id", flags->post, "The post's id")->required();
  leaf->add_option("content", flags->content, "Text of the post")->required();
  add_nats_flags(*leaf, flags->sources, false);
  leaf = add("read", "Print a user's feed, newest first", read_feed);
  add_user(leaf);
  add_page(leaf);
  add_mysql_flags(*leaf, flags->sources);
  leaf = add("retract", "Withdraw a post", retract);
  add_author(leaf);
  leaf->add_option("id", flags->post, "The post's id")->required();
  add_nats_flags(*leaf, flags->sources, false);
  leaf = add("trim", "Delete all but the newest posts of a user's feed", trim);
  add_user(leaf);
  leaf->add_option("--keep", flags->keep, "Posts to keep")->required();
  leaf = add("follow", "Follow an author", follow);
  add_user(leaf);
  add_author(leaf);
  leaf->add_option("--backfill", flags->backfill,
                   "Also deliver this many of the author's newest posts")
      ->capture_default_str();
  leaf = add("unfollow", "Stop following an author", unfollow);
  add_user(leaf);
  add_author(leaf);
  leaf = add("followers", "List the followers of an author", followers);
  add_author(leaf);
  add_page(leaf);
  add_mysql_flags(*leaf, flags->sources);
  leaf = add("deliver", "Deliver the pending posts, then end", deliver);
  add_mysql_flags(*leaf, flags->sources);
  leaf = add("worker", "Deliver posts as they are published, until stopped", run_worker);
  add_nats_flags(*leaf, flags->sources, true);
  add_mysql_flags(*leaf, flags->sources);
  const std::chrono::milliseconds least(100);
  add_duration(*leaf, "--claim", flags->claim, "How long a claim on a post lasts", least,
               std::chrono::hours(1));
  add_duration(*leaf, "--sweep", flags->sweep,
               "With --nats, interval between searches for posts that were not announced", least,
               std::chrono::hours(1));
}

}  // namespace stator::cli

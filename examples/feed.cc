// SPDX-License-Identifier: Apache-2.0
// The users are the characters of Les Misérables, who follow the characters they appear with. Eight
// threads post for all 77, two workers deliver concurrently, and a reader pages through a growing
// feed. At the end, each feed must contain the posts of its user and of followed authors, each
// once, newest first and each author's in order. A retracted post must be absent from all feeds.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "stator/recipes/feed.h"
#include "support/run.h"

namespace stator::examples {
namespace {

constexpr std::size_t kPosters = 8;
constexpr int kPostsEach = 6;

struct Graph {
  std::vector<std::string> names;
  std::vector<std::pair<std::size_t, std::size_t>> follows;  // who, whom
};

// The value after the next `key` at or after `from`: a name without quotes, or digits. Advances
// `from`.
std::string_view value_after(std::string_view text, std::string_view key, std::size_t& from) {
  from = text.find(key, from);
  if (from == std::string_view::npos) return {};
  from += key.size();
  const std::size_t end = text.find_first_of("\",}", from);
  return text.substr(from, end - from);
}

// The file is generated: {"nodes":[{"name":"…",…}…],"links":[{"source":1,"target":0,…}…]}.
Result<Graph> read_graph(const Arguments& arguments) {
  STATOR_ASSIGN_OR_RETURN(const std::string text, read_file(arguments, "miserables.json"));
  Graph graph;
  std::size_t from = 0;
  while (true) {
    const std::string_view name = value_after(text, "\"name\":\"", from);
    if (from == std::string::npos) break;
    graph.names.emplace_back(name);
  }
  from = 0;
  while (true) {
    std::size_t who = 0;
    std::size_t whom = 0;
    const std::string_view source = value_after(text, "\"source\":", from);
    if (from == std::string::npos) break;
    const std::string_view target = value_after(text, "\"target\":", from);
    std::from_chars(source.data(), source.data() + source.size(), who);
    std::from_chars(target.data(), target.data() + target.size(), whom);
    if (who >= graph.names.size() || whom >= graph.names.size()) {
      return fail(Code::kInvalidArgument, "miserables.json: a link to nobody");
    }
    graph.follows.emplace_back(who, whom);
  }
  if (graph.names.empty()) return fail(Code::kInvalidArgument, "miserables.json: no nodes");
  return graph;
}

// The first failure of any thread.
class Outcome {
 public:
  void note(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (first_) first_ = Failure(error);
  }
  Result<void> first() {
    const std::scoped_lock lock(mutex_);
    return first_;
  }

 private:
  std::mutex mutex_;
  Result<void> first_;  // guarded by mutex_
};

std::string text_of(const std::string& author, int post) {
  return fmt::format("{}'s post number {}", author, post);
}

void post_for(const Feed& feed, const Graph& graph, std::size_t poster, Outcome& outcome) {
  for (int post = 0; post < kPostsEach; ++post) {
    for (std::size_t user = poster; user < graph.names.size(); user += kPosters) {
      const auto done = feed.publish({graph.names[user]}, text_of(graph.names[user], post));
      if (!done) return outcome.note(done.error());
      const auto own = feed.read({graph.names[user]}, kPostsEach);
      if (!own) return outcome.note(own.error());
      const bool shown =
          std::ranges::any_of(own->items, [&](const Post& seen) { return seen.id == done->id; });
      // In a feed that follows many authors, newer posts of others can fill the page.
      if (!shown && own->next.empty()) {
        return outcome.note({.code = Code::kConflict, .message = "wrong: one's own post is late"});
      }
    }
  }
}

Result<std::vector<Post>> read_all(const Feed& feed, const std::string& user, int count) {
  std::vector<Post> posts;
  std::string cursor;
  do {
    STATOR_ASSIGN_OR_RETURN(auto page, feed.read({user}, count, cursor));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(posts));
    cursor = page.next;
  } while (!cursor.empty());
  return posts;
}

// While posts arrive, pages must neither repeat nor misorder posts.
void read_on(const Feed& feed, const std::string& user, const std::stop_token& stop,
             Outcome& outcome) {
  while (!stop.stop_requested()) {
    const auto posts = read_all(feed, user, 20);
    if (!posts) return outcome.note(posts.error());
    const bool falling = std::ranges::adjacent_find(*posts, [](const Post& a, const Post& b) {
                           return a.id <= b.id;
                         }) == posts->end();
    if (!falling) {
      return outcome.note({.code = Code::kConflict, .message = "wrong: pages repeat or misorder"});
    }
    std::this_thread::yield();
  }
}

Result<void> check_feeds(const Feed& feed, const Graph& graph, std::size_t& posts) {
  std::map<std::string, std::set<std::string>> sources;
  for (const std::string& name : graph.names) sources[name].insert(name);
  for (const auto& [who, whom] : graph.follows) {
    sources[graph.names[who]].insert(graph.names[whom]);
  }
  for (const auto& [user, authors] : sources) {
    STATOR_ASSIGN_OR_RETURN(const std::vector<Post> seen, read_all(feed, user, 20));
    STATOR_RETURN_IF_ERROR(
        expect(seen.size() == authors.size() * kPostsEach, "the length of " + user));
    std::map<std::string, int> left;
    for (const std::string& author : authors) left[author] = kPostsEach;
    for (const Post& post : seen) {
      const int number = --left[post.author.text];
      STATOR_RETURN_IF_ERROR(
          expect(number >= 0 && post.content == text_of(post.author.text, number),
                 "the order in the feed of " + user));
    }
    posts += seen.size();
  }
  return {};
}

Result<void> check_retraction(const Feed& feed, const Graph& graph) {
  const std::string& author = graph.names[graph.follows.front().second];
  STATOR_ASSIGN_OR_RETURN(const auto own, feed.read({author}, 1000));
  const auto mine =
      std::ranges::find(own.items, author, [](const Post& post) { return post.author.text; });
  STATOR_RETURN_IF_ERROR(expect(mine != own.items.end(), "an author's own posts"));
  STATOR_RETURN_IF_ERROR(feed.retract({author}, mine->id));
  STATOR_RETURN_IF_ERROR(feed.deliver_pending());
  for (const std::string& user : graph.names) {
    STATOR_ASSIGN_OR_RETURN(const std::vector<Post> posts, read_all(feed, user, 100));
    STATOR_RETURN_IF_ERROR(
        expect(std::ranges::none_of(posts, [&](const Post& post) { return post.id == mine->id; }),
               "a retracted post is in the feed of " + user));
  }
  fmt::print("retracted one of {}'s posts from every feed\n", author);
  return {};
}

Result<void> miserables(CountingClient& client, const Arguments& arguments) {
  STATOR_ASSIGN_OR_RETURN(const Graph graph, read_graph(arguments));
  const FeedOptions options{.table = fresh_name("Feeds"),
                            .followers_table = fresh_name("Followers")};
  for (const auto& table : Feed::table_definitions(options)) {
    STATOR_RETURN_IF_ERROR(create_table_if_missing(client, table));
  }
  const Feed feed(client, options);
  for (const auto& [who, whom] : graph.follows) {
    STATOR_RETURN_IF_ERROR(feed.follow({graph.names[who]}, {graph.names[whom]}));
  }
  fmt::print("{} users, {} follow relations\n", graph.names.size(), graph.follows.size());

  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  const Cost before = client.cost();
  {
    std::vector<std::jthread> background;
    background.reserve(3);
    for (int i = 0; i < 2; ++i) {
      background.emplace_back([&](const std::stop_token& stop) {
        const auto done = feed.run_worker(stop, std::chrono::milliseconds(5));
        if (!done) outcome.note(done.error());
      });
    }
    background.emplace_back(
        [&](const std::stop_token& stop) { read_on(feed, graph.names[11], stop, outcome); });
    std::vector<std::jthread> posters;
    posters.reserve(kPosters);
    for (std::size_t i = 0; i < kPosters; ++i) {
      posters.emplace_back([&, i] { post_for(feed, graph, i, outcome); });
    }
  }
  STATOR_RETURN_IF_ERROR(outcome.first());
  STATOR_RETURN_IF_ERROR(feed.deliver_pending());
  fmt::print("{} posts by {} threads, delivered by 2 workers and read meanwhile, in {}\n",
             graph.names.size() * kPostsEach, kPosters, seconds_since(start));
  fmt::print("  cost {}\n", (client.cost() - before).text());

  std::size_t posts = 0;
  STATOR_RETURN_IF_ERROR(check_feeds(feed, graph, posts));
  fmt::print("{} posts in {} feeds, each once and in order\n", posts, graph.names.size());
  STATOR_RETURN_IF_ERROR(check_retraction(feed, graph));
  fmt::print("all as it should be\n");
  return drop_tables(client, arguments, {options.table, options.followers_table});
}

}  // namespace
}  // namespace stator::examples

int main(int argc, char** argv) {
  return stator::examples::run(argc, argv, "feed_example [--data DIR | --memory | --endpoint URL]",
                               stator::examples::miserables);
}

// SPDX-License-Identifier: Apache-2.0
// The feed, compared with its reference implementation: a put for the author and one for each
// follower before the response, and a query without a limit for a page.
#include <chrono>
#include <cstdio>
#include <string>

#include "bench/contests.h"
#include "bench/recipe_cost.h"
#include "stator/database.h"
#include "stator/recipes/feed.h"

namespace stator::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFollowers = 1'000;
constexpr int kPosts = 20;
constexpr int kFeedPosts = 5'000;
constexpr int kPages = 100;
constexpr int kPageSize = 20;

std::string content_of(int post) {
  return std::string(40, 'x') + std::to_string(post);
}

Result<void> create_tables(Client& client, const FeedOptions& options) {
  const CreateTableRequest article{
      .table = "ticks_test_table",
      .attributes = {{"partition_key", ScalarType::kS}, {"range_key", ScalarType::kN}},
      .key_schema = {{"partition_key", KeyType::kHash}, {"range_key", KeyType::kRange}},
      .billing_mode = BillingMode::kPayPerRequest};
  STATOR_RETURN_IF_ERROR(create_table_if_missing(client, article));
  for (const RecipeTable& table : Feed::table_definitions(options)) {
    STATOR_RETURN_IF_ERROR(create_table_if_missing(client, table));
  }
  return {};
}

// System.nanoTime() ticks as in the reference implementation, with the put that it lacks.
Result<void> article_feed_to(Client& client, const std::string& user, const std::string& content) {
  const int64_t ticks = INT64_MAX - Clock::now().time_since_epoch().count();
  STATOR_RETURN_IF_ERROR(client.put_item(
      {.table = "ticks_test_table",
       .item = {{"partition_key", user}, {"range_key", ticks}, {"content", content}}}));
  return {};
}

Result<void> article_post(Client& client, const std::string& content) {
  STATOR_RETURN_IF_ERROR(article_feed_to(client, "ann", content));
  for (int i = 0; i < kFollowers; ++i) {
    STATOR_RETURN_IF_ERROR(article_feed_to(client, "f" + std::to_string(i), content));
  }
  return {};
}

Result<void> article_page(Client& client) {
  STATOR_RETURN_IF_ERROR(
      client.query({.table = "ticks_test_table",
                    .key_condition = "partition_key = :user AND range_key <= :last",
                    .values = Values{{":user", "reader"}, {":last", INT64_MAX}}}));
  return {};
}

Result<void> fill(Client& client, const Feed& feed) {
  for (int i = 0; i < kFollowers; ++i) {
    STATOR_RETURN_IF_ERROR(feed.follow({"f" + std::to_string(i)}, {"ann"}));
  }
  for (int i = 0; i < kFeedPosts; ++i) {
    STATOR_RETURN_IF_ERROR(article_feed_to(client, "reader", content_of(i)));
    STATOR_RETURN_IF_ERROR(feed.publish({"reader"}, content_of(i)));
  }
  STATOR_RETURN_IF_ERROR(feed.deliver_pending());
  return {};
}

}  // namespace

Result<void> feed_recipe() {
  STATOR_ASSIGN_OR_RETURN(Database database, Database::open({}));
  examples::CountingClient client(database);
  const FeedOptions options{.table = "Feeds", .followers_table = "Followers"};
  STATOR_RETURN_IF_ERROR(create_tables(client, options));
  const Feed feed(client, options);
  STATOR_RETURN_IF_ERROR(fill(client, feed));

  const auto publish = [&](int i) -> Result<void> {
    STATOR_RETURN_IF_ERROR(feed.publish({"ann"}, content_of(i)));
    return {};
  };
  const auto deliver = [&](int) -> Result<void> {
    STATOR_RETURN_IF_ERROR(feed.deliver_pending());
    return {};
  };
  const auto read = [&](int) -> Result<void> {
    STATOR_RETURN_IF_ERROR(feed.read({"reader"}, kPageSize));
    return {};
  };
  std::printf("feed: a post to %d followers, in process, in memory\n", kFollowers);
  STATOR_RETURN_IF_ERROR(measure_steps("reference, until the response", client, kPosts,
                                       [&](int i) { return article_post(client, content_of(i)); }));
  STATOR_RETURN_IF_ERROR(measure_steps("Feed, until the response", client, kPosts, publish));
  STATOR_RETURN_IF_ERROR(measure_steps("Feed, delivery of all 20 posts", client, 1, deliver));
  std::printf("feed: a page of a feed with %d posts\n", kFeedPosts);
  STATOR_RETURN_IF_ERROR(
      measure_steps("reference", client, kPages, [&](int) { return article_page(client); }));
  return measure_steps("Feed, 20 posts", client, kPages, read);
}

}  // namespace stator::bench

// SPDX-License-Identifier: Apache-2.0
// A feed is the partition of its user's id. An item has author and content, and the author's own
// item is the outbox as well: while it has the attribute `outbox` it is in the sparse index
// `Outbox`, which delivery.cc reads. So a post and the duty to deliver it are one put.
#include "stator/recipes/feed.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "recipes/cursor.h"
#include "recipes/feed_state.h"
#include "recipes/keys.h"
#include "recipes/post_keys.h"
#include "recipes/requests.h"

namespace stator {

using namespace recipes;

namespace {

// A post that fits into its author's feed must fit into every follower's, whose id is longer, or
// it could never be delivered: 400 KB less the keys, with room for attributes to come.
constexpr std::size_t kMaxContentBytes = 350'000;
constexpr int kMaxShards = 64;

Result<void> check_user(std::string_view argument, const UserId& user) {
  return check_text(argument, user.text, kMaxUserIdBytes);
}

Result<Post> post_of(const Item& item) {
  const auto range_key = item.find("range_key");
  const std::string* content = text_in(item, "content");
  const auto place = range_key == item.end() ? std::nullopt : PostKeys::place_of(range_key->second);
  if (!place || content == nullptr) {
    return fail(Code::kConflict, "the table holds an item here that is no post");
  }
  const std::string* author = text_in(item, "author");
  return Post{.id = place->id,
              .author = UserId{author != nullptr ? *author : std::string()},
              .content = *content,
              .at = place->at};
}

// A range key as text, for cursors.
std::string text_of_key(const AttributeValue& range_key) {
  if (const auto* text = range_key.get_if<std::string>()) return *text;
  const auto* number = range_key.get_if<Number>();
  return number != nullptr ? number->to_string() : std::string();
}

}  // namespace

std::string Feed::State::outbox(int shard) {
  return fmt::format("PENDING#{}", shard);
}

std::string Feed::State::outbox_of(const PostId& id) const {
  return outbox(id.bytes()[15] % options.outbox_shards);
}

Result<void> Feed::State::check_options() const {
  STATOR_CHECK_OK(check_table(options.table));
  if (options.outbox_shards < 1 || options.outbox_shards > kMaxShards) {
    return invalid("outbox_shards", "must be 1 to 64");
  }
  return {};
}

Item Feed::State::key_of(const UserId& user, const AttributeValue& range_key) const {
  return {{"partition_key", user.text}, {"range_key", range_key}};
}

Feed::Feed(Client& client, FeedOptions options) {
  TimeSource& time = options.time != nullptr ? *options.time : system_time();
  std::shared_ptr<TableFollowers> in_table;
  if (options.followers == nullptr && !options.followers_table.empty()) {
    in_table =
        std::make_shared<TableFollowers>(client, options.followers_table, options.retry, time);
  }
  Followers* followers = options.followers ? options.followers.get() : in_table.get();
  state_ = std::make_shared<const State>(client, std::move(options), time, std::move(in_table),
                                         followers);
}

Result<Published> Feed::publish(const UserId& author, std::string_view content,
                                std::optional<PostId> id) const {
  const State& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  STATOR_CHECK_OK(check_user("author", author));
  STATOR_CHECK_OK(check_text("content", content, kMaxContentBytes));
  const Time now = state.time.now();
  if (!id) {
    const int64_t now_us = now.unix_seconds() * 1'000'000 + now.subsecond_ns() / 1000;
    int64_t last = state.last_post_us.load();
    int64_t next = 0;
    do {
      next = std::max(now_us, last + 1);
    } while (!state.last_post_us.compare_exchange_weak(last, next));
    id = PostId::make(Time() + std::chrono::microseconds(next));
  }
  STATOR_TRY(const AttributeValue range_key, PostKeys::range_key(state.options.layout, *id));
  STATOR_CHECK_OK(check_event_time("id", id->at(), now, state.options.max_skew));

  PutItemRequest put{.table = state.options.table,
                     .item = state.key_of(author, range_key),
                     .condition = "attribute_not_exists(partition_key)",
                     .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  put.item.emplace("author", author.text);
  put.item.emplace("content", content);
  if (state.followers != nullptr) put.item.emplace("outbox", state.outbox_of(*id));
  auto written =
      with_retries(state.options.retry, state.time, [&] { return state.client.put_item(put); });
  if (written) return Published{.id = *id, .created = true};
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  const Item* existing = item_in(written.error());
  if (existing != nullptr) {
    const std::string* stored = text_in(*existing, "content");
    if (stored == nullptr || *stored != content) {
      return fail(Code::kConflict,
                  "id: " + id->text() + " was published before, with other content");
    }
  }
  return Published{.id = *id, .created = false};
}

Result<void> Feed::retract(const UserId& author, const PostId& id) const {
  const State& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  STATOR_CHECK_OK(check_user("author", author));
  STATOR_TRY(const AttributeValue range_key, PostKeys::range_key(state.options.layout, id));
  const Item key = state.key_of(author, range_key);
  Result<WriteResult> written;
  if (state.followers == nullptr) {
    const DeleteItemRequest gone{.table = state.options.table,
                                 .key = key,
                                 .condition = "author = :author",
                                 .values = Values{{":author", author.text}}};
    written = with_retries(state.options.retry, state.time,
                           [&] { return state.client.delete_item(gone); });
  } else {
    // Back into the outbox: the delivery of a retracted post is its withdrawal. A copy in the
    // feed of a follower has another author, and is not the author's to retract here.
    const UpdateItemRequest mark{
        .table = state.options.table,
        .key = key,
        .update = "SET retracted = :yes, outbox = :outbox REMOVE content, outbox_cursor",
        .condition = "author = :author",
        .values =
            Values{{":yes", true}, {":outbox", state.outbox_of(id)}, {":author", author.text}}};
    written = with_retries(state.options.retry, state.time,
                           [&] { return state.client.update_item(mark); });
  }
  if (!written && written.error().code == Code::kConditionalCheckFailed) {
    return fail(Code::kNotFound, author.text + " has no post " + id.text());
  }
  if (!written) return failure_of(std::move(written));
  return {};
}

Result<Page<Post>> Feed::read(const UserId& user, int count, const std::string& cursor) const {
  const State& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  STATOR_CHECK_OK(check_user("user", user));
  STATOR_CHECK_OK(check_limit("count", count));
  const bool numbers = state.options.layout == FeedLayout::kNewestFirst;
  const CursorSeal seal{.key = state.options.cursor_key,
                        .question = {"feed", state.options.table, user.text, numbers ? "N" : "S"}};
  QueryRequest request{.table = state.options.table,
                       .key_condition = "partition_key = :user",
                       .filter = "attribute_not_exists(retracted)",
                       .values = Values{{":user", user.text}},
                       .forward = numbers,
                       .consistent_read = state.options.consistent_reads};
  if (!cursor.empty()) {
    STATOR_TRY(const std::vector<std::string> parts, read_cursor(seal, cursor, 1));
    AttributeValue range_key = parts[0];
    if (numbers) {
      auto number = Number::parse(parts[0]);
      if (!number) return fail(Code::kBadCursor, "cursor: holds no number");
      range_key = *number;
    }
    request.exclusive_start_key = state.key_of(user, range_key);
  }
  const auto wanted = static_cast<std::size_t>(count);
  // One more tells whether anything follows.
  STATOR_TRY(std::vector<Item> found, query_items(state.client, state.options.retry, state.time,
                                                  std::move(request), wanted + 1));
  Page<Post> page;
  const bool more = found.size() > wanted;
  if (more) found.resize(wanted);
  for (const Item& item : found) {
    STATOR_TRY(Post post, post_of(item));
    page.items.push_back(std::move(post));
  }
  if (more) page.next = make_cursor(seal, {text_of_key(found.back().find("range_key")->second)});
  return page;
}

Result<void> Feed::follow(const UserId& user, const UserId& author) const {
  STATOR_CHECK_OK(check_user("user", user));
  STATOR_CHECK_OK(check_user("author", author));
  if (user == author) return invalid("author", "is the user");
  if (!state_->table_followers) return invalid("followers_table", "the followers live elsewhere");
  return state_->table_followers->add(user, author);
}

Result<void> Feed::unfollow(const UserId& user, const UserId& author) const {
  STATOR_CHECK_OK(check_user("user", user));
  STATOR_CHECK_OK(check_user("author", author));
  if (!state_->table_followers) return invalid("followers_table", "the followers live elsewhere");
  return state_->table_followers->remove(user, author);
}

Result<Page<UserId>> Feed::followers(const UserId& author, const PageOptions& page) const {
  STATOR_CHECK_OK(check_user("author", author));
  STATOR_CHECK_OK(check_limit("limit", page.limit));
  if (state_->followers == nullptr) return Page<UserId>();
  const CursorSeal seal{.key = state_->options.cursor_key,
                        .question = {"followers", state_->options.followers_table, author.text}};
  std::string inner;
  if (!page.cursor.empty()) {
    STATOR_TRY(std::vector<std::string> parts, read_cursor(seal, page.cursor, 1));
    inner = std::move(parts[0]);
  }
  STATOR_TRY(Page<UserId> found, state_->followers->page(author, page.limit, inner));
  if (!found.next.empty()) found.next = make_cursor(seal, {found.next});
  return found;
}

std::vector<CreateTableRequest> Feed::table_definitions(const FeedOptions& options) {
  const ScalarType range =
      options.layout == FeedLayout::kNewestFirst ? ScalarType::kN : ScalarType::kS;
  const IndexDefinition outbox{
      .name = "Outbox",
      .key_schema = {{"outbox", KeyType::kHash}, {"range_key", KeyType::kRange}},
      .projection = {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}},
      .throughput = {},
      .on_demand_throughput = {},
      .warm_throughput = {}};
  std::vector<CreateTableRequest> tables;
  tables.push_back(
      {.table = options.table,
       .attributes = {{"partition_key", ScalarType::kS},
                      {"range_key", range},
                      {"outbox", ScalarType::kS}},
       .key_schema = {{"partition_key", KeyType::kHash}, {"range_key", KeyType::kRange}},
       .global_indexes = std::vector{outbox},
       .billing_mode = BillingMode::kPayPerRequest});
  if (options.followers == nullptr && !options.followers_table.empty()) {
    tables.push_back(TableFollowers::table_definition(options.followers_table));
  }
  return tables;
}

}  // namespace stator

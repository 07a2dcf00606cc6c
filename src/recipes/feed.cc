// SPDX-License-Identifier: Apache-2.0
// A feed is the partition of its user's id. An item has author and content, and the author's own
// item is the outbox as well: while it has the attribute `outbox` it is in a sparse index, which
// feed_worker.cc reads. So a post and the duty to deliver it are one put.
#include "stator/recipes/feed.h"

#include <algorithm>
#include <array>
#include <utility>

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
constexpr int kMaxMergeOver = 100'000;
constexpr std::size_t kMaxKeyNameBytes = 255;
constexpr std::size_t kMaxPrefixBytes = 512;
constexpr std::array<std::string_view, 13> kAttributes = {
    "author", "content", "edits",     "outbox",  "outbox_cursor", "claim",     "claim_until",
    "spread", "authors", "retracted", "read_to", "ended",         "expires_at"};

Result<void> check_key_name(std::string_view argument, std::string_view name) {
  STATOR_CHECK_OK(check_text(argument, name, kMaxKeyNameBytes));
  if (std::ranges::find(kAttributes, name) != kAttributes.end()) {
    return invalid(argument, "is the name of another attribute");
  }
  return {};
}

Result<void> check_prefix(std::string_view argument, std::string_view prefix) {
  if (prefix.empty()) return {};
  return check_text(argument, prefix, kMaxPrefixBytes);
}

}  // namespace

namespace recipes {

std::string FeedState::outbox_prefix() const {
  return options.user_prefix + "PENDING#";
}

std::string FeedState::outbox(int shard) const {
  return outbox_prefix() + std::to_string(shard);
}

std::string FeedState::outbox_of(const PostId& id) const {
  return outbox(id.bytes()[15] % options.outbox_shards);
}

Result<void> FeedState::check_options() const {
  STATOR_CHECK_OK(check_table(options.table));
  STATOR_CHECK_OK(check_key_name("partition_key", options.partition_key));
  STATOR_CHECK_OK(check_key_name("range_key", options.range_key));
  if (options.partition_key == options.range_key) {
    return invalid("range_key", "must not be the partition key");
  }
  STATOR_CHECK_OK(check_text("outbox_index", options.outbox_index, kMaxKeyNameBytes));
  STATOR_CHECK_OK(check_prefix("user_prefix", options.user_prefix));
  STATOR_CHECK_OK(check_text("merged_prefix", options.merged_prefix, kMaxPrefixBytes));
  STATOR_CHECK_OK(check_text("stream_prefix", options.stream_prefix, kMaxPrefixBytes));
  if (options.outbox_shards < 1 || options.outbox_shards > kMaxShards) {
    return invalid("outbox_shards", "must be 1 to 64");
  }
  if (options.merge_over < 0 || options.merge_over > kMaxMergeOver) {
    return invalid("merge_over", "must be 0 to 100,000");
  }
  if (options.claim.count() <= 0) return invalid("claim", "must be positive");
  if (options.sweep.count() <= 0) return invalid("sweep", "must be positive");
  return {};
}

Result<void> FeedState::check_user(std::string_view argument, const UserId& user) const {
  STATOR_CHECK_OK(check_text(argument, user.text, kMaxUserIdBytes));
  if (options.merge_over > 0 && user.text.starts_with(options.merged_prefix)) {
    return invalid(argument, "begins with merged_prefix, whose partitions are not users'");
  }
  if (options.outbox == Outbox::kStream && user.text.starts_with(options.stream_prefix)) {
    return invalid(argument, "begins with stream_prefix, whose partitions are not users'");
  }
  return {};
}

Item FeedState::key_of(const UserId& user, const AttributeValue& range_key) const {
  return {{options.partition_key, options.user_prefix + user.text}, {options.range_key, range_key}};
}

Item FeedState::merged_key_of(const UserId& author, const AttributeValue& range_key) const {
  return key_of({options.merged_prefix + author.text}, range_key);
}

Item FeedState::merged_authors_key() const {
  const bool numbers = options.layout == FeedLayout::kNewestFirst;
  return key_of({options.merged_prefix}, numbers ? AttributeValue(0) : AttributeValue("AUTHORS"));
}

Item FeedState::shard_key(std::string_view shard) const {
  const bool numbers = options.layout == FeedLayout::kNewestFirst;
  return key_of({options.stream_prefix + std::string(shard)},
                numbers ? AttributeValue(0) : AttributeValue("SHARD"));
}

int64_t FeedState::now_ms() const {
  const Time now = time.now();
  return now.unix_seconds() * 1000 + now.subsecond_ns() / 1'000'000;
}

Item FeedState::copy_of(const Item& post, const UserId& author, const UserId& follower) const {
  Item copy = key_of(follower, post.find(options.range_key)->second);
  copy.emplace("author", author.text);
  for (const char* name : {"content", "edits"}) {
    if (const auto entry = post.find(name); entry != post.end()) copy.insert(*entry);
  }
  return copy;
}

bool FeedState::is_newer(const AttributeValue& range_key, const AttributeValue& other) const {
  if (options.layout == FeedLayout::kNewestFirst) {
    const auto* number = range_key.get_if<Number>();
    const auto* other_number = other.get_if<Number>();
    return number != nullptr && other_number != nullptr && *number < *other_number;
  }
  const auto* text = range_key.get_if<std::string>();
  const auto* other_text = other.get_if<std::string>();
  return text != nullptr && other_text != nullptr && *text > *other_text;
}

Result<std::optional<Item>> FeedState::refused_by(const Error& error, const Item& key) const {
  return with_retries(options.retry, time,
                      [&] { return refused_item(client, options.table, key, item_in(error)); });
}

Result<Post> FeedState::post_of(const Item& item) const {
  const auto range_key = item.find(options.range_key);
  const std::string* content = text_in(item, "content");
  const auto place = range_key == item.end() ? std::nullopt : PostKeys::place_of(range_key->second);
  if (!place || content == nullptr) {
    return fail(Code::kConflict, "the table holds an item here that is no post");
  }
  const std::string* author = text_in(item, "author");
  return Post{.id = place->id,
              .author = UserId{author != nullptr ? *author : std::string()},
              .content = *content,
              .at = place->at,
              .edits = int64_in(item, "edits").value_or(0)};
}

// What the outbox holds is delivered without an announcement too, only later.
void FeedState::announce(const UserId& author, const PostId& id) const {
  if (options.bus && followers != nullptr) static_cast<void>(options.bus->announce(author, id));
}

}  // namespace recipes

Feed::Feed(Client& client, FeedOptions options) {
  TimeSource& time = options.time != nullptr ? *options.time : system_time();
  std::shared_ptr<TableFollowers> in_table;
  if (options.followers == nullptr && !options.followers_table.empty()) {
    in_table =
        std::make_shared<TableFollowers>(client, options.followers_table, options.retry, time);
  }
  Followers* followers = options.followers ? options.followers.get() : in_table.get();
  state_ = std::make_shared<const FeedState>(client, std::move(options), time, std::move(in_table),
                                             followers);
}

Result<Published> Feed::publish(const UserId& author, std::string_view content,
                                std::optional<PostId> id) const {
  const FeedState& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  STATOR_CHECK_OK(state.check_user("author", author));
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
                     .condition = "attribute_not_exists(#pk)",
                     .names = Names{{"#pk", state.options.partition_key}},
                     .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  put.item.emplace("author", author.text);
  put.item.emplace("content", content);
  if (state.followers != nullptr) put.item.emplace("outbox", state.outbox_of(*id));
  auto written =
      with_retries(state.options.retry, state.time, [&] { return state.client.put_item(put); });
  if (written) {
    state.announce(author, *id);
    return Published{.id = *id, .created = true};
  }
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  STATOR_TRY(const std::optional<Item> existing,
             state.refused_by(written.error(), state.key_of(author, range_key)));
  // What it was published with is not known of an edited post.
  if (existing && !existing->contains("edits")) {
    const std::string* stored = text_in(*existing, "content");
    if (stored == nullptr || *stored != content) {
      return fail(Code::kConflict,
                  "id: " + id->text() + " was published before, with other content");
    }
  }
  // Perhaps it was this call's own request, whose answer was lost before the announcement.
  if (existing && existing->contains("outbox")) state.announce(author, *id);
  return Published{.id = *id, .created = false};
}

Result<void> Feed::edit(const UserId& author, const PostId& id, std::string_view content) const {
  const FeedState& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  STATOR_CHECK_OK(state.check_user("author", author));
  STATOR_CHECK_OK(check_text("content", content, kMaxContentBytes));
  STATOR_TRY(const AttributeValue range_key, PostKeys::range_key(state.options.layout, id));
  UpdateItemRequest replace{
      .table = state.options.table,
      .key = state.key_of(author, range_key),
      .update = "SET content = :content, edits = if_not_exists(edits, :none) + :one",
      .condition = "author = :author AND attribute_not_exists(retracted)",
      .values = Values{{":content", content}, {":none", 0}, {":one", 1}, {":author", author.text}}};
  if (state.followers != nullptr) {
    *replace.update += ", outbox = :outbox REMOVE outbox_cursor";
    replace.values->emplace(":outbox", state.outbox_of(id));
  }
  auto written = with_retries(state.options.retry, state.time,
                              [&] { return state.client.update_item(replace); });
  if (!written && written.error().code == Code::kConditionalCheckFailed) {
    return fail(Code::kNotFound, author.text + " has no post " + id.text());
  }
  if (!written) return failure_of(std::move(written));
  state.announce(author, id);
  return {};
}

Result<void> Feed::retract(const UserId& author, const PostId& id) const {
  const FeedState& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  STATOR_CHECK_OK(state.check_user("author", author));
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
  state.announce(author, id);
  return {};
}

std::vector<RecipeTable> Feed::table_definitions(const FeedOptions& options) {
  const ScalarType range =
      options.layout == FeedLayout::kNewestFirst ? ScalarType::kN : ScalarType::kS;
  const IndexDefinition outbox{
      .name = options.outbox_index,
      .key_schema = {{"outbox", KeyType::kHash}, {options.range_key, KeyType::kRange}},
      .projection = {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}},
      .throughput = {},
      .on_demand_throughput = {},
      .warm_throughput = {}};
  CreateTableRequest posts{
      .table = options.table,
      .attributes = {{options.partition_key, ScalarType::kS}, {options.range_key, range}},
      .key_schema = {{options.partition_key, KeyType::kHash}, {options.range_key, KeyType::kRange}},
      .billing_mode = BillingMode::kPayPerRequest};
  const bool stream = options.outbox == Outbox::kStream;
  if (stream) {
    posts.stream = {.enabled = true, .view = StreamViewType::kNewAndOldImages};
  } else {
    posts.attributes.push_back({"outbox", ScalarType::kS});
    posts.global_indexes = std::vector{outbox};
  }
  std::vector<RecipeTable> tables;
  tables.emplace_back(std::move(posts), stream ? "expires_at" : "");
  if (options.followers == nullptr && !options.followers_table.empty()) {
    tables.push_back(
        TableFollowers::table_definition(options.followers_table, options.merge_over > 0));
  }
  return tables;
}

}  // namespace stator

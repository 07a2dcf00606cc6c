// SPDX-License-Identifier: Apache-2.0
// A feed is the partition of its user's id. An item has author and content. The author's own item
// is also its outbox entry: while it has the attribute `outbox`, it is in a sparse index, which
// feed_worker.cc reads. So one put publishes a post and queues it for delivery.
#include "stator/recipes/feed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"
#include "recipes/feed/feed_state.h"
#include "recipes/feed/post_keys.h"

namespace stator {

using namespace recipes;

namespace {

// A post must fit into every follower's feed, even if the follower's id is longer than the
// author's. So the limit is 400 KB less the keys, with space for future attributes.
constexpr std::size_t kMaxContentBytes = 350'000;
constexpr int kMaxMergeOver = 100'000;
constexpr std::size_t kMaxPrefixBytes = 512;
constexpr int kMaxParallelWrites = 64;
constexpr std::chrono::hours kMinKeptRetracted{1};
constexpr std::chrono::hours kMaxKeptRetracted{24 * 3650};
constexpr int kMaxEditAttempts = 8;  // against concurrent edits of the same post
constexpr std::array<std::string_view, 19> kAttributes = {
    "author",        "content", "edits",           "outbox",        "outbox_cursor",
    "claim",         "spread",  "claim_until",     "retracted",     "authors",
    "former_cursor", "ended",   "read_to",         "recipients",    "edit",
    "expires_at",    "trimmed", "stator_settings", "stator_version"};

Result<void> check_key_name(std::string_view argument, std::string_view name) {
  STATOR_RETURN_IF_ERROR(check_text(argument, name, kMaxNameBytes));
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
  STATOR_RETURN_IF_ERROR(check_table(options.table));
  STATOR_RETURN_IF_ERROR(check_key_name("partition_key", options.partition_key));
  STATOR_RETURN_IF_ERROR(check_key_name("range_key", options.range_key));
  if (options.partition_key == options.range_key) {
    return invalid("range_key", "must not be the partition key");
  }
  STATOR_RETURN_IF_ERROR(check_text("outbox_index", options.outbox_index, kMaxNameBytes));
  STATOR_RETURN_IF_ERROR(check_prefix("user_prefix", options.user_prefix));
  STATOR_RETURN_IF_ERROR(check_text("merged_prefix", options.merged_prefix, kMaxPrefixBytes));
  STATOR_RETURN_IF_ERROR(check_text("stream_prefix", options.stream_prefix, kMaxPrefixBytes));
  if (options.outbox_shards < 1 || options.outbox_shards > kMaxOutboxShards) {
    return invalid("outbox_shards", "must be 1 to 64");
  }
  if (options.merge_over < 0 || options.merge_over > kMaxMergeOver) {
    return invalid("merge_over", "must be 0 to 100,000");
  }
  if (options.parallel_writes < 1 || options.parallel_writes > kMaxParallelWrites) {
    return invalid("parallel_writes", "must be 1 to 64");
  }
  if (options.keep_retracted < kMinKeptRetracted || options.keep_retracted > kMaxKeptRetracted) {
    return invalid("keep_retracted", "must be 1 hour to 3,650 days");
  }
  if (options.merged_refresh.count() < 0) return invalid("merged_refresh", "must not be negative");
  if (options.claim.count() <= 0) return invalid("claim", "must be positive");
  if (options.sweep.count() <= 0) return invalid("sweep", "must be positive");
  return {};
}

Result<void> FeedState::check_user(std::string_view argument, const UserId& user) const {
  STATOR_RETURN_IF_ERROR(check_text(argument, user.text, kMaxUserIdBytes));
  for (const char* reserved : {kFormerPrefix, kRecipientsPrefix, kSettingsUser}) {
    if (user.text.starts_with(reserved)) {
      return invalid(argument, std::string("begins with ") + reserved + ", which is reserved");
    }
  }
  if (user.text.starts_with(options.merged_prefix)) {
    return invalid(argument, "begins with merged_prefix, whose partitions are not users'");
  }
  if (user.text.starts_with(options.stream_prefix)) {
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

Item FeedState::shard_key(std::string_view shard) const {
  const bool numbers = options.layout == FeedLayout::kNewestFirst;
  return key_of({options.stream_prefix + std::string(shard)},
                numbers ? AttributeValue(0) : AttributeValue("SHARD"));
}

// Returns a time after the last post's. If the clock is set back, ids run ahead of it by at most
// max_skew.
Time FeedState::next_post_time(Time now) const {
  const int64_t now_us = now.unix_seconds() * 1'000'000 + now.subsecond_ns() / 1000;
  const int64_t skew_us = std::chrono::floor<std::chrono::microseconds>(options.max_skew).count();
  int64_t last = last_post_us.load();
  int64_t next = 0;
  do {
    const bool runs_ahead = last >= now_us && last - now_us < skew_us;
    next = runs_ahead ? last + 1 : now_us;
  } while (!last_post_us.compare_exchange_weak(last, next));
  return Time() + std::chrono::microseconds(next);
}

int64_t FeedState::now_ms() const {
  const Time now = time.now();
  return now.unix_seconds() * 1000 + now.subsecond_ns() / 1'000'000;
}

Values FeedState::claim_values(const std::string& claim) const {
  const int64_t now = now_ms();
  const int64_t until = now + options.claim.count();
  const int64_t skew_ms = std::chrono::floor<std::chrono::milliseconds>(options.max_skew).count();
  return {{":mine", claim}, {":until", until}, {":now", now}, {":latest", until + skew_ms}};
}

void FeedState::release(const Item& key, const std::string& claim) const {
  const AfterStop limit;
  static_cast<void>(client.update_item({.table = options.table,
                                        .key = key,
                                        .update = "REMOVE claim, claim_until",
                                        .condition = "claim = :mine",
                                        .values = Values{{":mine", claim}}}));
}

int64_t FeedState::tombstone_expiry() const {
  return time.now().unix_seconds() + options.keep_retracted.count();
}

Item FeedState::tombstone_of(const UserId& author, Item key) const {
  key.emplace("author", author.text);
  key.emplace("retracted", true);
  key.emplace("expires_at", tombstone_expiry());
  return key;
}

std::string text_of(const AttributeValue& range_key) {
  if (const auto* text = range_key.get_if<std::string>()) return *text;
  const auto* number = range_key.get_if<Number>();
  return number != nullptr ? number->to_string() : std::string();
}

Result<AttributeValue> FeedState::range_key_from(const std::string& text) const {
  if (options.layout == FeedLayout::kOrdered) return AttributeValue(text);
  const auto number = Number::parse(text);
  if (!number) return fail(Code::kBadCursor, "cursor: not a number");
  return AttributeValue(*number);
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
    return fail(Code::kConflict, "the item at this key is not a post");
  }
  const std::string* author = text_in(item, "author");
  return Post{.id = place->id,
              .author = UserId{author != nullptr ? *author : std::string()},
              .content = *content,
              .at = place->at,
              .edits = int64_in(item, "edits").value_or(0)};
}

// Without an announcement, a post in the outbox is still delivered, but later.
void FeedState::announce(const UserId& author, const PostId& id) const {
  if (options.bus) static_cast<void>(options.bus->announce(author, id));
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
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("author", author));
  STATOR_RETURN_IF_ERROR(check_text("content", content, kMaxContentBytes));
  const Time now = state.time.now();
  if (!id) id = PostId::make(state.next_post_time(now));
  STATOR_ASSIGN_OR_RETURN(const AttributeValue range_key,
                          PostKeys::range_key(state.options.layout, *id));
  STATOR_RETURN_IF_ERROR(check_event_time("id", id->at(), now, state.options.max_skew));
  STATOR_RETURN_IF_ERROR(state.settings.check_publisher(state));

  PutItemRequest put{.table = state.options.table,
                     .item = state.key_of(author, range_key),
                     .condition = "attribute_not_exists(#pk)",
                     .names = Names{{"#pk", state.options.partition_key}},
                     .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  put.item.emplace("author", author.text);
  put.item.emplace("content", content);
  if (state.options.outbox != Outbox::kNone) put.item.emplace("outbox", state.outbox_of(*id));
  auto written =
      with_retries(state.options.retry, state.time, [&] { return state.client.put_item(put); });
  if (written) {
    state.announce(author, *id);
    return Published{.id = *id, .created = true};
  }
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  STATOR_ASSIGN_OR_RETURN(const std::optional<Item> existing,
                          state.refused_by(written.error(), state.key_of(author, range_key)));
  // The original text of an edited or retracted post is unknown.
  if (existing && !existing->contains("edits") && !existing->contains("retracted")) {
    const std::string* stored = text_in(*existing, "content");
    if (stored == nullptr || *stored != content) {
      return fail(Code::kConflict,
                  "id: " + id->text() + " was published before, with other content");
    }
  }
  // An earlier attempt of this call might have written the post, with its response lost before the
  // announcement.
  if (existing && existing->contains("outbox")) state.announce(author, *id);
  return Published{.id = *id, .created = false};
}

// Each attempt requires the version that this call has last seen, so that a late edit cannot
// replace a newer one. The first attempt expects an unedited post; a failed condition shows the
// version.
Result<void> Feed::edit(const UserId& author, const PostId& id, std::string_view content) const {
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("author", author));
  STATOR_RETURN_IF_ERROR(check_text("content", content, kMaxContentBytes));
  STATOR_ASSIGN_OR_RETURN(const AttributeValue range_key,
                          PostKeys::range_key(state.options.layout, id));
  STATOR_RETURN_IF_ERROR(state.settings.check_publisher(state));
  const std::string edit = random_uuid();
  int64_t edits = 0;
  for (int tried = 0; tried < kMaxEditAttempts; ++tried) {
    UpdateItemRequest replace{
        .table = state.options.table,
        .key = state.key_of(author, range_key),
        .update = "SET content = :content, edits = :next, edit = :edit",
        .condition = "author = :author AND attribute_not_exists(retracted) AND ",
        .values = Values{{":content", content},
                         {":next", edits + 1},
                         {":edit", edit},
                         {":author", author.text}},
        .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
    *replace.condition += edits == 0 ? "attribute_not_exists(edits)" : "edits = :edits";
    if (edits != 0) replace.values->emplace(":edits", edits);
    if (state.options.outbox != Outbox::kNone) {
      *replace.update += ", outbox = :outbox REMOVE outbox_cursor, former_cursor";
      replace.values->emplace(":outbox", state.outbox_of(id));
    }
    auto written = with_retries(state.options.retry, state.time,
                                [&] { return state.client.update_item(replace); });
    if (!written && written.error().code != Code::kConditionalCheckFailed) {
      return failure_of(std::move(written));
    }
    std::optional<Item> there;
    if (!written) {
      STATOR_ASSIGN_OR_RETURN(there, state.refused_by(written.error(), replace.key));
      const std::string* owner = there ? text_in(*there, "author") : nullptr;
      if (owner == nullptr || *owner != author.text || there->contains("retracted")) {
        return fail(Code::kNotFound, author.text + " has no post " + id.text());
      }
    }
    const std::string* applied = there ? text_in(*there, "edit") : &edit;
    if (applied != nullptr && *applied == edit) {
      state.announce(author, id);
      return {};
    }
    edits = int64_in(*there, "edits").value_or(0);
  }
  return fail(Code::kTransactionConflict, "others keep editing post " + id.text());
}

// Keeps the post as a tombstone, so that a repeated publish does not restore it. Puts it into the
// outbox again, so that delivery replaces its copies by tombstones.
Result<void> Feed::retract(const UserId& author, const PostId& id) const {
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("author", author));
  STATOR_ASSIGN_OR_RETURN(const AttributeValue range_key,
                          PostKeys::range_key(state.options.layout, id));
  STATOR_RETURN_IF_ERROR(state.settings.check_publisher(state));
  // A copy of another author's post must not be retracted here.
  UpdateItemRequest mark{.table = state.options.table,
                         .key = state.key_of(author, range_key),
                         .condition = "author = :author AND attribute_not_exists(expires_at)",
                         .values = Values{{":yes", true}, {":author", author.text}},
                         .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  const std::string removed = " REMOVE content, edit, outbox_cursor, former_cursor";
  if (state.options.outbox == Outbox::kNone) {
    mark.update = "SET retracted = :yes, expires_at = :expiry" + removed;
    mark.values->emplace(":expiry", state.tombstone_expiry());
  } else {
    mark.update = "SET retracted = :yes, outbox = :outbox" + removed;
    mark.values->emplace(":outbox", state.outbox_of(id));
  }
  int attempts = 0;
  auto written = with_retries(state.options.retry, state.time, [&] {
    ++attempts;
    return state.client.update_item(mark);
  });
  if (!written && written.error().code == Code::kConditionalCheckFailed) {
    // A repeated request can find the effect of the previous one.
    STATOR_ASSIGN_OR_RETURN(const std::optional<Item> there,
                            state.refused_by(written.error(), mark.key));
    const bool is_done =
        attempts > 1 && there && there->contains("retracted") && !there->contains("trimmed");
    return is_done ? Result<void>()
                   : fail(Code::kNotFound, author.text + " has no post " + id.text());
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
  if (options.outbox == Outbox::kStream) {
    posts.stream = {.enabled = true, .view = StreamViewType::kNewAndOldImages};
  } else if (options.outbox == Outbox::kIndex) {
    posts.attributes.push_back({"outbox", ScalarType::kS});
    posts.global_indexes = std::vector{outbox};
  }
  std::vector<RecipeTable> tables;
  tables.emplace_back(std::move(posts), "expires_at");
  if (options.followers == nullptr && !options.followers_table.empty()) {
    tables.push_back(
        TableFollowers::table_definition(options.followers_table, options.merge_over > 0));
  }
  return tables;
}

}  // namespace stator

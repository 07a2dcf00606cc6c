// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/table_followers.h"

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"

namespace stator::recipes {

namespace {

constexpr const char* kFollowing = "Following";
constexpr std::size_t kMarkBytes = 6;
constexpr int kMaxFollowAttempts = 8;  // against concurrent changes of the same relation

const Binary* mark_in(const Item& relation) {
  const auto since = relation.find("since");
  return since == relation.end() ? nullptr : since->second.get_if<Binary>();
}

}  // namespace

// Each call writes its own mark to `since` and replaces only the mark that it has seen. So a
// delayed request of an earlier call finds another mark and fails.
Result<void> TableFollowers::add(const UserId& user, const UserId& author) {
  const Binary mine{random_bytes(kMarkBytes)};  // stored in every row, so it is short
  PutItemRequest put{.table = table_,
                     .item = {{"author", author.text}, {"follower", user.text}, {"since", mine}},
                     .condition = "attribute_not_exists(author)",
                     .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  const Item key{{"author", author.text}, {"follower", user.text}};
  for (int tried = 0; tried < kMaxFollowAttempts; ++tried) {
    auto written = with_retries(policy_, time_, [&] { return client_.put_item(put); });
    if (written) return {};
    if (written.error().code != Code::kConditionalCheckFailed) {
      return failure_of(std::move(written));
    }
    STATOR_ASSIGN_OR_RETURN(const std::optional<Item> there, with_retries(policy_, time_, [&] {
                              return refused_item(client_, table_, key, item_in(written.error()));
                            }));
    const Binary* since = there ? mark_in(*there) : nullptr;
    if (since != nullptr && *since == mine) return {};
    put.values.reset();
    put.condition = !there ? "attribute_not_exists(author)"
                           : "attribute_exists(author) AND attribute_not_exists(since)";
    if (since != nullptr) {
      put.condition = "since = :since";
      put.values = Values{{":since", *since}};
    }
  }
  return fail(Code::kTransactionConflict,
              "others keep changing whether " + user.text + " follows " + author.text);
}

// The user is always in at least one of the two partitions.
Result<void> TableFollowers::remove(const UserId& user, const UserId& author) {
  const Item key{{"author", author.text}, {"follower", user.text}};
  const GetItemRequest get{.table = table_, .key = key, .consistent_read = true};
  STATOR_ASSIGN_OR_RETURN(const GetItemResult found,
                          with_retries(policy_, time_, [&] { return client_.get_item(get); }));
  if (!found.item) return {};
  const PutItemRequest put{
      .table = table_, .item = {{"author", kFormerPrefix + author.text}, {"follower", user.text}}};
  STATOR_RETURN_IF_ERROR(with_retries(policy_, time_, [&] { return client_.put_item(put); }));
  DeleteItemRequest gone{.table = table_, .key = key, .condition = "attribute_not_exists(since)"};
  if (const Binary* since = mark_in(*found.item)) {
    gone.condition = "since = :since";
    gone.values = Values{{":since", *since}};
  }
  auto deleted = with_retries(policy_, time_, [&] { return client_.delete_item(gone); });
  if (deleted || deleted.error().code == Code::kConditionalCheckFailed) return {};
  return failure_of(std::move(deleted));
}

Result<Page<UserId>> TableFollowers::page(const UserId& author, int limit,
                                          const std::string& cursor) {
  return partition(author.text, limit, cursor);
}

Result<Page<UserId>> TableFollowers::former(const UserId& author, int limit,
                                            const std::string& cursor) {
  return partition(kFormerPrefix + author.text, limit, cursor);
}

Result<Page<UserId>> TableFollowers::partition(const std::string& author, int limit,
                                               const std::string& cursor) {
  QueryRequest request{.table = table_,
                       .key_condition = "author = :author",
                       .values = Values{{":author", author}},
                       .consistent_read = true};
  if (!cursor.empty()) {
    request.exclusive_start_key = Item{{"author", author}, {"follower", cursor}};
  }
  return users(std::move(request), "follower", limit);
}

Result<Page<UserId>> TableFollowers::following(const UserId& user, int limit,
                                               const std::string& cursor) {
  QueryRequest request{.table = table_,
                       .index = kFollowing,
                       .key_condition = "follower = :user",
                       .values = Values{{":user", user.text}}};
  if (!cursor.empty()) {
    request.exclusive_start_key = Item{{"author", cursor}, {"follower", user.text}};
  }
  STATOR_ASSIGN_OR_RETURN(Page<UserId> page, users(std::move(request), "author", limit));
  std::erase_if(page.items,
                [](const UserId& author) { return author.text.starts_with(kFormerPrefix); });
  return page;
}

Result<Page<UserId>> TableFollowers::users(QueryRequest request, const char* attribute, int limit) {
  STATOR_ASSIGN_OR_RETURN(const ItemPage found,
                          query_page(client_, policy_, time_, std::move(request), limit));
  Page<UserId> page;
  for (const Item& item : found.items) {
    const std::string* user = text_in(item, attribute);
    if (user == nullptr) return fail(Code::kConflict, table_ + " is not a table of followers");
    page.items.push_back({*user});
  }
  if (found.more) page.next = page.items.back().text;
  return page;
}

CreateTableRequest TableFollowers::table_definition(const std::string& table, bool with_following) {
  CreateTableRequest definition{
      .table = table,
      .attributes = {{"author", ScalarType::kS}, {"follower", ScalarType::kS}},
      .key_schema = {{"author", KeyType::kHash}, {"follower", KeyType::kRange}},
      .billing_mode = BillingMode::kPayPerRequest};
  if (with_following) {
    definition.global_indexes = std::vector{
        IndexDefinition{.name = kFollowing,
                        .key_schema = {{"follower", KeyType::kHash}, {"author", KeyType::kRange}},
                        .projection = {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}},
                        .throughput = {},
                        .on_demand_throughput = {},
                        .warm_throughput = {}}};
  }
  return definition;
}

}  // namespace stator::recipes

// SPDX-License-Identifier: Apache-2.0
#include "recipes/table_followers.h"

#include "recipes/keys.h"
#include "recipes/requests.h"

namespace stator::recipes {

namespace {

constexpr const char* kFollowing = "Following";

}  // namespace

Result<void> TableFollowers::add(const UserId& user, const UserId& author) {
  const PutItemRequest put{.table = table_,
                           .item = {{"author", author.text}, {"follower", user.text}}};
  STATOR_CHECK_OK(with_retries(policy_, time_, [&] { return client_.put_item(put); }));
  return {};
}

Result<void> TableFollowers::remove(const UserId& user, const UserId& author) {
  const DeleteItemRequest gone{.table = table_,
                               .key = {{"author", author.text}, {"follower", user.text}}};
  STATOR_CHECK_OK(with_retries(policy_, time_, [&] { return client_.delete_item(gone); }));
  return {};
}

Result<Page<UserId>> TableFollowers::page(const UserId& author, int limit,
                                          const std::string& cursor) {
  QueryRequest request{.table = table_,
                       .key_condition = "author = :author",
                       .values = Values{{":author", author.text}},
                       .consistent_read = true};
  if (!cursor.empty()) {
    request.exclusive_start_key = Item{{"author", author.text}, {"follower", cursor}};
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
  return users(std::move(request), "author", limit);
}

Result<Page<UserId>> TableFollowers::users(QueryRequest request, const char* attribute, int limit) {
  STATOR_TRY(const ItemPage found, query_page(client_, policy_, time_, std::move(request), limit));
  Page<UserId> page;
  for (const Item& item : found.items) {
    const std::string* user = text_in(item, attribute);
    if (user == nullptr) return fail(Code::kConflict, table_ + " is no table of followers");
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

// SPDX-License-Identifier: Apache-2.0
#include "recipes/table_followers.h"

#include "recipes/keys.h"
#include "recipes/requests.h"

namespace stator::recipes {

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
  STATOR_TRY(const ItemPage found, query_page(client_, policy_, time_, std::move(request), limit));
  Page<UserId> page;
  for (const Item& item : found.items) {
    const std::string* follower = text_in(item, "follower");
    if (follower == nullptr) return fail(Code::kConflict, table_ + " is no table of followers");
    page.items.push_back({*follower});
  }
  if (found.more) page.next = page.items.back().text;
  return page;
}

CreateTableRequest TableFollowers::table_definition(const std::string& table) {
  return {.table = table,
          .attributes = {{"author", ScalarType::kS}, {"follower", ScalarType::kS}},
          .key_schema = {{"author", KeyType::kHash}, {"follower", KeyType::kRange}},
          .billing_mode = BillingMode::kPayPerRequest};
}

}  // namespace stator::recipes

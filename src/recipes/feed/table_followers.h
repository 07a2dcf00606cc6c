// SPDX-License-Identifier: Apache-2.0
// TableFollowers: stores who follows whom in a table with partition key `author` and sort key
// `follower`. The index `Following`, which only feeds with merged authors have, has the keys in
// reverse order. docs/formats/recipes.md
//
// Users who unfollow an author are kept in the partition `FORMER#<author>`, because their feeds can
// still contain copies of the author's posts, which edits and retractions must reach.
//
// Thread safety: any thread. Blocking: methods wait for requests, and repeat failed ones.
// Lifetime: the client and the time source must outlive it.
// Errors: those of the requests; kConflict if an item of the table is not a follower.
#pragma once

#include <string>

#include "stator/recipes/feed.h"

namespace stator::recipes {

inline constexpr std::size_t kMaxUserIdBytes = 1024;
inline constexpr const char* kFormerPrefix = "FORMER#";

class TableFollowers final : public Followers {
 public:
  TableFollowers(Client& client, std::string table, RetryPolicy policy, TimeSource& time)
      : client_(client), table_(std::move(table)), policy_(policy), time_(time) {}

  // `user` follows `author`, or ends it. Repeated calls succeed. A removal whose request
  // arrives late does not undo a later add().
  // Errors: also kTransactionConflict, from add(), if concurrent changes of the relation persist.
  Result<void> add(const UserId& user, const UserId& author);
  Result<void> remove(const UserId& user, const UserId& author);
  // Return up to `limit` followers of an author, or authors that a user follows, by id, after the
  // id `cursor` (empty: from the first). Page::next is the cursor of the next page. following()
  // reads the index, which can lag behind.
  Result<Page<UserId>> page(const UserId& author, int limit, const std::string& cursor) override;
  Result<Page<UserId>> following(const UserId& user, int limit, const std::string& cursor) override;

  // Likewise: the users who ever unfollowed the author, including those who follow again.
  Result<Page<UserId>> former(const UserId& author, int limit, const std::string& cursor);

  // `with_following`: with the index.
  static CreateTableRequest table_definition(const std::string& table, bool with_following);

 private:
  Result<Page<UserId>> partition(const std::string& author, int limit, const std::string& cursor);
  Result<Page<UserId>> users(QueryRequest request, const char* attribute, int limit);

  Client& client_;
  std::string table_;
  RetryPolicy policy_;
  TimeSource& time_;
};

}  // namespace stator::recipes

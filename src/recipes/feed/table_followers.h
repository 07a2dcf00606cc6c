// SPDX-License-Identifier: Apache-2.0
// TableFollowers: followers in a table with partition key `author` and sort key `follower`; the
// index `Following`, if present, has the reverse keys. Former followers of an author are in the
// partition `FORMER#<author>`, because their feeds can still contain copies of the author's posts.
//
// Thread safety: any thread. Lifetime: borrows the client and the time source.
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

  // Both are idempotent. A removal that arrives late does not undo a later add().
  Result<void> add(const UserId& user, const UserId& author);
  Result<void> remove(const UserId& user, const UserId& author);
  // Ordered by id. The cursor is the id of the last one.
  Result<Page<UserId>> page(const UserId& author, int limit, const std::string& cursor) override;
  Result<Page<UserId>> following(const UserId& user, int limit, const std::string& cursor) override;

  // Users who ever unfollowed the author, including those who follow again.
  Result<Page<UserId>> former(const UserId& author, int limit, const std::string& cursor);

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

// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/recipients.h"

#include <cstring>
#include <utility>

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"

namespace stator::recipes {
namespace {

constexpr std::size_t kBytesANote = 200'000;

AttributeValue random_key(FeedLayout layout) {
  if (layout == FeedLayout::kOrdered) return AttributeValue(random_uuid());
  const std::string bytes = random_bytes(sizeof(int64_t));
  uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return AttributeValue(static_cast<int64_t>(number >> 1));
}

}  // namespace

Result<bool> Recipients::record(const PostVersion& version, std::span<const UserId> followers,
                                const TransactWriteItem& unchanged) {
  if (state_.table_followers || version.retracted) return true;
  while (!followers.empty()) {
    std::vector<std::string> users;
    std::size_t bytes = 0;
    while (users.size() < followers.size() && bytes < kBytesANote) {
      users.push_back(followers[users.size()].text);
      bytes += users.back().size();
    }
    followers = followers.subspan(users.size());
    // A random key, so that no note replaces another.
    Item note = key_of(version, random_key(state_.options.layout));
    note.emplace("recipients", StringSet(std::move(users)));
    TransactWriteItemsRequest request{.items = {unchanged}};
    request.items.push_back(
        {.action = TransactAction::kPut, .table = state_.options.table, .item = std::move(note)});
    auto written = with_retries(state_.options.retry, state_.time, stop_,
                                [&] { return state_.client.transact_write_items(request); });
    if (written) continue;
    if (condition_failed_at(written.error(), 0)) return false;
    return failure_of(std::move(written));
  }
  return true;
}

Item Recipients::key_of(const PostVersion& version, const AttributeValue& range_key) const {
  const std::string post = text_of(version.post.find(state_.options.range_key)->second);
  return state_.key_of({std::string(kRecipientsPrefix) + post + "#" + version.author.text},
                       range_key);
}

QueryRequest Recipients::notes_of(const PostVersion& version) const {
  const FeedOptions& options = state_.options;
  const Item key = key_of(version, {});
  return {.table = options.table,
          .key_condition = "#pk = :notes",
          .names = Names{{"#pk", options.partition_key}},
          .values = Values{{":notes", key.at(options.partition_key)}},
          .limit = 1,
          .consistent_read = true};
}

Result<Page<UserId>> Recipients::page(const PostVersion& version, int limit,
                                      const std::string& cursor) {
  if (state_.table_followers) return state_.table_followers->former(version.author, limit, cursor);
  QueryRequest request = notes_of(version);
  if (!cursor.empty()) {
    STATOR_ASSIGN_OR_RETURN(const AttributeValue range_key, state_.range_key_from(cursor));
    request.exclusive_start_key = key_of(version, range_key);
  }
  STATOR_ASSIGN_OR_RETURN(const PageResult found,
                          with_retries(state_.options.retry, state_.time, stop_,
                                       [&] { return state_.client.query(request); }));
  Page<UserId> page;
  for (const Item& note : found.items) {
    const auto entry = note.find("recipients");
    const auto* users = entry == note.end() ? nullptr : entry->second.get_if<StringSet>();
    if (users == nullptr)
      return fail(Code::kConflict, "the item at this key is not a list of recipients");
    for (const std::string& user : users->elements()) page.items.push_back({user});
    if (found.last_evaluated_key) page.next = text_of(note.at(state_.options.range_key));
  }
  return page;
}

Result<void> Recipients::forget(const PostVersion& version) {
  if (state_.table_followers) return {};
  QueryRequest request = notes_of(version);
  request.limit = static_cast<int64_t>(kBatchWrites);
  request.projection = "#pk, #rk";
  request.names->emplace("#rk", state_.options.range_key);
  do {
    STATOR_ASSIGN_OR_RETURN(PageResult found,
                            with_retries(state_.options.retry, state_.time, stop_,
                                         [&] { return state_.client.query(request); }));
    std::vector<WriteRequest> gone;
    gone.reserve(found.items.size());
    for (Item& note : found.items) gone.push_back({.delete_key = std::move(note)});
    if (!gone.empty()) {
      STATOR_RETURN_IF_ERROR(write_batch(state_.client, state_.options.retry, state_.time, stop_,
                                         state_.options.table, std::move(gone)));
    }
    request.exclusive_start_key = std::move(found.last_evaluated_key);
  } while (request.exclusive_start_key);
  return {};
}

}  // namespace stator::recipes

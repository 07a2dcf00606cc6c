// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/delivery.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/feed/post_keys.h"

namespace stator::recipes {
namespace {

constexpr int kFollowersPage = 1000;
constexpr int64_t kOutboxPage = 100;
constexpr int kMaxAttempts = 8;  // on a post that keeps changing; the next delivery continues
constexpr int kMaxUnclaimedInARow = 3;
constexpr int kMaxFailedRetries = 10;
constexpr std::size_t kMaxReached = 100'000;

// Identifies the version that a note belongs to.
std::string tag_of(const PostVersion& version) {
  return version.retracted ? "retracted:" : std::to_string(version.edits) + ":";
}

// Condition: the author's item still has this version and this claim.
std::string still(const PostVersion& version) {
  if (version.retracted) return "claim = :mine AND attribute_exists(retracted)";
  return std::string("claim = :mine AND attribute_not_exists(retracted) AND ") +
         (version.edits == 0 ? "attribute_not_exists(edits)" : "edits = :edits");
}

Values values_of(const PostVersion& version, const std::string& claim) {
  Values values{{":mine", claim}};
  if (!version.retracted && version.edits != 0) values.emplace(":edits", version.edits);
  return values;
}

}  // namespace

Delivery::Delivery(const FeedState& state, std::stop_token stop)
    : state_(state),
      options_(state.options),
      stop_(std::move(stop)),
      copies_(state, stop_),
      recipients_(state, stop_),
      put_off_(state) {}

Delivered Delivery::done() const {
  return {.posts = posts_, .copies = copies_.written(), .batches = copies_.requests()};
}

Result<void> Delivery::drain(const std::string& outbox) {
  QueryRequest request{.table = options_.table,
                       .index = options_.outbox_index,
                       .key_condition = "outbox = :outbox",
                       .values = Values{{":outbox", outbox}},
                       .limit = kOutboxPage,
                       .forward = options_.layout == FeedLayout::kOrdered};
  do {
    STATOR_ASSIGN_OR_RETURN(PageResult found, with_retries(options_.retry, state_.time, stop_, [&] {
                              return state_.client.query(request);
                            }));
    for (const Item& entry : found.items) {
      if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while delivering");
      STATOR_RETURN_IF_ERROR(deliver(entry));
    }
    request.exclusive_start_key = std::move(found.last_evaluated_key);
  } while (request.exclusive_start_key);
  return {};
}

Result<void> Delivery::retry() {
  int failures = 0;
  for (const Item& key : put_off_.due()) {
    STATOR_ASSIGN_OR_RETURN(const Outcome outcome, attempt(key));
    if (outcome == Outcome::kPutOff && ++failures == kMaxFailedRetries) break;
  }
  return {};
}

Result<Delivery::Outcome> Delivery::deliver(const UserId& author, const AttributeValue& range_key) {
  return deliver(Job{.author = author, .key = state_.key_of(author, range_key)});
}

Result<Delivery::Outcome> Delivery::deliver(const Item& item) {
  if (put_off_.contains(item)) return Outcome::kPutOff;
  return attempt(item);
}

Result<Delivery::Outcome> Delivery::attempt(const Item& item) {
  const std::string* partition = text_in(item, options_.partition_key);
  const auto range_key = item.find(options_.range_key);
  if (partition == nullptr || !partition->starts_with(options_.user_prefix) ||
      range_key == item.end()) {
    return put_off(
        item, {},
        {.code = Code::kConflict, .message = "the outbox holds an item that is not a post"});
  }
  const UserId author{partition->substr(options_.user_prefix.size())};
  return deliver(author, range_key->second);
}

Result<Delivery::Outcome> Delivery::deliver(Job job) {
  if (put_off_.waits(job.key)) return Outcome::kPutOff;
  job.claim = random_uuid();
  auto outcome = deliver_claimed(job);
  if (outcome) {
    if (*outcome == Outcome::kDone) put_off_.remove(job.key);
    return outcome;
  }
  state_.release(job.key, job.claim);
  if (outcome.error().code == Code::kCancelled) return outcome;
  return put_off(job.key, job.author, std::move(outcome).error());
}

// A failed post does not delay the others. If several posts in a row could not even be claimed, the
// endpoint is probably unavailable, and the error is returned.
Result<Delivery::Outcome> Delivery::put_off(const Item& key, const UserId& author, Error error) {
  if (first_failure_) first_failure_ = Failure(error);
  if (!put_off_.add(key, author, error) && options_.outbox == Outbox::kStream) {
    return fail(Code::kUnavailable, "too many posts are put off already: " + error.message);
  }
  if (unclaimed_in_a_row_ < kMaxUnclaimedInARow) return Outcome::kPutOff;
  unclaimed_in_a_row_ = 0;
  return Failure(std::move(error));
}

Result<Delivery::Outcome> Delivery::deliver_claimed(Job& job) {
  for (int attempts = 0; attempts < kMaxAttempts; ++attempts) {
    auto claimed = claim(job);
    const bool is_unclaimed = !claimed && claimed.error().retryable();
    unclaimed_in_a_row_ = is_unclaimed ? unclaimed_in_a_row_ + 1 : 0;
    STATOR_ASSIGN_OR_RETURN(Claim found, std::move(claimed));
    if (!found.mine) {
      return found.post && found.post->contains("outbox") ? Outcome::kBusy : Outcome::kDone;
    }
    if (!found.post) return fail(Code::kInternalServerError, "a claim returned no item");
    job.version = version_of(job.author, *std::move(found.post));
    STATOR_ASSIGN_OR_RETURN(const bool passed, pass(job));
    if (!passed) continue;
    STATOR_ASSIGN_OR_RETURN(const bool finished, finish(job));
    if (finished) return Outcome::kDone;
  }
  return Outcome::kBusy;
}

// Reads the post, and claims it for a while if it is in the outbox and unclaimed.
Result<Delivery::Claim> Delivery::claim(const Job& job) {
  const UpdateItemRequest take{
      .table = options_.table,
      .key = job.key,
      .update = "SET claim = :mine, claim_until = :until",
      .condition = "attribute_exists(outbox) AND (" + std::string(kClaimIsFree) + ")",
      .values = state_.claim_values(job.claim),
      .return_values = ReturnValues::kAllNew,
      .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  auto taken = with_retries(options_.retry, state_.time, stop_,
                            [&] { return state_.client.update_item(take); });
  if (taken) return Claim{.post = std::move(taken->attributes), .mine = true};
  if (taken.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(taken));
  STATOR_ASSIGN_OR_RETURN(std::optional<Item> there, state_.refused_by(taken.error(), job.key));
  return Claim{.post = std::move(there)};
}

// Writes all copies of the version. Returns false, and stops writing, if the post or its claim has
// changed. Then finish() must not be sent: it could arrive after this attempt has claimed the post
// again.
Result<bool> Delivery::pass(const Job& job) {
  STATOR_ASSIGN_OR_RETURN(const std::string spread, spread_of(job));
  if (spread.empty()) return false;
  reached_.clear();
  const std::string* resume = text_in(job.version.post, "former_cursor");
  const std::string tag = tag_of(job.version);
  if (spread == kSpreadMerged) {
    STATOR_RETURN_IF_ERROR(copies_.write_merged(job.version));
  } else if (resume != nullptr && resume->starts_with(tag)) {
    return pass_former(job, resume->substr(tag.size()));
  } else {
    STATOR_ASSIGN_OR_RETURN(const bool passed, pass_followers(job));
    if (!passed || job.version.is_first()) return passed;
    return pass_former(job, {});
  }
  return true;
}

// A post is delivered in only one way, which is stored before delivery. Empty if the post or its
// claim has changed in the meantime.
Result<std::string> Delivery::spread_of(const Job& job) {
  if (const std::string* spread = text_in(job.version.post, "spread")) return *spread;
  // An edited post without `spread` might have been copied by a release without merging.
  if (!job.version.is_first()) return kSpreadCopies;
  STATOR_ASSIGN_OR_RETURN(const FeedTerms terms, state_.settings.terms(state_));
  const auto place = PostKeys::place_of(job.key.find(options_.range_key)->second);
  // Workers that do not know that posts can be merged might have begun to copy earlier ones.
  if (!terms.merged_from || !place || place->at < *terms.merged_from) return kSpreadCopies;
  bool merged = options_.merge_over > 0;
  if (merged) {
    STATOR_ASSIGN_OR_RETURN(merged, has_too_many_followers(job.author));
  }
  if (merged) STATOR_RETURN_IF_ERROR(state_.merged_authors.add(state_, job.author, stop_));
  const std::string spread = merged ? kSpreadMerged : kSpreadCopies;
  STATOR_ASSIGN_OR_RETURN(const bool still_mine, store(job, "spread", spread));
  return still_mine ? spread : std::string();
}

Result<bool> Delivery::has_too_many_followers(const UserId& author) {
  std::size_t count = 0;
  std::string cursor;
  do {
    STATOR_ASSIGN_OR_RETURN(Page<UserId> page,
                            state_.followers->page(author, kFollowersPage, cursor));
    count += page.items.size();
    if (count > static_cast<std::size_t>(options_.merge_over)) return true;
    cursor = std::move(page.next);
  } while (!cursor.empty());
  return false;
}

// Removes duplicates, users whom this pass has reached (as far as it remembers), and the author,
// whose item is the outbox entry itself.
std::vector<UserId> Delivery::unreached(const Job& job, std::vector<UserId> users) {
  std::ranges::sort(users);
  const auto repeated = std::ranges::unique(users);
  users.erase(repeated.begin(), repeated.end());
  std::erase_if(users, [&](const UserId& user) {
    return user == job.author || reached_.contains(user.text);
  });
  return users;
}

// One pass over the followers; resumes where the previous pass stopped. False: see pass().
//
// Before the copies of a page are written, the post is checked again: it must still be this version
// after the page was read. A change after the check is delivered to everybody on the page, so it
// replaces the copies, even if they arrive late. A change before it might have been delivered
// before some of these users followed.
Result<bool> Delivery::pass_followers(const Job& job) {
  const TransactWriteItem unchanged{.action = TransactAction::kConditionCheck,
                                    .table = options_.table,
                                    .item = job.key,
                                    .condition = still(job.version),
                                    .values = values_of(job.version, job.claim)};
  const std::string* resume = text_in(job.version.post, "outbox_cursor");
  std::string cursor = resume != nullptr ? *resume : std::string();
  bool is_stored = true;  // the cursor is stored
  do {
    auto page = state_.followers->page(job.author, kFollowersPage, cursor);
    if (!page) {
      // The next attempt continues here.
      if (!is_stored) static_cast<void>(store(job, "outbox_cursor", cursor));
      return failure_of(std::move(page));
    }
    const std::vector<UserId> users = unreached(job, std::move(page->items));
    STATOR_ASSIGN_OR_RETURN(const bool unchanged_since, is_stored
                                                            ? is_unchanged(job, users)
                                                            : store(job, "outbox_cursor", cursor));
    if (!unchanged_since) return false;
    STATOR_ASSIGN_OR_RETURN(const bool still_mine,
                            recipients_.record(job.version, users, unchanged));
    if (!still_mine) return false;
    STATOR_RETURN_IF_ERROR(copies_.write(job.version, users, Relation::kFollows));
    for (const UserId& user : users) {
      if (!job.version.is_first() && reached_.size() < kMaxReached) reached_.insert(user.text);
    }
    cursor = std::move(page->next);
    is_stored = false;
  } while (!cursor.empty());
  return true;
}

// Whether the post still has this version and claim. Not read if there are no users, if the
// stored recipients check it (recipients.h), or if it cannot change again.
Result<bool> Delivery::is_unchanged(const Job& job, const std::vector<UserId>& users) {
  if (users.empty() || !state_.table_followers || job.version.retracted) return true;
  const GetItemRequest get{.table = options_.table,
                           .key = job.key,
                           .consistent_read = true,
                           .projection = "claim, edits, retracted"};
  STATOR_ASSIGN_OR_RETURN(const GetItemResult found,
                          with_retries(options_.retry, state_.time, stop_,
                                       [&] { return state_.client.get_item(get); }));
  if (!found.item) return false;
  const std::string* claim = text_in(*found.item, "claim");
  return claim != nullptr && *claim == job.claim &&
         version_of(job.author, *found.item).is_same_as(job.version);
}

// Must run after pass_followers(): unfollowing adds a user to the former followers before removing
// it from the followers. False: see pass().
Result<bool> Delivery::pass_former(const Job& job, std::string cursor) {
  do {
    STATOR_ASSIGN_OR_RETURN(Page<UserId> page,
                            recipients_.page(job.version, kFollowersPage, cursor));
    const std::vector<UserId> users = unreached(job, std::move(page.items));
    STATOR_RETURN_IF_ERROR(copies_.write(job.version, users, Relation::kFollowed));
    cursor = std::move(page.next);
    if (cursor.empty()) break;
    STATOR_ASSIGN_OR_RETURN(const bool still_mine,
                            store(job, "former_cursor", tag_of(job.version) + cursor));
    if (!still_mine) return false;
  } while (true);
  if (job.version.retracted) STATOR_RETURN_IF_ERROR(recipients_.forget(job.version));
  return true;
}

// Sets an attribute of the post and extends the claim; false if the post has changed since.
Result<bool> Delivery::store(const Job& job, const std::string& attribute,
                             const std::string& value) {
  UpdateItemRequest set{.table = options_.table,
                        .key = job.key,
                        .update = "SET " + attribute + " = :value, claim_until = :until",
                        .condition = still(job.version),
                        .values = values_of(job.version, job.claim)};
  set.values->emplace(":value", value);
  set.values->emplace(":until", state_.now_ms() + options_.claim.count());
  auto written = with_retries(options_.retry, state_.time, stop_,
                              [&] { return state_.client.update_item(set); });
  if (!written && written.error().code != Code::kConditionalCheckFailed) {
    return failure_of(std::move(written));
  }
  return written.has_value();
}

// False if the post has changed since. A retracted post stays as a tombstone.
Result<bool> Delivery::finish(const Job& job) {
  UpdateItemRequest end{.table = options_.table,
                        .key = job.key,
                        .update = "REMOVE outbox, outbox_cursor, former_cursor, claim, claim_until",
                        .condition = still(job.version),
                        .values = values_of(job.version, job.claim)};
  if (job.version.retracted) {
    *end.update += " SET expires_at = :expiry";
    end.values->emplace(":expiry", state_.tombstone_expiry());
  }
  auto written = with_retries(options_.retry, state_.time, stop_,
                              [&] { return state_.client.update_item(end); });
  if (!written && written.error().code != Code::kConditionalCheckFailed) {
    return failure_of(std::move(written));
  }
  if (written) ++posts_;
  return written.has_value();
}

}  // namespace stator::recipes

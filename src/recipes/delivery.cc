// SPDX-License-Identifier: Apache-2.0
#include "recipes/delivery.h"

#include <utility>

#include "base/random.h"
#include "recipes/keys.h"
#include "recipes/requests.h"

namespace stator::recipes {
namespace {

constexpr int kFollowersPage = 1000;  // 40 batches
constexpr int64_t kOutboxPage = 100;
constexpr int kMaxLooks = 8;  // at a post that keeps changing; the next delivery goes on

}  // namespace

Delivery::Delivery(const FeedState& state, std::stop_token stop)
    : state_(state), options_(state.options), stop_(std::move(stop)), claim_(random_uuid()) {}

Result<void> Delivery::drain(const std::string& outbox) {
  QueryRequest request{.table = options_.table,
                       .index = options_.outbox_index,
                       .key_condition = "outbox = :outbox",
                       .values = Values{{":outbox", outbox}},
                       .limit = kOutboxPage,
                       .forward = options_.layout == FeedLayout::kOrdered};
  Result<void> first_failure;
  do {
    STATOR_TRY(PageResult found, with_retries(options_.retry, state_.time, stop_,
                                              [&] { return state_.client.query(request); }));
    for (const Item& entry : found.items) {
      if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while delivering");
      STATOR_TRY(Job job, job_of(entry));
      auto delivered = deliver(std::move(job));
      if (!delivered) STATOR_CHECK_OK(put_off(std::move(delivered), first_failure));
    }
    request.exclusive_start_key = std::move(found.last_evaluated_key);
  } while (request.exclusive_start_key);
  return first_failure;
}

Result<void> put_off(Result<Delivery::Outcome> failed, Result<void>& first_failure) {
  const bool passing = trouble_of(failed.error()) != Trouble::kNone;
  if (passing || failed.error().code == Code::kCancelled) return failure_of(std::move(failed));
  if (first_failure) first_failure = failure_of(std::move(failed));
  return {};
}

Result<Delivery::Job> Delivery::job_of(const Item& item) const {
  const std::string* partition = text_in(item, options_.partition_key);
  const auto range_key = item.find(options_.range_key);
  if (partition == nullptr || !partition->starts_with(options_.user_prefix) ||
      range_key == item.end()) {
    return fail(Code::kConflict, "the outbox holds an item that is no post");
  }
  const UserId author{partition->substr(options_.user_prefix.size())};
  return Job{.author = author, .key = state_.key_of(author, range_key->second)};
}

Result<Delivery::Outcome> Delivery::deliver(const UserId& author, const AttributeValue& range_key) {
  return deliver(Job{.author = author, .key = state_.key_of(author, range_key)});
}

Result<Delivery::Outcome> Delivery::deliver(const Item& item) {
  STATOR_TRY(Job job, job_of(item));
  return deliver(std::move(job));
}

Result<Delivery::Outcome> Delivery::deliver(Job job) {
  const Item key = job.key;
  auto outcome = deliver_claimed(std::move(job));
  if (!outcome) release(key);
  return outcome;
}

Result<Delivery::Outcome> Delivery::deliver_claimed(Job job) {
  std::optional<Version> written;  // what copies may have been written of
  for (int looks = 0; looks < kMaxLooks; ++looks) {
    STATOR_TRY(const Look look, claim(job.key));
    if (!look.post) {
      if (!written || written->retracted) return Outcome::kDone;
      // Others have withdrawn it while this worker wrote.
      job.version = {.retracted = true};
      job.mine = false;
      STATOR_CHECK_OK(pass_followers(job, job.key));
      STATOR_CHECK_OK(pass_merged(job, job.key));
      return Outcome::kDone;
    }
    job.version = {.retracted = look.post->contains("retracted"),
                   .edits = int64_in(*look.post, "edits").value_or(0)};
    job.mine = look.mine;
    if (!job.mine && (!written || *written == job.version)) {
      return look.post->contains("outbox") ? Outcome::kBusy : Outcome::kDone;
    }
    written = job.version;
    STATOR_CHECK_OK(pass(job, *look.post));
    if (!job.mine) continue;
    STATOR_TRY(const bool finished, finish(job));
    if (finished) return Outcome::kDone;
  }
  return Outcome::kBusy;
}

// The post as it is, and this worker's for a while if it is in the outbox and nobody else's.
Result<Delivery::Look> Delivery::claim(const Item& key) {
  const int64_t now = state_.now_ms();
  const UpdateItemRequest take{
      .table = options_.table,
      .key = key,
      .update = "SET claim = :mine, claim_until = :until",
      .condition =
          "attribute_exists(outbox) AND (attribute_not_exists(claim) OR claim = :mine OR "
          "claim_until < :now)",
      .values = Values{{":mine", claim_}, {":until", now + options_.claim.count()}, {":now", now}},
      .return_values = ReturnValues::kAllNew,
      .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  auto taken = with_retries(options_.retry, state_.time, stop_,
                            [&] { return state_.client.update_item(take); });
  if (taken) return Look{.post = std::move(taken->attributes), .mine = true};
  if (taken.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(taken));
  STATOR_TRY(std::optional<Item> there, state_.refused_by(taken.error(), key));
  return Look{.post = std::move(there)};
}

// So that the next worker need not wait; where this fails it does.
void Delivery::release(const Item& key) {
  static_cast<void>(state_.client.update_item({.table = options_.table,
                                               .key = key,
                                               .update = "REMOVE claim, claim_until",
                                               .condition = "claim = :mine",
                                               .values = Values{{":mine", claim_}}}));
}

Result<void> Delivery::pass(const Job& job, const Item& post) {
  STATOR_TRY(const std::string spread, spread_of(job, post));
  if (spread.empty()) return {};
  return spread == kSpreadMerged ? pass_merged(job, post) : pass_followers(job, post);
}

// A post goes one way alone, which is noted before it takes it. Empty where the post has changed
// meanwhile, which finish() will see.
Result<std::string> Delivery::spread_of(const Job& job, const Item& post) {
  if (const std::string* spread = text_in(post, "spread")) return *spread;
  if (options_.merge_over == 0 || !job.mine || job.version.retracted) return kSpreadCopies;
  STATOR_TRY(const bool merged, has_too_many_followers(job.author));
  if (merged) {
    const UpdateItemRequest add{.table = options_.table,
                                .key = state_.merged_authors_key(),
                                .update = "ADD authors :author",
                                .values = Values{{":author", StringSet{job.author.text}}}};
    STATOR_CHECK_OK(with_retries(options_.retry, state_.time, stop_,
                                 [&] { return state_.client.update_item(add); }));
  }
  const std::string spread = merged ? kSpreadMerged : kSpreadCopies;
  STATOR_TRY(const bool noted, note(job, "spread", spread));
  return noted ? spread : std::string();
}

Result<bool> Delivery::has_too_many_followers(const UserId& author) {
  std::size_t count = 0;
  std::string cursor;
  do {
    STATOR_TRY(Page<UserId> page, state_.followers->page(author, kFollowersPage, cursor));
    count += page.items.size();
    if (count > static_cast<std::size_t>(options_.merge_over)) return true;
    cursor = std::move(page.next);
  } while (!cursor.empty());
  return false;
}

// One round over the followers, from where an earlier one stopped.
Result<void> Delivery::pass_followers(const Job& job, const Item& post) {
  const std::string* resume = text_in(post, "outbox_cursor");
  std::string cursor = resume != nullptr ? *resume : std::string();
  do {
    STATOR_TRY(Page<UserId> page, state_.followers->page(job.author, kFollowersPage, cursor));
    std::vector<WriteRequest> writes;
    for (const UserId& follower : page.items) {
      if (follower == job.author) continue;  // the outbox itself
      Item copy = state_.copy_of(post, job.author, follower);
      if (job.version.retracted) {
        writes.push_back({.delete_key = state_.key_of(follower, copy.at(options_.range_key))});
      } else {
        writes.push_back({.put = std::move(copy)});
      }
      if (writes.size() == kBatchWrites) STATOR_CHECK_OK(send(writes));
    }
    STATOR_CHECK_OK(send(writes));
    cursor = std::move(page.next);
    // Where the post has changed meanwhile, finish() will see it.
    if (!cursor.empty() && job.mine) STATOR_CHECK_OK(note(job, "outbox_cursor", cursor));
  } while (!cursor.empty());
  return {};
}

Result<void> Delivery::pass_merged(const Job& job, const Item& post) {
  const AttributeValue& range_key = post.find(options_.range_key)->second;
  const Item key = state_.merged_key_of(job.author, range_key);
  std::vector<WriteRequest> writes(1);
  if (job.version.retracted) {
    writes[0].delete_key = key;
  } else {
    writes[0].put = state_.copy_of(post, job.author, {options_.merged_prefix + job.author.text});
  }
  return send(writes);
}

Result<void> Delivery::send(std::vector<WriteRequest>& writes) {
  if (writes.empty()) return {};
  if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while delivering");
  const auto copies = static_cast<int64_t>(writes.size());
  STATOR_TRY(const int64_t requests, write_batch(state_.client, options_.retry, state_.time, stop_,
                                                 options_.table, std::exchange(writes, {})));
  done_.batches += requests;
  done_.copies += copies;
  return {};
}

// Sets an attribute of the post and goes on claiming it; false when the post has changed since.
Result<bool> Delivery::note(const Job& job, const std::string& attribute,
                            const std::string& value) {
  UpdateItemRequest set{.table = options_.table,
                        .key = job.key,
                        .update = "SET " + attribute + " = :value, claim_until = :until",
                        .condition = still(job),
                        .values = values_of(job)};
  set.values->emplace(":value", value);
  set.values->emplace(":until", state_.now_ms() + options_.claim.count());
  auto written = with_retries(options_.retry, state_.time, stop_,
                              [&] { return state_.client.update_item(set); });
  if (!written && written.error().code != Code::kConditionalCheckFailed) {
    return failure_of(std::move(written));
  }
  return written.has_value();
}

// False when the post has changed since.
Result<bool> Delivery::finish(const Job& job) {
  auto written = with_retries(options_.retry, state_.time, stop_, [&]() -> Result<WriteResult> {
    if (job.version.retracted) {
      return state_.client.delete_item({.table = options_.table,
                                        .key = job.key,
                                        .condition = still(job),
                                        .values = values_of(job)});
    }
    return state_.client.update_item({.table = options_.table,
                                      .key = job.key,
                                      .update = "REMOVE outbox, outbox_cursor, claim, claim_until",
                                      .condition = still(job),
                                      .values = values_of(job)});
  });
  if (!written && written.error().code != Code::kConditionalCheckFailed) {
    return failure_of(std::move(written));
  }
  if (written) ++done_.posts;
  return written.has_value();
}

std::string Delivery::still(const Job& job) const {
  if (job.version.retracted) return "claim = :mine AND attribute_exists(retracted)";
  return std::string("claim = :mine AND attribute_not_exists(retracted) AND ") +
         (job.version.edits == 0 ? "attribute_not_exists(edits)" : "edits = :edits");
}

Values Delivery::values_of(const Job& job) const {
  Values values{{":mine", claim_}};
  if (!job.version.retracted && job.version.edits != 0) {
    values.emplace(":edits", job.version.edits);
  }
  return values;
}

}  // namespace stator::recipes

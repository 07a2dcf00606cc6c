// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/copies.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"

namespace stator::recipes {
namespace {

constexpr std::size_t kBatchStatements = 25;

// A string literal of PartiQL.
std::string literal(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

BatchStatement insertion_of(const std::string& table, const Item& item) {
  BatchStatement statement{.statement = "INSERT INTO \"" + table + "\" VALUE {",
                           .parameters = std::vector<AttributeValue>()};
  for (const auto& [name, value] : item) {
    if (!statement.parameters->empty()) statement.statement += ", ";
    statement.statement += literal(name) + ": ?";
    statement.parameters->push_back(value);
  }
  statement.statement += "}";
  return statement;
}

Error error_of(const StatementError& refusal) {
  Error error{.code = Code::kInternalServerError, .message = refusal.message};
  if (refusal.code == "ThrottlingError" || refusal.code == "ProvisionedThroughputExceeded" ||
      refusal.code == "RequestLimitExceeded") {
    error.code = Code::kThrottling;
  } else if (refusal.code == "TransactionConflict") {
    error.code = Code::kTransactionConflict;
  } else if (refusal.code == "ValidationError") {
    error.code = Code::kValidation;
  } else if (refusal.code == "AccessDenied") {
    error.code = Code::kAccessDenied;
  } else if (refusal.code == "ResourceNotFound") {
    error.code = Code::kResourceNotFound;
  } else if (refusal.code == "ItemCollectionSizeLimitExceeded") {
    error.code = Code::kItemCollectionSizeLimitExceeded;
  }
  return error;
}

// A copy that exists is of this version or a newer one.
bool exists(const StatementError& refusal) {
  return refusal.code == "DuplicateItem" || refusal.code == "ConditionalCheckFailed";
}

}  // namespace

PostVersion version_of(const UserId& author, Item post) {
  PostVersion version{.author = author,
                      .retracted = post.contains("retracted"),
                      .edits = int64_in(post, "edits").value_or(0)};
  version.post = std::move(post);
  return version;
}

Item Copies::copy_for(const PostVersion& version, const UserId& user) const {
  const AttributeValue& range_key = version.post.find(options_.range_key)->second;
  if (version.retracted) return state_.tombstone_of(version.author, state_.key_of(user, range_key));
  return state_.copy_of(version.post, version.author, user);
}

Result<void> Copies::write(const PostVersion& version, std::span<const UserId> users,
                           Relation relation) {
  // A table's ARN does not name it in a statement.
  const bool inserts = version.is_first() && has_statements_ && !options_.table.contains(':');
  const std::size_t step = inserts ? kBatchStatements : 1;
  const auto run = [&](std::size_t task) -> Result<void> {
    const auto part = users.subspan(task * step, std::min(step, users.size() - task * step));
    if (inserts && has_statements_) {
      auto inserted = insert(version, part);
      if (inserted || inserted.error().code != Code::kUnknownOperation) return inserted;
      has_statements_ = false;
    }
    for (const UserId& user : part) STATOR_RETURN_IF_ERROR(put(version, user, relation));
    return {};
  };
  return in_parallel((users.size() + step - 1) / step, run);
}

Result<void> Copies::write_merged(const PostVersion& version) {
  return put(version, {options_.merged_prefix + version.author.text}, Relation::kFollows);
}

Result<void> Copies::insert(const PostVersion& version, std::span<const UserId> users) {
  BatchExecuteStatementRequest request;
  for (const UserId& user : users) {
    request.statements.push_back(insertion_of(options_.table, copy_for(version, user)));
  }
  for (int tried = 0;; ++tried) {
    STATOR_ASSIGN_OR_RETURN(const BatchExecuteStatementResult result,
                            with_retries(options_.retry, state_.time, stop_, [&] {
                              ++requests_;
                              return state_.client.batch_execute_statement(request);
                            }));
    if (result.responses.size() != request.statements.size()) {
      return fail(Code::kInternalServerError, "a batch of statements has a response missing");
    }
    std::vector<BatchStatement> left;
    std::optional<Error> last;
    for (std::size_t i = 0; i < result.responses.size(); ++i) {
      const auto& refusal = result.responses[i].error;
      if (!refusal || exists(*refusal)) continue;
      last = error_of(*refusal);
      if (trouble_of(*last) == Trouble::kNone) return Failure(*std::move(last));
      left.push_back(std::move(request.statements[i]));
    }
    if (!last) break;
    if (left.size() < request.statements.size()) tried = 0;  // some were processed
    if (tried + 1 >= options_.retry.max_attempts) return Failure(final_error(*std::move(last)));
    request.statements = std::move(left);
    const auto pause = jittered(options_.retry.backoff_base, options_.retry.backoff_max, tried);
    if (!state_.time.sleep(pause, stop_)) {
      return fail(Code::kCancelled, "stopped in the middle of a batch");
    }
  }
  written_ += static_cast<int64_t>(users.size());
  return {};
}

// Returns the error if the condition failed; absent if the item was written.
Result<std::optional<Error>> Copies::send(const PutItemRequest& put) {
  auto written = with_retries(options_.retry, state_.time, stop_, [&] {
    ++requests_;
    return state_.client.put_item(put);
  });
  if (written) return std::optional<Error>();
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  return std::optional(std::move(written).error());
}

Result<void> Copies::put(const PostVersion& version, const UserId& user, Relation relation) {
  PutItemRequest put{.table = options_.table,
                     .item = copy_for(version, user),
                     .values = Values{{":author", version.author.text}},
                     .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  std::string replaces = "author = :author";
  if (!version.retracted) {
    replaces += " AND attribute_not_exists(retracted) AND ";
    replaces += "(attribute_not_exists(edits) OR edits < :edits)";
    put.values->emplace(":edits", version.edits);
  }
  const bool creates = version.retracted || relation == Relation::kFollows;
  put.condition = creates ? "attribute_not_exists(#pk) OR (" + replaces + ")" : replaces;
  if (creates) put.names = Names{{"#pk", options_.partition_key}};
  STATOR_ASSIGN_OR_RETURN(const std::optional<Error> refusal, send(put));
  ++written_;
  if (!refusal || creates) return {};
  const Item key = state_.key_of(user, put.item.at(options_.range_key));
  STATOR_ASSIGN_OR_RETURN(const std::optional<Item> there, state_.refused_by(*refusal, key));
  return there ? Result<void>() : block(version, key);
}

// Writes a tombstone for a former follower without a copy, so that an older copy that arrives late
// is not stored.
Result<void> Copies::block(const PostVersion& version, const Item& key) {
  const PutItemRequest put{.table = options_.table,
                           .item = state_.tombstone_of(version.author, key),
                           .condition = "attribute_not_exists(#pk)",
                           .names = Names{{"#pk", options_.partition_key}}};
  STATOR_RETURN_IF_ERROR(send(put));
  return {};
}

// Runs the tasks in up to `parallel_writes` threads. No task starts after the first failure.
Result<void> Copies::in_parallel(std::size_t tasks,
                                 const std::function<Result<void>(std::size_t)>& run) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  Result<void> first_failure;  // guarded by mutex
  const auto work = [&, callers = current_bounds()] {
    const StopLimit limit(stop_, callers);
    for (std::size_t task = next++; task < tasks && !failed; task = next++) {
      const bool stopped = stop_.stop_requested();
      Result<void> done =
          stopped ? Result<void>(fail(Code::kCancelled, "stopped while delivering")) : run(task);
      if (done) continue;
      const std::scoped_lock lock(mutex);
      if (!failed.exchange(true)) first_failure = std::move(done);
    }
  };
  {
    std::size_t helpers_left = std::min(static_cast<std::size_t>(options_.parallel_writes), tasks);
    std::vector<std::jthread> helpers;
    while (helpers_left > 1) {
      try {
        helpers.emplace_back(work);
        --helpers_left;
      } catch (const std::system_error&) {
        helpers_left = 0;  // the system has no more threads; the existing ones suffice
      }
    }
    work();
  }
  return first_failure;
}

}  // namespace stator::recipes

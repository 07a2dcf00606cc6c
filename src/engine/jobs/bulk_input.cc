// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/bulk_input.h"

#include <unordered_set>
#include <utility>

#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/items/key_checks.h"

namespace stator {
namespace {

constexpr std::size_t kBatchesAhead = 3;
// Per transaction. The items that it replaces must fit into memory.
constexpr std::size_t kBulkBatchItems = 256;
constexpr uint64_t kBulkBatchBytes = 1UL << 20;  // of their records in the object

// Counts the stored bytes that were read from an object.
class CountedSource final : public transfer::ByteSource {
 public:
  CountedSource(std::unique_ptr<transfer::ByteSource> source, int64_t& bytes)
      : source_(std::move(source)), bytes_(bytes) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    auto count = source_->read(buffer);
    bytes_ += static_cast<int64_t>(count.value_or(0));
    return count;
  }

 private:
  std::unique_ptr<transfer::ByteSource> source_;
  int64_t& bytes_;
};

// The puts of one transaction.
class BatchOfObject {
 public:
  explicit BatchOfObject(std::string key) : key_(std::move(key)) {}

  // Reports whether the batch already has a put of the same item. Such a put needs another
  // transaction.
  bool repeats(const BulkPut& put) const {
    return put.action && row_keys_.contains(put.action->row_key);
  }
  void add(BulkPut put) {
    bytes_ += put.end - put.begin;
    if (put.action) row_keys_.insert(put.action->row_key);
    puts_.push_back(std::move(put));
  }
  bool is_full() const { return puts_.size() >= kBulkBatchItems || bytes_ >= kBulkBatchBytes; }

  // Returns the batch so far. The next put begins another batch.
  BulkBatch take(uint64_t end, int64_t read_bytes, bool ends_object) {
    row_keys_.clear();
    bytes_ = 0;
    return {.object = key_,
            .puts = std::exchange(puts_, {}),
            .end = end,
            .read_bytes = read_bytes,
            .ends_object = ends_object};
  }

 private:
  const std::string key_;
  std::deque<BulkPut> puts_;
  std::unordered_set<std::string> row_keys_;
  uint64_t bytes_ = 0;
};

}  // namespace

BulkInput::BulkInput(BulkSource source, TablePtr table)
    : source_(std::move(source)), table_(std::move(table)), thread_([this] { run(); }) {}

BulkInput::~BulkInput() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<std::optional<BulkBatch>> BulkInput::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || ended_; });
  if (ready_.empty()) {
    STATOR_RETURN_IF_ERROR(*ended_);
    return std::nullopt;
  }
  BulkBatch batch = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return batch;
}

Result<void> BulkInput::hand_over(BulkBatch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_.size() < kBatchesAhead || stopping_; });
  if (stopping_) return fail(Code::kCancelled, "the bulk operation has stopped");
  ready_.push_back(std::move(batch));
  lock.unlock();
  changed_.notify_all();
  return {};
}

void BulkInput::run() {
  auto read = read_all();
  const std::lock_guard lock(mutex_);
  ended_ = std::move(read);
  changed_.notify_all();
}

Result<void> BulkInput::read_all() {
  uint64_t position = source_.position;
  for (const std::string& key : source_.keys) {
    STATOR_RETURN_IF_ERROR(read_object(key, position));
    position = 0;
  }
  return {};
}

Result<WriteAction> BulkInput::check(PutItemRequest& put) const {
  static const std::optional<std::string> no_update;
  put.table = table_->name();
  STATOR_RETURN_IF_ERROR(validate(put));
  STATOR_ASSIGN_OR_RETURN(
      WriteAction action,
      parse_write(table_, {.action = TransactAction::kPut,
                           .item = put.item,
                           .update = no_update,
                           .condition = put.condition,
                           .names = put.names,
                           .values = put.values,
                           .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld}));
  STATOR_RETURN_IF_ERROR(check_write(action, put.item));
  return action;
}

Result<void> BulkInput::read_object(const std::string& key, uint64_t position) {
  int64_t read_bytes = 0;
  auto reader = [&]() -> Result<std::unique_ptr<transfer::ItemReader>> {
    STATOR_ASSIGN_OR_RETURN(auto bytes, source_.bucket.read(key));
    return transfer::read_items(std::make_unique<CountedSource>(std::move(bytes), read_bytes),
                                source_.format, source_.compression, {}, position,
                                transfer::Conditions::kRead);
  }();
  BatchOfObject batch(key);
  if (!reader) {
    if (is_passing(reader.error())) return failure_of(std::move(reader));
    batch.add({.begin = position, .end = position, .error = reader.error()});
    return hand_over(batch.take(position, read_bytes, /*ends_object=*/true));
  }
  while (true) {
    BulkPut put{.begin = (*reader)->position()};
    const transfer::Found found = (*reader)->next();
    put.end = (*reader)->position();
    const bool is_put = found != transfer::Found::kEnd && found != transfer::Found::kNothing;
    // As in imports, a record that is not an item ends its object.
    const bool ends_object = found != transfer::Found::kItem && found != transfer::Found::kNothing;
    if (found == transfer::Found::kItem) {
      auto action = check((*reader)->put());
      if (action) {
        put.action = std::move(*action);
      } else {
        put.error = std::move(action).error();
        put.item = std::move((*reader)->item());
      }
    } else if (is_put) {
      put.error = (*reader)->error();
    }
    const bool is_interrupted =
        found == transfer::Found::kDamaged && is_passing((*reader)->error());
    if (is_interrupted || batch.repeats(put)) {
      STATOR_RETURN_IF_ERROR(hand_over(batch.take(put.begin, read_bytes, false)));
    }
    if (is_interrupted) return Failure((*reader)->error());
    const uint64_t end = put.end;
    if (is_put) batch.add(std::move(put));
    if (is_put && !ends_object && !batch.is_full()) continue;
    STATOR_RETURN_IF_ERROR(hand_over(batch.take(end, read_bytes, ends_object)));
    if (ends_object) return {};
  }
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// WriteAction: one write of one item, from its parameters to its rows.
//
// parse_write() parses the expressions, check_write() checks the key and the item. Then, in each
// attempt to commit, evaluate_write() evaluates the action on the current image, and apply_effect()
// adds the rows to the batch. An action owns its data, so it can outlive the request.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/model/layer.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/table.h"
#include "engine/items/capacity.h"
#include "engine/items/index_maintenance.h"
#include "engine/items/item_engine.h"
#include "expression/expression.h"
#include "storage/transact_store.h"

namespace stator {

// Borrows from a request.
struct WriteParameters {
  TransactAction action = TransactAction::kPut;
  const Item& item;  // the item of a put, the key of the others
  const std::optional<std::string>& update;
  const std::optional<std::string>& condition;
  const std::optional<Names>& names;
  const std::optional<Values>& values;
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  bool legacy = false;  // translated from legacy parameters
  Layer layer = Layer::kOlder;
};

struct WriteAction {
  TransactAction action = TransactAction::kPut;
  TablePtr table;
  std::string row_key;  // set by check_write()
  Item key;             // the table's key attributes
  EncodedItem item;     // of a put
  std::optional<Condition> condition;
  std::optional<Update> update;
  bool return_old_on_failure = false;
  bool by_service = false;  // for the change log: not caused by a request
  // For a deletion by the TTL sweep: deletes the item only if it had expired by this time.
  std::optional<int64_t> expired_at_ms = {};
  bool inserts = false;      // a put that fails if the item exists
  bool returns_old = false;  // the caller reads the previous item of the effect
};

struct WriteEffect {
  std::optional<EncodedItem> before;
  std::optional<EncodedItem> updated = {};  // of an update
  bool leaves_item = false;                 // the action does not apply, or only checks
  std::size_t before_bytes = 0;
  std::size_t after_bytes = 0;
  std::vector<IndexChange> index_changes;

  double table_units() const;  // capacity of the table for one write outside a transaction
};

// Parses the expressions, and calls check_condition() if there is a table. `table` can be null:
// DynamoDB reports these errors before a missing table, which the caller reports afterward. All
// other functions require a table. Errors: kValidation for items that are too large and for invalid
// expressions; those of check_condition().
Result<WriteAction> parse_write(TablePtr table, const WriteParameters& parameters);
// Errors: kValidation for a condition with a document path into a key attribute of the table.
Result<void> check_condition(const WriteAction& action);
// For transactions, before check_write(): what makes a transaction invalid as a whole. Errors:
// kValidation for empty keys of the table or its indexes, and for updates of paths into keys.
Result<void> check_in_transaction(const WriteAction& action, const Item& item);
// Errors: kValidation for keys and items that do not match the table; for updates of key attributes
// and of paths into them; for invalid values of index keys.
Result<void> check_write(WriteAction& action, const Item& item);
// After kSchemaChanged: replaces the table of the action by the version in `snapshot`, and returns
// the item for check_write(), which must follow. Errors: kResourceNotFound if the table was
// dropped; those of check_condition().
Result<Item> rebind_table(const CatalogSnapshot& snapshot, WriteAction& action);
// rebind_table(), then check_write().
Result<void> rebind_write(const CatalogSnapshot& snapshot, WriteAction& action);
inline constexpr int kRebindsMax = 20;  // of one request

// Evaluates an action on the item's stored form; absent: no item. Errors: kDuplicateItem;
// kConditionalCheckFailed, with the item in its detail if requested; kValidation for an update that
// is invalid for the item.
Result<WriteEffect> evaluate_write(const WriteAction& action, std::optional<std::string> before);
// Returns the item after the write, if any. Borrows from both.
std::optional<ItemView> image_after(const WriteAction& action, const WriteEffect& effect);
// Adds the writes of the item, its index entries, which it moves, and, if the table has a log, the
// change record to the batch. All changes of one transaction have the same `time_ms`.
void apply_effect(const WriteAction& action, WriteEffect& effect, int64_t time_ms, Batch& batch);

// Commits the batch that `decide` returns for the rows of `keys`: those of the actions' items, then
// any others.
void commit_actions(TransactStore& store, std::span<const WriteAction> actions,
                    std::span<const std::string> keys, Decide decide, CommitDone done,
                    SchemaVersions schemas);

// After the commit: adds the effect to the table's counters, and its capacity to `meter`.
void count_effect(const WriteAction& action, const WriteEffect& effect, uint64_t sequence);
void meter_effect(CapacityMeter& meter, const Table& table, const WriteEffect& effect,
                  bool transactional);

// The action is borrowed for the call.
using WriteDone = std::move_only_function<void(WriteAction& action, Result<WriteEffect> effect)>;

// Runs one action in its own transaction, and calls `done` when the outcome is durable. A failure
// also waits until the data that it depends on is durable.
void write_one(ItemEngine& engine, WriteAction action, WriteDone done);

}  // namespace stator

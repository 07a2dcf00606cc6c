// SPDX-License-Identifier: Apache-2.0
// WriteAction: one write of one item, from its parameters to its rows.
//
// parse_write() reads the expressions, check_write() the key and the item; then, once or as often
// as a commit meets a conflict, evaluate_write() decides on the current image and apply_effect()
// writes. An action owns what it needs, so that it outlives the request.
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

// Borrowed from a request.
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
  bool by_service = false;  // for the log of changes: no request asked for it
  // Of a deletion by the sweep, which is the service's own: only what had expired then goes.
  std::optional<int64_t> expired_at_ms = {};
  bool inserts = false;  // a put where no item may be yet
};

struct WriteEffect {
  std::optional<EncodedItem> before;
  std::optional<EncodedItem> after;
  std::size_t before_bytes = 0;
  std::size_t after_bytes = 0;
  std::vector<IndexChange> index_changes;

  double table_units() const;  // of one write outside a transaction
};

// kValidation for items that are too large and for expressions that are none, which the service
// finds whether or not there is such a table: null where there is none.
Result<WriteAction> parse_write(TablePtr table, const WriteParameters& parameters);
// kValidation for a condition that looks into the table's keys.
Result<void> check_condition(const WriteAction& action);
// kValidation for empty keys of the table or its indexes, which transactions refuse as a whole.
Result<void> check_no_empty_keys(const WriteAction& action, const Item& item);
// kValidation for keys and items that the table does not take, for updates of key attributes and
// for those that look into them or give those of an index a value that it cannot have.
Result<void> check_write(WriteAction& action, const Item& item);
// After the store refused the version of the table that an action has: gives it the one in
// `snapshot`, and checks it again. kResourceNotFound if the table was dropped; otherwise as
// check_condition() and check_write().
Result<void> rebind_write(const CatalogSnapshot& snapshot, WriteAction& action);
inline constexpr int kRebindsMax = 20;  // of one request

// kDuplicateItem; kConditionalCheckFailed with the item in its detail where asked for; kValidation
// for an update that does not fit the item.
Result<WriteEffect> evaluate_write(const WriteAction& action, std::optional<std::string> before);
// Puts the item's rows, the index entries', and the record of the change where the table has a log:
// of `time_ms`, which all changes of one transaction share.
void apply_effect(const WriteAction& action, const WriteEffect& effect, int64_t time_ms,
                  Batch& batch);

// After the commit: what the table holds now, and what it cost.
void count_effect(const WriteAction& action, const WriteEffect& effect, uint64_t sequence);
void meter_effect(CapacityMeter& meter, const Table& table, const WriteEffect& effect,
                  bool transactional);

// The action is lent for the call.
using WriteDone = std::move_only_function<void(WriteAction& action, Result<WriteEffect> effect)>;

// Runs one action in a transaction of its own until it does not conflict, and calls `done` once its
// outcome is durable; a failure too, as it was decided on what must not be lost.
void write_one(ItemEngine& engine, WriteAction action, WriteDone done);

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// The operations that read ranges of items, and those in PartiQL.
#pragma once

#include "api/model/responses.h"
#include "engine/items/item_engine.h"
#include "stator/client.h"

namespace stator {

Result<PageResponse> query(const EngineCore& engine, const QueryRequest& request);
Result<PageResponse> scan(const EngineCore& engine, const ScanRequest& request);

void execute_statement(ItemEngine& engine, const ExecuteStatementRequest& request,
                       Done<StatementResponse> done);
void batch_execute_statement(ItemEngine& engine, const BatchExecuteStatementRequest& request,
                             Done<BatchExecuteStatementResult> done);
void execute_transaction(ItemEngine& engine, const ExecuteTransactionRequest& request,
                         Done<ExecuteTransactionResult> done);

}  // namespace stator

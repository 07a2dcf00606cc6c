// SPDX-License-Identifier: Apache-2.0
// The operations that read ranges of items, and those with PartiQL statements. Lifetime of
// requests: engine/core/run_read.h.
#pragma once

#include "api/model/responses.h"
#include "engine/items/item_engine.h"
#include "stator/client.h"

namespace stator {

void query(EngineCore& engine, const QueryRequest& request, Done<PageResponse> done);
void query(EngineCore& engine, const QueryRequest& request, Done<PageResult> done);
void scan(EngineCore& engine, const ScanRequest& request, Done<PageResponse> done);
void scan(EngineCore& engine, const ScanRequest& request, Done<PageResult> done);

// Examines every vector of the index that has the requested HASH value, or finds most of the
// nearest through a graph (vectors/vector_graph.h).
void search_vectors(EngineCore& engine, const SearchVectorsRequest& request,
                    Done<SearchVectorsResponse> done);

void execute_statement(ItemEngine& engine, const ExecuteStatementRequest& request,
                       Done<StatementResponse> done);
void batch_execute_statement(ItemEngine& engine, const BatchExecuteStatementRequest& request,
                             Done<BatchExecuteStatementResult> done);
void execute_transaction(ItemEngine& engine, const ExecuteTransactionRequest& request,
                         Done<ExecuteTransactionResult> done);

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// Converts the engine's responses, whose items are in binary form, into results of Client. Errors
// are passed through.
#pragma once

#include "api/model/responses.h"
#include "stator/client.h"

namespace stator {

Result<WriteResult> decode(Result<WriteResponse> response);
Result<SearchVectorsResult> decode(Result<SearchVectorsResponse> response);
Result<BatchGetItemResult> decode(Result<BatchGetItemResponse> response);
Result<TransactGetItemsResult> decode(Result<TransactGetItemsResponse> response);
Result<ExecuteStatementResult> decode(Result<StatementResponse> response);
Result<GetRecordsResult> decode(Result<GetRecordsResponse> response);

}  // namespace stator

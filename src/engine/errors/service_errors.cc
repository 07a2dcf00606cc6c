// SPDX-License-Identifier: Apache-2.0
#include "engine/errors/service_errors.h"

#include <memory>
#include <utility>

#include "api/model/responses.h"
#include "engine/errors/messages.h"

namespace stator {

Error service_error(Error error) {
  switch (error.code) {
    case Code::kThrottling:
      return {.code = Code::kThrottling, .message = messages::kTooBusy};
    case Code::kIo:
    case Code::kCorruption:
    case Code::kUnavailable:
      return {.code = Code::kInternalServerError, .message = std::move(error.message)};
    default:
      return error;
  }
}

Error service_error(CommitResult result) {
  if (result.outcome == CommitOutcome::kUnknown) {
    return {.code = Code::kInternalServerError,
            .message = "the write might have been applied: " + result.error.message};
  }
  if (result.outcome == CommitOutcome::kConflict) {
    return {.code = Code::kTransactionConflict, .message = messages::kTransactionConflict};
  }
  if (result.outcome == CommitOutcome::kSchemaChanged) {
    return {.code = Code::kThrottling, .message = messages::kTooBusy};
  }
  if (result.error.code == Code::kThrottling) return service_error(std::move(result.error));
  return {.code = Code::kInternalServerError, .message = std::move(result.error.message)};
}

Failure transaction_cancelled(std::vector<CancellationReason> reasons) {
  Error error{.code = Code::kTransactionCanceled, .message = cancellation_message(reasons)};
  error.detail =
      std::make_shared<const ErrorDetail>(ErrorDetail{.item = {}, .reasons = std::move(reasons)});
  return Failure(std::move(error));
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "stator/result.h"

namespace stator {

const char* code_name(Code code) {
  switch (code) {
    case Code::kValidation:
      return "ValidationException";
    case Code::kConditionalCheckFailed:
      return "ConditionalCheckFailedException";
    case Code::kTransactionCanceled:
      return "TransactionCanceledException";
    case Code::kTransactionConflict:
      return "TransactionConflictException";
    case Code::kTransactionInProgress:
      return "TransactionInProgressException";
    case Code::kIdempotentParameterMismatch:
      return "IdempotentParameterMismatchException";
    case Code::kResourceNotFound:
      return "ResourceNotFoundException";
    case Code::kResourceInUse:
      return "ResourceInUseException";
    case Code::kTableAlreadyExists:
      return "TableAlreadyExistsException";
    case Code::kTableNotFound:
      return "TableNotFoundException";
    case Code::kItemCollectionSizeLimitExceeded:
      return "ItemCollectionSizeLimitExceededException";
    case Code::kProvisionedThroughputExceeded:
      return "ProvisionedThroughputExceededException";
    case Code::kThrottling:
      return "ThrottlingException";
    case Code::kRequestLimitExceeded:
      return "RequestLimitExceeded";
    case Code::kLimitExceeded:
      return "LimitExceededException";
    case Code::kAccessDenied:
      return "AccessDeniedException";
    case Code::kMissingAuthenticationToken:
      return "MissingAuthenticationTokenException";
    case Code::kIncompleteSignature:
      return "IncompleteSignatureException";
    case Code::kInvalidSignature:
      return "InvalidSignatureException";
    case Code::kUnrecognizedClient:
      return "UnrecognizedClientException";
    case Code::kSerialization:
      return "SerializationException";
    case Code::kUnknownOperation:
      return "UnknownOperationException";
    case Code::kInternalServerError:
      return "InternalServerError";
    case Code::kServiceUnavailable:
      return "ServiceUnavailable";
    case Code::kTimeout:
      return "Timeout";
    case Code::kUnavailable:
      return "Unavailable";
    case Code::kOutcomeUnknown:
      return "OutcomeUnknown";
    case Code::kIo:
      return "Io";
    case Code::kCorruption:
      return "Corruption";
    case Code::kLocked:
      return "Locked";
    case Code::kInvalidArgument:
      return "InvalidArgument";
    case Code::kNotFound:
      return "NotFound";
    case Code::kAlreadyExists:
      return "AlreadyExists";
    case Code::kConflict:
      return "Conflict";
    case Code::kHeld:
      return "Held";
    case Code::kLost:
      return "Lost";
    case Code::kInFuture:
      return "InFuture";
    case Code::kLimitsDisagree:
      return "LimitsDisagree";
    case Code::kBadCursor:
      return "BadCursor";
    case Code::kCancelled:
      return "Cancelled";
  }
  return "Unknown";
}

}  // namespace stator

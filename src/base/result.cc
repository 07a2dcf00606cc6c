// SPDX-License-Identifier: Apache-2.0
#include "stator/result.h"

#include <algorithm>
#include <array>

#include "stator/client.h"

namespace stator {
namespace {

struct CodeName {
  Code code;
  const char* name;
};

// In the order of the enumeration.
constexpr auto kCodeNames = std::to_array<CodeName>({
    {Code::kValidation, "ValidationException"},
    {Code::kConditionalCheckFailed, "ConditionalCheckFailedException"},
    {Code::kTransactionCanceled, "TransactionCanceledException"},
    {Code::kTransactionConflict, "TransactionConflictException"},
    {Code::kReplicatedWriteConflict, "ReplicatedWriteConflictException"},
    {Code::kTransactionInProgress, "TransactionInProgressException"},
    {Code::kIdempotentParameterMismatch, "IdempotentParameterMismatchException"},
    {Code::kResourceNotFound, "ResourceNotFoundException"},
    {Code::kResourceInUse, "ResourceInUseException"},
    {Code::kTableAlreadyExists, "TableAlreadyExistsException"},
    {Code::kTableNotFound, "TableNotFoundException"},
    {Code::kItemCollectionSizeLimitExceeded, "ItemCollectionSizeLimitExceededException"},
    {Code::kProvisionedThroughputExceeded, "ProvisionedThroughputExceededException"},
    {Code::kThrottling, "ThrottlingException"},
    {Code::kRequestLimitExceeded, "RequestLimitExceeded"},
    {Code::kLimitExceeded, "LimitExceededException"},
    {Code::kDuplicateItem, "DuplicateItemException"},
    {Code::kIndexNotFound, "IndexNotFoundException"},
    {Code::kTableInUse, "TableInUseException"},
    {Code::kBackupNotFound, "BackupNotFoundException"},
    {Code::kBackupInUse, "BackupInUseException"},
    {Code::kContinuousBackupsUnavailable, "ContinuousBackupsUnavailableException"},
    {Code::kPointInTimeRecoveryUnavailable, "PointInTimeRecoveryUnavailableException"},
    {Code::kInvalidRestoreTime, "InvalidRestoreTimeException"},
    {Code::kExportNotFound, "ExportNotFoundException"},
    {Code::kExportConflict, "ExportConflictException"},
    {Code::kInvalidExportTime, "InvalidExportTimeException"},
    {Code::kImportNotFound, "ImportNotFoundException"},
    {Code::kImportConflict, "ImportConflictException"},
    {Code::kGlobalTableNotFound, "GlobalTableNotFoundException"},
    {Code::kGlobalTableAlreadyExists, "GlobalTableAlreadyExistsException"},
    {Code::kReplicaNotFound, "ReplicaNotFoundException"},
    {Code::kReplicaAlreadyExists, "ReplicaAlreadyExistsException"},
    {Code::kPolicyNotFound, "PolicyNotFoundException"},
    {Code::kExpiredIterator, "ExpiredIteratorException"},
    {Code::kTrimmedDataAccess, "TrimmedDataAccessException"},
    {Code::kAccessDenied, "AccessDeniedException"},
    {Code::kMissingAuthenticationToken, "MissingAuthenticationTokenException"},
    {Code::kIncompleteSignature, "IncompleteSignatureException"},
    {Code::kInvalidSignature, "InvalidSignatureException"},
    {Code::kUnrecognizedClient, "UnrecognizedClientException"},
    {Code::kSerialization, "SerializationException"},
    {Code::kUnknownOperation, "UnknownOperationException"},
    {Code::kInternalServerError, "InternalServerError"},
    {Code::kServiceUnavailable, "ServiceUnavailable"},
    {Code::kTimeout, "Timeout"},
    {Code::kUnavailable, "Unavailable"},
    {Code::kOutcomeUnknown, "OutcomeUnknown"},
    {Code::kIo, "Io"},
    {Code::kCorruption, "Corruption"},
    {Code::kLocked, "Locked"},
    {Code::kInvalidArgument, "InvalidArgument"},
    {Code::kNotFound, "NotFound"},
    {Code::kAlreadyExists, "AlreadyExists"},
    {Code::kConflict, "Conflict"},
    {Code::kHeld, "Held"},
    {Code::kLost, "Lost"},
    {Code::kInFuture, "InFuture"},
    {Code::kLimitsDisagree, "LimitsDisagree"},
    {Code::kBadCursor, "BadCursor"},
    {Code::kCancelled, "Cancelled"},
    {Code::kExpired, "Expired"},
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i].code != static_cast<Code>(i)) return false;
  }
  return kCodeNames.back().code == Code::kExpired;
}
static_assert(in_order());

}  // namespace

const char* code_name(Code code) {
  return kCodeNames[static_cast<std::size_t>(code)].name;
}

bool Error::retryable() const {
  switch (code) {
    case Code::kTransactionCanceled:
      return detail && std::ranges::any_of(detail->reasons, [](const CancellationReason& reason) {
               return reason.code == "TransactionConflict" || reason.code == "ThrottlingError" ||
                      reason.code == "ProvisionedThroughputExceeded";
             });
    case Code::kTransactionConflict:
    case Code::kReplicatedWriteConflict:
    case Code::kTransactionInProgress:
    case Code::kProvisionedThroughputExceeded:
    case Code::kThrottling:
    case Code::kRequestLimitExceeded:
    case Code::kLimitExceeded:
    case Code::kInternalServerError:
    case Code::kServiceUnavailable:
    case Code::kTimeout:
    case Code::kUnavailable:
    case Code::kOutcomeUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error with a code from a closed list.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>

namespace stator {

// Every failure that a caller can distinguish. The first group contains DynamoDB's exceptions by
// their documented names. The others are not part of DynamoDB's API.
enum class Code {
  // DynamoDB's,
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
  kValidation,
  kConditionalCheckFailed,
  kTransactionCanceled,
  kTransactionConflict,
  kReplicatedWriteConflict,
  kTransactionInProgress,
  kIdempotentParameterMismatch,
  kResourceNotFound,
  kResourceInUse,
  kTableAlreadyExists,
  kTableNotFound,
  kItemCollectionSizeLimitExceeded,
  kProvisionedThroughputExceeded,
  kThrottling,
  kRequestLimitExceeded,
  kLimitExceeded,
  kDuplicateItem,
  kIndexNotFound,
  kTableInUse,
  kBackupNotFound,
  kBackupInUse,
  kContinuousBackupsUnavailable,
  kPointInTimeRecoveryUnavailable,
  kInvalidRestoreTime,
  kExportNotFound,
  kExportConflict,
  kInvalidExportTime,
  kImportNotFound,
  kImportConflict,
  kGlobalTableNotFound,
  kGlobalTableAlreadyExists,
  kReplicaNotFound,
  kReplicaAlreadyExists,
  kPolicyNotFound,
  kExpiredIterator,
  kTrimmedDataAccess,
  kAccessDenied,
  kMissingAuthenticationToken,
  kIncompleteSignature,
  kInvalidSignature,
  kUnrecognizedClient,
  kSerialization,
  kUnknownOperation,
  kInternalServerError,
  kServiceUnavailable,
  // A client could not reach the endpoint, or does not know whether the request took effect.
  kTimeout,
  kUnavailable,
  kOutcomeUnknown,
  // Files and processes.
  kIo,
  kCorruption,
  kLocked,
  // Recipes, and arguments rejected before any request is sent.
  kInvalidArgument,
  kNotFound,
  kAlreadyExists,
  kConflict,
  kHeld,
  kLost,
  kInFuture,
  kLimitsDisagree,
  kBadCursor,
  kCancelled,
  kExpired,  // the request concerns a time before the retention
};

// The code's name, e.g. "ConditionalCheckFailedException", "Timeout".
const char* code_name(Code code);

struct ErrorDetail;  // stator/client.h: the item of a failed condition, reasons

struct Error {
  Code code = Code::kInternalServerError;
  std::string message;
  std::shared_ptr<const ErrorDetail> detail = nullptr;  // null if the error has no detail

  // Whether the same call can succeed if it is repeated after a pause. True for
  // kInternalServerError and kOutcomeUnknown, for conflicts of transactions, for throttling and
  // limits, and for endpoints that are unavailable or did not respond. For a cancelled transaction,
  // its reasons decide. After kOutcomeUnknown, kServiceUnavailable and kInternalServerError the
  // request might have taken effect. False for all other errors: invalid or too large requests,
  // failed conditions, missing tables. False does not imply that the arguments are wrong: kInFuture
  // depends on the clock, kHeld on the holder.
  bool retryable() const;
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result() = default;
};

using Failure = std::unexpected<Error>;

inline Failure fail(Code code, std::string message) {
  return Failure(Error{.code = code, .message = std::move(message)});
}

// The error of a failed result, to return as the failure of another type.
template <class T>
Failure failure_of(Result<T>&& result) {
  return Failure(std::move(result).error());
}

}  // namespace stator

// Evaluates a Result expression; on failure returns its error, otherwise assigns the value.
#define STATOR_CONCAT_(a, b) a##b
#define STATOR_CONCAT(a, b) STATOR_CONCAT_(a, b)
#define STATOR_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, ...)          \
  auto tmp = (__VA_ARGS__);                                   \
  if (!tmp) return ::stator::Failure(std::move(tmp).error()); \
  lhs = std::move(*tmp)
#define STATOR_ASSIGN_OR_RETURN(lhs, ...) \
  STATOR_ASSIGN_OR_RETURN_IMPL_(STATOR_CONCAT(result_, __LINE__), lhs, __VA_ARGS__)
#define STATOR_RETURN_IF_ERROR(...)                                     \
  do {                                                                  \
    auto status_ = (__VA_ARGS__);                                       \
    if (!status_) return ::stator::Failure(std::move(status_).error()); \
  } while (false)

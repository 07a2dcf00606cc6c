// SPDX-License-Identifier: Apache-2.0
// Errors on the wire: {"__type": "prefix#Name", "message": …}, and further members of some errors.
#include <array>
#include <string>
#include <string_view>

#include "api/wire/shapes_writer.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

constexpr std::string_view kService = "com.amazonaws.dynamodb.v20120810#";
constexpr std::string_view kCoralService = "com.amazon.coral.service#";
constexpr std::string_view kCoralValidate = "com.amazon.coral.validate#";
constexpr std::string_view kCoralAvailability = "com.amazon.coral.availability#";

std::string_view type_prefix(Code code) {
  switch (code) {
    case Code::kValidation:
      return kCoralValidate;
    case Code::kThrottling:
      return kCoralAvailability;
    case Code::kAccessDenied:
    case Code::kMissingAuthenticationToken:
    case Code::kIncompleteSignature:
    case Code::kInvalidSignature:
    case Code::kUnrecognizedClient:
    case Code::kSerialization:
    case Code::kUnknownOperation:
      return kCoralService;
    default:
      return kService;
  }
}

// DynamoDB spells this member in two ways.
std::string_view message_member(Code code) {
  switch (code) {
    case Code::kTransactionCanceled:
    case Code::kTransactionInProgress:
    case Code::kIdempotentParameterMismatch:
    case Code::kSerialization:
    case Code::kAccessDenied:
      return "Message";
    default:
      return "message";
  }
}

std::string public_message(const Error& error) {
  // Details of a local failure, such as paths and addresses, belong in this machine's log only.
  if (public_code(error.code) == Code::kInternalServerError) {
    return std::string(kInternalErrorMessage);
  }
  if (error.code == Code::kUnavailable || error.code == Code::kTimeout) {
    return "The service is currently unavailable or busy.";
  }
  if (error.code == Code::kTransactionCanceled && error.message.empty() && error.detail) {
    return cancellation_message(error.detail->reasons);
  }
  return error.message;
}

// The member with the reasons of a throttled request; empty for other codes. DynamoDB spells it in
// two ways.
std::string_view throttling_member(Code code) {
  switch (code) {
    case Code::kThrottling:
      return "throttlingReasons";
    case Code::kProvisionedThroughputExceeded:
    case Code::kRequestLimitExceeded:
      return "ThrottlingReasons";
    default:
      return {};
  }
}

void write_throttling_reasons(JsonWriter& json, std::string_view member,
                              const std::vector<ThrottlingReason>& reasons) {
  if (member.empty() || reasons.empty()) return;
  json.key(member).objects(reasons, [&](const ThrottlingReason& reason) {
    write_text(json, "reason", reason.reason);
    write_text(json, "resource", reason.resource);
  });
}

void write_reasons(JsonWriter& json, const std::vector<CancellationReason>& reasons) {
  json.key("CancellationReasons").objects(reasons, [&](const CancellationReason& reason) {
    write_text(json, "Code", reason.code);
    if (!reason.message.empty()) write_text(json, "Message", reason.message);
    write_item(json, "Item", reason.item);
  });
}

}  // namespace

// Replaces codes that are not part of the API.
Code public_code(Code code) {
  switch (code) {
    case Code::kTimeout:
    case Code::kUnavailable:
      return Code::kServiceUnavailable;
    case Code::kInvalidArgument:
      return Code::kValidation;
    case Code::kOutcomeUnknown:
    case Code::kIo:
    case Code::kCorruption:
    case Code::kLocked:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kConflict:
    case Code::kHeld:
    case Code::kLost:
    case Code::kInFuture:
    case Code::kLimitsDisagree:
    case Code::kBadCursor:
    case Code::kCancelled:
    case Code::kExpired:
      return Code::kInternalServerError;
    default:
      return code;
  }
}

std::string error_to_json(const Error& error) {
  const Code code = public_code(error.code);
  return write_document([&](JsonWriter& json) {
    write_text(json, "__type", std::string(type_prefix(code)) + code_name(code));
    const std::string message = public_message(error);
    // Invalid JSON and unknown operations have none.
    if (!message.empty()) write_text(json, message_member(code), message);
    if (!error.detail) return;
    if (code == Code::kTransactionCanceled) write_reasons(json, error.detail->reasons);
    write_throttling_reasons(json, throttling_member(code), error.detail->throttling_reasons);
    write_item(json, "Item", error.detail->item);
  });
}

int http_status(Code code) {
  switch (public_code(code)) {
    case Code::kInternalServerError:
      return 500;
    case Code::kServiceUnavailable:
      return 503;
    default:
      return 400;
  }
}

}  // namespace stator::wire

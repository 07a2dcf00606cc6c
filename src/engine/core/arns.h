// SPDX-License-Identifier: Apache-2.0
// ARNs of tables and streams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/engine_core.h"

namespace stator {

std::string table_arn(const EngineCore& engine, std::string_view table);
// The label of a stream, from its creation time: "2015-05-11T21:21:33.291".
std::string stream_label(int64_t created_ms);
std::string stream_arn(const EngineCore& engine, std::string_view table, int64_t created_ms);

struct ArnParts {
  std::string table;
  std::string rest;  // after the table's name: "/stream/…", or empty
};
// Errors, with DynamoDB's messages: kValidation for a malformed ARN, kAccessDenied for one of
// another account or region.
Result<ArnParts> parse_table_arn(const EngineCore& engine, const std::string& arn);

}  // namespace stator

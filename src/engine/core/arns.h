// SPDX-License-Identifier: Apache-2.0
// ARNs of tables and streams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/engine_core.h"

namespace stator {

std::string table_arn(const EngineCore& engine, std::string_view table);
// Of a stream by its creation: "2015-05-11T21:21:33.291".
std::string stream_label(int64_t created_ms);
std::string stream_arn(const EngineCore& engine, std::string_view table, int64_t created_ms);

// What a table's ARN names: the table and what follows its name ("/stream/…"), if that is allowed.
// kValidation, kAccessDenied, as the service answers ARNs that are none or another's.
struct ArnParts {
  std::string table;
  std::string rest;
};
Result<ArnParts> parse_table_arn(const EngineCore& engine, const std::string& arn);

}  // namespace stator

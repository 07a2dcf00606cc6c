// SPDX-License-Identifier: Apache-2.0
// Idempotency tokens of TransactWriteItems, kept for 10 minutes. docs/formats/catalog.md.
//
// A token's row commits with its transaction. A second row, ordered by time, lets a sweep find and
// erase expired tokens (engine/rows/time_queue.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/requests.h"
#include "storage/transact_store.h"
#include "value/key.h"

namespace stator {

inline constexpr int64_t kTokenLifetimeMs = 10LL * 60 * 1000;

struct TokenRow {
  int64_t expires_ms = 0;
  Hash128 fingerprint = {};
  bool operator==(const TokenRow&) const = default;
};

std::string token_row_key(const Hash128& secret, std::string_view token);
std::string encode_token_row(const TokenRow& row);
std::optional<TokenRow> decode_token_row(std::string_view bytes);  // absent for damaged bytes

// The row of the time queue that names a token's row.
std::string token_expiry_key(int64_t expires_ms, std::string_view token_row_key);

// Hashes the writes of a request, without its options about the response.
Hash128 request_fingerprint(const Hash128& secret, const TransactWriteItemsRequest& request);

// The tokens that expire in [from_ms, until_ms), for read_queue().
std::vector<RangeRead> expired_tokens(int64_t from_ms, int64_t until_ms);

}  // namespace stator

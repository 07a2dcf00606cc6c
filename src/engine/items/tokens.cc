// SPDX-License-Identifier: Apache-2.0
#include "engine/items/tokens.h"

#include "engine/rows/stored_codes.h"
#include "engine/rows/time_queue.h"

namespace stator {
namespace {

constexpr char kTokenRowVersion = 1;

// Fields begin with their length, so that different sequences of fields have different bytes.
void append_optional(std::string& bytes, const std::optional<std::string>& field) {
  bytes.push_back(field ? '\1' : '\0');
  if (field) append_field(bytes, std::string_view(*field));
}

}  // namespace

std::string token_row_key(const Hash128& secret, std::string_view token) {
  return partition_key(secret, kTokenSpace, token);
}

std::string encode_token_row(const TokenRow& row) {
  std::string bytes(1, kTokenRowVersion);
  append_big_endian(bytes, static_cast<uint64_t>(row.expires_ms));
  bytes.append(row.fingerprint.begin(), row.fingerprint.end());
  return bytes;
}

std::optional<TokenRow> decode_token_row(std::string_view bytes) {
  TokenRow row;
  if (bytes.size() != 9 + row.fingerprint.size() || bytes[0] != kTokenRowVersion)
    return std::nullopt;
  row.expires_ms = static_cast<int64_t>(read_big_endian(bytes.substr(1, 8)));
  for (std::size_t i = 0; i < row.fingerprint.size(); ++i) {
    row.fingerprint[i] = static_cast<uint8_t>(bytes[9 + i]);
  }
  return row;
}

std::string token_expiry_key(int64_t expires_ms, std::string_view token_row_key) {
  return queue_row_key(kTokenExpirySpace, static_cast<uint64_t>(expires_ms), token_row_key);
}

Hash128 request_fingerprint(const Hash128& secret, const TransactWriteItemsRequest& request) {
  std::string bytes;
  for (const TransactWriteItem& item : request.items) {
    bytes.push_back(static_cast<char>(stored_code(item.action)));
    append_field(bytes, std::string_view(item.table));
    append_field(bytes, std::string_view(encode_item(item.item)));
    append_optional(bytes, item.update);
    append_optional(bytes, item.condition);
    Item names;
    if (item.names) {
      for (const auto& [token, name] : *item.names) names.emplace(token, name);
    }
    append_field(bytes, std::string_view(encode_item(names)));
    append_field(bytes, std::string_view(encode_item(item.values.value_or(Values()))));
  }
  return hash128(secret, bytes);
}

std::vector<RangeRead> expired_tokens(int64_t from_ms, int64_t until_ms) {
  return queue_ranges(kTokenExpirySpace, static_cast<uint64_t>(from_ms),
                      static_cast<uint64_t>(until_ms));
}

}  // namespace stator

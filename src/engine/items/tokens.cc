// SPDX-License-Identifier: Apache-2.0
#include "engine/items/tokens.h"

#include "engine/rows/row_layout.h"
#include "engine/rows/stored_codes.h"

namespace stator {
namespace {

constexpr char kTokenRowVersion = 1;

std::string expiry_partition() {
  std::string key;
  append_big_endian(key, kTokenExpirySpace);
  key.append(kPartitionBytes - key.size(), '\0');
  return key;
}

// Length first, so that no two sequences of fields have the same bytes.
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
  std::string key = expiry_partition();
  append_big_endian(key, static_cast<uint64_t>(expires_ms));
  key += token_row_key;
  return key;
}

std::optional<ExpiredToken> read_token_expiry_key(std::string_view key) {
  if (key.size() != 2 * kPartitionBytes + 8 || !key.starts_with(expiry_partition())) return {};
  const std::string_view rest = key.substr(kPartitionBytes);
  return ExpiredToken{.expiry_key = std::string(key),
                      .row_key = std::string(rest.substr(8)),
                      .expires_ms = static_cast<int64_t>(read_big_endian(rest.substr(0, 8)))};
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

Result<std::vector<ExpiredToken>> expired_tokens(TransactStore& store, std::string_view after,
                                                 int64_t now_ms, std::size_t count_max) {
  std::vector<ExpiredToken> expired;
  KeyRange range{.begin = expiry_partition(), .end = expiry_partition()};
  if (!after.empty()) range.begin = std::string(after) + '\0';
  append_big_endian(range.end, static_cast<uint64_t>(now_ms) + 1);
  if (range.end <= range.begin) return expired;
  STATOR_RETURN_IF_ERROR(read_range(store, {.range = range, .expected_rows = count_max},
                                    [&](std::string_view key, std::string_view) {
                                      if (auto token = read_token_expiry_key(key))
                                        expired.push_back(std::move(*token));
                                      return expired.size() < count_max;
                                    }));
  return expired;
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "engine/streams/shard_iterator.h"

#include <algorithm>
#include <charconv>

#include "api/model/base64.h"
#include "base/hex.h"

namespace stator {
namespace {

constexpr std::string_view kIteratorVersion = "|1|";
constexpr std::size_t kPayloadBytes = 4 + 8 + 1 + 8 + 8 + 8;
constexpr std::size_t kHashBytes = std::tuple_size_v<Hash128>;
constexpr std::string_view kShardPrefix = "shardId-";
constexpr std::size_t kTimeDigits = 20;
constexpr std::size_t kShardHexDigits = 8;
constexpr std::size_t kSequenceDigits = 21;  // "1", then the commit version

std::string hex_of(const Hash128& hash) {
  return hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

void append_padded(std::string& text, uint64_t value) {
  char digits[kTimeDigits];
  const char* const end = std::to_chars(digits, digits + kTimeDigits, value).ptr;
  const auto count = static_cast<std::size_t>(end - digits);
  text.append(kTimeDigits - count, '0').append(digits, count);
}

std::optional<uint64_t> read_padded(std::string_view digits) {
  uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return value;
}

Hash128 seal(const Hash128& secret, std::string_view stream_arn, std::string_view payload) {
  std::string sealed("iterator");
  sealed.append(stream_arn).append(kIteratorVersion).append(payload);
  return hash128(secret, sealed);
}

}  // namespace

Hash128 stream_secret(const Hash128& catalog_secret) {
  return hash128(catalog_secret, "streams");
}

std::string shard_iterator_text(const Hash128& secret, std::string_view stream_arn,
                                const ShardIterator& iterator) {
  std::string payload;
  append_big_endian(payload, iterator.log);
  append_big_endian(payload, static_cast<uint64_t>(iterator.stream_ms));
  payload.push_back(static_cast<char>(iterator.log_partition));
  append_big_endian(payload, iterator.begin);
  append_big_endian(payload, iterator.position);
  append_big_endian(payload, static_cast<uint64_t>(iterator.issued_ms));
  const Hash128 hash = seal(secret, stream_arn, payload);
  payload.append(hash.begin(), hash.end());
  return std::string(stream_arn).append(kIteratorVersion).append(wire::to_base64(payload));
}

std::optional<ShardIterator> read_shard_iterator(const Hash128& secret, std::string_view text,
                                                 std::string_view& stream_arn) {
  const std::size_t version = text.rfind(kIteratorVersion);
  if (version == std::string_view::npos) return std::nullopt;
  const auto bytes = wire::from_base64(text.substr(version + kIteratorVersion.size()));
  if (!bytes || bytes->size() != kPayloadBytes + kHashBytes) return std::nullopt;
  const std::string_view payload = std::string_view(*bytes).substr(0, kPayloadBytes);
  const Hash128 hash = seal(secret, text.substr(0, version), payload);
  unsigned difference = 0;  // compared in constant time
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    difference |= static_cast<unsigned char>((*bytes)[kPayloadBytes + i]) ^ hash[i];
  }
  if (difference != 0) return std::nullopt;
  stream_arn = text.substr(0, version);
  return ShardIterator{.log = static_cast<SpaceId>(read_big_endian(payload.substr(0, 4))),
                       .stream_ms = static_cast<int64_t>(read_big_endian(payload.substr(4, 8))),
                       .log_partition = static_cast<unsigned char>(payload[12]),
                       .begin = read_big_endian(payload.substr(13, 8)),
                       .position = read_big_endian(payload.substr(21, 8)),
                       .issued_ms = static_cast<int64_t>(read_big_endian(payload.substr(29, 8)))};
}

std::string shard_id(const Hash128& secret, SpaceId log, unsigned log_partition,
                     const ShardBoundary& begin) {
  std::string bytes("shard");
  append_big_endian(bytes, log);
  bytes.push_back(static_cast<char>(log_partition));
  append_big_endian(bytes, begin.commit_version);
  std::string id(kShardPrefix);
  append_padded(id, static_cast<uint64_t>(std::max<int64_t>(0, begin.time_ms)));
  id.push_back('-');
  return id.append(hex_of(hash128(secret, bytes)), 0, kShardHexDigits);
}

std::optional<int64_t> shard_time(std::string_view shard_id) {
  constexpr std::size_t kBytes = kShardPrefix.size() + kTimeDigits + 1 + kShardHexDigits;
  if (shard_id.size() != kBytes || !shard_id.starts_with(kShardPrefix)) return std::nullopt;
  const auto time = read_padded(shard_id.substr(kShardPrefix.size(), kTimeDigits));
  if (!time || *time > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*time);
}

std::string event_id(const Hash128& secret, SpaceId log, uint64_t commit_version) {
  std::string bytes("event");
  append_big_endian(bytes, log);
  append_big_endian(bytes, commit_version);
  return hex_of(hash128(secret, bytes));
}

std::string sequence_number(uint64_t commit_version) {
  std::string text("1");
  append_padded(text, commit_version);
  return text;
}

std::optional<uint64_t> read_sequence_number(std::string_view text) {
  if (text.size() != kSequenceDigits || text[0] != '1') return std::nullopt;
  return read_padded(text.substr(1));
}

}  // namespace stator

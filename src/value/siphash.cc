// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 with a 128-bit result: Aumasson and Bernstein, https://www.aumasson.jp/siphash/.
#include <bit>
#include <cstddef>

#include "value/key.h"

namespace stator {
namespace {

// Up to eight bytes, least significant first.
uint64_t load_word(std::string_view bytes) {
  uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return word;
}

// Eight bytes, least significant first; compilers turn this into one load.
uint64_t load_whole_word(std::string_view bytes) {
  uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    word |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return word;
}

class SipState {
 public:
  explicit SipState(const Hash128& secret) {
    const std::string_view key(reinterpret_cast<const char*>(secret.data()), secret.size());
    const uint64_t k0 = load_whole_word(key);
    const uint64_t k1 = load_whole_word(key.substr(8));
    v0_ ^= k0;
    v1_ ^= k1 ^ 0xEE;  // 0xEE, here and below, selects the 128-bit variant
    v2_ ^= k0;
    v3_ ^= k1;
  }

  void add(uint64_t word) {
    v3_ ^= word;
    rounds(2);
    v0_ ^= word;
  }

  Hash128 finish() {
    v2_ ^= 0xEE;
    rounds(4);
    const uint64_t first = folded();
    v1_ ^= 0xDD;
    rounds(4);
    const uint64_t second = folded();
    Hash128 hash;
    for (std::size_t i = 0; i < 8; ++i) {
      hash[i] = static_cast<uint8_t>(first >> (8 * i));
      hash[8 + i] = static_cast<uint8_t>(second >> (8 * i));
    }
    return hash;
  }

 private:
  uint64_t folded() const { return v0_ ^ v1_ ^ v2_ ^ v3_; }

  void rounds(int count) {
    for (; count > 0; --count) {
      v0_ += v1_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v3_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ += v3_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ += v1_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  uint64_t v0_ = 0x736f6d6570736575;
  uint64_t v1_ = 0x646f72616e646f6d;
  uint64_t v2_ = 0x6c7967656e657261;
  uint64_t v3_ = 0x7465646279746573;
};

}  // namespace

Hash128 hash128(const Hash128& secret, std::string_view bytes) {
  SipState state(secret);
  const uint64_t last = static_cast<uint64_t>(bytes.size()) << 56;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.add(load_whole_word(bytes));
  state.add(last | load_word(bytes));
  return state.finish();
}

}  // namespace stator

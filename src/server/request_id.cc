// SPDX-License-Identifier: Apache-2.0
#include "server/request_id.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "base/random.h"

namespace stator::server {
namespace {

constexpr std::string_view kEnding = "AAJG";  // DynamoDB's ids end like this

// xoshiro256**, seeded by the operating system, one per thread.
// https://prng.di.unimi.it/xoshiro256starstar.c
class Generator {
 public:
  Generator() {
    const std::string seed = random_bytes(sizeof state_);
    std::memcpy(state_, seed.data(), sizeof state_);
    state_[0] |= 1;  // never all zero
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

 private:
  static uint64_t rotate(uint64_t value, int by) { return value << by | value >> (64 - by); }
  uint64_t state_[4];
};

// The digits 0-9 and A-V of eight values below 32, one in each byte.
uint64_t digits_of(uint64_t values) {
  constexpr uint64_t kEach = 0x0101010101010101;
  const uint64_t letters = ((values + kEach * (128 - 10)) >> 7) & kEach;  // 1 from 10 on
  return values + kEach * '0' + letters * ('A' - '0' - 10);
}

}  // namespace

RequestId::RequestId() : text_() {
  constexpr uint64_t kLowBits = 0x1f1f1f1f1f1f1f1f;
  thread_local Generator generator;
  char* out = text_.data();
  for (char* const end = out + text_.size() - kEnding.size(); out < end; out += sizeof(uint64_t)) {
    const uint64_t digits = digits_of(generator.next() & kLowBits);
    std::memcpy(out, &digits, sizeof digits);
  }
  std::memcpy(out, kEnding.data(), kEnding.size());
}

}  // namespace stator::server

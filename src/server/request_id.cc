// SPDX-License-Identifier: Apache-2.0
#include "server/request_id.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "base/random.h"

namespace stator::server {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
constexpr std::string_view kEnding = "AAJG";  // DynamoDB's ids end like this
constexpr int kCharactersPerWord = 12;        // of 5 bits

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

}  // namespace

RequestId::RequestId() : text_() {
  thread_local Generator generator;
  const std::size_t random_characters = text_.size() - kEnding.size();
  uint64_t word = 0;
  for (std::size_t i = 0; i < random_characters; ++i) {
    if (i % kCharactersPerWord == 0) word = generator.next();
    text_[i] = kAlphabet[word & 31];
    word >>= 5;
  }
  std::memcpy(text_.data() + random_characters, kEnding.data(), kEnding.size());
}

}  // namespace stator::server

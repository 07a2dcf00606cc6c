// SPDX-License-Identifier: Apache-2.0
// A number is a sign, up to 38 digits as one 128-bit integer without trailing zeros, and the
// decimal exponent of the left edge of those digits: value = 0.digits * 10^exponent.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include "base/ascii.h"
#include "base/utf8.h"
#include "stator/value.h"
#include "value/number_errors.h"

namespace stator {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr int kDigitsMax = 38;
constexpr int kExponentMin = -129;  // 1e-130 is 0.1e-129
constexpr int kExponentMax = 126;   // 9.99e125 is 0.999e126
constexpr std::size_t kEchoedBytesMax = 1024;

constexpr std::array<Uint128, kDigitsMax + 1> make_powers() {
  std::array<Uint128, kDigitsMax + 1> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<Uint128, kDigitsMax + 1> kPowers = make_powers();

constexpr Uint128 power_of_ten(int exponent) {
  return kPowers[static_cast<std::size_t>(exponent)];
}

int bit_width(Uint128 value) {
  const auto high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<uint64_t>(value)));
}

// Decimal digits of `value`, 0 for zero. 1233 / 4096 is log10(2) closely enough for 128 bits.
int count_digits(Uint128 value) {
  if (value == 0) return 0;
  const int estimate = (bit_width(value) * 1233) >> 12;
  return estimate + (value >= power_of_ten(estimate) ? 1 : 0);
}

template <class T>
T without_trailing_zeros(T value, int first_step) {
  for (int step = first_step; step >= 1; step /= 2) {
    const T power = static_cast<T>(power_of_ten(step));
    if (value % power == 0) value /= power;
  }
  return value;
}

// `value` is not zero.
Uint128 strip_trailing_zeros(Uint128 value) {
  if (static_cast<uint64_t>(value >> 64) != 0) value = without_trailing_zeros<Uint128>(value, 32);
  if (static_cast<uint64_t>(value >> 64) != 0) return value;
  const auto low = static_cast<uint64_t>(value);
  return low % 10 != 0 ? low : without_trailing_zeros<uint64_t>(low, 16);
}

Failure too_many_digits() {
  return fail(Code::kValidation, "Attempting to store more than 38 significant digits in a Number");
}

Failure overflow() {
  return fail(Code::kValidation,
              "Number overflow. Attempting to store a number with magnitude larger than supported "
              "range");
}

// Writes the decimal digits of `value` and returns their end. `out` must have space for 39 bytes.
char* write_digits(char* out, Uint128 value) {
  constexpr uint64_t kChunk = 10'000'000'000'000'000'000U;  // 10^19
  if (static_cast<uint64_t>(value >> 64) == 0) {
    return std::to_chars(out, out + 20, static_cast<uint64_t>(value)).ptr;
  }
  out = write_digits(out, value / kChunk);
  auto low = static_cast<uint64_t>(value % kChunk);
  for (char* digit = out + 18; digit >= out; --digit) {
    *digit = static_cast<char>('0' + low % 10);
    low /= 10;
  }
  return out + 19;
}

// Reads the digits and the point of a decimal; leading and trailing zeros are not significant.
class DigitReader {
 public:
  // Returns the rest of the text after the digits.
  const char* read(const char* at, const char* end) {
    for (; at != end && is_ascii_digit(*at); ++at) {
      any_ = true;
      add(*at - '0');
      if (started_) ++exponent_;
    }
    if (at == end || *at != '.') return at;
    for (++at; at != end && is_ascii_digit(*at); ++at) {
      any_ = true;
      add(*at - '0');
      if (!started_) --exponent_;
    }
    return at;
  }

  bool any() const { return any_; }
  bool is_zero() const { return !started_; }
  bool too_many() const { return count_ > kDigitsMax; }
  Uint128 digits() const { return digits_; }
  int count() const { return static_cast<int>(count_); }
  int64_t exponent() const { return exponent_; }

 private:
  void add(int digit) {
    if (digit == 0) {
      if (started_) ++zeros_;
      return;
    }
    started_ = true;
    count_ += zeros_ + 1;
    if (count_ <= kDigitsMax) {
      digits_ = digits_ * power_of_ten(static_cast<int>(zeros_) + 1) + static_cast<Uint128>(digit);
    }
    zeros_ = 0;
  }

  bool any_ = false;
  bool started_ = false;  // past the leading zeros
  int64_t zeros_ = 0;     // read since the last digit that is not zero
  int64_t count_ = 0;     // significant digits
  int64_t exponent_ = 0;
  Uint128 digits_ = 0;
};

// Reads the text after the `e`; false if it is not a 64-bit integer. Clamps huge exponents.
bool read_exponent(const char* at, const char* end, int64_t& exponent) {
  constexpr int64_t kSaturated = 1'000'000'000'000'000;
  if (end - at > 1 && *at == '+' && is_ascii_digit(at[1])) ++at;
  const auto read = std::from_chars(at, end, exponent);
  exponent = std::clamp(exponent, -kSaturated, kSaturated);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

Failure number_underflow() {
  return fail(Code::kValidation,
              "Number underflow. Attempting to store a number with magnitude smaller than "
              "supported range");
}

Failure not_a_number(std::string_view text) {
  std::string message = "The parameter cannot be converted to a numeric value";
  if (text.empty()) return fail(Code::kValidation, std::move(message));
  return fail(Code::kValidation, message.append(": ").append(utf8_prefix(text, kEchoedBytesMax)));
}

void Number::set(bool negative, uint64_t magnitude) {
  if (magnitude == 0) return;
  negative_ = negative;
  exponent_ = static_cast<int16_t>(count_digits(magnitude));
  digits_ = strip_trailing_zeros(magnitude);
  digit_count_ = static_cast<uint8_t>(count_digits(digits_));
}

Result<Number> Number::parse(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  bool negative = false;
  if (at != end && (*at == '+' || *at == '-')) negative = *at++ == '-';

  if (end - at >= 1 && end - at <= 18 && std::all_of(at, end, is_ascii_digit)) {
    uint64_t magnitude = 0;
    for (; at != end; ++at) magnitude = magnitude * 10 + static_cast<uint64_t>(*at - '0');
    Number number;
    number.set(negative, magnitude);
    return number;
  }

  DigitReader reader;
  at = reader.read(at, end);
  int64_t exponent = 0;
  if (!reader.any()) return not_a_number(text);
  if (at != end) {
    if (*at != 'e' && *at != 'E') return not_a_number(text);
    if (!read_exponent(at + 1, end, exponent)) return not_a_number(text);
  }
  if (reader.too_many()) return too_many_digits();
  exponent += reader.exponent() + (reader.is_zero() ? 1 : 0);  // a zero counts as its last digit
  if (exponent > kExponentMax) return overflow();
  if (exponent < kExponentMin) return number_underflow();
  if (reader.is_zero()) return Number();

  Number number;
  number.negative_ = negative;
  number.digit_count_ = static_cast<uint8_t>(reader.count());
  number.exponent_ = static_cast<int16_t>(exponent);
  number.digits_ = reader.digits();
  return number;
}

Result<Number> Number::from_double(double value) {
  if (!std::isfinite(value)) return not_a_number(std::isnan(value) ? "NaN" : "Infinity");
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  if (error != std::errc()) return not_a_number("");
  return parse(std::string_view(text, static_cast<std::size_t>(end - text)));
}

std::string Number::to_string() const {
  if (is_zero()) return "0";
  char digits[40];
  const auto count = static_cast<std::size_t>(write_digits(digits, digits_) - digits);
  std::string text;
  if (exponent_ <= 0) {
    const auto zeros = static_cast<std::size_t>(-exponent_);
    text.reserve(count + zeros + 3);
    text.append(negative_ ? "-0." : "0.").append(zeros, '0').append(digits, count);
    return text;
  }
  const auto whole = static_cast<std::size_t>(exponent_);
  text.reserve(std::max(count, whole) + 2);
  if (negative_) text.push_back('-');
  if (whole >= count) return text.append(digits, count).append(whole - count, '0');
  return text.append(digits, whole).append(1, '.').append(digits + whole, count - whole);
}

std::optional<int64_t> Number::to_int64() const {
  if (is_zero()) return 0;
  if (exponent_ < digit_count_ || exponent_ > 19) return std::nullopt;
  const Uint128 magnitude = digits_ * power_of_ten(exponent_ - digit_count_);
  constexpr Uint128 kLimit = Uint128{1} << 63;
  if (magnitude > (negative_ ? kLimit : kLimit - 1)) return std::nullopt;
  const auto bits = static_cast<uint64_t>(magnitude);
  return static_cast<int64_t>(negative_ ? 0 - bits : bits);
}

double Number::to_double() const {
  if (is_zero()) return 0;
  char text[64];
  char* end = text;
  if (negative_) *end++ = '-';
  end = write_digits(end, digits_);
  *end++ = 'e';
  end = std::to_chars(end, text + sizeof(text), exponent_ - digit_count_).ptr;
  double value = 0;
  std::from_chars(text, end, value);
  return value;
}

// Both operands become integers in units of 10^low, the place of the last digit of either. If they
// span more than 39 places, the sum has more than 38 digits: its last digit stays, and its first
// one moves down by at most one place. If they span 39 places, a sum of at most 38 digits requires
// that the larger operand begins with 1. Then 128 bits hold it.
Result<Number> Number::plus(const Number& other) const {
  if (is_zero()) return other;
  if (other.is_zero()) return *this;
  const int own_low = exponent_ - digit_count_;
  const int other_low = other.exponent_ - other.digit_count_;
  const int low = std::min(own_low, other_low);
  const int places = std::max(exponent_, other.exponent_) - low;
  const bool subtracts = negative_ != other.negative_;
  if (places > kDigitsMax) {
    const Number& larger = exponent_ > other.exponent_ ? *this : other;
    if (places > kDigitsMax + 1) return too_many_digits();
    if (larger.digits_ >= 2 * power_of_ten(larger.digit_count_ - 1)) return too_many_digits();
  }
  const Uint128 own = digits_ * power_of_ten(own_low - low);
  const Uint128 others = other.digits_ * power_of_ten(other_low - low);

  const bool own_is_larger = own >= others;
  const Uint128 sum = !subtracts ? own + others : own_is_larger ? own - others : others - own;
  if (sum == 0) return Number();

  Number result;
  const int exponent = low + count_digits(sum);
  const Uint128 digits = strip_trailing_zeros(sum);
  const int digit_count = count_digits(digits);
  if (digit_count > kDigitsMax) return too_many_digits();
  if (exponent > kExponentMax) return overflow();
  if (exponent < kExponentMin) return number_underflow();
  result.negative_ = own_is_larger ? negative_ : other.negative_;
  result.exponent_ = static_cast<int16_t>(exponent);
  result.digits_ = digits;
  result.digit_count_ = static_cast<uint8_t>(digit_count);
  return result;
}

Result<Number> Number::minus(const Number& other) const {
  return plus(other.negated());
}

Number Number::negated() const {
  Number result = *this;
  result.negative_ = !negative_ && !is_zero();
  return result;
}

std::strong_ordering Number::operator<=>(const Number& other) const {
  if (negative_ != other.negative_) {
    return negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (is_zero() || other.is_zero()) {
    const auto order = digit_count_ <=> other.digit_count_;
    return negative_ ? 0 <=> order : order;
  }
  std::strong_ordering order = exponent_ <=> other.exponent_;
  if (order == std::strong_ordering::equal) {
    const int places = std::max(digit_count_, other.digit_count_);
    order = digits_ * power_of_ten(places - digit_count_) <=>
            other.digits_ * power_of_ten(places - other.digit_count_);
  }
  return negative_ ? 0 <=> order : order;
}

Number::Parts Number::parts() const {
  Parts parts{.negative = negative_, .exponent = exponent_, .digit_count = digit_count_};
  constexpr uint64_t kChunk = 1'000'000'000'000'000'000U;  // 10^18, nine pairs
  Uint128 rest = digit_count_ % 2 == 0 ? digits_ : digits_ * 10;
  int at = (digit_count_ + 1) / 2;
  while (static_cast<uint64_t>(rest >> 64) != 0) {
    auto chunk = static_cast<uint64_t>(rest % kChunk);
    rest /= kChunk;
    for (int i = 0; i < 9; ++i) {
      parts.pairs[--at] = static_cast<uint8_t>(chunk % 100);
      chunk /= 100;
    }
  }
  for (auto chunk = static_cast<uint64_t>(rest); at > 0; chunk /= 100) {
    parts.pairs[--at] = static_cast<uint8_t>(chunk % 100);
  }
  return parts;
}

Number Number::from_parts(const Parts& parts) {
  Number number;
  if (parts.digit_count == 0) return number;
  const int pair_count = std::min((parts.digit_count + 1) / 2, 19);
  Uint128 digits = 0;
  for (int i = 0; i < pair_count;) {
    uint64_t chunk = 0;
    const int first = i;
    for (; i < pair_count && i < first + 9; ++i) chunk = chunk * 100 + parts.pairs[i];
    digits = digits * power_of_ten(2 * (i - first)) + chunk;
  }
  number.negative_ = parts.negative;
  number.digit_count_ = parts.digit_count;
  number.exponent_ = parts.exponent;
  number.digits_ = parts.digit_count % 2 == 0 ? digits : digits / 10;
  return number;
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// Parameters of statements, in PostgreSQL's binary format.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stator::postgres {

// The object id of the type of an array's elements.
enum class ElementType : uint32_t { kBool = 16, kBytea = 17, kInt8 = 20, kInt4 = 23 };

// An array of one dimension.
class ArrayValue {
 public:
  explicit ArrayValue(ElementType type);

  void add_bytes(std::string_view bytes);
  void add_int4(int32_t value);
  void add_int8(int64_t value);
  void add_bool(bool value);
  uint32_t count() const { return count_; }
  // Valid until the next call.
  std::string_view encoded();

 private:
  std::string bytes_;
  uint32_t count_ = 0;
};

// The parameters of one statement, in order. Borrowed arguments must live until the statement is
// sent.
class Parameters {
 public:
  static constexpr std::size_t kMax = 32;

  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  Parameters& bytes(std::string_view borrowed);
  Parameters& array(ArrayValue& borrowed) { return bytes(borrowed.encoded()); }
  Parameters& int4(int32_t value);
  Parameters& int8(int64_t value);
  Parameters& boolean(bool value);

  int count() const { return static_cast<int>(count_); }
  const char* const* values() const { return values_.data(); }
  const int* lengths() const { return lengths_.data(); }

 private:
  Parameters& number(uint64_t value, std::size_t size);

  std::size_t count_ = 0;
  std::array<const char*, kMax> values_{};
  std::array<int, kMax> lengths_{};
  std::array<std::array<char, sizeof(int64_t)>, kMax> numbers_{};
};

}  // namespace stator::postgres

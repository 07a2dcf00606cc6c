// SPDX-License-Identifier: Apache-2.0
// An array begins with five 4-byte numbers: dimensions, whether it has nulls, the element type, the
// number of elements, and the first index. An empty array has no dimensions and only the first
// three numbers. Each element is a length and bytes.
#include "storage/postgres/binary_values.h"

#include "base/big_endian.h"
#include "base/check.h"

namespace stator::postgres {
namespace {

constexpr std::size_t kEmptyBytes = 12;

}  // namespace

ArrayValue::ArrayValue(ElementType type) {
  append_big_endian(bytes_, uint32_t{0});
  append_big_endian(bytes_, uint32_t{0});
  append_big_endian(bytes_, static_cast<uint32_t>(type));
  append_big_endian(bytes_, uint32_t{0});
  append_big_endian(bytes_, uint32_t{1});
}

void ArrayValue::add_bytes(std::string_view bytes) {
  ++count_;
  append_big_endian(bytes_, static_cast<uint32_t>(bytes.size()));
  bytes_.append(bytes);
}

void ArrayValue::add_int4(int32_t value) {
  ++count_;
  append_big_endian(bytes_, uint32_t{sizeof value});
  append_big_endian(bytes_, static_cast<uint32_t>(value));
}

void ArrayValue::add_int8(int64_t value) {
  ++count_;
  append_big_endian(bytes_, uint32_t{sizeof value});
  append_big_endian(bytes_, static_cast<uint64_t>(value));
}

void ArrayValue::add_bool(bool value) {
  ++count_;
  append_big_endian(bytes_, uint32_t{1});
  bytes_.push_back(value ? 1 : 0);
}

std::string_view ArrayValue::encoded() {
  if (count_ == 0) return std::string_view(bytes_).substr(0, kEmptyBytes);
  put_big_endian(bytes_.data(), 4, 1);
  put_big_endian(bytes_.data() + kEmptyBytes, 4, count_);
  return bytes_;
}

Parameters& Parameters::bytes(std::string_view borrowed) {
  STATOR_CHECK(count_ < kMax);
  values_[count_] = borrowed.empty() ? "" : borrowed.data();
  lengths_[count_] = static_cast<int>(borrowed.size());
  ++count_;
  return *this;
}

Parameters& Parameters::int4(int32_t value) {
  return number(static_cast<uint32_t>(value), sizeof value);
}

Parameters& Parameters::int8(int64_t value) {
  return number(static_cast<uint64_t>(value), sizeof value);
}

Parameters& Parameters::boolean(bool value) {
  return number(value ? 1 : 0, 1);
}

Parameters& Parameters::number(uint64_t value, std::size_t size) {
  STATOR_CHECK(count_ < kMax);
  char* const number = numbers_[count_].data();
  put_big_endian(number, size, value);
  return bytes({number, size});
}

}  // namespace stator::postgres

// SPDX-License-Identifier: Apache-2.0
// Order-preserving bytes for key attributes. docs/formats/keys.md.
//
// append_*: unsigned byte order of the keys is DynamoDB's order of the values (text by UTF-8 bytes,
// binaries unsigned, numbers by value). Each component is self-delimiting: no encoded key is a
// prefix of another one of the same shape, whatever bytes the values contain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/prefix_end.h"
#include "stator/requests.h"
#include "stator/value.h"
#include "value/encoded.h"

namespace stator {

// The bytes of a number, 1 to 21; byte order is numeric order.
std::string number_key(const Number& number);
void append_number_key(std::string& key, const Number& number);
Number number_from_key(std::string_view bytes);  // zero for bytes that are not a number_key
// Writes the number of a number_key in the form of Number::to_string(), without building a Number,
// and returns the end. `out` must have space for kNumberTextMax characters.
inline constexpr std::size_t kNumberTextMax = 180;
char* write_number_text(char* out, std::string_view number_key);
// Length of the self-delimiting number_key at the front of `bytes`; 0 if there is none.
std::size_t number_key_length(std::string_view bytes);

// The decimal places (10^place) of a number's first and last significant digit.
struct NumberPlaces {
  bool negative = false;
  int first = -1;  // below `last`: zero, or bytes that are not a number_key
  int last = 0;
};
NumberPlaces number_key_places(std::string_view bytes);

AttributeType attribute_type(ScalarType type);

// Appends one self-delimited component. The value is S, N or B.
void append_key_component(std::string& key, const AttributeValue& value);
void append_key_component(std::string& key, ValueView value);
// Removes and returns the first component of `key`. Errors: kCorruption if it is not of that type.
Result<AttributeValue> take_key_component(std::string_view& key, AttributeType type);
// Appends the common prefix of all components whose values begin with `prefix` (S or B): the
// component of `prefix` without its terminator.
void append_key_prefix(std::string& key, const AttributeValue& prefix);

using Hash128 = std::array<uint8_t, 16>;
// SipHash-2-4 with 128 bits, keyed, so that chosen keys cannot collide.
Hash128 hash128(const Hash128& secret, std::string_view bytes);

}  // namespace stator

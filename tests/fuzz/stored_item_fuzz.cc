// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stored item: refused, or read in full and written back to the same bytes.
#include <cstdlib>

#include "value/encoded.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!stator::validate_item(bytes)) return 0;
  const stator::ItemView view(bytes);
  (void)stator::item_size_bytes(view);
  if (stator::encode_item(stator::decode_item(view)) != bytes) std::abort();
  return 0;
}

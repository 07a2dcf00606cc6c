// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stored item. They are rejected, or are read completely and written back to the
// same bytes. The bytes and the decoded item give the same JSON, which reads back to the same item.
#include "api/json/item_json.h"
#include "api/json/json_writer.h"
#include "api/wire/wire.h"
#include "base/check.h"
#include "value/encoded.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!stator::validate_item(bytes)) return 0;
  const stator::ItemView view(bytes);
  const stator::Item item = stator::decode_item(view);
  STATOR_CHECK(stator::encode_item(item) == bytes);
  STATOR_CHECK(view.attribute_count() == item.size());
  for (const auto& [name, value] : item) {
    const auto found = view.find(name);
    STATOR_CHECK(found && stator::decode_value(*found) == value);
    STATOR_CHECK(stator::encode_value(value) == found->bytes());
  }
  (void)stator::item_size_bytes(view);

  stator::wire::JsonWriter json;
  json.item(view);
  const std::string text = std::move(json).finish();
  STATOR_CHECK(stator::wire::item_to_json(item) == text);
  // Text that is not UTF-8, and sets that DynamoDB rejects, can be stored but not sent.
  const auto again = stator::wire::item_from_json(text);
  STATOR_CHECK(!again || *again == item);
  return 0;
}

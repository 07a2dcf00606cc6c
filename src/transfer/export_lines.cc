// SPDX-License-Identifier: Apache-2.0
#include "transfer/export_lines.h"

#include "api/json/json_writer.h"
#include "transfer/ion_text.h"

namespace stator::transfer {

std::string line_of(DataFormat format, const Item& item) {
  if (format == DataFormat::kIon) {
    std::string line = "$ion_1_0 {Item:";
    append_ion(line, item);
    return line += "}\n";
  }
  std::string line =
      wire::write_document([&](wire::JsonWriter& json) { json.key("Item").item(item); });
  return line += '\n';
}

std::string line_of(DataFormat format, const ItemChange& change) {
  if (format == DataFormat::kIon) {
    Map record{{"Keys", change.keys},
               {"Metadata", Map{{"WriteTimestampMicros", change.written_us}}}};
    if (change.old_image) record.emplace("OldImage", *change.old_image);
    if (change.new_image) record.emplace("NewImage", *change.new_image);
    std::string line = "$ion_1_0 {Record:";
    append_ion(line, record);
    return line += "}\n";
  }
  std::string line = wire::write_document([&](wire::JsonWriter& json) {
    json.key("Metadata").item(Item{{"WriteTimestampMicros", change.written_us}});
    json.key("Keys").item(change.keys);
    if (change.old_image) json.key("OldImage").item(*change.old_image);
    if (change.new_image) json.key("NewImage").item(*change.new_image);
  });
  return line += '\n';
}

}  // namespace stator::transfer

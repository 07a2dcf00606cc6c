// SPDX-License-Identifier: Apache-2.0
// Files of imports. Any content is read to its end, with the same result from any position. Items
// that are read are written again and must read back. The first byte selects the format and the
// compression.
#include <string>
#include <vector>

#include "base/check.h"
#include "transfer/export_lines.h"
#include "transfer/item_reader.h"

namespace {

using namespace stator::transfer;  // NOLINT(google-build-using-namespace)

struct Read {
  std::vector<stator::Item> items;
  std::vector<uint64_t> positions;
};

Read read(const std::string& bytes, DataFormat format, Compression compression,
          uint64_t position = 0) {
  const CsvOptions csv{.key_types = {{"n", stator::ScalarType::kN}, {"b", stator::ScalarType::kB}}};
  Read read;
  auto reader = read_items(bytes_of(bytes), format, compression, csv, position);
  STATOR_CHECK(reader.has_value());
  for (Found found = {}; found != Found::kEnd;) {
    const uint64_t before = (*reader)->position();
    found = (*reader)->next();
    STATOR_CHECK((*reader)->position() >= before);
    if (found == Found::kDamaged) STATOR_CHECK((*reader)->next() == Found::kEnd);
    if (found != Found::kItem) continue;
    read.items.push_back((*reader)->item());
    read.positions.push_back((*reader)->position());
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto format = static_cast<DataFormat>(data[0] % 3);
  const auto compression = static_cast<Compression>(data[0] / 3 % 3);
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Read all = read(bytes, format, compression);
  if (all.items.empty()) return 0;
  const std::size_t middle = all.items.size() / 2;
  const Read rest = read(bytes, format, compression, all.positions[middle]);
  STATOR_CHECK(std::vector<stator::Item>(
                   all.items.begin() + static_cast<std::ptrdiff_t>(middle) + 1, all.items.end()) ==
               rest.items);
  for (const DataFormat written : {DataFormat::kDynamoDbJson, DataFormat::kIon}) {
    const Read back = read(line_of(written, all.items[middle]), written, Compression::kNone);
    STATOR_CHECK(back.items == std::vector{all.items[middle]});
  }
  return 0;
}

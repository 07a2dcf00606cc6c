// SPDX-License-Identifier: Apache-2.0
#include "cli/item_output.h"

#include <gtest/gtest.h>

#include <memory>

namespace stator::cli {
namespace {

std::string printed(const std::string& format, std::vector<Item> items) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  {
    ItemOutput output(file, format, {"pk", "absent"});
    for (Item& item : items) output.add(std::move(item));
  }
  std::fclose(file);
  std::string result(text, size);
  std::free(text);
  return result;
}

const Item kFirst{{"a", "x, \"y\""}, {"pk", 7}, {"list", List{1, "é"}}};
const Item kSecond{{"pk", "ä\tb"}, {"raw", Binary{"\x01"}}};

TEST(ItemOutput, AlignsColumnsOfATable) {
  EXPECT_EQ(printed("table", {kFirst, kSecond}),
            "pk   a       list     raw\n"
            "7    x, \"y\"  [1,\"é\"]\n"
            "ä b                   AQ==\n");
  EXPECT_EQ(printed("table", {}), "");
}

TEST(ItemOutput, CutsWideCells) {
  EXPECT_EQ(printed("table", {{{"pk", std::string(100, 'x')}}}),
            "pk\n" + std::string(39, 'x') + "…\n");
}

TEST(ItemOutput, PrintsJsonForScripts) {
  const std::string first = R"({"a":"x, \"y\"","list":[1,"é"],"pk":7})";
  EXPECT_EQ(printed("lines", {kFirst, {{"pk", 1}}}), first + "\n{\"pk\":1}\n");
  EXPECT_EQ(printed("json", {kFirst, {{"pk", 1}}}), "[" + first + ",\n {\"pk\":1}]\n");
  EXPECT_EQ(printed("json", {}), "[]\n");
  EXPECT_EQ(printed("dynamodb", {{{"pk", 1}}}), "{\"pk\":{\"N\":\"1\"}}\n");
}

TEST(ItemOutput, QuotesFieldsOfCsv) {
  EXPECT_EQ(printed("csv", {kFirst, kSecond}),
            "pk,a,list,raw\r\n7,\"x, \"\"y\"\"\",\"[1,\"\"é\"\"]\",\r\nä\tb,,,AQ==\r\n");
  EXPECT_EQ(printed("csv", {{{"a", ""}}}), "a\r\n\r\n");
}

}  // namespace
}  // namespace stator::cli

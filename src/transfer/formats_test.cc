// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <rapidcheck/gtest.h>

#include "support/matchers.h"
#include "transfer/export_lines.h"
#include "transfer/ion_text.h"
#include "transfer/item_reader.h"
#include "value/value_generators.h"

namespace stator::transfer {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::HasSubstr;

std::string gzip(const std::string& text) {
  std::string folded(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(folded.data());
  stream.avail_out = static_cast<uInt>(folded.size());
  deflate(&stream, Z_FINISH);
  folded.resize(folded.size() - stream.avail_out);
  deflateEnd(&stream);
  return folded;
}

std::string zstd(const std::string& text) {
  std::string folded(ZSTD_compressBound(text.size()), '\0');
  folded.resize(ZSTD_compress(folded.data(), folded.size(), text.data(), text.size(), 1));
  return folded;
}

std::string folded(const std::string& text, Compression compression) {
  return compression == Compression::kGzip   ? gzip(text)
         : compression == Compression::kZstd ? zstd(text)
                                             : text;
}

// The items of a file, and the errors of the others ("!" marks the one that ends the file).
struct Read {
  std::vector<Item> items;
  std::vector<std::string> errors;
  int pauses = 0;  // calls that found nothing
  uint64_t start = 0;
  std::vector<uint64_t> positions;
};

Read read(const std::string& bytes, DataFormat format, Compression compression = {},
          const CsvOptions& csv = {}, uint64_t position = 0) {
  Read read;
  auto reader = read_items(bytes_of(bytes), format, compression, csv, position);
  EXPECT_THAT(reader, IsOk());
  read.start = (*reader)->position();
  while (true) {
    switch ((*reader)->next()) {
      case Found::kEnd:
        return read;
      case Found::kNothing:
        ++read.pauses;
        break;
      case Found::kItem:
        read.items.push_back((*reader)->item());
        read.positions.push_back((*reader)->position());
        break;
      case Found::kNoItem:
        read.errors.push_back((*reader)->error().message);
        break;
      case Found::kDamaged:
        read.errors.push_back("!" + (*reader)->error().message);
        break;
    }
  }
}

Item everything(int64_t id) {
  return {{"pk", "key \"quoted\" \\ \n\t\x01 é 😀"},
          {"id", id},
          {"a name with 'quotes'", *Number::parse("-1.5e-7")},
          {"null", Null{}},
          {"true", true},
          {"bytes", Binary{std::string("\0\xff\n", 3)}},
          {"empty", ""},
          {"texts", StringSet{"a", "b"}},
          {"numbers", NumberSet{1, *Number::parse("2.50"), *Number::parse("3e40")}},
          {"binaries", BinarySet{Binary{"x"}, Binary{"y"}}},
          {"list", List{1, "two", List{}, Map{}, Null{}}},
          {"map", Map{{"in", Map{{"deep", false}}}, {"0digit", 0}}}};
}

class Formats : public ::testing::TestWithParam<std::tuple<DataFormat, Compression>> {};
INSTANTIATE_TEST_SUITE_P(
    Each, Formats,
    ::testing::Combine(::testing::Values(DataFormat::kDynamoDbJson, DataFormat::kIon),
                       ::testing::Values(Compression::kNone, Compression::kGzip,
                                         Compression::kZstd)));

TEST_P(Formats, EachTypeReadsBackAsItWasWritten) {
  const auto [format, compression] = GetParam();
  std::string text;
  std::vector<Item> items;
  for (int i = 0; i < 3000; ++i) items.push_back(everything(i));
  for (const Item& item : items) text += line_of(format, item);
  const Read back = read(folded(text, compression), format, compression);
  EXPECT_EQ(back.items, items);
  EXPECT_TRUE(back.errors.empty());
  EXPECT_EQ(back.positions.back(), text.size());
}

TEST_P(Formats, ReadingResumesAtTheEndOfAnotherReader) {
  const auto [format, compression] = GetParam();
  std::string text;
  for (int i = 0; i < 20; ++i) text += line_of(format, everything(i));
  const std::string bytes = folded(text, compression);
  const Read all = read(bytes, format, compression);
  for (std::size_t i = 0; i < 20; ++i) {
    const Read rest = read(bytes, format, compression, {}, all.positions[i]);
    EXPECT_EQ(rest.items.size(), 19 - i);
    EXPECT_TRUE(rest.errors.empty());
    EXPECT_EQ(rest.start, all.positions[i]);
  }
  EXPECT_THAT(read(bytes, format, compression, {}, text.size() + 1).errors,
              ::testing::ElementsAre("!input ends before the position to resume at"));
}

TEST_P(Formats, TruncatedAndDamagedFilesAreErrorsWithoutMoreItems) {
  const auto [format, compression] = GetParam();
  if (compression == Compression::kNone) return;
  std::string text;
  for (int i = 0; i < 300; ++i) text += line_of(format, everything(i));
  const std::string bytes = folded(text, compression);
  for (const std::size_t length : {std::size_t{3}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_THAT(read(bytes.substr(0, length), format, compression).errors,
                ::testing::ElementsAre("!the compressed data is truncated"));
  }
  EXPECT_THAT(read(text, format, compression).errors,
              ::testing::ElementsAre(HasSubstr("or damaged")));
  EXPECT_TRUE(read("", format, compression).errors.empty());
  EXPECT_EQ(read(bytes + bytes, format, compression).items.size(), 600);
}

RC_GTEST_PROP(Formats, AnyItemReadsBackFromJsonAndIon, ()) {
  // Both formats are UTF-8, so random strings become binary values.
  const auto ascii = [](auto&& self, const AttributeValue& value) -> AttributeValue {
    if (const auto* list = value.get_if<List>()) {
      List kept;
      for (const auto& element : *list) kept.push_back(self(self, element));
      return kept;
    }
    if (const auto* map = value.get_if<Map>()) {
      Map kept;
      int i = 0;
      for (const auto& [name, member] : *map) kept["n " + std::to_string(i++)] = self(self, member);
      return kept;
    }
    if (const auto* text = value.get_if<std::string>()) return Binary{*text};
    if (value.is<StringSet>() || value == AttributeValue(NumberSet())) return true;
    return value;
  };
  const Item item = *ascii(ascii, *stator::test::any_map(4)).get_if<Map>();
  for (const DataFormat format : {DataFormat::kDynamoDbJson, DataFormat::kIon}) {
    const Read back = read(line_of(format, item), format);
    RC_ASSERT(back.errors.empty());
    RC_ASSERT(back.items == std::vector<Item>{item});
  }
}

TEST(JsonLines, SeveralItemsCanBeOnOneLine) {
  const std::string item = R"({"Item":{"pk":{"S":"a}\"{"}}})";
  EXPECT_EQ(
      read(item + item + " " + item + "\r\n\n" + item, DataFormat::kDynamoDbJson).items.size(), 4);
}

TEST(JsonLines, SkipsInvalidItemsAndEndsAtMalformedJson) {
  const std::string item = "{\"Item\":{\"pk\":{\"S\":\"a\"}}}\n";
  const Read mixed =
      read(item + "{\"pk\":{\"S\":\"a\"}}\n{\"Item\":{\"pk\":{\"N\":\"x\"}}}\n" + item,
           DataFormat::kDynamoDbJson);
  EXPECT_EQ(mixed.items.size(), 2);
  EXPECT_THAT(mixed.errors,
              ::testing::ElementsAre("the member 'Item' is missing", HasSubstr("numeric")));
  for (const char* garbage : {"garbage", "{\"Item\":", "[1]", "{\"Item\":{}]}", "{,}"}) {
    const Read cut = read(item + garbage + "\n" + item, DataFormat::kDynamoDbJson);
    EXPECT_EQ(cut.items.size(), 1) << garbage;
    EXPECT_EQ(cut.errors.size(), 1) << garbage;
    EXPECT_EQ(cut.errors[0][0], '!') << garbage;
  }
}

TEST(JsonLines, ALineHasALimit) {
  const Read read_back = read(std::string(kRecordBytesMax + 1, '['), DataFormat::kDynamoDbJson);
  EXPECT_THAT(read_back.errors, ::testing::ElementsAre("!a line is too long"));
}

TEST(JsonLines, ACallThatFindsNoRecordHasABound) {
  const std::string item = line_of(DataFormat::kDynamoDbJson, Item{{"pk", "a"}});
  const std::string empty(4 * ItemReader::kNothingBytesMax, '\n');
  const Read all = read(item + empty + item, DataFormat::kDynamoDbJson);
  EXPECT_EQ(all.items.size(), 2);
  EXPECT_EQ(all.pauses, 4);
  const Read resumed =
      read(item + empty + item, DataFormat::kDynamoDbJson, {}, {}, item.size() + empty.size());
  EXPECT_EQ(resumed.items.size(), 1);
  EXPECT_EQ(resumed.pauses, 4);
  EXPECT_TRUE(resumed.errors.empty());
}

TEST(Compressions, RejectsImplausibleDecompressedSizes) {
  std::string bomb;
  for (int i = 0; i < 40; ++i) bomb += zstd(std::string(4UL << 20, '\n'));
  const Read unfolded = read(bomb, DataFormat::kDynamoDbJson, Compression::kZstd);
  EXPECT_THAT(unfolded.errors,
              ::testing::ElementsAre("!decompressed size exceeds 1,100 times the input"));
}

TEST(Ion, IsWrittenAsInDynamoDb) {
  const Item item{{"Authors", StringSet{"Author1", "Author2"}},
                  {"Id", 103},
                  {"PageCount", 600},
                  {"Price", 2000},
                  {"Rate", *Number::parse("-0.25")},
                  {"Tiny", *Number::parse("1.5e-9")},
                  {"Half", *Number::parse("12.5")},
                  {"Zero", 0},
                  {"Odd name", List{}},
                  {"Bytes", Binary{"ab"}}};
  EXPECT_EQ(line_of(DataFormat::kIon, item),
            "$ion_1_0 {Item:{Authors:$dynamodb_SS::[\"Author1\",\"Author2\"],Bytes:{{YWI=}},"
            "Half:12.5,Id:103.,'Odd name':[],PageCount:6d2,Price:2d3,Rate:-25d-2,Tiny:15d-10,"
            "Zero:0.}}\n");
}

TEST(Ion, ReadsTheOutputOfOtherWriters) {
  const std::string text =
      R"($ion_1_0 { "Item" : { 'pk' : "a\x41\u00e9\U0001F600\ud83d\ude00\/", n: 1.50d1 , m : -3,
)";
  const Read read_back =
      read(text.substr(0, text.size() - 1) +
               R"( nothing: null.string, b : {{ YW I= }}, s: $dynamodb_NS::[1, 2.0,], }, })",
           DataFormat::kIon);
  EXPECT_THAT(read_back.errors, ::testing::IsEmpty());
  EXPECT_EQ(read_back.items, (std::vector<Item>{{{"pk", "aAé😀😀/"},
                                                 {"n", 15},
                                                 {"m", -3},
                                                 {"nothing", Null{}},
                                                 {"b", Binary{"ab"}},
                                                 {"s", NumberSet{1, 2}}}}));
}

TEST(Ion, DistinguishesInvalidValuesFromMalformedIon) {
  const std::string item = "$ion_1_0 {Item:{pk:\"a\"}}\n";
  for (const char* invalid : {"{Item:[1]}", "{Record:{}}", "{Item:{a:other::[1]}}",
                              "{Item:{a:$dynamodb_SS::[1.]}}", "{Item:{a:$dynamodb_NS::[1.,1.]}}",
                              "{Item:{a:[1.2.3, 4.]}}", "{Item:{a:$dynamodb_SS::[]}}"}) {
    const Read read_back = read(item + invalid + "\n" + item, DataFormat::kIon);
    EXPECT_EQ(read_back.items.size(), 2) << invalid;
    EXPECT_EQ(read_back.errors.size(), 1) << invalid;
  }
  for (const char* damaged :
       {"{Item:{a:}", "{Item:{a:\"b}}", "{Item:{a:symbol}}", "{Item:{a:{{a}}}}",
        "{Item:{a:\"\\ud800\"}}", "{Item:{a:\"\\q\"}}", "\xff", "]", "{Item:{a:'b'::1}}"}) {
    const Read read_back = read(item + damaged + "\n" + item, DataFormat::kIon);
    EXPECT_EQ(read_back.items.size(), 1) << damaged;
    EXPECT_EQ(read_back.errors.size(), 1) << damaged;
  }
  EXPECT_THAT(read(std::string(100'000, '['), DataFormat::kIon).errors,
              ::testing::ElementsAre("!item nested more than 32 levels deep"));
}

TEST(Csv, IsReadByDynamoDbsRules) {
  const CsvOptions keys{.key_types = {{"n", ScalarType::kN}, {"b", ScalarType::kB}}};
  const Read plain =
      read("pk,n,text\r\na,1.0,\"say \"\"hi\"\", \n you\"\n\nb,2,\n", DataFormat::kCsv, {}, keys);
  EXPECT_THAT(plain.errors, ::testing::IsEmpty());
  EXPECT_EQ(plain.items, (std::vector<Item>{{{"pk", "a"}, {"n", 1}, {"text", "say \"hi\", \n you"}},
                                            {{"pk", "b"}, {"n", 2}, {"text", ""}}}));
  const Read given = read("a;1\nb;YWI=\n", DataFormat::kCsv, {},
                          {.delimiter = ';', .header = {"pk", "b"}, .key_types = keys.key_types});
  EXPECT_EQ(given.items, (std::vector<Item>{{{"pk", "b"}, {"b", Binary{"ab"}}}}));
  EXPECT_THAT(given.errors, ::testing::ElementsAre("binary key is not in base64"));
  const Read bad =
      read("pk,n\na\nb,x\nc,1,2\n5\" wide,1\n\"q\"x,1\nd,4\n\xff,1\n", DataFormat::kCsv, {}, keys);
  EXPECT_EQ(bad.items, (std::vector<Item>{{{"pk", "d"}, {"n", 4}}}));
  EXPECT_EQ(bad.errors.size(), 6);
  EXPECT_THAT(read("pk,pk\na,b\n", DataFormat::kCsv).errors,
              ::testing::ElementsAre("!column names in the header must be unique and not empty"));
  EXPECT_THAT(read("pk,n\n\"a,1\nb,2\n", DataFormat::kCsv).errors,
              ::testing::ElementsAre("!a quote is open at the end"));
}

TEST(Csv, ReadingResumesAfterTheHeader) {
  const std::string text = "\n\r\npk,n\na,1\n\"b\nb\",2\nc,3\n";
  const Read all = read(text, DataFormat::kCsv);
  ASSERT_EQ(all.positions.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Read rest = read(text, DataFormat::kCsv, {}, {}, all.positions[i]);
    EXPECT_EQ(rest.items, std::vector<Item>(all.items.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                            all.items.end()));
  }
}

TEST(FileNames, DetermineFormatAndCompression) {
  EXPECT_EQ(kind_of_file("data/x.json.gz").format, DataFormat::kDynamoDbJson);
  EXPECT_EQ(kind_of_file("data/x.json.gz").compression, Compression::kGzip);
  EXPECT_EQ(kind_of_file("x.ion").format, DataFormat::kIon);
  EXPECT_EQ(kind_of_file("x.csv.zst").compression, Compression::kZstd);
  EXPECT_EQ(kind_of_file("x.csv.zst").format, DataFormat::kCsv);
  EXPECT_EQ(kind_of_file("_started").format, std::nullopt);
}

}  // namespace
}  // namespace stator::transfer

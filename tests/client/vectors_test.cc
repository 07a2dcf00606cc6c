// SPDX-License-Identifier: Apache-2.0
// Vector indexes and SearchVectors.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "client/client_test.h"
#include "support/from_environment.h"
#include "support/vectors.h"

namespace stator::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Vector = std::vector<float>;

VectorIndexDefinition vectors_on(std::string name, int64_t dimensions,
                                 std::vector<SearchSchemaElement> schema = {},
                                 Projection projection = {}) {
  return {.name = std::move(name),
          .vector_attribute = "vector",
          .search_schema = std::move(schema),
          .projection = std::move(projection),
          .dimensions = dimensions};
}

constexpr auto kHash = SearchSchemaElementType::kHash;
constexpr auto kInlineFilter = SearchSchemaElementType::kInlineFilter;

// Has an index "near" with a HASH element "tenant" S, and the filter "grade" N.
CreateTableRequest table_of_tenants(int64_t dimensions) {
  CreateTableRequest request = hash_table("Things");
  request.attributes.push_back({"tenant", ScalarType::kS});
  request.attributes.push_back({"grade", ScalarType::kN});
  request.vector_indexes = {
      vectors_on("near", dimensions, {{"tenant", kHash}, {"grade", kInlineFilter}})};
  return request;
}

class Vectors : public ClientTest {
 protected:
  Result<SearchVectorsResult> search(SearchVectorsRequest request) {
    if (request.table.empty()) request.table = "Things";
    if (request.index.empty()) request.index = "near";
    if (request.top_k == 0) request.top_k = 10;
    return client_.search_vectors(request);
  }
  std::vector<std::string> found(const SearchVectorsRequest& request) {
    const auto result = search(request);
    EXPECT_THAT(result, IsOk());
    std::vector<std::string> keys;
    if (!result) return keys;
    for (const SearchResult& one : result->results) {
      keys.push_back(*one.item.at("pk").get_if<std::string>());
    }
    return keys;
  }
  std::vector<float> scores(const SearchVectorsRequest& request) {
    const auto result = search(request);
    EXPECT_THAT(result, IsOk());
    std::vector<float> scores;
    if (!result) return scores;
    for (const SearchResult& one : result->results) scores.push_back(one.score);
    return scores;
  }
  VectorIndexDescription described(const std::string& index) {
    const auto result = client_.describe_table({.table = "Things"});
    EXPECT_THAT(result, IsOk());
    if (!result) return {};
    const auto& all = result->table.vector_indexes;
    const auto one = std::ranges::find_if(
        all, [&](const auto& description) { return description.definition.name == index; });
    return one == all.end() ? VectorIndexDescription() : *one;
  }
};
STATOR_IN_EACH_HOME(Vectors);

// ---- Comparison with a model

struct Model {
  std::map<std::string, Item> items;

  static double score(VectorDistanceFunction function, const Vector& one, const Vector& other) {
    double products = 0;
    double squares = 0;
    double others = 0;
    double differences = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      products += double{one[i]} * other[i];
      squares += double{one[i]} * one[i];
      others += double{other[i]} * other[i];
      differences += std::pow(double{one[i]} - other[i], 2);
    }
    switch (function) {
      case VectorDistanceFunction::kCosine:
        return squares * others == 0 ? 1 : 1 - products / std::sqrt(squares * others);
      case VectorDistanceFunction::kDotProduct:
        return products;
      case VectorDistanceFunction::kEuclidean:
        return std::sqrt(differences);
    }
    return 0;
  }

  static Vector vector_in(const Item& item) {
    Vector vector;
    const auto found = item.find("vector");
    if (found == item.end()) return vector;
    for (const AttributeValue& component : *found->second.get_if<List>()) {
      vector.push_back(static_cast<float>(component.get_if<Number>()->to_double()));
    }
    return vector;
  }

  // The nearest first, among the items with the wanted attributes.
  std::vector<std::pair<double, std::string>> nearest(VectorDistanceFunction function,
                                                      const Vector& query,
                                                      const Item& wanted) const {
    std::vector<std::pair<double, std::string>> all;
    for (const auto& [key, item] : items) {
      const Vector vector = vector_in(item);
      if (vector.empty() || !item.contains("tenant")) continue;
      const bool selected = std::ranges::all_of(wanted, [&](const auto& attribute) {
        const auto there = item.find(attribute.first);
        return there != item.end() && there->second == attribute.second;
      });
      if (selected) all.emplace_back(score(function, query, vector), key);
    }
    std::ranges::sort(all);
    if (function == VectorDistanceFunction::kDotProduct) std::ranges::reverse(all);
    return all;
  }
};

TEST_P(Vectors, AreFoundAsTheyAreThroughoutARandomHistory) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr std::size_t kDimensions = 5;
  CreateTableRequest request = table_of_tenants(kDimensions);
  for (const auto& [name, function] : {std::pair("far", VectorDistanceFunction::kEuclidean),
                                       std::pair("dot", VectorDistanceFunction::kDotProduct)}) {
    VectorIndexDefinition index = request.vector_indexes->front();
    index.name = name;
    index.distance_function = function;
    index.projection.type = ProjectionType::kKeysOnly;
    request.vector_indexes->push_back(index);
  }
  create(request);

  const auto random_vector = [&] {
    Vector vector(kDimensions);
    for (float& component : vector) component = static_cast<float>(random() % 21) - 10;
    return vector;
  };
  const auto random_tenant = [&] { return "t" + std::to_string(random() % 3); };
  Model model;
  for (int step = 0; step < 300; ++step) {
    const std::string pk = std::to_string(random() % 25);
    const Item key{{"pk", pk}};
    Item item = key;
    if (random() % 6 != 0) item["vector"] = list_of(random_vector());
    if (random() % 6 != 0) item["tenant"] = random_tenant();
    if (random() % 3 != 0) item["grade"] = static_cast<int64_t>(random() % 3);
    item["note"] = step;
    switch (random() % 6) {
      case 0:
        ASSERT_THAT(client_.delete_item({.table = "Things", .key = key}), IsOk());
        model.items.erase(pk);
        break;
      case 1: {
        const Vector vector = random_vector();
        ASSERT_THAT(client_.update_item({.table = "Things",
                                         .key = key,
                                         .update = "SET vector = :v REMOVE tenant",
                                         .values = Values{{":v", list_of(vector)}}}),
                    IsOk());
        model.items.try_emplace(pk, key).first->second["vector"] = list_of(vector);
        model.items[pk].erase("tenant");
        break;
      }
      case 2: {
        const std::string tenant = random_tenant();
        ASSERT_THAT(client_.update_item({.table = "Things",
                                         .key = key,
                                         .update = "SET tenant = :t",
                                         .values = Values{{":t", tenant}}}),
                    IsOk());
        model.items.try_emplace(pk, key).first->second["tenant"] = tenant;
        break;
      }
      case 3:
        ASSERT_THAT(client_.transact_write_items({.items = {{.table = "Things", .item = item}}}),
                    IsOk());
        model.items[pk] = item;
        break;
      default:
        put("Things", item);
        model.items[pk] = item;
    }
    if (step % 5 != 0) continue;

    Item wanted{{"tenant", random_tenant()}};
    std::string condition = "tenant = :t";
    Values values{{":t", wanted["tenant"]}};
    if (random() % 2 == 0) {
      wanted["grade"] = static_cast<int64_t>(random() % 3);
      condition = "grade = :s AND tenant = :t";
      values[":s"] = wanted["grade"];
    }
    const Vector query = random_vector();
    for (const VectorIndexDefinition& index : *request.vector_indexes) {
      const auto result = search({.index = index.name,
                                  .vector = query,
                                  .top_k = 4,
                                  .condition = condition,
                                  .values = values});
      ASSERT_THAT(result, IsOk());
      const auto expected = model.nearest(index.distance_function, query, wanted);
      ASSERT_EQ(result->results.size(), std::min<std::size_t>(4, expected.size())) << step;
      for (std::size_t i = 0; i < result->results.size(); ++i) {
        const auto& [shown, score] = result->results[i];
        const std::string& shown_pk = *shown.at("pk").get_if<std::string>();
        ASSERT_NEAR(score, expected[i].first, 1e-4) << step;  // equal scores can have any order
        ASSERT_NEAR(
            score,
            Model::score(index.distance_function, query, Model::vector_in(model.items[shown_pk])),
            1e-4);
        EXPECT_EQ(shown.contains("note"),
                  index.name == "near" && model.items[shown_pk].contains("note"));
      }
    }
  }
}

// The score depends on the vector, and the item has the label: both must be from one write.
TEST_P(Vectors, AreFoundInOneStateWhileOthersWrite) {
  CreateTableRequest request = hash_table("Things");
  request.vector_indexes = {vectors_on("near", 1)};
  request.vector_indexes->front().distance_function = VectorDistanceFunction::kEuclidean;
  create(request);
  put("Things", {{"pk", "a"}, {"label", 0}, {"vector", list_of({0})}});
  // More rows, so that other writes come between reading the row of "a" and its item.
  for (int i = 0; i < 500; ++i) {
    put("Things", {{"pk", std::to_string(i)}, {"vector", list_of({1e9F})}});
  }
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 1; !done; ++i) {
      put("Things", {{"pk", "a"}, {"label", i}, {"vector", list_of({static_cast<float>(i)})}});
    }
  });
  int64_t latest = 0;
  for (int i = 0; i < 200; ++i) {
    const auto result = search({.vector = {0}, .top_k = 1});
    ASSERT_THAT(result, IsOk());
    ASSERT_EQ(result->results.size(), 1U);
    const int64_t label = *result->results[0].item.at("label").get_if<Number>()->to_int64();
    EXPECT_EQ(result->results[0].score, static_cast<float>(label));
    EXPECT_GE(label, latest);
    latest = label;
  }
  done = true;
  writer.join();
}

// ---- Results of a search

TEST_P(Vectors, AreAsManyAsARequestCanWant) {
  constexpr int kMost = 100;
  CreateTableRequest request = hash_table("Things");
  request.vector_indexes = {vectors_on("near", 1)};
  request.vector_indexes->front().distance_function = VectorDistanceFunction::kEuclidean;
  create(request);
  std::vector<float> distances;
  for (int i = 0; i < kMost; ++i) {
    put("Things", {{"pk", std::to_string(i)}, {"vector", list_of({static_cast<float>(i)})}});
    distances.push_back(static_cast<float>(i));
  }
  EXPECT_EQ(scores({.vector = {0}, .top_k = kMost}), distances);
}

TEST_P(Vectors, AreOrderedByDistance) {
  CreateTableRequest request = hash_table("Things");
  VectorIndexDefinition far = vectors_on("far", 2);
  far.distance_function = VectorDistanceFunction::kEuclidean;
  VectorIndexDefinition dot = vectors_on("dot", 2);
  dot.distance_function = VectorDistanceFunction::kDotProduct;
  request.vector_indexes = {vectors_on("near", 2), far, dot};
  create(request);
  put("Things", {{"pk", "same"}, {"vector", list_of({1, 0})}});
  put("Things", {{"pk", "long"}, {"vector", list_of({10, 0})}});
  put("Things", {{"pk", "across"}, {"vector", list_of({0, 3})}});
  put("Things", {{"pk", "opposite"}, {"vector", list_of({-1, 0})}});
  put("Things", {{"pk", "zero"}, {"vector", list_of({0, 0})}});
  put("Things", {{"pk", "none"}});

  EXPECT_THAT(scores({.vector = {1, 0}}), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(scores({.vector = {0, 0}}), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(found({.index = "far", .vector = {1, 0}, .top_k = 2}), ElementsAre("same", "zero"));
  EXPECT_THAT(scores({.index = "far", .vector = {-2, 0}}),
              ElementsAre(1, 2, 3, std::sqrt(13.0F), 12));
  EXPECT_THAT(found({.index = "dot", .vector = {2, 1}}),
              ElementsAre("long", "across", "same", "zero", "opposite"));
  EXPECT_THAT(scores({.index = "dot", .vector = {2, 1}}), ElementsAre(20, 3, 2, 0, -2));
  EXPECT_TRUE(comes_true([&] { return described("near").item_count == 5; }));
  EXPECT_EQ(described("far").definition, far);
}

TEST_P(Vectors, HaveScoresAtAnySize) {
  CreateTableRequest request = hash_table("Things");
  for (const auto& [name, function] : {std::pair("near", VectorDistanceFunction::kCosine),
                                       std::pair("far", VectorDistanceFunction::kEuclidean),
                                       std::pair("dot", VectorDistanceFunction::kDotProduct)}) {
    if (!request.vector_indexes) request.vector_indexes.emplace();
    request.vector_indexes->push_back(vectors_on(name, 3));
    request.vector_indexes->back().distance_function = function;
  }
  create(request);
  constexpr float kMost = std::numeric_limits<float>::max();
  put("Things", {{"pk", "most"}, {"vector", list_of({kMost, kMost, kMost})}});
  put("Things", {{"pk", "least"}, {"vector", list_of({-kMost, -kMost, -kMost})}});
  EXPECT_THAT(scores({.vector = {kMost, kMost, kMost}}), ElementsAre(0, 2));
  EXPECT_THAT(scores({.index = "far", .vector = {kMost, kMost, kMost}}), ElementsAre(0, kMost));
  EXPECT_THAT(scores({.index = "dot", .vector = {kMost, kMost, kMost}}),
              ElementsAre(kMost, -kMost));
}

TEST_P(Vectors, ReturnProjectedAttributes) {
  CreateTableRequest request = hash_table("Things");
  request.attributes.push_back({"color", ScalarType::kS});
  const std::vector<SearchSchemaElement> schema = {{"color", kInlineFilter}};
  request.vector_indexes = {
      vectors_on("all", 2, schema),
      vectors_on("keys", 2, schema, {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}}),
      vectors_on("some", 2, schema,
                 {.type = ProjectionType::kInclude, .non_key_attributes = {"note"}})};
  create(request);
  const Item keys{{"pk", "a"}, {"color", "red"}};
  Item item = keys;
  item["vector"] = List{Number::parse("0.1").value(), Number::parse("1").value()};
  item["note"] = "n";
  item["rest"] = true;
  put("Things", item);

  const auto shown = [&](const std::string& index, std::optional<std::string> projection = {}) {
    const auto result =
        search({.index = index, .vector = {1, 1}, .projection = std::move(projection)});
    EXPECT_THAT(result, IsOk());
    return result && result->results.size() == 1 ? result->results[0].item : Item();
  };
  Item expected = item;
  expected.erase("vector");
  EXPECT_EQ(shown("all"), expected);
  EXPECT_EQ(shown("keys"), keys);
  expected.erase("rest");
  EXPECT_EQ(shown("some"), expected);
  EXPECT_EQ(shown("some", "note, rest"), (Item{{"note", "n"}}));
  EXPECT_EQ(shown("keys", "pk, vector"), (Item{{"pk", "a"}, {"vector", item["vector"]}}));

  // More digits than a float can represent.
  item["vector"] = List{Number::parse("0.123456789012").value(), Number::parse("1").value()};
  put("Things", item);
  EXPECT_EQ(
      shown("all", "vector"),
      (Item{{"vector", List{Number::parse("0.12345679").value(), Number::parse("1").value()}}}));
}

TEST_P(Vectors, AreFilteredOnlyByEqualValues) {
  create(table_of_tenants(1));
  put("Things", {{"pk", "a"}, {"tenant", "x"}, {"grade", 1}, {"vector", list_of({1})}});
  put("Things", {{"pk", "b"}, {"tenant", "x"}, {"grade", 2}, {"vector", list_of({2})}});
  put("Things", {{"pk", "c"}, {"tenant", "x"}, {"vector", list_of({3})}});
  put("Things", {{"pk", "d"}, {"tenant", "y"}, {"grade", 1}, {"vector", list_of({4})}});
  put("Things", {{"pk", "e"}, {"grade", 1}, {"vector", list_of({4})}});
  const Values x{{":t", "x"}, {":s", 1}};
  EXPECT_THAT(found({.vector = {1}, .condition = "tenant = :t AND (:s = grade)", .values = x}),
              ElementsAre("a"));
  EXPECT_THAT(found({.vector = {1}, .condition = "tenant = :t", .values = Values{{":t", "y"}}}),
              ElementsAre("d"));
  EXPECT_THAT(found({.vector = {1}, .condition = "tenant = :t", .values = Values{{":t", "z"}}}),
              IsEmpty());
  EXPECT_THAT(found({.vector = {1},
                     .condition = "#t = :t",
                     .names = Names{{"#t", "tenant"}},
                     .values = Values{{":t", "x"}}}),
              ::testing::UnorderedElementsAre("a", "b", "c"));

  const auto refused = [&](const std::string& condition, const Values& values) {
    return search({.vector = {1}, .condition = condition, .values = values});
  };
  EXPECT_THAT(search({.vector = {1}}),
              FailsWith(Code::kValidation,
                        "SearchConditionExpression must be provided when SearchSchema has a HASH "
                        "key"));
  EXPECT_THAT(refused("grade = :s", {{":s", 1}}),
              FailsWith(Code::kValidation, "when SearchSchema has a HASH key"));
  for (const char* condition : {"tenant < :t", "tenant <> :t", "tenant = :t OR tenant = :t",
                                "begins_with(tenant, :t)", "NOT tenant = :t"}) {
    EXPECT_THAT(refused(condition, {{":t", "x"}}),
                FailsWith(Code::kValidation,
                          "Invalid SearchConditionExpression: Invalid comparator used in "
                          "SearchConditionExpression"))
        << condition;
  }
  EXPECT_THAT(refused("tenant = :t AND elsewhere = :s", x),
              FailsWith(Code::kValidation,
                        "SearchConditionExpression must not contain any attributes that is not in "
                        "SearchSchema. Invalid attribute: elsewhere"));
  EXPECT_THAT(refused("tenant = :t AND tenant = :s", x),
              FailsWith(Code::kValidation, "one condition for each attribute"));
  EXPECT_THAT(refused("tenant = :t", {{":t", 1}}),
              FailsWith(Code::kValidation, "does not match schema type"));
  EXPECT_THAT(refused("tenant = = :t", {{":t", "x"}}),
              FailsWith(Code::kValidation, "Invalid SearchConditionExpression: Syntax error"));
  EXPECT_THAT(refused("tenant = :t", {{":t", "x"}, {":u", "x"}}),
              FailsWith(Code::kValidation, "unused in expressions: keys: {:u}"));
}

TEST_P(Vectors, CostTheBytesThatTheyHave) {
  CreateTableRequest request = hash_table("Things");
  request.vector_indexes = {
      vectors_on("near", 500, {}, {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}})};
  create(request);
  const Item item{{"pk", "a"}, {"note", "n"}, {"vector", list_of(Vector(500, 0.5))}};
  const auto written = [&](const Item& what, ReturnConsumedCapacity wanted) {
    const auto result =
        client_.put_item({.table = "Things", .item = what, .return_capacity = wanted});
    EXPECT_THAT(result, IsOk());
    return result && result->capacity ? result->capacity->vector_indexes
                                      : std::map<std::string, VectorCapacity, std::less<>>();
  };
  // The names "vector" and "pk", the key's byte, and four bytes for each dimension.
  constexpr int64_t kBytes = 6 + 2 + 1 + 4 * 500;
  const auto first = written(item, ReturnConsumedCapacity::kIndexes);
  ASSERT_TRUE(first.contains("near"));
  EXPECT_EQ(first.find("near")->second, (VectorCapacity{.write_bytes = double{kBytes}}));
  Item other = item;
  other["note"] = "m";  // the index does not project it
  EXPECT_THAT(written(other, ReturnConsumedCapacity::kIndexes), IsEmpty());
  EXPECT_THAT(written({{"pk", "b"}, {"vector", item.at("vector")}}, ReturnConsumedCapacity::kTotal),
              IsEmpty());
  EXPECT_TRUE(comes_true([&] { return described("near").size_bytes == 2 * kBytes; }));
  const auto result =
      search({.vector = Vector(500, 1), .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(result, IsOk());
  ASSERT_TRUE(result->capacity && result->capacity->search_bytes);
  EXPECT_GE(*result->capacity->search_bytes, 2 * 4 * 500);
  EXPECT_EQ(search({.vector = Vector(500, 1)})->capacity, std::nullopt);
}

// ---- Errors

TEST_P(Vectors, OfAnItemHaveTheIndexsShape) {
  create(table_of_tenants(3));
  const auto refused = [&](AttributeValue vector) {
    return client_.put_item(
        {.table = "Things", .item = {{"pk", "a"}, {"vector", std::move(vector)}}});
  };
  EXPECT_THAT(refused("text"),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid. Invalid type for parameter "
                        "vector, Expected: 32-bit floating point number list IndexName: near"));
  EXPECT_THAT(refused(list_of({1, 2})),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid. Invalid size for parameter "
                        "vector, Expected: 3, Actual: 2 IndexName: near"));
  EXPECT_THAT(refused(List{1, "x", 3}),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid. Invalid type for parameter "
                        "vector[1], Expected: 32-bit floating point number, Actual: S. IndexName: "
                        "near"));
  EXPECT_THAT(refused(List{1, Number::parse("4E38").value(), 3}),
              FailsWith(Code::kValidation, "Invalid type for parameter vector[1]"));
  EXPECT_THAT(refused(list_of({1, 2, 3})), IsOk());

  EXPECT_THAT(client_.update_item({.table = "Things",
                                   .key = {{"pk", "a"}},
                                   .update = "SET vector[0] = :x",
                                   .values = Values{{":x", "x"}}}),
              FailsWith(Code::kValidation, "Invalid type for parameter vector[0]"));
  EXPECT_THAT(client_.update_item({.table = "Things",
                                   .key = {{"pk", "a"}},
                                   .update = "SET vector = list_append(vector, vector)"}),
              FailsWith(Code::kValidation, "Expected: 3, Actual: 6"));
  EXPECT_THAT(client_.put_item({.table = "Things", .item = {{"pk", "b"}, {"tenant", 1}}}),
              FailsWith(Code::kValidation,
                        "Type mismatch for Index Key tenant Expected: S Actual: N IndexName: "
                        "near"));
  EXPECT_THAT(client_.put_item({.table = "Things", .item = {{"pk", "b"}, {"tenant", ""}}}),
              FailsWith(Code::kValidation, "IndexName: near, IndexKey: tenant"));
  EXPECT_THAT(client_.put_item({.table = "Things", .item = {{"pk", "b"}, {"grade", "s"}}}),
              FailsWith(Code::kValidation, "Type mismatch for Index Key grade"));
}

TEST_P(Vectors, AreSearchedWithARequestThatFits) {
  create(table_of_tenants(3));
  const std::string condition = "tenant = :t";
  const Values values{{":t", "x"}};
  EXPECT_THAT(search({.vector = {1, 2}, .condition = condition, .values = values}),
              FailsWith(Code::kValidation,
                        "Input search vector dimension 2 does not match vector index dimension 3"));
  EXPECT_THAT(search({.vector = {1, 2, 3}, .top_k = 101}),
              FailsWith(Code::kValidation,
                        "Provided TopK value '101' is out of valid range. The value must be "
                        "between 1 and 100 inclusive"));
  EXPECT_THAT(search({.vector = {1, 2, 3}, .top_k = -1}),
              FailsWith(Code::kValidation, "'topK' failed to satisfy constraint"));
  EXPECT_THAT(search({.vector = {}}), FailsWith(Code::kValidation, "'searchVector'"));
  EXPECT_THAT(search({.index = "other", .vector = {1, 2, 3}}),
              FailsWith(Code::kValidation, "The table does not have the specified index: other"));
  EXPECT_THAT(search({.table = "Other", .vector = {1, 2, 3}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_THAT(client_.call("SearchVectors", R"({"TableName": "Things", "IndexName": "near",
                               "SearchVector": [{"N": "1"}, {"S": "x"}, {"N": "3"}], "TopK": 1})"),
              FailsWith(Code::kValidation,
                        "Search vector contains invalid values. All values in the search vector "
                        "must be a 32-bit floating-point number attribute"));
  const std::string without = R"({"TableName":"Things","IndexName":"near","TopK":1})";
  EXPECT_THAT(client_.call("SearchVectors", without),
              FailsWith(Code::kValidation, "missing field `SearchVector` at line 1 column " +
                                               std::to_string(without.size())));
}

TEST_P(Vectors, AreReadOnlyBySearches) {
  create(table_of_tenants(1));
  QueryRequest query{.table = "Things",
                     .index = "near",
                     .key_condition = "pk = :p",
                     .values = Values{{":p", "a"}}};
  EXPECT_THAT(client_.query(query),
              FailsWith(Code::kValidation, "Query operation not supported on this index type."));
  query.consistent_read = true;
  EXPECT_THAT(client_.query(query), FailsWith(Code::kValidation, "Consistent reads"));
  for (const bool consistent : {false, true}) {
    EXPECT_THAT(client_.scan({.table = "Things", .index = "near", .consistent_read = consistent}),
                FailsWith(Code::kValidation, "Scan operation not supported on this index type"));
  }
  EXPECT_THAT(client_.execute_statement({.statement = R"(SELECT * FROM "Things"."near")"}),
              FailsWith(Code::kValidation, "Scan operation not supported on this index type"));
}

TEST_P(Vectors, HaveIndexesOfDynamoDbsShapes) {
  const auto refused = [&](auto change) {
    CreateTableRequest request = table_of_tenants(3);
    change(request);
    return client_.create_table(request);
  };
  using Request = CreateTableRequest;
  EXPECT_THAT(
      refused([](Request& request) {
        request.billing_mode = BillingMode::kProvisioned;
        request.throughput = Throughput{.read = 1, .write = 1};
      }),
      FailsWith(Code::kValidation, "Vector indexes are only supported for PAY_PER_REQUEST tables"));
  EXPECT_THAT(refused([](Request& request) { request.attributes.pop_back(); }),
              FailsWith(Code::kValidation,
                        "One element in SearchSchema is not defined in attribute definitions"));
  EXPECT_THAT(
      refused([](Request& request) { request.vector_indexes->front().dimensions = 5000; }),
      FailsWith(Code::kValidation, "Number of dimensions must be between 1 and 4096 inclusive."));
  EXPECT_THAT(refused([](Request& request) { request.vector_indexes->front().dimensions = 0; }),
              FailsWith(Code::kValidation, "'vectorIndexes.1.member.dimensions'"));
  EXPECT_THAT(refused([](Request& request) {
                for (int i = 0; i < 5; ++i) {
                  request.vector_indexes->push_back(vectors_on("more" + std::to_string(i), 3));
                }
              }),
              FailsWith(Code::kValidation, "VectorIndex count exceeds the per-table limit of 5"));
  EXPECT_THAT(
      refused([](Request& request) { request.vector_indexes->push_back(vectors_on("four", 4)); }),
      FailsWith(Code::kValidation,
                "Conflicting attribute definition for 'vector'. All VectorIndexes on the same "
                "vector attribute must use the same dimensions."));
  EXPECT_THAT(
      refused([](Request& request) { request.vector_indexes->push_back(vectors_on("near", 3)); }),
      FailsWith(Code::kValidation, "Duplicate index name: near"));
  EXPECT_THAT(refused([](Request& request) { request.vector_indexes->clear(); }),
              FailsWith(Code::kValidation, "List of VectorIndexes is empty"));
  EXPECT_THAT(refused([](Request& request) {
                request.vector_indexes->front().search_schema[1].type = kHash;
              }),
              FailsWith(Code::kValidation, "at most 1 HASH element"));
  EXPECT_THAT(refused([](Request& request) {
                request.vector_indexes->front().projection.type = ProjectionType::kInclude;
              }),
              FailsWith(Code::kValidation,
                        "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"));
  EXPECT_THAT(client_.call("CreateTable", R"({"TableName": "Other",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST",
        "VectorIndexes": [{"IndexName": "near", "VectorAttribute": {}, "Dimensions": 3,
                           "Projection": {"ProjectionType": "ALL"}, "DistanceFunction": "cosine"}]})"),
              FailsWith(Code::kValidation,
                        "'vectorIndexes.1.member.distanceFunction' failed to satisfy constraint: "
                        "Member must satisfy enum value set: [DOT_PRODUCT, COSINE, EUCLIDEAN]"));
}

// ---- Creation and deletion of indexes

TEST_P(Vectors, AreInBackupsAndRestoredTables) {
  create(table_of_tenants(2));
  for (int i = 0; i < 30; ++i) {
    put("Things", {{"pk", std::to_string(i)},
                   {"tenant", i % 2 == 0 ? "a" : "b"},
                   {"vector", list_of({static_cast<float>(i), 1})}});
  }
  const auto called = [&](std::string_view operation, const std::string& json) {
    const auto response = client_.call(operation, json);
    EXPECT_THAT(response, IsOk()) << operation;
    return response.value_or("");
  };
  const std::string created =
      called("CreateBackup", R"({"TableName": "Things", "BackupName": "Copy"})");
  const std::string begin = R"("BackupArn":")";
  const std::size_t at = created.find(begin) + begin.size();
  const std::string arn =
      R"("BackupArn": ")" + created.substr(at, created.find('"', at) - at) + '"';
  EXPECT_TRUE(comes_true([&] {
    return called("DescribeBackup", "{" + arn + "}").find("AVAILABLE") != std::string::npos;
  }));
  EXPECT_NE(called("DescribeBackup", "{" + arn + "}").find(R"("VectorIndexes":[{"Dimensions":2)"),
            std::string::npos);
  const auto restore = [&](const std::string& table, const std::string& more) {
    called("RestoreTableFromBackup",
           "{" + arn + R"(, "TargetTableName": ")" + table + '"' + more + "}");
    EXPECT_TRUE(comes_true([&] {
      const auto described = client_.describe_table({.table = table});
      return described && described->table.status == TableStatus::kActive;
    }));
  };
  restore("Restored", "");
  EXPECT_THAT(found({.table = "Restored",
                     .vector = {9, 1},
                     .top_k = 1,
                     .condition = "tenant = :t",
                     .values = Values{{":t", "a"}}})
                  .size(),
              1U);
  restore("Without", R"(, "VectorIndexOverride": [])");
  EXPECT_THAT(search({.table = "Without", .vector = {9, 1}}),
              FailsWith(Code::kValidation, "specified index: near"));
  EXPECT_THAT(client_.call("RestoreTableFromBackup",
                           "{" + arn + R"(, "TargetTableName": "Other", "VectorIndexOverride": [{
                     "IndexName": "near", "VectorAttribute": {"AttributeName": "vector"},
                     "Projection": {"ProjectionType": "ALL"}, "Dimensions": 3,
                     "DistanceFunction": "COSINE"}]})"),
              FailsWith(Code::kValidation, "near"));
}

TEST_P(Vectors, OfOlderItemsAreFoundByANewIndex) {
  create(hash_table("Things"));
  for (int i = 0; i < 50; ++i) {
    Item item{{"pk", std::to_string(i)}, {"kind", i % 2 == 0 ? "even" : "odd"}};
    if (i % 5 != 0) item["vector"] = list_of({static_cast<float>(i), 1});
    if (i == 7) item["vector"] = "no vector";
    if (i == 9) item["vector"] = list_of({1, 2, 3});
    put("Things", item);
  }
  UpdateTableRequest more{
      .table = "Things",
      .attributes = {{{"kind", ScalarType::kS}}},
      .vector_indexes = {{{.create = vectors_on("near", 2, {{"kind", kHash}})}}}};
  more.vector_indexes->front().create->distance_function = VectorDistanceFunction::kEuclidean;
  const auto begun = client_.update_table(more);
  ASSERT_THAT(begun, IsOk());
  ASSERT_EQ(begun->table.vector_indexes.size(), 1U);
  EXPECT_EQ(begun->table.vector_indexes[0].status, TableStatus::kCreating);
  EXPECT_TRUE(comes_true([&] { return described("near").status == TableStatus::kActive; }));
  EXPECT_FALSE(described("near").backfilling);
  EXPECT_THAT(found({.vector = {7, 1},
                     .top_k = 4,
                     .condition = "kind = :k",
                     .values = Values{{":k", "odd"}}}),
              ::testing::UnorderedElementsAre("1", "3", "11", "13"));
  EXPECT_TRUE(comes_true([&] { return described("near").item_count == 38; }));

  EXPECT_THAT(client_.update_table({.table = "Things",
                                    .vector_indexes = {{{.create = vectors_on("one", 2)},
                                                        {.create = vectors_on("two", 2)}}}}),
              FailsWith(Code::kLimitExceeded,
                        "Only 1 online index can be created or deleted simultaneously per table"));
  EXPECT_THAT(
      client_.update_table({.table = "Things",
                            .billing_mode = BillingMode::kProvisioned,
                            .throughput = Throughput{.read = 1, .write = 1}}),
      FailsWith(Code::kValidation, "Vector indexes are only supported for PAY_PER_REQUEST tables"));
  EXPECT_THAT(client_.update_table({.table = "Things", .vector_indexes = {{{.remove = "none"}}}}),
              FailsWith(Code::kResourceNotFound, ""));
  ASSERT_THAT(client_.update_table({.table = "Things", .vector_indexes = {{{.remove = "near"}}}}),
              IsOk());
  EXPECT_TRUE(comes_true([&] { return described("near").definition.name.empty(); }));
  EXPECT_THAT(search({.vector = {7, 1}}), FailsWith(Code::kValidation, "specified index: near"));
  EXPECT_THAT(client_.put_item({.table = "Things", .item = {{"pk", "x"}, {"vector", "free"}}}),
              IsOk());
}

}  // namespace
}  // namespace stator::test

// SPDX-License-Identifier: Apache-2.0
// stator_recall: measures approximate vector searches: how many of the ten nearest vectors they
// find, and how long they take. Searches only the graph, compared with hnswlib if it was available
// at compile time, or a whole Database. Prints CSV.
//
// The vectors resemble embeddings: clusters in 32 directions, and some noise.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/vector_table.h"
#include "stator/database.h"
#include "support/vectors.h"
#include "vectors/compact_vectors.h"
#include "vectors/distance.h"
#include "vectors/hnsw_graph.h"

#ifdef STATOR_HAS_HNSWLIB
#include <hnswlib/hnswlib.h>
#endif

namespace stator::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Slot = HnswGraph::Slot;
using Vector = std::vector<float>;

constexpr std::size_t kTop = 10;
constexpr std::size_t kQueries = 200;
constexpr std::size_t kWidths[] = {10, 20, 40, 70, 100, 150, 200, 300, 400};

struct Work {
  std::size_t vectors = 100'000;
  std::size_t dimensions = 768;
  bool database = false;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Embeddings {
 public:
  explicit Embeddings(std::size_t dimensions) : dimensions_(dimensions), axes_(kAxes * dimensions) {
    std::normal_distribution<float> component;
    for (float& one : axes_) one = component(random_);
    for (Vector& center : centers_) {
      center.resize(kAxes);
      for (float& one : center) one = component(random_);
    }
  }

  // Returns a vector of length 1.
  Vector next() {
    std::normal_distribution<float> component;
    Vector place = centers_[random_() % centers_.size()];
    for (float& one : place) one += 0.6F * component(random_);
    Vector vector(dimensions_);
    for (float& one : vector) one = 0.5F * component(random_);
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const float* const direction = axes_.data() + axis * dimensions_;
      for (std::size_t i = 0; i < dimensions_; ++i) vector[i] += place[axis] * direction[i];
    }
    const float length = std::sqrt(dot_product(vector, reinterpret_cast<char*>(vector.data())));
    // Few digits, like embeddings in text form.
    for (float& one : vector) one = std::round(one / length * 1e5F) / 1e5F;
    return vector;
  }

 private:
  static constexpr std::size_t kAxes = 32;
  const std::size_t dimensions_;
  std::mt19937_64 random_{1};
  Vector axes_;
  std::vector<Vector> centers_ = std::vector<Vector>(1000);
};

struct Data {
  std::size_t dimensions;
  Vector all;
  std::vector<Vector> queries;
  std::vector<std::vector<Slot>> nearest;  // of each query

  std::size_t size() const { return all.size() / dimensions; }
  const float* at(std::size_t slot) const { return all.data() + slot * dimensions; }

  // Considers only slots for which `passes` returns true.
  std::vector<Slot> nearest_to(const Vector& query,
                               const std::function<bool(std::size_t)>& passes) const {
    std::vector<std::pair<float, Slot>> scores;
    for (std::size_t slot = 0; slot < size(); ++slot) {
      if (!passes(slot)) continue;
      const auto* const stored = reinterpret_cast<const char*>(at(slot));
      scores.emplace_back(-dot_product(query, stored), static_cast<Slot>(slot));
    }
    const std::size_t count = std::min(kTop, scores.size());
    std::ranges::partial_sort(scores, scores.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<Slot> slots(count);
    for (std::size_t i = 0; i < count; ++i) slots[i] = scores[i].second;
    return slots;
  }
};

Data make_data(const Work& work) {
  Embeddings embeddings(work.dimensions);
  Data data{.dimensions = work.dimensions, .all = {}, .queries = {}, .nearest = {}};
  data.all.reserve(work.vectors * work.dimensions);
  for (std::size_t i = 0; i < work.vectors; ++i) {
    const Vector vector = embeddings.next();
    data.all.insert(data.all.end(), vector.begin(), vector.end());
  }
  for (std::size_t i = 0; i < kQueries; ++i) data.queries.push_back(embeddings.next());
  for (const Vector& query : data.queries) {
    data.nearest.push_back(data.nearest_to(query, [](std::size_t) { return true; }));
  }
  return data;
}

struct Outcome {
  double recall = 0;
  double median_us = 0;
};

// `search` returns up to ten slots.
Outcome measure(const Data& data, const std::vector<std::vector<Slot>>& nearest,
                const std::function<std::vector<Slot>(const Vector&)>& search) {
  std::size_t found = 0;
  std::size_t wanted = 0;
  std::vector<double> times;
  for (std::size_t i = 0; i < data.queries.size(); ++i) {
    const auto begin = Clock::now();
    const std::vector<Slot> slots = search(data.queries[i]);
    times.push_back(seconds_since(begin) * 1e6);
    wanted += nearest[i].size();
    for (const Slot slot : nearest[i]) found += std::ranges::count(slots, slot) > 0 ? 1 : 0;
  }
  std::ranges::sort(times);
  return {.recall = static_cast<double>(found) / static_cast<double>(wanted),
          .median_us = times[times.size() / 2]};
}

void print(const char* name, std::size_t width, const Outcome& result) {
  fmt::print("{},{},{:.4f},{:.0f}\n", name, width, result.recall, result.median_us);
  std::fflush(stdout);
}

// The byte codes find the candidates. The floats compare twice as many as are wanted.
void graph_alone(const Data& data) {
  CompactVectors vectors(data.dimensions);
  HnswGraph graph;
  const auto from = [&](Slot one, std::span<const Slot> others, float* found) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (i + 1 < others.size()) vectors.prefetch(others[i + 1]);
      found[i] = -vectors.product(one, others[i]);
    }
  };
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto slot = static_cast<Slot>(i);
    vectors.set(slot, reinterpret_cast<const char*>(data.at(slot)));
    graph.link(graph.plan(slot, from), from);
  }
  std::fprintf(stderr, "graph: built in %.1f s\n", seconds_since(begin));
  for (const std::size_t width : kWidths) {
    const auto search = [&](const Vector& query) {
      const auto to_query = [&](std::span<const Slot> others, float* found) {
        for (std::size_t i = 0; i < others.size(); ++i) {
          if (i + 1 < others.size()) vectors.prefetch(others[i + 1]);
          found[i] = -vectors.look(query, others[i]).product;
        }
      };
      std::vector<std::pair<float, Slot>> scores;
      const auto near = graph.search(to_query, width, [](Slot) { return true; }, data.size());
      for (const auto& [distance, slot] : near.value()) {
        if (scores.size() == 2 * kTop) break;
        const auto* const stored = reinterpret_cast<const char*>(data.at(slot));
        scores.emplace_back(-dot_product(query, stored), slot);
      }
      std::ranges::sort(scores);
      std::vector<Slot> slots;
      for (std::size_t i = 0; i < std::min(kTop, scores.size()); ++i) {
        slots.push_back(scores[i].second);
      }
      return slots;
    };
    print("Stator's graph", width, measure(data, data.nearest, search));
  }
}

#ifdef STATOR_HAS_HNSWLIB
void hnswlib_alone(const Data& data) {
  hnswlib::InnerProductSpace space(data.dimensions);
  hnswlib::HierarchicalNSW<float> index(&space, data.size(), 16, 100);
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < data.size(); ++i) index.addPoint(data.at(i), i);
  std::fprintf(stderr, "hnswlib: built in %.1f s\n", seconds_since(begin));
  for (const std::size_t width : kWidths) {
    index.setEf(width);
    const auto search = [&](const Vector& query) {
      auto found = index.searchKnn(query.data(), kTop);
      std::vector<Slot> slots;
      for (; !found.empty(); found.pop()) slots.push_back(static_cast<Slot>(found.top().second));
      return slots;
    };
    print("hnswlib", width, measure(data, data.nearest, search));
  }
}
#endif

constexpr std::size_t kGrades[] = {1, 10, 100};  // every 10th item has grade 10, for instance

std::vector<Slot> search(Client& client, const Vector& query, std::size_t grade, bool exact) {
  SearchVectorsRequest request{
      .table = "Vectors", .index = "near", .vector = query, .top_k = kTop, .exact = exact};
  if (grade > 1) {
    request.condition = fmt::format("grade{} = :one", grade);
    request.values = Values{{":one", 1}};
  }
  std::vector<Slot> slots;
  const auto found = client.search_vectors(request);
  if (!found) return slots;
  for (const SearchResult& result : found->results) {
    slots.push_back(static_cast<Slot>(result.item.at("pk").get_if<Number>()->to_double()));
  }
  return slots;
}

Result<void> put(Client& client, const Data& data, std::size_t slot) {
  Item item{{"pk", slot}, {"vector", test::list_of({data.at(slot), data.at(slot + 1)})}};
  for (const std::size_t grade : kGrades) {
    if (grade > 1) item.emplace(fmt::format("grade{}", grade), slot % grade == 0 ? 1 : 0);
  }
  STATOR_RETURN_IF_ERROR(client.put_item({.table = "Vectors", .item = std::move(item)}));
  return {};
}

Result<void> in_database(const Data& data) {
  DatabaseOptions options;
  options.approximate_search_rows = std::min(options.approximate_search_rows, data.size());
  STATOR_ASSIGN_OR_RETURN(Database database, Database::open(options));
  CreateTableRequest table =
      vector_table(static_cast<int64_t>(data.dimensions), VectorDistanceFunction::kCosine);
  for (const std::size_t grade : kGrades) {
    if (grade == 1) continue;
    table.attributes.push_back({fmt::format("grade{}", grade), ScalarType::kN});
    table.vector_indexes->front().search_schema.push_back(
        {fmt::format("grade{}", grade), SearchSchemaElementType::kInlineFilter});
  }
  STATOR_RETURN_IF_ERROR(database.create_table(table));
  for (std::size_t slot = 0; slot < data.size(); ++slot) {
    STATOR_RETURN_IF_ERROR(put(database, data, slot));
  }
  std::fprintf(stderr, "items written\n");
  // Items are rewritten while the graph is built.
  std::atomic<std::size_t> writes = 0;
  std::jthread writer([&](const std::stop_token& stop) {
    std::mt19937_64 random(5);
    for (; !stop.stop_requested(); ++writes) {
      if (!put(database, data, random() % data.size())) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const auto begin = Clock::now();
  const std::size_t looked_at_all = data.size() * data.dimensions * sizeof(float);
  for (;;) {
    const auto found = database.search_vectors({.table = "Vectors",
                                                .index = "near",
                                                .vector = data.queries[0],
                                                .top_k = kTop,
                                                .return_capacity = ReturnConsumedCapacity::kTotal});
    if (!found) return std::unexpected(found.error());
    if (found->capacity->search_bytes.value_or(0) < static_cast<double>(looked_at_all) / 2) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  std::fprintf(stderr, "built in %.1f s, beside %zu writes\n", seconds_since(begin), writes.load());
  const auto report = [&](const char* while_what) {
    for (const std::size_t grade : kGrades) {
      std::vector<std::vector<Slot>> nearest;
      nearest.reserve(data.queries.size());
      for (const Vector& query : data.queries) {
        nearest.push_back(
            data.nearest_to(query, [&](std::size_t slot) { return slot % grade == 0; }));
      }
      for (const bool exact : {false, true}) {
        print(
            fmt::format("Database {}{} 1 in {}", while_what, exact ? " exact" : "", grade).c_str(),
            0, measure(data, nearest, [&](const Vector& query) {
              return search(database, query, grade, exact);
            }));
      }
    }
  };
  report("with writes");
  writer.request_stop();
  writer.join();
  report("alone");
  return {};
}

int run(int argc, char** argv) {
  Work work;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--database") {
      work.database = true;
    } else if (word == "--vectors" && i + 1 < argc) {
      work.vectors = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--dimensions" && i + 1 < argc) {
      work.dimensions = std::strtoull(argv[++i], nullptr, 10);
    } else {
      std::fputs("usage: stator_recall [--vectors N] [--dimensions N] [--database]\n", stderr);
      return 2;
    }
  }
  const Data data = make_data(work);
  fmt::print("searches,width,recall,median_us\n");
  if (!work.database) {
    graph_alone(data);
#ifdef STATOR_HAS_HNSWLIB
    hnswlib_alone(data);
#endif
    return 0;
  }
  const auto searched = in_database(data);
  if (!searched) std::fprintf(stderr, "stator_recall: %s\n", searched.error().message.c_str());
  return searched ? 0 : 1;
}

}  // namespace
}  // namespace stator::bench

int main(int argc, char** argv) {
  return stator::bench::run(argc, argv);
}

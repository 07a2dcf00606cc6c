// SPDX-License-Identifier: Apache-2.0
// SearchVectors: scores the vectors that satisfy the condition. With the cache, it scores only
// candidates for the nearest, in row order. Then it reads the items of the nearest vectors in the
// same read view.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/read_lag.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/items/request_expressions.h"
#include "engine/query/query_operations.h"
#include "engine/rows/vector_row.h"
#include "engine/vectors/vector_cache.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kResponseBytesMax = 16UL << 20;
constexpr std::size_t kItemsAtOnce = 32;
constexpr std::size_t kSearchBytesMin = 1024;  // minimum of the consumed capacity

// The nearest vectors found so far, as a heap with the farthest at the front.
class Nearest {
 public:
  struct Found {
    float score = 0;
    std::string item_key;
  };

 private:
  auto order() const {
    return [this](const Found& one, const Found& other) {
      return scores_.is_nearer(one.score, other.score);
    };
  }

 public:
  Nearest(const VectorScores& scores, std::size_t wanted) : scores_(scores), wanted_(wanted) {}

  void offer(const VectorRowView& row) {
    const float score = scores_.of(row);
    if (found_.size() == wanted_) {
      if (!scores_.is_nearer(score, found_.front().score)) return;
      std::ranges::pop_heap(found_, order());
      found_.back() = {.score = score, .item_key = std::string(row.item_key())};
    } else {
      found_.push_back({.score = score, .item_key = std::string(row.item_key())});
    }
    std::ranges::push_heap(found_, order());
  }

  std::vector<Found> sorted() && {
    std::ranges::sort_heap(found_, order());
    return std::move(found_);
  }

 private:
  const VectorScores& scores_;
  const std::size_t wanted_;
  std::vector<Found> found_;
};

class Search {
 public:
  using Response = SearchVectorsResponse;

  explicit Search(const SearchVectorsRequest& request) : request_(request) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    const TablePtr* table = snapshot.find(request_.table);
    if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    table_ = table->get();
    index_ = table_->vector_index(request_.index);
    if (index_ == nullptr) {
      return fail(Code::kValidation, messages::no_such_index(request_.index));
    }
    if (!index_->complete) {
      return fail(Code::kValidation, messages::backfilling_vectors(request_.index));
    }
    if (request_.vector.size() != index_->shape.dimensions) {
      return fail(Code::kValidation,
                  messages::search_dimensions(request_.vector.size(), index_->shape.dimensions));
    }
    return parse_expressions();
  }

  void read(EngineCore& engine, ReadDone done) {
    if (read_older(engine, *table_, ReadLag::Of::kGlobalIndex, *this, done)) return;
    cache_ = engine.vector_cache.get();
    if (cache_ != nullptr) {
      cached_ = cache_->use(range_, index_->shape, index_->definition.distance_function);
    }
    view_table(engine, *table_, *this, std::move(done));
  }

  // Runs the search in a read view.
  Result<void> operator()(ReadView& view) {
    const VectorScores scores(index_->definition.distance_function, request_.vector);
    const auto top = static_cast<std::size_t>(request_.top_k);
    Nearest nearest(scores, top);
    std::optional<VectorCandidates> candidates;
    if (cached_) candidates = cached_->candidates(scores, filters_, top, request_.exact);
    cached_.reset();
    STATOR_RETURN_IF_ERROR(candidates ? look_at(*candidates, view, nearest)
                                      : look_at_all(view, nearest));
    return take_all(view, std::move(nearest).sorted());
  }

  Result<SearchVectorsResponse> finish() {
    if (request_.return_capacity != ReturnConsumedCapacity::kNone) {
      const std::size_t bytes = std::max(examined_bytes_ + returned_bytes_, kSearchBytesMin);
      response_.capacity = VectorCapacity{.search_bytes = static_cast<double>(bytes)};
    }
    return std::move(response_);
  }

 private:
  Result<void> parse_expressions() {
    STATOR_ASSIGN_OR_RETURN(Placeholders placeholders,
                            checked_placeholders(request_.names, request_.values, Layer::kCurrent));
    SearchCondition condition;
    if (request_.condition) {
      STATOR_ASSIGN_OR_RETURN(condition, SearchCondition::parse(*request_.condition, placeholders));
    }
    if (request_.projection) {
      STATOR_ASSIGN_OR_RETURN(projection_,
                              ProjectionExpression::parse(*request_.projection, placeholders));
    }
    STATOR_RETURN_IF_ERROR(placeholders.check_all_used());
    const VectorShape& shape = index_->shape;
    const auto take_value = [&](const AttributeDefinition& attribute) -> Result<bool> {
      auto value = condition.equal.extract(attribute.name);
      if (value.empty()) return false;
      if (value.mapped().type() != attribute_type(attribute.type)) {
        return fail(Code::kValidation, messages::kSearchValueType);
      }
      wanted_.emplace(attribute.name, std::move(value.mapped()));
      return true;
    };
    for (const AttributeDefinition& attribute : shape.key.hash) {
      STATOR_ASSIGN_OR_RETURN(const bool given, take_value(attribute));
      if (!given) return fail(Code::kValidation, messages::kNoSearchCondition);
    }
    for (std::size_t i = 0; i < shape.filters.size(); ++i) {
      STATOR_ASSIGN_OR_RETURN(const bool given, take_value(shape.filters[i]));
      if (!given) continue;
      const Hash128 hash =
          filter_hash(table_->secret(), wanted_.find(shape.filters[i].name)->second);
      filters_.emplace_back(i, std::string(hash.begin(), hash.end()));
    }
    range_ = vector_range(table_->secret(), shape, wanted_);
    if (condition.equal.empty()) return {};
    return fail(Code::kValidation, messages::not_in_search_schema(condition.equal.begin()->first));
  }

  Result<void> look_at_all(ReadView& view, Nearest& nearest) {
    Result<void> damage;
    std::size_t rows = 0;
    STATOR_RETURN_IF_ERROR(
        view.scan({.range = range_}, [&](std::string_view, std::string_view value) {
          ++rows;
          damage = look_at(value, nearest, /*counts=*/true);
          return damage.has_value();
        }));
    if (damage && cache_ != nullptr) cache_->searched_rows(range_, index_->shape, rows);
    return damage;
  }

  Result<void> look_at(const VectorCandidates& candidates, ReadView& view, Nearest& nearest) {
    examined_bytes_ += candidates.unchanged * vector_bytes();
    for (const auto& [key, is_changed] : candidates.rows) {
      Result<void> damage;
      STATOR_RETURN_IF_ERROR(view.get(key, [&](std::string_view value) {
        damage = look_at(value, nearest, /*counts=*/is_changed);
      }));
      STATOR_RETURN_IF_ERROR(damage);
    }
    return {};
  }

  // Examines one row. `counts`: adds the row to the examined bytes.
  Result<void> look_at(std::string_view value, Nearest& nearest, bool counts) {
    STATOR_ASSIGN_OR_RETURN(const VectorRowView row, VectorRowView::of(value, index_->shape));
    const bool wanted = std::ranges::all_of(
        filters_, [&](const auto& filter) { return row.filter(filter.first) == filter.second; });
    if (!wanted) return {};
    if (counts) examined_bytes_ += vector_bytes();
    nearest.offer(row);
    return {};
  }

  std::size_t vector_bytes() const { return index_->shape.dimensions * sizeof(float); }

  // Reads the items, as many as fit into the response.
  Result<void> take_all(ReadView& view, const std::vector<Nearest::Found>& found) {
    std::vector<std::string> keys;
    for (std::size_t from = 0; from < found.size() && !is_full_; from += keys.size()) {
      keys.clear();
      for (std::size_t i = from; i < std::min(found.size(), from + kItemsAtOnce); ++i) {
        keys.push_back(found[i].item_key);
      }
      std::size_t next = 0;
      Result<void> taken;
      STATOR_RETURN_IF_ERROR(
          view.get_many(keys, [&](std::size_t part, std::string_view, std::string_view value) {
            if (part != next) return false;
            taken = take(ItemView(value), found[from + next++].score);
            return taken && !is_full_;
          }));
      STATOR_RETURN_IF_ERROR(std::move(taken));
      if (!is_full_ && next < keys.size()) {
        return fail(Code::kCorruption, "a vector index has a row without its item");
      }
    }
    return {};
  }

  Result<void> take(ItemView item, float score) {
    const bool is_wanted = std::ranges::all_of(wanted_, [&](const auto& attribute) {
      return same_key_value(item.find(attribute.first), attribute.second);
    });
    // Another value of the attribute has the same hash.
    if (!is_wanted) return fail(Code::kInternalServerError, "two values have one hash");
    const EncodedItem shown = shown_of(item);
    returned_bytes_ += item_size_bytes(ItemView(shown));
    response_bytes_ += shown.size();
    is_full_ = response_bytes_ > kResponseBytesMax;
    if (is_full_) return {};
    response_.items.append(shown);
    response_.scores.push_back(score);
    return {};
  }

  EncodedItem shown_of(ItemView item) const {
    const std::string& attribute = index_->shape.attribute;
    const bool shows_vector = projection_ && projection_->attributes().contains(attribute);
    if (!shows_vector && !index_->projected.contains(attribute)) {
      return projected(ItemView(index_->projected.of(item)));
    }
    Item copy = decode_item(ItemView(index_->projected.of(item)));
    copy.erase(attribute);
    if (const auto value = item.find(attribute); shows_vector && value) {
      copy.emplace(attribute, as_kept(*value));
    }
    return projected(ItemView(encode_item(copy)));
  }

  EncodedItem projected(ItemView item) const {
    return projection_ ? projection_->apply(item) : EncodedItem(item.bytes());
  }

  // The vector as the index stores it: as floats.
  List as_kept(ValueView value) const {
    List list;
    const auto vector = vector_of(value, index_->shape.dimensions);
    if (!vector) return list;
    for (const float component : *vector) {
      list.emplace_back(Number::parse(fmt::format("{}", component)).value());
    }
    return list;
  }

  const SearchVectorsRequest& request_;
  const Table* table_ = nullptr;
  const VectorIndex* index_ = nullptr;
  std::optional<ProjectionExpression> projection_;
  Item wanted_;  // the condition's attributes from the search schema
  VectorFilters filters_;
  KeyRange range_;                               // of the rows with the HASH value
  VectorCache* cache_ = nullptr;                 // null on a shared store
  std::shared_ptr<const CachedVectors> cached_;  // held until the candidates are known
  std::size_t examined_bytes_ = 0;
  std::size_t returned_bytes_ = 0;  // of the items, as capacity counts them
  std::size_t response_bytes_ = 0;  // of the items, encoded
  bool is_full_ = false;            // the response
  SearchVectorsResponse response_;
};

}  // namespace

void search_vectors(EngineCore& engine, const SearchVectorsRequest& request,
                    Done<SearchVectorsResponse> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<Search>(engine, std::move(done), request);
}

}  // namespace stator

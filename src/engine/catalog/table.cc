// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/table.h"

#include <algorithm>
#include <utility>

#include "engine/catalog/collection_sizes.h"

namespace stator {
namespace {

Result<KeyShape> make_shape(SpaceId space, const KeySchema& schema,
                            const std::vector<AttributeDefinition>& attributes) {
  KeyShape shape{.space = space, .hash = {}, .range = {}};
  for (const KeySchemaElement& element : schema) {
    const auto found = std::ranges::find(attributes, element.name, &AttributeDefinition::name);
    if (found == attributes.end()) {
      return fail(Code::kCorruption, "key attribute '" + element.name + "' has no definition");
    }
    (element.type == KeyType::kHash ? shape.hash : shape.range).push_back(*found);
  }
  if (shape.hash.empty()) return fail(Code::kCorruption, "a key schema has no partition key");
  return shape;
}

void add_names(std::vector<std::string>& names, const std::vector<AttributeDefinition>& keys) {
  for (const AttributeDefinition& key : keys) names.push_back(key.name);
}

// The attributes that a projection includes, and the key attributes of `shapes`.
ProjectedAttributes projected_by(const Projection& projection,
                                 std::initializer_list<const KeyShape*> shapes) {
  ProjectedAttributes projected{.all = projection.type == ProjectionType::kAll,
                                .names = projection.non_key_attributes};
  for (const KeyShape* shape : shapes) {
    add_names(projected.names, shape->hash);
    add_names(projected.names, shape->range);
  }
  std::ranges::sort(projected.names);
  const auto repeated = std::ranges::unique(projected.names);
  projected.names.erase(repeated.begin(), repeated.end());
  return projected;
}

Result<VectorIndex> make_vector_index(const VectorIndexDefinition& definition, SpaceId space,
                                      const std::vector<AttributeDefinition>& attributes,
                                      const KeyShape& table) {
  VectorIndex index{.definition = definition, .shape = {}, .projected = {}};
  index.shape.key.space = space;
  index.shape.attribute = definition.vector_attribute;
  index.shape.dimensions = static_cast<std::size_t>(definition.dimensions);
  for (const SearchSchemaElement& element : definition.search_schema) {
    const auto found = std::ranges::find(attributes, element.name, &AttributeDefinition::name);
    if (found == attributes.end()) {
      return fail(Code::kCorruption, "attribute '" + element.name + "' has no definition");
    }
    const bool is_hash = element.type == SearchSchemaElementType::kHash;
    (is_hash ? index.shape.key.hash : index.shape.filters).push_back(*found);
  }
  const KeyShape filters{.space = 0, .hash = index.shape.filters, .range = {}};
  index.projected = projected_by(definition.projection, {&index.shape.key, &filters, &table});
  return index;
}

}  // namespace

std::optional<VectorRow> VectorIndex::row(const Hash128& secret, const KeyShape& table,
                                          ItemView item) const {
  if (!item.find(shape.attribute)) return std::nullopt;
  // With every projection, a vector counts as four bytes per dimension.
  std::size_t bytes = shape.attribute.size() + sizeof(float) * shape.dimensions;
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    if (attribute->name == shape.attribute || !projected.contains(attribute->name)) continue;
    bytes += attribute->name.size() + value_size_bytes(attribute->value);
  }
  return vector_row(secret, table, shape, item, static_cast<uint32_t>(bytes));
}

bool ProjectedAttributes::contains(std::string_view attribute) const {
  return all ||
         std::ranges::binary_search(names, attribute, std::ranges::less{},
                                    [](const std::string& name) { return std::string_view(name); });
}

EncodedItem ProjectedAttributes::of(ItemView item) const {
  if (all) return EncodedItem(item.bytes());
  ItemBuilder builder;
  auto wanted = names.begin();
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    while (wanted != names.end() && *wanted < attribute->name) ++wanted;
    if (wanted == names.end()) break;
    if (*wanted == attribute->name) builder.add(attribute->name, attribute->value);
  }
  return std::move(builder).finish();
}

Result<std::shared_ptr<Table>> Table::make(TableDefinition definition, const Hash128& secret,
                                           const Table* previous) {
  std::shared_ptr<Table> table(new Table);
  const CreateTableRequest& settings = definition.settings;
  STATOR_ASSIGN_OR_RETURN(table->key_,
                          make_shape(definition.space, settings.key_schema, settings.attributes));

  const auto add_indexes = [&](const std::optional<std::vector<IndexDefinition>>& indexes,
                               const std::vector<SpaceId>& spaces, bool local) -> Result<void> {
    const std::size_t count = indexes ? indexes->size() : 0;
    if (spaces.size() != count) return fail(Code::kCorruption, "an index has no space");
    for (std::size_t i = 0; i < count; ++i) {
      Index index{.definition = (*indexes)[i], .local = local, .key = {}, .projected = {}};
      STATOR_ASSIGN_OR_RETURN(
          index.key, make_shape(spaces[i], index.definition.key_schema, settings.attributes));
      index.complete = !definition.is_unfinished(spaces[i]);
      index.projected = projected_by(index.definition.projection, {&index.key, &table->key_});
      table->indexes_.push_back(std::move(index));
    }
    return {};
  };
  STATOR_RETURN_IF_ERROR(add_indexes(settings.local_indexes, definition.local_spaces, true));
  STATOR_RETURN_IF_ERROR(add_indexes(settings.global_indexes, definition.global_spaces, false));

  const std::size_t vector_indexes = settings.vector_indexes ? settings.vector_indexes->size() : 0;
  if (definition.vector_spaces.size() != vector_indexes) {
    return fail(Code::kCorruption, "a vector index has no space");
  }
  for (std::size_t i = 0; i < vector_indexes; ++i) {
    STATOR_ASSIGN_OR_RETURN(VectorIndex index, make_vector_index((*settings.vector_indexes)[i],
                                                                 definition.vector_spaces[i],
                                                                 settings.attributes, table->key_));
    index.complete = !definition.is_unfinished(definition.vector_spaces[i]);
    table->vector_indexes_.push_back(std::move(index));
  }

  table->secret_ = secret;
  table->definition_ = std::move(definition);
  table->count_state_ =
      previous != nullptr ? previous->count_state_ : std::make_shared<CountState>();
  const bool has_queue = previous != nullptr && previous->expiry() != nullptr &&
                         table->expiry() != nullptr &&
                         previous->expiry()->space == table->expiry()->space;
  table->sweep_cursor_ = has_queue ? previous->sweep_cursor_ : std::make_shared<SweepCursor>();
  table->collections_ =
      previous != nullptr ? previous->collections_ : std::make_shared<CollectionSizes>();
  const std::vector<SpaceId> before =
      previous != nullptr ? previous->spaces() : std::vector<SpaceId>();
  for (const SpaceId space : table->spaces()) {
    const auto known = std::ranges::find(before, space);
    table->counters_.push_back(
        known == before.end()
            ? std::make_shared<Counters>()
            : previous->counters_[static_cast<std::size_t>(known - before.begin())]);
  }
  return table;
}

Counters::Totals Counters::totals() const {
  const std::lock_guard lock(mutex_);
  return {.items = std::max<int64_t>(0, totals_.items),
          .bytes = std::max<int64_t>(0, totals_.bytes)};
}

Counters::Kept Counters::kept() const {
  const std::lock_guard lock(mutex_);
  return {.totals = totals_, .stored = stored_};
}

void Counters::set_stored(const Kept& kept, Totals stored) {
  const std::lock_guard lock(mutex_);
  if (stored_ != kept.stored) return;
  totals_ -= kept.totals;
  totals_ += stored;
  stored_ = stored;
}

void Counters::add(uint64_t sequence, Totals change) {
  const std::lock_guard lock(mutex_);
  // The last count already included this change.
  if (!is_counting_ && base_ && sequence <= *base_) return;
  totals_ += change;
  if (!is_counting_) return;
  if (!base_) {
    before_base_.push_back({.sequence = sequence, .change = change});
  } else if (sequence > *base_) {
    since_base_ += change;
  }
}

uint64_t Counters::begin_count() {
  const std::lock_guard lock(mutex_);
  is_counting_ = true;
  base_.reset();
  before_base_.clear();
  since_base_ = {};
  return ++count_;
}

void Counters::set_base(uint64_t count, uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (count != count_) return;
  base_ = sequence;
  for (const Late& late : std::exchange(before_base_, {})) {
    if (late.sequence > sequence) since_base_ += late.change;
  }
}

bool Counters::finish_count(uint64_t count, Totals counted) {
  const std::lock_guard lock(mutex_);
  if (count != count_ || !is_counting_) return false;
  is_counting_ = false;
  totals_ = counted;
  totals_ += since_base_;
  return true;
}

const Index* Table::index(std::string_view name) const {
  const auto found = std::ranges::find_if(
      indexes_, [&](const Index& index) { return index.definition.name == name; });
  return found == indexes_.end() ? nullptr : &*found;
}

const VectorIndex* Table::vector_index(std::string_view name) const {
  const auto found = std::ranges::find_if(
      vector_indexes_, [&](const VectorIndex& index) { return index.definition.name == name; });
  return found == vector_indexes_.end() ? nullptr : &*found;
}

bool Table::is_key(std::string_view attribute) const {
  const auto named = [&](const AttributeDefinition& key) { return key.name == attribute; };
  return std::ranges::any_of(key_.hash, named) || std::ranges::any_of(key_.range, named);
}

std::vector<SpaceId> Table::spaces() const {
  std::vector<SpaceId> spaces = {definition_.space};
  for (const Index& index : indexes_) spaces.push_back(index.key.space);
  for (const VectorIndex& index : vector_indexes_) spaces.push_back(index.shape.key.space);
  return spaces;
}

std::vector<SpaceId> TableDefinition::all_spaces() const {
  std::vector<SpaceId> all = {space};
  all.insert(all.end(), local_spaces.begin(), local_spaces.end());
  all.insert(all.end(), global_spaces.begin(), global_spaces.end());
  all.insert(all.end(), vector_spaces.begin(), vector_spaces.end());
  if (expiry) all.push_back(expiry->space);
  return all;
}

std::vector<Table::Counted> Table::counted() const {
  std::vector<Counted> all;
  const std::vector<SpaceId> of = spaces();
  all.reserve(of.size());
  for (std::size_t i = 0; i < of.size(); ++i) {
    all.push_back({.space = of[i],
                   .range = space_range(of[i]),
                   .counters = counters_[i],
                   .has_vectors = i > indexes_.size()});
  }
  return all;
}

int64_t Table::Counted::bytes_of(std::string_view value) const {
  if (has_vectors) return vector_entry_bytes(value);
  return static_cast<int64_t>(item_size_bytes(ItemView(value)));
}

void Table::when_unused(std::move_only_function<void()> action) const {
  era_->action = std::move(action);
}

void Table::replaced_by(const Table& next) const {
  era_->next = next.era_;
}

}  // namespace stator

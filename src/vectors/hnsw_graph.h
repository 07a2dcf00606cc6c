// SPDX-License-Identifier: Apache-2.0
// HnswGraph: a hierarchical navigable small world graph (Malkov and Yashunin,
// doi.org/10.1109/TPAMI.2018.2889473). A search finds most of the nearest vectors and computes few
// distances.
//
// The caller stores the vectors and computes the distances. A node is never removed, and its vector
// must not change. A node is added in two steps, plan() and link(), so that searches can run during
// most of the work.
//
// Thread safety: any thread can call const methods concurrently; link() requires exclusive access.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"

namespace stator {

class HnswGraph {
 public:
  using Slot = uint32_t;
  using Slots = std::vector<Slot>;

  // Writes the distance of each of `others`. A distance is any finite number; lower is nearer.
  using Distances = FunctionRef<void(std::span<const Slot> others, float* distances)>;
  using DistancesFrom = FunctionRef<void(Slot one, std::span<const Slot> others, float* distances)>;

  struct Near {
    float distance = 0;
    Slot slot = 0;

    auto operator<=>(const Near&) const = default;
  };

  // The links of a new node, and of the nodes that will link to it.
  struct Plan {
    struct Change {
      Slot node = 0;
      std::size_t level = 0;
      bool keeps = false;  // the link to the new node
      Slots before;
      Slots after;
    };
    Slot slot = 0;
    bool is_first = false;     // node of the graph
    bool has_parent = false;   // to which the first link of level 0 leads
    std::vector<Slots> links;  // for each level
    std::vector<Change> changes;
  };
  Plan plan(Slot slot, DistancesFrom distances) const;
  void link(Plan plan, DistancesFrom distances);

  bool contains(Slot slot) const {
    return slot / kChunkNodes < chunks_.size() && node(slot).is_used;
  }
  std::size_t size() const { return size_; }
  static std::size_t bytes_of(std::size_t slots);

  // Returns up to `width` of the nearest nodes that pass, the nearest first. A greater width finds
  // more of them. Returns std::nullopt if it would compute more than `looks_max` distances, because
  // few pass.
  std::optional<std::vector<Near>> search(Distances distances, std::size_t width,
                                          FunctionRef<bool(Slot)> passes,
                                          std::size_t looks_max) const;

 private:
  static constexpr std::size_t kLinks = 16;               // per node and level
  static constexpr std::size_t kLinksBelow = 2 * kLinks;  // at level 0
  static constexpr std::size_t kKeptLinksMax = kLinksBelow / 2;
  static constexpr std::size_t kPlanWidth = 100;
  static constexpr std::size_t kChunkNodes = 1024;

  // The first `kept` links are those between the node, its parent and its children. They are never
  // replaced by better ones, so each node can be reached from all others: all but the first have a
  // parent, unless all of the nearest nodes keep kKeptLinksMax links already.
  struct Node {
    bool is_used = false;
    uint8_t links = 0;
    uint8_t kept = 0;
    Slot to[kLinksBelow];
  };
  struct Looks {
    std::size_t done = 0;
    std::size_t max = 0;
  };

  static std::size_t levels_of(Slot slot);
  static std::size_t links_max(std::size_t level) { return level == 0 ? kLinksBelow : kLinks; }
  std::size_t levels() const { return upper_.size() + 1; }
  std::span<const Slot> links(Slot node, std::size_t level) const;
  void set_links(Slot node, std::size_t level, const Slots& links, std::size_t kept);
  std::size_t kept_links(Slot node, std::size_t level) const {
    return level == 0 ? this->node(node).kept : 0;
  }
  Near descend(std::size_t level, Distances distances, Looks& looks) const;
  std::vector<Near> search_level(std::size_t level, std::span<const Near> entries,
                                 std::size_t width, Distances distances,
                                 FunctionRef<bool(Slot)> passes, Looks& looks) const;
  static Slots choose(std::span<const Near> nearest, std::size_t kept, std::size_t links,
                      DistancesFrom distances);
  Slots with_link(const Plan::Change& change, Slot slot, DistancesFrom distances) const;

  Node& node(Slot slot) { return chunks_[slot / kChunkNodes][slot % kChunkNodes]; }
  const Node& node(Slot slot) const { return chunks_[slot / kChunkNodes][slot % kChunkNodes]; }

  std::vector<std::unique_ptr<Node[]>> chunks_;         // level 0
  std::vector<std::unordered_map<Slot, Slots>> upper_;  // levels 1 and higher
  Slot entry_ = 0;                                      // at the highest level
  std::size_t size_ = 0;
};

}  // namespace stator

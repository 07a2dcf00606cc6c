// SPDX-License-Identifier: Apache-2.0
#include "vectors/hnsw_graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/mix.h"

namespace stator {
namespace {

using Slot = HnswGraph::Slot;
using Near = HnswGraph::Near;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLevelsMax = 16;

// The nodes that a search has seen: a hash table without removal.
class Seen {
 public:
  explicit Seen(std::size_t expected) : slots_(std::bit_ceil(2 * expected), kFree) {}

  // Returns false if the slot was already present.
  bool insert(Slot slot) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& place = place_of(slot);
    if (place == slot) return false;
    place = slot;
    ++count_;
    return true;
  }

 private:
  static constexpr Slot kFree = std::numeric_limits<Slot>::max();

  Slot& place_of(Slot slot) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (slot * kMixStep) >> 32U & mask;
    while (slots_[at] != kFree && slots_[at] != slot) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector(2 * slots_.size(), kFree));
    for (const Slot slot : old) {
      if (slot != kFree) place_of(slot) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace

// A node is in each higher level with probability 1/kLinks, which depends only on its slot.
std::size_t HnswGraph::levels_of(Slot slot) {
  static_assert(kLinks == 16);
  const int quarters = std::countl_zero(mix(slot * kMixStep)) / 4;
  return std::min(static_cast<std::size_t>(1 + quarters), kLevelsMax);
}

std::size_t HnswGraph::bytes_of(std::size_t slots) {
  constexpr std::size_t kUpperNode = sizeof(Slot) * kLinks + 96;
  return slots * (sizeof(Node) + kUpperNode / kLinks);
}

std::span<const Slot> HnswGraph::links(Slot node, std::size_t level) const {
  if (level == 0) return {this->node(node).to, this->node(node).links};
  return upper_[level - 1].at(node);
}

void HnswGraph::set_links(Slot node, std::size_t level, const Slots& links, std::size_t kept) {
  if (level > 0) {
    upper_[level - 1][node] = links;
    return;
  }
  std::ranges::copy(links, this->node(node).to);
  this->node(node).links = static_cast<uint8_t>(links.size());
  this->node(node).kept = static_cast<uint8_t>(kept);
}

// Moves to ever nearer nodes, from the highest level down to the level above `level`.
Near HnswGraph::descend(std::size_t level, Distances distances, Looks& looks) const {
  Near nearest{.slot = entry_};
  distances({&nearest.slot, 1}, &nearest.distance);
  ++looks.done;
  float found[kLinks];
  for (std::size_t at = levels() - 1; at > level; --at) {
    for (bool moves = true; std::exchange(moves, false);) {
      const std::span<const Slot> next = links(nearest.slot, at);
      distances(next, found);
      looks.done += next.size();
      for (std::size_t i = 0; i < next.size(); ++i) {
        if (found[i] >= nearest.distance) continue;
        nearest = {.distance = found[i], .slot = next[i]};
        moves = true;
      }
    }
  }
  return nearest;
}

// Returns the nodes that were found, the nearest first.
std::vector<Near> HnswGraph::search_level(std::size_t level, std::span<const Near> entries,
                                          std::size_t width, Distances distances,
                                          FunctionRef<bool(Slot)> passes, Looks& looks) const {
  Seen seen(16 * width);
  std::vector<Near> found;  // a heap with the farthest at the front
  std::vector<Near> next;   // a heap with the nearest at the front
  const auto offer = [&](const Near& node) {
    if (found.size() == width && node.distance >= found.front().distance) return;
    next.push_back(node);
    std::ranges::push_heap(next, std::greater());
    if (!passes(node.slot)) return;
    if (found.size() == width) {
      std::ranges::pop_heap(found);
      found.back() = node;
    } else {
      found.push_back(node);
    }
    std::ranges::push_heap(found);
  };
  for (const Near& entry : entries) {
    if (seen.insert(entry.slot)) offer(entry);
  }
  Slot unseen[kLinksBelow];
  float far[kLinksBelow];
  while (!next.empty() && looks.done <= looks.max) {
    const Near nearest = next.front();
    if (found.size() == width && nearest.distance > found.front().distance) break;
    std::ranges::pop_heap(next, std::greater());
    next.pop_back();
    std::size_t count = 0;
    for (const Slot slot : links(nearest.slot, level)) {
      if (seen.insert(slot)) unseen[count++] = slot;
    }
    distances({unseen, count}, far);
    looks.done += count;
    for (std::size_t i = 0; i < count; ++i) offer({.distance = far[i], .slot = unseen[i]});
  }
  std::ranges::sort_heap(found);
  return found;
}

// Of two nodes in the same direction, prefers the nearer, so that links lead in all directions.
// Equal vectors count as the same direction. The first `kept` are chosen in any case.
HnswGraph::Slots HnswGraph::choose(std::span<const Near> nearest, std::size_t kept,
                                   std::size_t links, DistancesFrom distances) {
  std::vector<Near> chosen(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<Near> covered;
  for (const Near& one : nearest.subspan(kept)) {
    if (chosen.size() == links) break;
    const bool is_covered = std::ranges::any_of(chosen, [&](const Near& other) {
      float between = 0;
      distances(one.slot, {&other.slot, 1}, &between);
      return between < one.distance || (between == one.distance && one.distance == other.distance);
    });
    (is_covered ? covered : chosen).push_back(one);
  }
  covered.resize(std::min(covered.size(), links - chosen.size()));
  chosen.insert(chosen.end(), covered.begin(), covered.end());
  Slots slots;
  for (const Near& one : chosen) slots.push_back(one.slot);
  return slots;
}

// The links of the node that changes and one to `slot`. If they are too many, the best according to
// choose().
HnswGraph::Slots HnswGraph::with_link(const Plan::Change& change, Slot slot,
                                      DistancesFrom distances) const {
  const std::span<const Slot> now = links(change.node, change.level);
  const std::size_t kept = kept_links(change.node, change.level);
  Slots all(now.begin(), now.end());
  all.insert(change.keeps ? all.begin() + static_cast<std::ptrdiff_t>(kept) : all.end(), slot);
  if (all.size() <= links_max(change.level)) return all;
  float far[kLinksBelow + 1];
  distances(change.node, all, far);
  std::vector<Near> nearest(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) nearest[i] = {.distance = far[i], .slot = all[i]};
  const std::size_t stay = kept + (change.keeps ? 1 : 0);
  std::ranges::sort(nearest.begin() + static_cast<std::ptrdiff_t>(stay), nearest.end());
  return choose(nearest, stay, links_max(change.level), distances);
}

HnswGraph::Plan HnswGraph::plan(Slot slot, DistancesFrom distances) const {
  Plan plan;
  plan.slot = slot;
  plan.is_first = size_ == 0;
  plan.links.resize(levels_of(slot));
  if (plan.is_first) return plan;
  const auto from_slot = [&](std::span<const Slot> others, float* found) {
    distances(slot, others, found);
  };
  Looks looks{.max = kNoLimit};
  std::vector<Near> near{descend(plan.links.size() - 1, from_slot, looks)};
  for (std::size_t level = std::min(plan.links.size(), levels()); level-- > 0;) {
    near = search_level(level, near, kPlanWidth, from_slot, [](Slot) { return true; }, looks);
    Slots& chosen = plan.links[level] = choose(near, 0, kLinks, distances);
    if (level == 0) {
      const auto parent = std::ranges::find_if(
          chosen, [&](Slot node) { return kept_links(node, 0) < kKeptLinksMax; });
      plan.has_parent = parent != chosen.end();
      if (plan.has_parent) std::ranges::swap(chosen.front(), *parent);
    }
    for (const Slot node : chosen) {
      const std::span<const Slot> before = links(node, level);
      Plan::Change change{.node = node,
                          .level = level,
                          .keeps = level == 0 && plan.has_parent && node == chosen.front(),
                          .before = {before.begin(), before.end()}};
      change.after = with_link(change, slot, distances);
      plan.changes.push_back(std::move(change));
    }
  }
  return plan;
}

void HnswGraph::link(Plan plan, DistancesFrom distances) {
  if (plan.is_first && size_ > 0) plan = this->plan(plan.slot, distances);
  const Slot slot = plan.slot;
  while (chunks_.size() <= slot / kChunkNodes) {
    chunks_.push_back(std::make_unique<Node[]>(kChunkNodes));
  }
  node(slot).is_used = true;
  if (size_++ == 0 || plan.links.size() > levels()) entry_ = slot;
  if (plan.links.size() > levels()) upper_.resize(plan.links.size() - 1);
  for (std::size_t level = 0; level < plan.links.size(); ++level) {
    set_links(slot, level, plan.links[level], level == 0 && plan.has_parent ? 1 : 0);
  }
  for (Plan::Change& change : plan.changes) {
    const std::size_t kept = kept_links(change.node, change.level);
    change.keeps = change.keeps && kept < kKeptLinksMax;
    const bool is_as_planned = std::ranges::equal(links(change.node, change.level), change.before);
    if (!is_as_planned) change.after = with_link(change, slot, distances);
    set_links(change.node, change.level, change.after, kept + (change.keeps ? 1 : 0));
  }
}

std::optional<std::vector<Near>> HnswGraph::search(Distances distances, std::size_t width,
                                                   FunctionRef<bool(Slot)> passes,
                                                   std::size_t looks_max) const {
  if (size_ == 0) return std::vector<Near>();
  Looks looks{.max = looks_max};
  const Near entry = descend(0, distances, looks);
  auto found = search_level(0, {&entry, 1}, width, distances, passes, looks);
  if (looks.done > looks.max) return std::nullopt;
  return found;
}

}  // namespace stator

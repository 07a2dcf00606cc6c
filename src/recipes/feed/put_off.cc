// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/put_off.h"

#include <algorithm>

#include "recipes/common/keys.h"
#include "recipes/feed/post_keys.h"

namespace stator::recipes {
namespace {

constexpr std::size_t kMaxPosts = 10'000;
constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{300};
constexpr int kDoublings = 9;  // until kLongestPause

}  // namespace

std::string PutOff::name_of(const Item& key) const {
  const std::string* partition = text_in(key, state_.options.partition_key);
  const auto range_key = key.find(state_.options.range_key);
  if (partition == nullptr || range_key == key.end()) return {};
  return text_of(range_key->second) + '\n' + *partition;
}

bool PutOff::waits(const Item& key) const {
  const auto found = posts_.find(name_of(key));
  return found != posts_.end() && state_.time.since_boot() < found->second.next_try;
}

bool PutOff::add(const Item& key, const UserId& author, const Error& error) {
  const std::string name = name_of(key);
  const bool remembers = posts_.size() < kMaxPosts || posts_.contains(name);
  Entry forgotten;
  Entry& entry = remembers ? posts_[name] : forgotten;
  entry.key = key;
  const int doublings = std::min(entry.failures++, kDoublings);
  const auto pause = std::min<std::chrono::seconds>(kFirstPause * (1 << doublings), kLongestPause);
  entry.next_try = state_.time.since_boot() + pause;
  if (state_.options.on_undelivered) {
    const auto range_key = key.find(state_.options.range_key);
    const auto place =
        range_key == key.end() ? std::nullopt : PostKeys::place_of(range_key->second);
    state_.options.on_undelivered({.author = author,
                                   .id = place ? place->id : PostId(),
                                   .error = error,
                                   .attempts = entry.failures,
                                   .next_attempt = pause});
  }
  return remembers;
}

std::vector<Item> PutOff::due() const {
  const std::chrono::nanoseconds now = state_.time.since_boot();
  std::vector<const Entry*> entries;
  for (const auto& [name, entry] : posts_) {
    if (now >= entry.next_try) entries.push_back(&entry);
  }
  std::ranges::sort(entries, {}, &Entry::next_try);
  std::vector<Item> keys;
  keys.reserve(entries.size());
  for (const Entry* entry : entries) keys.push_back(entry->key);
  return keys;
}

}  // namespace stator::recipes

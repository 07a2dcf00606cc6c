// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"
#include "engine/verify/verify_parts.h"

namespace stator {
namespace {

constexpr std::string_view kLogKind = "change";

class LogCheck {
 public:
  LogCheck(Verification& verification, const LogDefinition& log, const Hash128& secret,
           uint64_t end)
      : verification_(verification), log_(log), secret_(secret), end_(end) {}

  void run() {
    verification_.scan(space_range(log_.space), kLogKind, name(),
                       [&](std::string_view key, std::string_view value) {
                         const std::string problem = is_boundary(key)
                                                         ? problem_of_boundary(key, value)
                                                         : problem_of(key, value);
                         if (problem.empty()) return;
                         verification_.add(kLogKind, name() + ": row " + hex(key) + " " + problem);
                       });
    if (log_.is_recording() && !marked_) {
      verification_.add(kLogKind, name() + " has no boundary with which it begins");
    }
  }

 private:
  std::string name() const { return "the change log of table '" + log_.table + "'"; }

  std::string problem_of_commit_version(uint64_t commit_version) const {
    return commit_version >= end_ ? "has a commit version of the future" : "";
  }

  std::string problem_of_boundary(std::string_view key, std::string_view value) {
    const auto boundary = read_boundary(key, value);
    if (!boundary) return "is damaged: " + boundary.error().message;
    marked_ = true;
    return problem_of_commit_version(boundary->commit_version);
  }

  std::string problem_of(std::string_view key, std::string_view value) {
    ++verification_.report().changes;
    const auto change = read_change(key, value);
    if (!change) return "is damaged: " + change.error().message;
    if (change->before && change->after && change->before->bytes() == change->after->bytes()) {
      return "is of a change that changed nothing";
    }
    for (const auto* image : {&change->before, &change->after}) {
      if (*image && partition_of(**image) != static_cast<unsigned char>(key[sizeof(SpaceId)])) {
        return "is of an item whose changes are elsewhere";
      }
    }
    return problem_of_commit_version(change->commit_version);
  }

  // Returns kLogPartitions if the image lacks a key attribute.
  unsigned partition_of(ItemView image) const {
    std::string components;
    for (const KeySchemaElement& element : log_.key_schema) {
      const auto value = image.find(element.name);
      const bool is_scalar =
          value && (value->type() == AttributeType::kS || value->type() == AttributeType::kN ||
                    value->type() == AttributeType::kB);
      if (!is_scalar) return kLogPartitions;
      if (element.type == KeyType::kHash) append_key_component(components, *value);
    }
    return log_partition_of(partition_key(secret_, log_.space, components));
  }

  Verification& verification_;
  const LogDefinition& log_;
  const Hash128& secret_;
  const uint64_t end_;
  bool marked_ = false;
};

}  // namespace

void verify_log(Verification& verification, const LogDefinition& log, const Hash128& secret,
                uint64_t end) {
  LogCheck(verification, log, secret, end).run();
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"
#include "engine/verify/verify_parts.h"

namespace stator {
namespace {

constexpr std::string_view kLogKind = "change";

class LogCheck {
 public:
  LogCheck(Verification& verification, ReadView& view, const LogDefinition& log,
           const Hash128& secret, uint64_t last_stamp)
      : verification_(verification),
        view_(view),
        log_(log),
        secret_(secret),
        last_stamp_(last_stamp) {}

  void run() {
    verification_.scan(view_, space_range(log_.space), kLogKind, name(),
                       [&](std::string_view key, std::string_view value) {
                         const std::string problem =
                             is_mark(key) ? problem_of_mark(key, value) : problem_of(key, value);
                         if (problem.empty()) return;
                         verification_.add(kLogKind, name() + ": row " + hex(key) + " " + problem);
                       });
    if (log_.is_recording() && !marked_) {
      verification_.add(kLogKind, name() + " has no mark with which it begins");
    }
  }

 private:
  std::string name() const { return "the change log of table '" + log_.table + "'"; }

  std::string problem_of_stamp(uint64_t stamp) const {
    return stamp > last_stamp_ ? "has a stamp of the future" : "";
  }

  std::string problem_of_mark(std::string_view key, std::string_view value) {
    const auto mark = read_mark(key, value);
    if (!mark) return "is damaged: " + mark.error().message;
    marked_ = true;
    return problem_of_stamp(mark->stamp);
  }

  std::string problem_of(std::string_view key, std::string_view value) {
    ++verification_.report().changes;
    const auto change = read_change(key, value);
    if (!change) return "is damaged: " + change.error().message;
    if (change->before && change->after && change->before->bytes() == change->after->bytes()) {
      return "is of a change that changed nothing";
    }
    for (const auto* image : {&change->before, &change->after}) {
      if (*image && bucket_of(**image) != static_cast<unsigned char>(key[sizeof(SpaceId)])) {
        return "is of an item whose changes are elsewhere";
      }
    }
    return problem_of_stamp(change->stamp);
  }

  // kLogBuckets for an image that lacks a key.
  unsigned bucket_of(ItemView image) const {
    std::string components;
    for (const KeySchemaElement& element : log_.key_schema) {
      const auto value = image.find(element.name);
      const bool is_scalar =
          value && (value->type() == AttributeType::kS || value->type() == AttributeType::kN ||
                    value->type() == AttributeType::kB);
      if (!is_scalar) return kLogBuckets;
      if (element.type == KeyType::kHash) append_key_component(components, *value);
    }
    return log_bucket(partition_key(secret_, log_.space, components));
  }

  Verification& verification_;
  ReadView& view_;
  const LogDefinition& log_;
  const Hash128& secret_;
  const uint64_t last_stamp_;
  bool marked_ = false;
};

}  // namespace

void verify_log(Verification& verification, ReadView& view, const LogDefinition& log,
                const Hash128& secret, uint64_t last_stamp) {
  LogCheck(verification, view, log, secret, last_stamp).run();
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/verify.h"

#include <algorithm>

#include "api/model/utf8.h"
#include "base/hex.h"
#include "engine/items/tokens.h"
#include "engine/rows/older_keys.h"
#include "engine/verify/verify_parts.h"
#include "storage/read_values.h"

namespace stator {
namespace {

constexpr std::size_t kMessageBytesMax = 1000;
constexpr uint64_t kRowsBetweenProgress = 1024;
constexpr std::size_t kRowsAtOnce = 16'384;
constexpr std::size_t kBytesAtOnce = 4UL << 20;
constexpr std::size_t kOthersAtOnce = 32;  // rows of any size, up to that of an item

// Returns one line of valid UTF-8 without control characters.
std::string presentable(std::string_view text) {
  std::string line(text.substr(0, kMessageBytesMax));
  const bool is_text = wire::is_utf8(line);
  for (char& byte : line) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code == 0x7f || (!is_text && code >= 0x80)) byte = '?';
  }
  return line;
}

// Rows of unknown spaces: one finding per space.
class Orphans {
 public:
  explicit Orphans(Verification& verification) : verification_(verification) {}

  void see(std::string_view key) {
    if (rows_ > 0 && key.substr(0, space_.size()) != space_) finish();
    if (rows_++ == 0) space_ = key.substr(0, sizeof(SpaceId));
  }
  void finish() {
    if (rows_ == 0) return;
    verification_.add("orphan", std::to_string(rows_) + " rows of space " +
                                    std::to_string(read_big_endian(space_)) +
                                    ", which no table and no index owns");
    rows_ = 0;
  }

 private:
  Verification& verification_;
  std::string space_;
  uint64_t rows_ = 0;
};

void verify_no_orphans(Verification& verification, const CatalogContents& catalog) {
  std::set<SpaceId> owned = {kCatalogSpace, kTokenSpace, kTokenExpirySpace};
  owned.insert(catalog.dropped.begin(), catalog.dropped.end());
  owned.insert(catalog.restoring.begin(), catalog.restoring.end());
  for (const TablePtr& table : catalog.tables) {
    for (const SpaceId space : table->all_spaces()) owned.insert(space);
  }
  for (const auto& [space, log] : catalog.logs) owned.insert(space);
  Orphans orphans(verification);
  const auto look = [&](const KeyRange& range) {
    verification.scan(range, "orphan", "the rows between the tables",
                      [&](std::string_view key, std::string_view) { orphans.see(key); });
  };
  std::string begin;
  for (const SpaceId space : owned) {
    const KeyRange rows = space_range(space);
    if (begin < rows.begin) look({.begin = begin, .end = rows.begin});
    begin = rows.end;
  }
  look({.begin = begin, .end = {}});
  orphans.finish();
}

}  // namespace

void Verification::add(std::string_view kind, std::string_view message) {
  ++report_.finding_count;
  if (report_.findings.size() == VerifyReport::kFindingsMax) return;
  report_.findings.push_back({.kind = kind, .message = presentable(message)});
}

bool Verification::scan(const KeyRange& range, std::string_view kind, std::string_view what,
                        FunctionRef<void(std::string_view, std::string_view)> visit) {
  return scan_rows(range, kind, what, [&](std::span<const Row> rows) {
    for (const auto& [key, value] : rows) {
      count_row();
      visit(key, value);
    }
  });
}

bool Verification::scan_pairs(const KeyRange& range, std::string_view kind, std::string_view what,
                              Other other, FunctionRef<void(const RowPair&)> visit) {
  return scan_rows(range, kind, what, [&](std::span<const Row> rows) {
    while (!rows.empty()) {
      const std::size_t count = std::min(rows.size(), kOthersAtOnce);
      visit_pairs(rows.first(count), other, visit);
      rows = rows.subspan(count);
    }
  });
}

bool Verification::scan_rows(const KeyRange& range, std::string_view kind, std::string_view what,
                             FunctionRef<void(std::span<const Row>)> visit) {
  RangeRead rest{.range = range, .expected_rows = kRowsAtOnce};
  std::vector<Row> rows;
  bool more = true;
  while (more) {
    rows.clear();
    std::size_t bytes = 0;
    more = false;
    const auto read = read_range(store_, rest, [&](std::string_view key, std::string_view value) {
      rows.emplace_back(key, value);
      bytes += key.size() + value.size();
      more = rows.size() == kRowsAtOnce || bytes >= kBytesAtOnce;
      return !more;
    });
    visit(rows);
    if (!read) {
      add(kind, std::string(what) + ": " + read.error().message);
      return false;
    }
    if (more) rest.range.begin = rows.back().first + '\0';
  }
  return true;
}

// After a failure, each row is read by itself, because others can be readable.
void Verification::visit_pairs(std::span<const Row> rows, Other other,
                               FunctionRef<void(const RowPair&)> visit) {
  std::vector<RowPair> pairs;
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows) {
    const RowPair& pair = pairs.emplace_back(
        RowPair{.key = key, .value = value, .other_key = other.key_of(key, value)});
    if (pair.other_key) keys.push_back(*pair.other_key);
  }
  auto values = read_values(store_, keys);
  std::size_t number = 0;
  for (RowPair& pair : pairs) {
    count_row();
    if (pair.other_key) {
      pair.other = values ? std::move((*values)[number++]) : get(*pair.other_key, other.kind);
    }
    visit(pair);
  }
}

void Verification::count_row() {
  if (++rows_ % kRowsBetweenProgress == 0) progress_("rows", rows_, 0);
}

std::optional<std::string> Verification::get(const std::string& key, std::string_view kind) {
  std::string value;
  const auto found = read_value(store_, key, [&](std::string_view bytes) { value = bytes; });
  if (!found) add(kind, "row " + hex(key) + ": " + found.error().message);
  return found && *found ? std::optional(std::move(value)) : std::nullopt;
}

// Checks that a token's row and its queue row name each other. After a token is used again, its
// earlier queue row remains until the sweep.
void verify_tokens(Verification& verification, bool has_older_keys) {
  const auto queue_key = has_older_keys ? older_queue_row_key : queue_row_key;
  const auto read_key = has_older_keys ? read_older_queue_row : read_queue_row;
  const auto key_by_time = [&](std::string_view key,
                               std::string_view value) -> std::optional<std::string> {
    const auto row = decode_token_row(value);
    if (!row || key.size() != kPartitionBytes) return std::nullopt;
    return queue_key(kTokenExpirySpace, static_cast<uint64_t>(row->expires_ms), key);
  };
  verification.scan_pairs(
      space_range(kTokenSpace), "token", "the tokens", {.key_of = key_by_time, .kind = "token"},
      [&](const RowPair& pair) {
        ++verification.report().tokens;
        if (!pair.other_key) {
          verification.add("token", "the token in row " + hex(pair.key) + " is damaged");
        } else if (!pair.other) {
          verification.add("token", "the token in row " + hex(pair.key) + " has no row by time");
        }
      });
  const auto token_key = [&](std::string_view key,
                             std::string_view value) -> std::optional<std::string> {
    const auto expiry = read_key(key);
    if (!expiry || expiry->row_key.size() != kPartitionBytes || !value.empty()) return std::nullopt;
    return std::string(expiry->row_key);
  };
  verification.scan_pairs(
      space_range(kTokenExpirySpace), "token", "the tokens by time",
      {.key_of = token_key, .kind = "token"}, [&](const RowPair& pair) {
        if (!pair.other_key) {
          verification.add("token", "row by time " + hex(pair.key) + " is damaged");
          return;
        }
        const auto row = pair.other ? decode_token_row(*pair.other) : std::nullopt;
        if (!pair.other ||
            (row && static_cast<uint64_t>(row->expires_ms) < read_key(pair.key)->time)) {
          verification.add("token", "row by time " + hex(pair.key) + " has no token");
        }
      });
}

VerifyReport verify(TransactStore& store, VerifyProgress progress, std::optional<LogPosition> end) {
  VerifyReport report;
  Verification verification(store, report, progress);
  if (StoreFiles* const files = store.files()) {
    files->verify_files(
        [&](std::string_view damage) { verification.add("file", damage); },
        [&](uint64_t done, uint64_t total) { verification.read_file_bytes(done, total); });
  }
  if (!end) {
    const auto safe = store.safe_position();
    if (!safe) {
      verification.add("file", safe.error().message);
      return report;
    }
    end = *safe;
  }
  const auto catalog = verify_catalog(verification);
  if (!catalog) return report;
  for (const TablePtr& table : catalog->tables) {
    verify_table(verification, *table, *catalog);
  }
  for (const auto& [space, log] : catalog->logs) {
    verify_log(verification, log, catalog->secret, static_cast<uint64_t>(*end));
  }
  verify_tokens(verification, catalog->has_older_keys);
  if (catalog->complete) verify_no_orphans(verification, *catalog);
  return report;
}

}  // namespace stator

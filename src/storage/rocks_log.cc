// SPDX-License-Identifier: Apache-2.0
// A write is in the log before the next one begins. With durability sync, it has also been synced
// by then. So a damaged record that a later record follows was acknowledged. The progress file
// tells whether the very last record was acknowledged.
#include "storage/rocks_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/file_checksum.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/files.h"
#include "storage/copy_directory.h"
#include "storage/data_directory.h"

namespace stator {
namespace {

constexpr std::size_t kBlockBytes = 32UL << 10;
constexpr std::size_t kHeaderBytes = 7;  // checksum, length, type
constexpr std::size_t kStartBytes = 12;  // of a write: its first row number and the number of rows

// Types between kNotes and kEnd are RocksDB's internal records, which contain no rows.
enum RecordType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4, kNotes = 9, kEnd = 12 };

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

enum class Parsed { kRecord, kPadding, kTruncated, kGarbled };

struct Record {
  RecordType type = kFull;
  std::string_view part;
};

bool is_known(uint8_t type) {
  return (type >= kFull && type <= kLast) || (type >= kNotes && type < kEnd);
}

// Parses the record at the start of `rest`, which ends with its block or with the file.
Parsed parse_record(std::string_view rest, bool is_whole_block, Record& record) {
  if (rest.size() < kHeaderBytes) return is_whole_block ? Parsed::kPadding : Parsed::kTruncated;
  const std::size_t length = little_endian(rest.substr(4, 2));
  const auto type = static_cast<uint8_t>(rest[6]);
  if (!is_known(type)) return Parsed::kGarbled;
  if (rest.size() < kHeaderBytes + length) {
    return is_whole_block ? Parsed::kGarbled : Parsed::kTruncated;
  }
  const uint32_t crc = crc32c(rest.substr(6, 1 + length));
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
  if (masked != little_endian(rest.substr(0, 4))) return Parsed::kGarbled;
  record = {.type = static_cast<RecordType>(type), .part = rest.substr(kHeaderBytes, length)};
  return Parsed::kRecord;
}

// The length of a garbled record according to its header.
std::size_t stated_bytes(std::string_view rest) {
  if (rest.size() < kHeaderBytes || !is_known(static_cast<uint8_t>(rest[6]))) return kHeaderBytes;
  return kHeaderBytes + little_endian(rest.substr(4, 2));
}

class LogReader {
 public:
  explicit LogReader(LogFile& file) : file_(file) {}

  // Reads the next block. `at`: its position in the file.
  void read(std::string_view block, uint64_t at) {
    std::size_t offset = 0;
    note_used(block, at);
    if (is_damaged_) {
      look_for_writes(block, /*everywhere=*/false);
      return;
    }
    while (offset < block.size()) {
      Record record;
      const bool is_whole_block = block.size() == kBlockBytes;
      const Parsed parsed = parse_record(block.substr(offset), is_whole_block, record);
      if (parsed == Parsed::kPadding) return;
      if (parsed == Parsed::kTruncated) {
        file_.end = LogFile::End::kTruncated;
        look_for_writes(block.substr(offset), /*everywhere=*/true);
        return;
      }
      const std::size_t bytes = kHeaderBytes + record.part.size();
      if (parsed == Parsed::kGarbled || !take(record, at + offset + bytes)) {
        is_damaged_ = true;
        if (parsed == Parsed::kGarbled) {
          record_at_ = at + offset;
          record_end_ = record_at_ + stated_bytes(block.substr(offset));
        }
        file_.end = LogFile::End::kGarbled;
        look_for_writes(block.substr(offset), /*everywhere=*/true);
        return;
      }
      offset += bytes;
    }
  }

  void finish() {
    const bool is_empty = is_damaged_ && used_ <= record_at_;
    const bool is_cut = is_damaged_ && used_ < record_end_;
    if (is_empty && !in_write_) {
      file_.end = LogFile::End::kWhole;
    } else if (is_cut || (!is_damaged_ && in_write_)) {
      file_.end = LogFile::End::kTruncated;
    }
  }

 private:
  // Returns false if the record cannot follow the previous one.
  bool take(const Record& record, uint64_t end) {
    if (record.type >= kNotes) return !in_write_;
    const bool begins = record.type == kFull || record.type == kFirst;
    if (begins == in_write_) return false;
    if (begins) start_.clear();
    start_.append(record.part.substr(0, kStartBytes - start_.size()));
    in_write_ = record.type == kFirst || record.type == kMiddle;
    if (in_write_) return true;
    if (start_.size() < kStartBytes) return false;
    const uint64_t first_row = little_endian(std::string_view(start_).substr(0, 8));
    const uint64_t rows = little_endian(std::string_view(start_).substr(8, 4));
    if (!file_.first_row) file_.first_row = first_row;
    file_.next_row = first_row + rows;
    file_.sound_bytes = end;
    return true;
  }

  // A record that begins a write proves that the previous write was complete. Blocks that were used
  // before can contain older records, which have lower row numbers.
  void look_for_writes(std::string_view rest, bool everywhere) {
    for (std::size_t offset = 0; offset < rest.size() && !file_.has_later_records;) {
      Record record;
      const bool found = parse_record(rest.substr(offset), true, record) == Parsed::kRecord;
      if (found && (record.type == kFull || record.type == kFirst)) {
        file_.has_later_records =
            record.part.size() < 8 || little_endian(record.part.substr(0, 8)) >= file_.next_row;
      }
      if (!found && !everywhere) return;
      offset += found ? kHeaderBytes + record.part.size() : 1;
    }
  }

  void note_used(std::string_view block, uint64_t at) {
    const std::size_t last = block.find_last_not_of('\0');
    if (last != std::string_view::npos) used_ = at + last + 1;
  }

  LogFile& file_;
  bool in_write_ = false;
  bool is_damaged_ = false;
  uint64_t used_ = 0;  // after the last byte that is not zero
  // Of the first record that is garbled: where it begins, and where it would end.
  uint64_t record_at_ = 0;
  uint64_t record_end_ = 0;
  std::string start_;
};

// The log files of a database ("000012.log"), sorted by number.
Result<std::vector<LogFile>> list_logs(const std::filesystem::path& directory) {
  std::vector<LogFile> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().stem().string();
    if (entry->path().extension() != ".log" || name.find_first_not_of("0123456789") != name.npos) {
      continue;
    }
    files.push_back({.path = entry->path(), .number = std::strtoull(name.c_str(), nullptr, 10)});
  }
  if (error) {
    return fail(Code::kIo, fmt::format("could not read directory '{}': {}", directory.string(),
                                       error.message()));
  }
  std::ranges::sort(files, {}, &LogFile::number);
  return files;
}

std::string name_of(const LogFile& file) {
  return "log '" + file.path.filename().string() + "'";
}

// Sets the damage, and how much of the logs precedes it.
void judge(LogState& state, const ManifestState& manifest, bool is_known_boot) {
  uint64_t next_row = manifest.last_row + 1;
  state.sound_files = state.files.size();
  for (std::size_t i = 0; i < state.files.size(); ++i) {
    const LogFile& file = state.files[i];
    if (file.first_row && *file.first_row > next_row) {
      state.damage = fmt::format("{} begins with row {}, but rows from {} on are missing",
                                 name_of(file), *file.first_row, next_row);
      state.sound_files = i;
      break;
    }
    next_row = std::max(next_row, file.next_row);
    if (file.end == LogFile::End::kWhole) continue;
    // After a failed write, the store resumes in a new log with the same row number.
    const auto later =
        std::find_if(state.files.begin() + static_cast<std::ptrdiff_t>(i) + 1, state.files.end(),
                     [](const LogFile& next) { return next.first_row.has_value(); });
    const bool is_followed = later != state.files.end();
    if (is_followed && *later->first_row <= next_row) continue;
    state.sound_files = i + 1;
    // If a process is killed, a record can be truncated, but its bytes cannot change.
    if (file.has_later_records || is_followed ||
        (file.end == LogFile::End::kGarbled && is_known_boot)) {
      state.damage = fmt::format("{} is damaged at byte {} of {}", name_of(file), file.sound_bytes,
                                 file.bytes);
    }
    break;
  }
  state.last_row = next_row - 1;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  const auto generator =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  generator->Update(bytes.data(), bytes.size());
  generator->Finalize();
  const std::string big_endian = generator->GetChecksum();
  return static_cast<uint32_t>(little_endian(std::string(big_endian.rbegin(), big_endian.rend())));
}

Result<LogFile> read_log_file(const std::filesystem::path& path, uint64_t number) {
  LogFile file{.path = path, .number = number};
  const Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int error = descriptor.get() < 0 ? errno : 0;
  LogReader reader(file);
  std::vector<char> block(kBlockBytes);
  while (error == 0) {
    std::size_t filled = 0;
    while (filled < kBlockBytes) {
      const ssize_t count = ::read(descriptor.get(), block.data() + filled, kBlockBytes - filled);
      if (count < 0) error = errno;
      if (count <= 0) break;
      filled += static_cast<std::size_t>(count);
    }
    if (error != 0 || filled == 0) break;
    if (file.end != LogFile::End::kTruncated) reader.read({block.data(), filled}, file.bytes);
    file.bytes += filled;
  }
  if (error != 0) {
    return fail(Code::kIo,
                fmt::format("could not read '{}': {}", path.string(), std::strerror(error)));
  }
  reader.finish();
  return file;
}

Result<LogState> check_logs(const std::filesystem::path& directory, const ManifestState& manifest,
                            const std::optional<Progress>& progress, std::string_view boot) {
  LogState state{.progress = progress};
  STATOR_ASSIGN_OR_RETURN(const std::vector<LogFile> files, list_logs(directory));
  for (const LogFile& listed : files) {
    if (listed.number < manifest.first_log) continue;  // all of its rows are in table files
    STATOR_ASSIGN_OR_RETURN(LogFile file, read_log_file(listed.path, listed.number));
    state.files.push_back(std::move(file));
  }
  const bool is_known_boot = progress && !boot.empty() && progress->boot == boot;
  judge(state, manifest, is_known_boot);
  const bool is_binding = progress && (progress->synced || is_known_boot);
  if (state.damage.empty() && is_binding && state.last_row < progress->last_row) {
    state.damage = fmt::format("the log ends with row {}, but rows up to {} were acknowledged",
                               state.last_row, progress->last_row);
  }
  state.is_excused = progress && !is_binding;
  return state;
}

Result<std::filesystem::path> set_logs_aside(const LogState& state,
                                             const std::filesystem::path& directory,
                                             const std::filesystem::path& home) {
  const std::size_t from = state.sound_files > 0 ? state.sound_files - 1 : 0;
  const std::vector<LogFile> damaged(state.files.begin() + static_cast<std::ptrdiff_t>(from),
                                     state.files.end());
  std::filesystem::path aside;
  std::error_code error;
  if (damaged.empty()) return aside;
  for (int i = 1; aside.empty(); ++i) {
    const std::filesystem::path name = home / fmt::format("damaged-log-{}", i);
    if (std::filesystem::create_directory(name, error)) aside = name;
    if (error) {
      return fail(Code::kIo,
                  fmt::format("could not create '{}': {}", name.string(), error.message()));
    }
  }
  const auto kept = [&](const LogFile& file) { return aside / file.path.filename(); };
  const bool keeps_part = state.sound_files > 0;
  if (keeps_part) {
    auto copied = copy_file(damaged[0].path, kept(damaged[0]), [](std::size_t) {});
    if (copied) copied = sync_directory(aside);
    if (!copied) {
      std::filesystem::remove_all(aside, error);  // otherwise each attempt would take more space
      return failure_of(std::move(copied));
    }
  }
  STATOR_RETURN_IF_ERROR(sync_directory(home));
  for (std::size_t i = damaged.size(); i-- > 0;) {
    if (i > 0 || !keeps_part) {
      std::filesystem::rename(damaged[i].path, kept(damaged[i]), error);
    } else {
      const Descriptor file(open(damaged[i].path.c_str(), O_WRONLY | O_CLOEXEC));
      if (file.get() < 0 ||
          ftruncate(file.get(), static_cast<off_t>(damaged[i].sound_bytes)) != 0 ||
          fsync(file.get()) != 0) {
        error = std::error_code(errno, std::generic_category());
      }
    }
    if (error) {
      return fail(Code::kIo,
                  fmt::format("could not cut '{}': {}", damaged[i].path.string(), error.message()));
    }
  }
  STATOR_RETURN_IF_ERROR(sync_directory(aside));
  STATOR_RETURN_IF_ERROR(sync_directory(directory));
  return aside;
}

}  // namespace stator

// SPDX-License-Identifier: Apache-2.0
// The file is read in chunks. A chunk's readings are distributed to lanes, one per thread, by
// sensor and time. The stored position is the end of the last chunk up to which everything is
// stored, so nothing before it is missing after a crash.
#include "cli/sensor_import.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/patience.h"

namespace stator::cli {
namespace {

struct ReadingsReached {
  FilePosition position;
  Recorded recorded;
};

void add_up(Recorded& all, const Recorded& some) {
  all.stored += some.stored;
  all.duplicates += some.duplicates;
  all.expired += some.expired;
}

// The item that stores the position of a file's import.
class ReadingsCheckpoint {
 public:
  ReadingsCheckpoint(Client& client, const ImportOptions& options)
      : client_(client), options_(options) {
    const ReadingsFile& file = options.file;
    uint64_t hash = kFnvStart;
    for (const std::string& part :
         {std::filesystem::path(file.path).filename().string(), file.sensor.text,
          file.sensor_column, file.time_column, file.value_column, file.unit_column}) {
      hash = fnv_hash(part + '\0', hash);
    }
    const SensorNames& names = options.sensors.names;
    key_.emplace(names.partition_key, "IMPORTS");
    key_.emplace(names.sort_key, fmt::format("{:016x}", hash));
  }

  bool is_kept() const { return options_.file.path != "-"; }

  Result<std::optional<ReadingsReached>> load() {
    if (!is_kept()) return std::optional<ReadingsReached>();
    STATOR_ASSIGN_OR_RETURN(
        const GetItemResult found,
        client_.get_item({.table = options_.sensors.table, .key = key_, .consistent_read = true}));
    if (!found.item) return std::optional<ReadingsReached>();
    stored_ = true;
    const auto number = [&](const char* name) -> std::optional<int64_t> {
      const auto at = found.item->find(name);
      const Number* value = at == found.item->end() ? nullptr : at->second.get_if<Number>();
      return value != nullptr ? value->to_int64() : std::nullopt;
    };
    const auto bytes = number("bytes");
    const auto lines = number("lines");
    const auto hash = number("hash");
    if (!bytes || !lines || !hash) return std::optional<ReadingsReached>();
    return std::optional(ReadingsReached{
        .position = {.bytes = *bytes, .lines = *lines, .hash = static_cast<uint64_t>(*hash)},
        .recorded = {.stored = number("stored").value_or(0),
                     .duplicates = number("duplicates").value_or(0),
                     .expired = number("expired").value_or(0)}});
  }

  Result<void> save(const ReadingsReached& progress) {
    if (!is_kept()) return {};
    Item item = key_;
    item.emplace("file", std::filesystem::path(options_.file.path).filename().string());
    item.emplace("bytes", progress.position.bytes);
    item.emplace("lines", progress.position.lines);
    item.emplace("hash", static_cast<int64_t>(progress.position.hash));
    item.emplace("stored", progress.recorded.stored);
    item.emplace("duplicates", progress.recorded.duplicates);
    item.emplace("expired", progress.recorded.expired);
    auto put = client_.put_item({.table = options_.sensors.table, .item = std::move(item)});
    if (!put) return failure_of(std::move(put));
    stored_ = true;
    return {};
  }

  // Deletes the position, so the next import of the same file starts over.
  Result<void> remove() {
    if (!stored_) return {};
    auto erased = client_.delete_item({.table = options_.sensors.table, .key = key_});
    return erased ? Result<void>() : failure_of(std::move(erased));
  }

 private:
  Client& client_;
  const ImportOptions& options_;
  Item key_;
  bool stored_ = false;
};

// The threads and the work in progress.
class Lanes {
 public:
  Lanes(const SensorRegistry& sensors, const ImportOptions& options, const ReadingsReached& start,
        const std::stop_token& stop)
      : sensors_(sensors),
        time_(options.sensors.time != nullptr ? *options.sensors.time : system_time()),
        check_(options.check),
        stop_(stop, [this] { give_up_.request_stop(); }),
        done_(start) {
    lanes_.resize(options.threads);
    for (auto& lane : lanes_) threads_.emplace_back([this, &lane] { work(lane); });
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes() { close(); }

  // Waits while too much work is in progress. Returns false after a failure.
  bool take(std::vector<Reading> readings, const FilePosition& end) {
    std::vector<std::vector<Reading>> parts(lanes_.size());
    for (Reading& reading : readings) {
      // Readings of the same sensor and time go to the same lane, in the order of the file.
      const uint64_t hash = fnv_hash(
          reading.sensor.text,
          static_cast<uint64_t>(reading.at.unix_seconds() * 31 + reading.at.subsecond_ns()));
      parts[(hash >> 20) % parts.size()].push_back(std::move(reading));
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || under_way_.size() < kChunksUnderWay; });
    if (failure_) return false;
    auto chunk = std::make_shared<Chunk>(Chunk{.left = parts.size(), .end = end});
    under_way_.push_back(chunk);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      lanes_[i].push_back({std::move(parts[i]), chunk});
    }
    changed_.notify_all();
    return true;
  }

  // The position up to which all readings are stored.
  ReadingsReached done() const {
    const std::scoped_lock lock(mutex_);
    return done_;
  }

  // Ends the threads after all readings are stored, or after a failure.
  Result<void> finish() {
    close();
    return failure_ ? Result<void>(Failure(*failure_)) : Result<void>();
  }

 private:
  static constexpr std::size_t kChunksUnderWay = 4;
  struct Chunk {
    std::size_t left = 0;  // parts not stored yet
    FilePosition end;
    Recorded recorded = {};
  };
  struct Part {
    std::vector<Reading> readings;
    std::shared_ptr<Chunk> chunk;
  };

  // Retries while the server throttles or is unavailable.
  Result<Recorded> record(const std::vector<Reading>& readings) {
    if (readings.empty()) return Recorded();
    return with_patience(time_, give_up_.get_token(),
                         [&] { return sensors_.record(readings, check_); });
  }

  void work(std::deque<Part>& lane) {
    for (;;) {
      Part part;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return failure_ || closed_ || !lane.empty(); });
        if (failure_ || lane.empty()) return;
        part = std::move(lane.front());
        lane.pop_front();
      }
      const auto recorded = record(part.readings);
      if (!recorded) give_up_.request_stop();
      const std::scoped_lock lock(mutex_);
      if (!recorded && !failure_) failure_ = recorded.error();
      if (recorded) finish_part(*part.chunk, *recorded);
      changed_.notify_all();
    }
  }

  // Call it with mutex_ locked.
  void finish_part(Chunk& chunk, const Recorded& recorded) {
    add_up(chunk.recorded, recorded);
    --chunk.left;
    for (; !under_way_.empty() && under_way_.front()->left == 0; under_way_.pop_front()) {
      done_.position = under_way_.front()->end;
      add_up(done_.recorded, under_way_.front()->recorded);
    }
  }

  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
      changed_.notify_all();
    }
    threads_.clear();
  }

  const SensorRegistry& sensors_;
  TimeSource& time_;
  const Check check_;
  std::stop_source give_up_;
  std::stop_callback<std::function<void()>> stop_;
  mutable std::mutex mutex_;  // guards the following members, except threads_
  std::condition_variable changed_;
  std::vector<std::deque<Part>> lanes_;
  std::deque<std::shared_ptr<Chunk>> under_way_;  // in the order of the file
  ReadingsReached done_;
  std::optional<Error> failure_;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace

Result<Imported> import_readings(Client& client, const ImportOptions& options,
                                 const std::function<void(int64_t bytes)>& advanced,
                                 const std::stop_token& stop) {
  const SensorRegistry sensors(client, options.sensors);
  ReadingsCheckpoint checkpoint(client, options);
  STATOR_ASSIGN_OR_RETURN(const std::optional<ReadingsReached> earlier, checkpoint.load());
  ReadingsReader reader(options.file);
  const bool go_on = earlier && !options.restart;
  STATOR_ASSIGN_OR_RETURN(const bool resumed,
                          reader.open(go_on ? earlier->position : FilePosition()));
  ReadingsReached saved{.position = reader.position(), .recorded = {}};
  if (resumed) saved.recorded = earlier->recorded;
  Imported imported{.resumed_after = resumed ? saved.position.lines : 0};

  Lanes lanes(sensors, options, saved, stop);
  const auto readings_of = [](const Recorded& recorded) {
    return recorded.stored + recorded.duplicates + recorded.expired;
  };
  Result<void> read = {};
  while (!stop.stop_requested()) {
    auto readings = reader.read(options.chunk);
    if (!readings) {
      read = failure_of(std::move(readings));
      break;
    }
    if (readings->empty()) break;
    if (!lanes.take(*std::move(readings), reader.position())) break;
    const ReadingsReached done = lanes.done();
    advanced(done.position.bytes);
    if (readings_of(done.recorded) - readings_of(saved.recorded) < options.checkpoint_readings) {
      continue;
    }
    read = checkpoint.save(done);
    if (!read) break;
    saved = done;
  }
  auto stored = lanes.finish();
  const ReadingsReached done = lanes.done();
  imported.recorded = done.recorded;
  if (stored) stored = std::move(read);
  if (stored && !stop.stop_requested()) {
    STATOR_RETURN_IF_ERROR(checkpoint.remove());
    return imported;
  }
  // If the client has failed, the previous checkpoint stays valid.
  if (done.position != saved.position) (void)checkpoint.save(done);
  const bool only_stopped = stop.stop_requested() && !stored && stored.error().retryable();
  if (!stored && !only_stopped) return failure_of(std::move(stored));
  return fail(Code::kCancelled, fmt::format("stopped after line {} of {}; the same command resumes "
                                            "from there",
                                            done.position.lines, options.file.path));
}

}  // namespace stator::cli

// SPDX-License-Identifier: Apache-2.0
#include "transfer/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/files.h"

namespace stator::transfer {
namespace {

constexpr std::size_t kBufferBytes = 128UL << 10;
// deflate expands to at most 1,032 times its size. zstd can exceed this, but not for real data.
constexpr uint64_t kRatioMax = 1'100;
constexpr uint64_t kFreelyUnfolded = 64UL << 20;

class File final : public ByteSource {
 public:
  File(Descriptor descriptor, std::filesystem::path path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    while (true) {
      const ssize_t count = ::read(descriptor_.get(), buffer.data(), buffer.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return file_failure("read", path_, errno);
    }
  }

 private:
  const Descriptor descriptor_;
  const std::filesystem::path path_;
};

class Bytes final : public ByteSource {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - at_);
    std::memcpy(buffer.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

// Shared by both compressions: a buffer of compressed bytes, and the limit of decompressed bytes.
class Unfolding : public ByteSource {
 public:
  explicit Unfolding(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), buffer_(kBufferBytes) {}

  Result<std::size_t> read(std::span<char> buffer) final {
    while (true) {
      if (left_ == 0 && !ended_) {
        STATOR_ASSIGN_OR_RETURN(left_, source_->read(buffer_));
        next_ = buffer_.data();
        taken_ += left_;
        ended_ = left_ == 0;
      }
      if (left_ == 0 && is_between_members()) return 0;
      const std::size_t left_before = left_;
      STATOR_ASSIGN_OR_RETURN(const std::size_t count, unfold(next_, left_, buffer));
      given_ += count;
      if (given_ > kFreelyUnfolded && given_ / kRatioMax > taken_) {
        return fail(Code::kCorruption, "decompressed size exceeds 1,100 times the input");
      }
      if (count > 0) return count;
      if (ended_ && left_ == left_before && !is_between_members()) {
        return fail(Code::kCorruption, "the compressed data is truncated");
      }
    }
  }

 protected:
  // Decompresses from the `left` bytes at `next`, and advances both.
  virtual Result<std::size_t> unfold(const char*& next, std::size_t& left,
                                     std::span<char> buffer) = 0;
  virtual bool is_between_members() const = 0;

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  const char* next_ = nullptr;
  std::size_t left_ = 0;
  bool ended_ = false;
  uint64_t taken_ = 0;
  uint64_t given_ = 0;
};

class Gunzip final : public Unfolding {
 public:
  using Unfolding::Unfolding;
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() override { inflateEnd(&stream_); }

  bool begin() {
    constexpr int kGzipAlone = MAX_WBITS + 16;
    return inflateInit2(&stream_, kGzipAlone) == Z_OK;
  }

 private:
  Result<std::size_t> unfold(const char*& next, std::size_t& left,
                             std::span<char> buffer) override {
    if (between_) {
      if (inflateReset(&stream_) != Z_OK)
        return fail(Code::kCorruption, "could not decompress gzip data");
      between_ = false;
    }
    // zlib's interface has no const here; it does not write.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
    stream_.avail_in = static_cast<uInt>(left);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    const auto room = static_cast<uInt>(std::min<std::size_t>(buffer.size(), kBufferBytes));
    stream_.avail_out = room;
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    next += left - stream_.avail_in;
    left = stream_.avail_in;
    between_ = outcome == Z_STREAM_END;
    if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) {
      return fail(Code::kCorruption, "not gzip data, or damaged");
    }
    return std::size_t{room - stream_.avail_out};
  }

  bool is_between_members() const override { return between_; }

  z_stream stream_{};
  bool between_ = true;
};

class Unzstd final : public Unfolding {
 public:
  using Unfolding::Unfolding;

  bool begin() { return stream_ != nullptr; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  Result<std::size_t> unfold(const char*& next, std::size_t& left,
                             std::span<char> buffer) override {
    ZSTD_inBuffer in{next, left, 0};
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const std::size_t outcome = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_isError(outcome) != 0) return fail(Code::kCorruption, "not zstd data, or damaged");
    between_ = outcome == 0;
    next += in.pos;
    left -= in.pos;
    return out.pos;
  }

  bool is_between_members() const override { return between_; }

  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  bool between_ = true;
};

template <class T>
Result<std::unique_ptr<ByteSource>> begun(std::unique_ptr<ByteSource> source) {
  auto unfolding = std::make_unique<T>(std::move(source));
  if (!unfolding->begin()) return fail(Code::kIo, "not enough memory to decompress it");
  return std::unique_ptr<ByteSource>(std::move(unfolding));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) return file_failure("open", path, errno);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return file_failure("open", path, errno);
  if (!S_ISREG(status.st_mode)) {
    return fail(Code::kAccessDenied, "'" + path.string() + "' is not a regular file");
  }
  return std::make_unique<File>(std::move(file), path);
}

std::unique_ptr<ByteSource> bytes_of(std::string bytes) {
  return std::make_unique<Bytes>(std::move(bytes));
}

Result<std::unique_ptr<ByteSource>> unfolded(std::unique_ptr<ByteSource> source,
                                             Compression compression) {
  switch (compression) {
    case Compression::kNone:
      break;
    case Compression::kGzip:
      return begun<Gunzip>(std::move(source));
    case Compression::kZstd:
      return begun<Unzstd>(std::move(source));
  }
  return source;
}

}  // namespace stator::transfer

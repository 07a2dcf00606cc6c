// SPDX-License-Identifier: Apache-2.0
#include "transfer/data_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <utility>

#include "api/model/base64.h"
#include "base/files.h"
#include "base/hex.h"

namespace stator::transfer {
namespace {

class Md5 {
 public:
  Md5() { EVP_DigestInit_ex(context_.get(), EVP_md5(), nullptr); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string finish() {
    std::string digest(EVP_MAX_MD_SIZE, '\0');
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), &size);
    digest.resize(size);
    return digest;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

class GzipWriter final : public DataFileWriter {
 public:
  // `descriptor`: the open file `written`, which is renamed to `place`.
  GzipWriter(Descriptor descriptor, std::filesystem::path written, std::filesystem::path place,
             std::string key)
      : descriptor_(std::move(descriptor)),
        written_(std::move(written)),
        place_(std::move(place)),
        key_(std::move(key)) {}
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter() override {
    deflateEnd(&stream_);
    if (descriptor_.get() < 0) return;
    std::error_code ignored;
    std::filesystem::remove(written_, ignored);
  }

  bool begin() {
    constexpr int kGzip = MAX_WBITS + 16;
    constexpr int kMemory = 8;
    return deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                        Z_DEFAULT_STRATEGY) == Z_OK;
  }

  Result<void> add(std::string_view line) override {
    ++items_;
    line_bytes_ += static_cast<int64_t>(line.size());
    return fold(line, Z_NO_FLUSH);
  }

  Result<DataFile> finish() override {
    STATOR_RETURN_IF_ERROR(fold({}, Z_FINISH));
    if (fsync(descriptor_.get()) != 0) return file_failure("write", place_, errno);
    STATOR_RETURN_IF_ERROR(put_in_place(written_, place_));
    descriptor_ = Descriptor(-1);
    const std::string md5 = md5_.finish();
    return DataFile{
        .key = key_, .items = items_, .md5 = wire::to_base64(md5), .etag = hex(md5_of(md5)) + "-1"};
  }

  int64_t line_bytes() const override { return line_bytes_; }

 private:
  Result<void> fold(std::string_view bytes, int flush) {
    // zlib's interface has no const here; it does not write.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      std::array<char, 64UL << 10> out;
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      deflate(&stream_, flush);
      STATOR_RETURN_IF_ERROR(write({out.data(), out.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
    return {};
  }

  Result<void> write(std::string_view bytes) {
    md5_.add(bytes);
    if (write_all(descriptor_.get(), bytes)) return {};
    return file_failure("write", place_, errno);
  }

  Descriptor descriptor_;  // empty once the file is in its place
  std::filesystem::path written_;
  std::filesystem::path place_;
  std::string key_;
  z_stream stream_{};
  Md5 md5_;
  int64_t items_ = 0;
  int64_t line_bytes_ = 0;
};

}  // namespace

std::string md5_of(std::string_view bytes) {
  Md5 md5;
  md5.add(bytes);
  return md5.finish();
}

std::string checksum_of(std::string_view bytes) {
  return wire::to_base64(md5_of(bytes));
}

Result<std::unique_ptr<DataFileWriter>> DataFileWriter::create(const Bucket& bucket,
                                                               std::string key) {
  STATOR_ASSIGN_OR_RETURN(const std::filesystem::path place, bucket.place_for(key));
  std::filesystem::path written = bucket.begin_writing(place);
  Descriptor file(
      open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) return file_failure("write", place, errno);
  auto writer =
      std::make_unique<GzipWriter>(std::move(file), std::move(written), place, std::move(key));
  if (!writer->begin()) return fail(Code::kIo, "not enough memory to compress it");
  return std::unique_ptr<DataFileWriter>(std::move(writer));
}

}  // namespace stator::transfer

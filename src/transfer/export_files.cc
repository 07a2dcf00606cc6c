// SPDX-License-Identifier: Apache-2.0
#include "transfer/export_files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <utility>

#include "api/json/json_writer.h"
#include "api/model/base64.h"
#include "base/files.h"
#include "base/hex.h"
#include "transfer/ion_text.h"

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
  static std::string of(std::string_view bytes) {
    Md5 md5;
    md5.add(bytes);
    return md5.finish();
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
    return DataFile{.key = key_,
                    .items = items_,
                    .md5 = wire::to_base64(md5),
                    .etag = hex(Md5::of(md5)) + "-1"};
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

void add_optional(wire::JsonWriter& json, std::string_view name,
                  const std::optional<std::string>& text) {
  json.key(name);
  text ? json.text(*text) : json.null();
}
std::string summary_json(const ExportSummary& summary) {
  return wire::write_document([&](wire::JsonWriter& json) {
    json.key("version").text(summary.increment ? "2023-08-01" : "2020-06-30");
    json.key("exportArn").text(summary.arn);
    json.key("startTime").text(manifest_time(summary.started_ms));
    json.key("endTime").text(manifest_time(summary.ended_ms));
    json.key("tableArn").text(summary.table_arn);
    json.key("tableId").text(summary.table_id);
    if (summary.increment) {
      json.key("exportFromTime").text(manifest_time(summary.increment->from_ms));
      json.key("exportToTime").text(manifest_time(summary.increment->to_ms));
    } else {
      json.key("exportTime").text(manifest_time(summary.time_ms));
    }
    json.key("s3Bucket").text(summary.bucket);
    add_optional(json, "s3Prefix",
                 summary.has_prefix ? std::optional(summary.prefix) : std::optional<std::string>());
    json.key("s3SseAlgorithm").text(summary.encryption);
    add_optional(json, "s3SseKmsKeyId", summary.key_id);
    json.key("manifestFilesS3Key").text(export_directory(summary) + "/manifest-files.json");
    json.key("billedSizeBytes").integer(summary.billed_bytes);
    json.key("itemCount").integer(summary.items);
    json.key("outputFormat").text(name_of(summary.format));
    if (summary.increment) {
      json.key("outputView").text(summary.increment->view);
      json.key("exportType").text("INCREMENTAL_EXPORT");
    }
  });
}

std::string files_json(const std::vector<DataFile>& files) {
  std::string lines;
  for (const DataFile& file : files) {
    lines += wire::write_document([&](wire::JsonWriter& json) { add_file(json, file); });
    lines += '\n';
  }
  return lines;
}

}  // namespace

void add_file(wire::JsonWriter& json, const DataFile& file) {
  json.key("itemCount").integer(file.items);
  json.key("md5Checksum").text(file.md5);
  json.key("etag").text(file.etag);
  json.key("dataFileS3Key").text(file.key);
}

std::string checksum_of(std::string_view bytes) {
  return wire::to_base64(Md5::of(bytes));
}

std::string manifest_time(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm broken{};
  gmtime_r(&seconds, &broken);
  std::array<char, 80> text;
  const std::size_t size = std::strftime(text.data(), text.size(), "%FT%T", &broken);
  std::string time(text.data(), size);
  std::snprintf(text.data(), text.size(), ".%03dZ", static_cast<int>(unix_ms % 1000));
  return time + text.data();
}

Result<void> write_manifest(const Bucket& bucket, const std::string& key, std::string_view json) {
  STATOR_RETURN_IF_ERROR(bucket.write(key + ".md5", checksum_of(json)));
  return bucket.write(key + ".json", json);
}

std::string output_key(std::string_view prefix, std::string_view rest) {
  const std::string trimmed = trimmed_prefix(prefix);
  return (trimmed.empty() ? std::string() : trimmed + "/").append("AWSDynamoDB/").append(rest);
}

std::string line_of(DataFormat format, const Item& item) {
  if (format == DataFormat::kIon) {
    std::string line = "$ion_1_0 {Item:";
    append_ion(line, item);
    return line += "}\n";
  }
  std::string line =
      wire::write_document([&](wire::JsonWriter& json) { json.key("Item").item(item); });
  return line += '\n';
}

std::string line_of(DataFormat format, const ItemChange& change) {
  if (format == DataFormat::kIon) {
    Map record{{"Keys", change.keys},
               {"Metadata", Map{{"WriteTimestampMicros", change.written_us}}}};
    if (change.old_image) record.emplace("OldImage", *change.old_image);
    if (change.new_image) record.emplace("NewImage", *change.new_image);
    std::string line = "$ion_1_0 {Record:";
    append_ion(line, record);
    return line += "}\n";
  }
  std::string line = wire::write_document([&](wire::JsonWriter& json) {
    json.key("Metadata").item(Item{{"WriteTimestampMicros", change.written_us}});
    json.key("Keys").item(change.keys);
    if (change.old_image) json.key("OldImage").item(*change.old_image);
    if (change.new_image) json.key("NewImage").item(*change.new_image);
  });
  return line += '\n';
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

std::string export_directory(const ExportSummary& summary) {
  return output_key(summary.prefix, summary.id);
}

std::string data_directory(const ExportSummary& summary) {
  return summary.increment ? output_key(summary.prefix, "data")
                           : export_directory(summary) + "/data";
}

std::string manifest_key(const ExportSummary& summary) {
  return export_directory(summary) + "/manifest-summary.json";
}

std::string data_key(const ExportSummary& summary, int64_t part) {
  // 26 letters and digits, like DynamoDB's names.
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string name;
  for (const char c : Md5::of(summary.arn + "/" + std::to_string(part)) + Md5::of(summary.arn)) {
    name += kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  }
  constexpr std::size_t kLength = 26;
  return data_directory(summary) + "/" + name.substr(0, kLength) +
         (summary.format == DataFormat::kIon ? ".ion.gz" : ".json.gz");
}

Result<void> write_manifests(const Bucket& bucket, const ExportSummary& summary,
                             const std::vector<DataFile>& files) {
  const std::string directory = export_directory(summary);
  STATOR_RETURN_IF_ERROR(write_manifest(bucket, directory + "/manifest-files", files_json(files)));
  return write_manifest(bucket, directory + "/manifest-summary", summary_json(summary));
}

}  // namespace stator::transfer

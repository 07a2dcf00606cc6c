// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/files.h"

namespace stator {
namespace {

constexpr std::size_t kPage = 4096;

// A private mapping of a page of a file, which can be changed until make_read_only().
class MappedFile {
 public:
  explicit MappedFile(const std::string& content) : descriptor_(memfd_create("mapped", 0)) {
    EXPECT_TRUE(write_all(descriptor_.get(), content));
    EXPECT_EQ(ftruncate(descriptor_.get(), kPage), 0);
    bytes_ = static_cast<char*>(
        mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_.get(), 0));
    EXPECT_NE(bytes_, MAP_FAILED);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { munmap(bytes_, kPage); }
  void make_read_only() { EXPECT_EQ(mprotect(bytes_, kPage, PROT_READ), 0); }
  char* bytes() { return bytes_; }
  // Whether the page is in the process's page table.
  bool is_mapped() const {
    uint64_t entry = 0;
    const Descriptor pages(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    const auto at = reinterpret_cast<uintptr_t>(bytes_) / kPage * sizeof(entry);
    EXPECT_EQ(pread(pages.get(), &entry, sizeof(entry), static_cast<off_t>(at)),
              static_cast<ssize_t>(sizeof(entry)));
    return (entry >> 63) == 1;
  }

 private:
  Descriptor descriptor_;
  char* bytes_ = nullptr;
};

TEST(Memory, OfCleanCodeIsReturned) {
  MappedFile file("code");
  file.make_read_only();
  EXPECT_EQ(std::string(file.bytes()), "code");
  EXPECT_TRUE(file.is_mapped());
  unmap_clean_code();
  EXPECT_FALSE(file.is_mapped());
  EXPECT_EQ(std::string(file.bytes()), "code");
}

TEST(Memory, OfChangedCodeIsKept) {
  MappedFile file("code");
  file.bytes()[0] = 'm';
  unmap_clean_code();
  EXPECT_TRUE(file.is_mapped());
  file.make_read_only();
  unmap_clean_code();
  EXPECT_TRUE(file.is_mapped());
  EXPECT_EQ(std::string(file.bytes()), "mode");
}

}  // namespace
}  // namespace stator

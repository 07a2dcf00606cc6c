// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <string>

#include "support/process_memory.h"

namespace stator {
namespace {

// In a page of its own, among the constants of the program.
alignas(4096) constexpr char kConstant[4096] = "constant";

TEST(Memory, UnmapsCleanCode) {
  const std::size_t before = test::process_memory(getpid(), "RssFile");
  unmap_clean_code();
  EXPECT_LT(test::process_memory(getpid(), "RssFile"), before);
  EXPECT_EQ(std::string(kConstant), "constant");
}

TEST(Memory, KeepsChangedCode) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t page = std::bit_cast<uintptr_t>(&kConstant[0]) / page_bytes * page_bytes;
  void* const at = std::bit_cast<void*>(page);
  ASSERT_EQ(mprotect(at, page_bytes, PROT_READ | PROT_WRITE), 0);
  volatile char* const first = const_cast<char*>(&kConstant[0]);
  *first = 'C';
  ASSERT_EQ(mprotect(at, page_bytes, PROT_READ), 0);
  unmap_clean_code();
  EXPECT_EQ(*first, 'C');
  ASSERT_EQ(mprotect(at, page_bytes, PROT_READ | PROT_WRITE), 0);
  *first = 'c';
  ASSERT_EQ(mprotect(at, page_bytes, PROT_READ), 0);
}

}  // namespace
}  // namespace stator

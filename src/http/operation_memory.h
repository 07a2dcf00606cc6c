// SPDX-License-Identifier: Apache-2.0
// OperationMemory: memory for one asynchronous operation of Asio at a time, so that an operation
// that must be started again and again can be started without other memory.
//
// Thread safety: none. Lifetime: it must outlive the operation's io_context.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace stator::http {

class OperationMemory {
 public:
  static constexpr std::size_t kBytes = 256;

  OperationMemory() = default;
  OperationMemory(const OperationMemory&) = delete;
  OperationMemory& operator=(const OperationMemory&) = delete;

  // A second operation gets other memory.
  void* allocate(std::size_t bytes) {
    if (std::exchange(in_use_, true)) return ::operator new(bytes);
    return bytes_;
  }
  void deallocate(void* memory) {
    if (memory != bytes_) return ::operator delete(memory);
    in_use_ = false;
  }

  template <class T>
  struct Allocator {
    using value_type = T;
    explicit Allocator(OperationMemory& the_memory) : memory(&the_memory) {}
    template <class U>
    Allocator(const Allocator<U>& other) : memory(other.memory) {}  // NOLINT
    T* allocate(std::size_t /*count*/) {
      static_assert(sizeof(T) <= kBytes);
      return static_cast<T*>(memory->allocate(sizeof(T)));
    }
    void deallocate(T* pointer, std::size_t /*count*/) { memory->deallocate(pointer); }
    template <class U>
    bool operator==(const Allocator<U>& other) const {
      return memory == other.memory;
    }

    OperationMemory* memory;
  };
  // For boost::asio::bind_allocator().
  Allocator<std::byte> allocator() { return Allocator<std::byte>(*this); }

 private:
  alignas(std::max_align_t) std::byte bytes_[kBytes];
  bool in_use_ = false;
};

}  // namespace stator::http

// Memory in which publishers write messages if the middleware lends none.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <middlemark/kit/pinned.hpp>

namespace middlemark::kit {

/// Base of a publisher with its own buffer. loan() returns the buffer's first bytes and keeps them in `message_` for
/// publish().
class OwnBuffer : Pinned {
 public:
  explicit OwnBuffer(std::size_t message_bytes) : memory_(message_bytes), message_(memory_) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return message_ = std::span(memory_).first(bytes);
  }

 protected:
  ~OwnBuffer() = default;

 private:
  std::vector<std::byte> memory_;

 protected:
  std::span<std::byte> message_;
};

/// Memory for one message. It begins at a page boundary and uses huge pages if it is large enough. Every page is
/// faulted in, except if `touched` is false.
class Memory {
 public:
  explicit Memory(std::size_t bytes, bool touched = true) : bytes_(bytes) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    constexpr std::size_t page = 4096;
    const std::size_t alignment = bytes >= huge ? huge : page;
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
    if (!data_) throw std::bad_alloc();
    if (alignment == huge) madvise(data_.get(), whole, MADV_HUGEPAGE);
    if (touched) std::memset(data_.get(), 0, whole);
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {data_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace middlemark::kit

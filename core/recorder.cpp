#include <middlemark/recorder.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace middlemark {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Faults in every page. MADV_POPULATE_WRITE (Linux 5.14) does it in one call; older kernels need a write to each page.
void populate(std::byte* memory, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < bytes; at += page) {
    static_cast<volatile std::byte*>(memory)[at] = std::byte{0};
  }
}

class File {
 public:
  explicit File(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), path_);
    // Remove only regular files after a failure: a user may have named a device, and root could delete /dev/full.
    struct stat about{};
    removable_ = fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
  }
  ~File() {
    if (descriptor_ >= 0) {  // still open: writing failed
      close(descriptor_);
      remove();
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(descriptor_, from, bytes);
      if (written < 0) {
        if (errno == EINTR) continue;
        throw std::system_error(errno, std::generic_category(), path_);
      }
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void finish() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (close(descriptor) != 0) {
      const int error = errno;
      remove();
      throw std::system_error(error, std::generic_category(), path_);
    }
  }

 private:
  void remove() const noexcept {
    if (removable_) unlink(path_.c_str());
  }

  std::string path_;
  int descriptor_;
  bool removable_ = false;
};

}  // namespace

PrefaultedMemory::PrefaultedMemory(std::size_t records, std::size_t record_bytes) {
  if (records == 0) return;
  const auto refuse = [records](int error, const std::string& amount) {
    throw std::system_error(error, std::generic_category(),
                            "no memory for " + std::to_string(records) + " samples (" + amount + ")");
  };
  if (records > (std::numeric_limits<std::size_t>::max() - huge_page) / record_bytes) {
    refuse(ENOMEM, std::to_string(record_bytes) + " bytes each");
  }
  // Use small pages for small recorders. A graph has hundreds of them, and a huge page for each would use too much
  // memory.
  const std::size_t needed = records * record_bytes;
  const std::size_t page = needed < huge_page ? static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : huge_page;
  bytes_ = (needed + page - 1) / page * page;
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse(errno, std::to_string(bytes_ >> 20) + " MiB");
  if (page == huge_page) madvise(memory, bytes_, MADV_HUGEPAGE);  // may fail: some kernels have no huge pages
  populate(static_cast<std::byte*>(memory), bytes_);
  address_ = memory;
}

PrefaultedMemory::~PrefaultedMemory() {
  if (address_ != nullptr) munmap(address_, bytes_);
}

void write_npy_records(const std::string& path, std::string_view npy_descr, const void* records,
                       std::size_t record_bytes, std::size_t count) {
  std::string header =
      "{'descr': " + std::string(npy_descr) + ", 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  constexpr std::size_t preamble = 10;  // magic, version, length
  header.append((64 - (preamble + header.size() + 1) % 64) % 64, ' ');
  header.push_back('\n');
  const auto length = static_cast<std::uint16_t>(header.size());
  const unsigned char start[preamble] = {0x93,
                                         'N',
                                         'U',
                                         'M',
                                         'P',
                                         'Y',
                                         1,
                                         0,
                                         static_cast<unsigned char>(length & 0xFF),
                                         static_cast<unsigned char>(length >> 8)};
  File file(path);
  file.write(start, sizeof start);
  file.write(header.data(), header.size());
  file.write(records, count * record_bytes);
  file.finish();
}

}  // namespace middlemark

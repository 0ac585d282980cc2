#include <middlemark/kit/library.hpp>

#include <dlfcn.h>

#include <filesystem>

namespace middlemark::kit {

namespace {

/// Returns the file with the longest version of the same library. Python wheels contain copies instead of symbolic
/// links: libx.so.3 is a copy of libx.so.3.1.4.
std::filesystem::path longest_name(const std::filesystem::path& library) {
  std::filesystem::path longest = library;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(library, error);
  for (const auto& entry : std::filesystem::directory_iterator(library.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(library.filename().string() + ".") || name.size() <= longest.filename().string().size()) {
      continue;
    }
    if (entry.is_regular_file(error) && entry.file_size(error) == bytes) longest = entry.path();
  }
  return longest;
}

}  // namespace

LoadedLibrary loaded_library(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, error);
  if (error) return {info.dli_fname, {}};
  const std::string marker = ".so.";
  const bool versioned = real.filename().string().find(marker) != std::string::npos;
  const std::string file = (versioned ? longest_name(real) : real).filename().string();
  const auto at = file.find(marker);
  return {real.string(), at == std::string::npos ? std::string{} : file.substr(at + marker.size())};
}

}  // namespace middlemark::kit

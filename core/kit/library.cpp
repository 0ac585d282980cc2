#include <middlemark/kit/library.hpp>

#include <dlfcn.h>

#include <filesystem>

namespace middlemark::kit {

LoadedLibrary loaded_library(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, error);
  if (error) return {info.dli_fname, {}};
  const std::string file = real.filename().string();
  const std::string marker = ".so.";
  const auto at = file.find(marker);
  return {real.string(), at == std::string::npos ? std::string{} : file.substr(at + marker.size())};
}

}  // namespace middlemark::kit

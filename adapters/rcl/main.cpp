#include "adapter.hpp"

#include <cstring>
#include <string_view>

#include <middlemark/worker.hpp>

namespace {

/// Renames RMW_IMPLEMENTATION in the environment to ros2::kept_rmw and removes RCL_ASSERT_RMW_ID_MATCHES. Runs before
/// the constructors of rcl's libraries, which end the process if a variable names an RMW that is not installed. At that
/// time getenv() and the heap cannot be used.
void keep_rmw(int /*argc*/, char** /*argv*/, char** environment) {
  constexpr std::string_view asked = "RMW_IMPLEMENTATION=";
  constexpr std::string_view asserted = "RCL_ASSERT_RMW_ID_MATCHES=";
  static char kept[256];
  char** to = environment;
  for (char** from = environment; *from != nullptr; ++from) {
    const std::string_view variable = *from;
    if (variable.starts_with(asserted)) continue;
    *to = *from;
    if (variable.starts_with(asked)) {
      const std::string_view value = variable.substr(asked.size());
      const std::size_t name = std::strlen(middlemark::ros2::kept_rmw);
      if (name + 1 + value.size() < sizeof kept) {
        std::memcpy(kept, middlemark::ros2::kept_rmw, name);
        kept[name] = '=';
        std::memcpy(kept + name + 1, value.data(), value.size());
        *to = kept;
      }
    }
    ++to;
  }
  *to = nullptr;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all_constructors)(int, char**, char**) = &keep_rmw;

}  // namespace

int main(int argc, char** argv) {
  middlemark::ros2::measures_nothing = argc > 1 && std::string_view(argv[1]) == "--describe";
  return middlemark::run_worker<middlemark::RosC>(argc, argv);
}

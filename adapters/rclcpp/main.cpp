#include "adapter.hpp"

#include <string_view>

#include <middlemark/worker.hpp>

int main(int argc, char** argv) {
  middlemark::ros2::start_without_rmw(argv);
  middlemark::ros2::measures_nothing = argc > 1 && std::string_view(argv[1]) == "--describe";
  return middlemark::run_worker<middlemark::RosClientLibrary>(argc, argv);
}

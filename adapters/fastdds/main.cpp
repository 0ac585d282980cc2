#include "adapter.hpp"

#include <middlemark/worker.hpp>

int main(int argc, char** argv) {
  return middlemark::fastdds::leave(middlemark::run_worker<middlemark::fastdds::FastDds>(argc, argv));
}

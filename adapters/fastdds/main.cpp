#include "adapter.hpp"

#include <middlemark/worker.hpp>

#include "tcp_exit.hpp"

int main(int argc, char** argv) {
  return middlemark::fastdds::leave(middlemark::run_worker<middlemark::FastDds>(argc, argv));
}

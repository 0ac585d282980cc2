#include "adapter.hpp"

#include <middlemark/kit/cdr.hpp>
#include <middlemark/worker.hpp>

int main(int argc, char** argv) {
  return middlemark::run_worker<middlemark::kit::BytesAndCdr<middlemark::OpenRtm>>(argc, argv);
}

#include <middlemark/kit/cdr.hpp>
#include <middlemark/worker.hpp>

#include "adapter.hpp"

int main(int argc, char** argv) {
  return middlemark::run_worker<middlemark::kit::BytesAndCdr<middlemark::Null>>(argc, argv);
}

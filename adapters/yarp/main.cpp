#include <unistd.h>

#include <cstdio>

#include <middlemark/kit/cdr.hpp>
#include <middlemark/worker.hpp>

#include "adapter.hpp"

int main(int argc, char** argv) {
  const int code = middlemark::run_worker<middlemark::kit::BytesAndCdr<middlemark::Yarp>>(argc, argv);
  std::fflush(nullptr);
  _exit(
      code);  // without destructors, because threads of open connections still use static objects (Options::stays_open())
}

#include "adapter.hpp"

#include <middlemark/worker.hpp>

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::ZeroMq>(argc, argv); }

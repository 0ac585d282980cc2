#include <middlemark/worker.hpp>

#include "adapter.hpp"

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::AesGcm>(argc, argv); }

#include "typed.hpp"

#include <middlemark/worker.hpp>

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::lcm::TypedLcm>(argc, argv); }

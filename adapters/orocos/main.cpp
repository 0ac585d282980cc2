#include <middlemark/worker.hpp>

#include "adapter.hpp"

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::Orocos>(argc, argv); }

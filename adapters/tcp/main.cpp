#include <middlemark/worker.hpp>

#include "adapter.hpp"

#ifdef MIDDLEMARK_TCP_HAS_TLS
namespace middlemark {
WorkerParts tls_parts();  // tls.cpp
}

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::Tcp>(argc, argv, middlemark::tls_parts()); }
#else
int main(int argc, char** argv) { return middlemark::run_worker<middlemark::Tcp>(argc, argv); }
#endif

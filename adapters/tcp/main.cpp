#include <middlemark/worker.hpp>

#ifdef MIDDLEMARK_TCP_HAS_TLS
#include "tls_adapter.hpp"

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::Tcp, middlemark::TcpWithTls>(argc, argv); }
#else
#include "adapter.hpp"

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::Tcp>(argc, argv); }
#endif

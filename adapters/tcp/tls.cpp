#include <middlemark/worker.hpp>

#include "tls_adapter.hpp"

namespace middlemark {

WorkerParts tls_parts() { return parts_of<TcpWithTls>(); }

}  // namespace middlemark

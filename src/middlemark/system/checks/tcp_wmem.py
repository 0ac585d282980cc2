"""Check how large a TCP connection's send buffer may grow."""

from middlemark.system.checks.tcp_rmem import grows_to

CHECK = grows_to("tcp_wmem")

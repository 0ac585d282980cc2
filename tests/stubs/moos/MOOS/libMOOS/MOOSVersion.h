// Declarations of MOOS that adapters/moos uses, without implementations. The adapter is compiled against them, not linked.
#pragma once

#define MOOS_VERSION_NUMBER "10.5.0"

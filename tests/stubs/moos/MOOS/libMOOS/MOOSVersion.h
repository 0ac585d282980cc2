// Of what adapters/moos uses of MOOS: names and types, and nothing behind them. The adapter is compiled against it and not linked.
#pragma once

#define MOOS_VERSION_NUMBER "10.5.0"

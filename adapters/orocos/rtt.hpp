// Includes RTT's headers. They declare functions called requires(), a keyword since C++20, so a macro renames them.
// That is safe because no code calls requires(), and it is not virtual. The standard headers, which use the keyword,
// are included first.
#pragma once

#include <mqueue.h>
#include <sys/select.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <ranges>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#define requires requires_
#include <rtt/ConnPolicy.hpp>
#include <rtt/InputPort.hpp>
#include <rtt/OutputPort.hpp>
#include <rtt/TaskContext.hpp>
#include <rtt/os/startstop.h>
#include <rtt/transports/corba/CorbaLib.hpp>
#include <rtt/transports/corba/CorbaTemplateProtocol.hpp>
#include <rtt/transports/corba/TaskContextProxy.hpp>
#include <rtt/transports/corba/TaskContextServer.hpp>
#include <rtt/transports/mqueue/MQLib.hpp>
#include <rtt/transports/mqueue/MQTemplateProtocolBase.hpp>
#include <rtt/types/TemplateTypeInfo.hpp>
#include <rtt/types/TypeInfoRepository.hpp>
#undef requires

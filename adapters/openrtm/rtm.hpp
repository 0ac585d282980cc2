// Includes OpenRTM's headers. The standard headers come first, because omniORB's headers define macros that break them.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <rtm/idl/BasicDataTypeSkel.h>  // before the headers that use its operators

#include <rtm/Manager.h>
#include <rtm/CORBA_RTCUtil.h>
#include <rtm/CdrRingBuffer.h>
#include <rtm/InPort.h>
#include <rtm/InPortSHMConsumer.h>
#include <rtm/OutPort.h>

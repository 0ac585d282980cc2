#pragma once

#include <list>
#include <map>
#include <string>

#include "MOOS/libMOOS/Comms/MOOSMsg.h"

using MOOSMSG_LIST = std::list<CMOOSMsg>;

class CMOOSThread {
 public:
  void RequestQuit();
};

namespace MOOS {

template <class T>
class SafeList {
 public:
  unsigned int Size();
};

class ActiveMailQueue {
 public:
  bool Push(const CMOOSMsg& message);
};

/// Declares the members of its base class CMOOSCommClient as well, which has no stub of its own.
class MOOSAsyncCommClient {
 public:
  MOOSAsyncCommClient();
  virtual ~MOOSAsyncCommClient();
  bool Run(const std::string& server, int port, const std::string& name, unsigned int frequency = 5);
  bool WaitUntilConnected(const unsigned int milliseconds);
  bool IsConnected();
  virtual bool Close(bool nice = true);
  bool Register(const std::string& variable, double interval = 0);
  bool Register(const std::string& variables, const std::string& applications, double interval);
  virtual bool Post(CMOOSMsg& message, bool keep_source = false);
  bool Fetch(MOOSMSG_LIST& messages);
  bool ServerRequest(const std::string& what, MOOSMSG_LIST& messages, double timeout = 2.0, bool clear = true);
  unsigned int GetNumberOfUnreadMessages();
  void SetQuiet(bool quiet);
  bool SetReceiveBufferSizeInKB(unsigned int size);
  bool SetSendBufferSizeInKB(unsigned int size);
  void SetOnMailCallBack(bool (*callback)(void* parameter), void* parameter);
  virtual bool AddActiveQueue(const std::string& queue, bool (*callback)(CMOOSMsg& message, void* parameter),
                              void* parameter);
  bool AddMessageRouteToActiveQueue(const std::string& queue, const std::string& variable);
  bool RemoveActiveQueue(const std::string& queue);

 protected:
  unsigned int m_nInPendingLimit;
  std::map<std::string, ActiveMailQueue*> ActiveQueueMap_;
  CMOOSThread ReadingThread_;
  SafeList<CMOOSMsg> OutGoingQueue_;
};

}  // namespace MOOS

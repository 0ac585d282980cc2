#pragma once

#include <list>
#include <string>

#define MOOS_NOTIFY 'N'
#define MOOS_SERVER_REQUEST 'Q'

class CMOOSMsg {
 public:
  CMOOSMsg(char type, const std::string& key, double value, double time = -1);
  CMOOSMsg(char type, const std::string& key, const std::string& value, double time = -1);
  CMOOSMsg(char type, const std::string& key, unsigned int size, const void* data, double time = -1);
  virtual ~CMOOSMsg();
  void MarkAsBinary();
  const std::string& GetString() const;

  double m_dfTime;
  std::string m_sVal;
};

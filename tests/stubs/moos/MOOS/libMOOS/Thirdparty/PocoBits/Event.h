#pragma once

namespace MOOS::Poco {

class Event {
 public:
  explicit Event(bool auto_reset = true);
  void set();
  bool tryWait(long milliseconds);
};

}  // namespace MOOS::Poco

// The daemon dbus-daemon. Each trial has its own daemon, with its own configuration and address.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "options.hpp"

namespace middlemark::dbus {

/// The workers' environment variable that contains the daemon's address, such as "unix:path=/tmp/…/bus".
inline constexpr const char* bus_variable = "MIDDLEMARK_DBUS_BUS";

[[nodiscard]] inline std::string address_of_the_bus() {
  const char* const address = std::getenv(bus_variable);
  if (address != nullptr && *address != '\0') return address;
  throw AdapterError(std::string("dbus: ") + bus_variable + " is not set",
                     "start the daemon that 'middlemark-worker-dbus --companions' names, with its environment");
}

/// Returns the lines of this machine's session.conf that set the limits of a user's session.
[[nodiscard]] inline std::string session_limits() {
  const std::string path = "/usr/share/dbus-1/session.conf";
  std::ifstream file(path);
  std::string limits;
  for (std::string line; std::getline(file, line);) {
    if (line.find("<limit ") != std::string::npos) limits += line + '\n';
  }
  if (limits.empty()) throw AdapterError("dbus: " + path + " cannot be read, or has no limits");
  return limits;
}

/// Returns the limits of the daemon that the trial sets, as elements of its configuration.
[[nodiscard]] inline std::string limits_of(const Settings& settings, const Options& options) {
  if (settings.is_default_configuration()) return "";
  std::ostringstream text;
  text << "<limit name=\"max_incoming_bytes\">" << options.incoming << "</limit>\n"
       << "<limit name=\"max_outgoing_bytes\">" << options.outgoing << "</limit>\n"
       << "<limit name=\"max_message_size\">" << largest_message << "</limit>\n";
  return text.str();
}

/// Writes the daemon's configuration and returns the command that starts the daemon with it. The daemon starts no
/// services and reads no other file.
[[nodiscard]] inline Companion bus(const Settings& settings) {
  const Options options(settings);
  const std::string address = "unix:path=" + kit::unix_path(settings, "bus");
  std::ostringstream text;
  text << "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"
          " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
          "<busconfig>\n"
          "<type>session</type>\n"
       << "<listen>" << address << "</listen>\n"
       << "<auth>EXTERNAL</auth>\n"
          "<policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/>"
          "<allow own=\"*\"/></policy>\n"
       << session_limits() << limits_of(settings, options)  // a later limit replaces an earlier one
       << "</busconfig>\n";
  kit::Rendezvous(settings).leave("bus.conf", text.str());
  return {.name = "dbus-daemon at " + address,
          .argv = {kit::find_program("dbus-daemon", "Debian, Ubuntu: apt install dbus-daemon"),
                   "--config-file=" + settings.scratch + "/bus.conf", "--nofork", "--nosyslog", "--print-address"},
          .environment = {{bus_variable, address}},
          .ready_pattern = "^unix:path="};
}

}  // namespace middlemark::dbus

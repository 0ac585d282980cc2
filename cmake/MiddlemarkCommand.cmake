# With MIDDLEMARK_COMMAND, which colcon sets (colcon.pkg), `cmake --install` also installs the command: bin/middlemark,
# and the Python package, which contains the workers as in a wheel. Dependencies of the package are not installed (see
# pyproject.toml).
option(MIDDLEMARK_COMMAND "install the command too" OFF)
if(NOT MIDDLEMARK_COMMAND)
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
include(GNUInstallDirs)
set(package ${CMAKE_INSTALL_DATADIR}/middlemark/python)
set(MIDDLEMARK_WORKER_DESTINATION ${package}/middlemark/workers/bin)
set(MIDDLEMARK_SUITE_DESTINATION ${package}/middlemark/suites)
set(MIDDLEMARK_STUDY_DESTINATION ${package}/middlemark/studies)
set(MIDDLEMARK_WEB_DESTINATION ${package}/middlemark/web)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/middlemark DESTINATION ${package} PATTERN __pycache__ EXCLUDE)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/middlemark @ONLY CONTENT [[#!@Python3_EXECUTABLE@
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "@package@"))
from middlemark.cli import main

main()
]])
install(PROGRAMS ${PROJECT_BINARY_DIR}/middlemark DESTINATION ${CMAKE_INSTALL_BINDIR})

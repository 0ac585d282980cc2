# Installs a ROS 2 from PyPI into build/ros2-DISTRIBUTION, for the adapters of ROS 2's libraries. MIDDLEMARK_ROS2 names the
# distribution.

# Does nothing if a ROS 2 is sourced. If the wheels cannot be used here, writes the reason to build/ros2-DISTRIBUTION.refused;
# then only these adapters are not built.
set_up_ros2() {
  local distribution=${MIDDLEMARK_ROS2:-kilted} python lock folder known
  lock=adapters/rcl/$distribution.lock folder=build/ros2-$distribution
  mkdir -p build
  rm -f "$folder.refused"
  if [[ -n ${AMENT_PREFIX_PATH:-} ]]; then return; fi
  if [[ ! -f $lock ]]; then
    known=$(cd adapters/rcl && echo *.lock)
    refuse_ros2 "MIDDLEMARK_ROS2=$distribution: PyPI has ${known//.lock/}; for another distribution, source its installation"
    return
  fi
  if [[ $(uname -m) != x86_64 ]]; then
    refuse_ros2 "PyPI has ROS 2 $distribution for x86-64 only, and this is $(uname -m); source a ROS 2 installation"
    return
  fi
  if ! python=$(ros2_python); then
    refuse_ros2 "PyPI has ROS 2 $distribution for CPython 3.11 to 3.13, and none of them is here with its module venv;" \
      "install python3.13 and python3.13-venv"
    return
  fi
  if [[ $(cat "$folder/of" 2>/dev/null) == "$(ros2_identity)" && -x $folder/bin/python ]]; then return; fi
  say "installing ROS 2 $distribution from PyPI in $folder (about 260 MB)"
  rm -rf "$folder"
  if ! logged "$python" -m venv "$folder" ||
    ! logged "$folder/bin/python" -m pip install --disable-pip-version-check --no-input --no-compile --only-binary :all: \
      --no-binary empy --require-hashes --requirement "$lock"; then  # empy, for the generators, has no wheel
    rm -rf "$folder"
    refuse_ros2 "ROS 2 $distribution could not be installed from PyPI, the whole log is $log;" \
      "\`./middlemark build ros2\` tries again"
    return
  fi
  ros2_identity >"$folder/of"
}

refuse_ros2() {
  echo "$*" >"$folder.refused"
}

ros2_identity() { echo "$root/$folder $(cksum <"$lock")"; }

# Prints the first interpreter for which there are wheels.
ros2_python() {
  local name path
  for name in python3.11 python3.12 python3.13 python3; do
    path=$(type -P "$name") || continue
    "$path" -c '
import sys, venv, ensurepip
if not (3, 11) <= sys.version_info[:2] <= (3, 13) or sys.implementation.name != "cpython": sys.exit(1)
print(sys.executable)' 2>/dev/null && return
  done
  return 1
}

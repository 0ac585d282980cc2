# Sources the setup script of the image's ROS 2, if there is one. Sourced by the other scripts in this folder.
# shellcheck shell=bash
set +u  # ROS 2's scripts use unset variables
for script in /opt/ros/*/setup.bash; do
  # shellcheck source=/dev/null
  if [[ -f $script ]]; then source "$script"; fi
done
set -u

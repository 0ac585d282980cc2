# Sources the ROS 2 of the image, if it has one. Sourced by the steps.
# shellcheck shell=bash
set +u  # ROS 2's scripts use unset variables
for script in /opt/ros/*/setup.bash; do
  # shellcheck source=/dev/null
  if [[ -f $script ]]; then source "$script"; fi
done
set -u

# Sources the image's ROS 2, where it has one. Sourced by the steps.
# shellcheck shell=bash
set +u  # what ROS 2 sources asks for variables that are not set
for script in /opt/ros/*/setup.bash; do
  # shellcheck source=/dev/null
  if [[ -f $script ]]; then source "$script"; fi
done
set -u

# Ubuntu 22.04 with ROS 2 Humble: rclcpp over its RMWs, beside what Ubuntu packages.
#   docker build --file packaging/docker/humble.Dockerfile --tag middlemark:humble .
# Never run by us: its steps are linted, and run on Debian 12 only.
FROM ros:humble-ros-base-jammy
COPY . /middlemark
RUN /middlemark/packaging/docker/packages.sh
RUN /middlemark/packaging/docker/build.sh
WORKDIR /runs
ENTRYPOINT ["/middlemark/packaging/docker/start.sh"]
CMD ["run"]

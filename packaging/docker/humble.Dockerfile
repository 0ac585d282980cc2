# Ubuntu 22.04 with ROS 2 Humble: rclcpp with its RMWs, and the middleware that Ubuntu packages.
#   docker build --file packaging/docker/humble.Dockerfile --tag middlemark:humble .
# We have never built this image: its steps are linted, and are run on Debian 12 only.
FROM ros:humble-ros-base-jammy
COPY . /middlemark
RUN /middlemark/packaging/docker/packages.sh
RUN /middlemark/packaging/docker/build.sh
WORKDIR /runs
ENTRYPOINT ["/middlemark/packaging/docker/start.sh"]
CMD ["run"]

# Ubuntu 24.04 with ROS 2 Jazzy: rclcpp with its RMWs, and the middleware that Ubuntu packages.
#   docker build --file packaging/docker/jazzy.Dockerfile --tag middlemark:jazzy .
# We have never built this image: its steps are linted, and are run on Debian 12 only.
FROM ros:jazzy-ros-base-noble
COPY . /middlemark
RUN /middlemark/packaging/docker/packages.sh
RUN /middlemark/packaging/docker/build.sh
WORKDIR /runs
ENTRYPOINT ["/middlemark/packaging/docker/start.sh"]
CMD ["run"]

# Ubuntu 24.04 with ROS 2 Jazzy: rclcpp over its RMWs, beside what Ubuntu packages.
#   docker build --file packaging/docker/jazzy.Dockerfile --tag middlemark:jazzy .
# Never run by us: its steps are linted, and run on Debian 12 only.
FROM ros:jazzy-ros-base-noble
COPY . /middlemark
RUN /middlemark/packaging/docker/packages.sh
RUN /middlemark/packaging/docker/build.sh
WORKDIR /runs
ENTRYPOINT ["/middlemark/packaging/docker/start.sh"]
CMD ["run"]

# Debian 12 with every middleware that it packages.
#   docker build --file packaging/docker/debian-12.Dockerfile --tag middlemark:debian-12 .
# scripts/check-in docker-debian-12 runs the same steps.
FROM debian:12
COPY . /middlemark
RUN /middlemark/packaging/docker/packages.sh
RUN /middlemark/packaging/docker/build.sh
WORKDIR /runs
ENTRYPOINT ["/middlemark/packaging/docker/start.sh"]
CMD ["run"]

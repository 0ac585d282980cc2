# Debian 12 with every middleware that it packages.
#   docker build --file packaging/docker/debian-12.Dockerfile --tag middlemark:debian-12 .
# Its steps are run by scripts/check-in docker-debian-12.
FROM debian:12
COPY . /middlemark
RUN /middlemark/packaging/docker/packages.sh
RUN /middlemark/packaging/docker/build.sh
WORKDIR /runs
ENTRYPOINT ["/middlemark/packaging/docker/start.sh"]
CMD ["run"]

# An image with writ and what its sandbox needs. docs/guides/container.md says how to start it.
FROM node:24-bookworm-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git
WORKDIR /source
COPY . .
RUN npm ci --no-fund --no-audit && npm pack --pack-destination /tmp

FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git openssh-client strace \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/writ-*.tgz /tmp/
RUN npm install --global --no-fund --no-audit /tmp/writ-*.tgz && npm cache clean --force && rm -rf /tmp/*
# Keys and log: any user may be given with `--user`.
RUN install --directory --mode 1777 /data
ENV HOME=/data
USER node
WORKDIR /repository
ENTRYPOINT ["writ"]
CMD ["--help"]

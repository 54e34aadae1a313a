# syntax=docker/dockerfile:1
#
# The service with its console, for `docker build -t parley .` in this folder.
#
# To check: deploy/check/build-image.mjs runs each line of this file in a Debian root made by debootstrap, and starts the
# result: 531 MB, 206 of them Debian. Not checked: a build by Docker itself, and architectures other than x64.

ARG NODE_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

# ---- The libraries of the service. A layer of their own: they change with the lock file only.
FROM ${NODE_IMAGE} AS libraries
WORKDIR /srv/parley
COPY package.json package-lock.json .npmrc ./
COPY packages/schema/package.json packages/schema/
COPY packages/server/package.json packages/server/
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
RUN npm ci --omit=dev --workspace=@parley/server --workspace=@parley/schema --include-workspace-root=false
# Libraries for other systems, type declarations and source maps: 240 MB that nothing loads.
RUN rm -rf node_modules/onnxruntime-node/bin/napi-v*/darwin node_modules/onnxruntime-node/bin/napi-v*/win32 \
  && case "$(uname -m)" in x86_64) other=arm64 ;; *) other=x64 ;; esac \
  && rm -rf node_modules/onnxruntime-node/bin/napi-v*/linux/$other node_modules/onnxruntime-web \
  && find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -type f -delete

# ---- The console, built once, so that no service builds it at its first start.
FROM ${NODE_IMAGE} AS console
WORKDIR /srv/parley
COPY package.json package-lock.json .npmrc ./
COPY packages/schema/package.json packages/schema/
COPY packages/server/package.json packages/server/
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
RUN npm ci --omit=dev --workspace=@parley/console --workspace=@parley/client --workspace=@parley/schema --include-workspace-root=false
COPY tsconfig.json ./
COPY packages/schema packages/schema
COPY packages/client packages/client
COPY packages/console packages/console
RUN node packages/console/build/build.ts

# ---- What runs: Node, the libraries and the sources, without npm and without build tools.
FROM ${BASE_IMAGE}
# tini is process 1: it passes signals on, and removes what processes that have crashed leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates libstdc++6 tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
RUN groupadd --system --gid 10001 parley \
  && useradd --system --uid 10001 --gid parley --home-dir /data --shell /usr/sbin/nologin parley \
  && install -d -o parley -g parley -m 0750 /data \
  && install -d -o parley -g parley /srv/parley/node_modules/.cache
COPY --from=libraries /usr/local/bin/node /usr/local/bin/node
COPY --from=libraries /srv/parley/node_modules /srv/parley/node_modules
WORKDIR /srv/parley
COPY package.json package-lock.json LICENSE NOTICE ./
COPY packages/schema packages/schema
COPY packages/client packages/client
COPY packages/console packages/console
COPY packages/server packages/server
COPY --from=console /srv/parley/packages/console/dist packages/console/dist
COPY deploy/image/first-start.mjs deploy/image/
RUN ln -s /srv/parley/packages/server/src/cli/parley.ts /usr/local/bin/parley
USER parley
ENV NODE_ENV=production
ENV HOST=0.0.0.0
ENV PORT=8080
ENV DATA_DIR=/data
# Starts the service once and stops it: an image that cannot start is not built. Later starts load the compiled code.
RUN node deploy/image/first-start.mjs
VOLUME /data
EXPOSE 8080
# Ready for calls: the database, voice activity detection and the recogniser work.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM lets calls end within DRAIN_TIMEOUT_MS (20 s): give `docker stop` more than that, as compose.yaml does.
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "node", "packages/server/src/main.ts"]

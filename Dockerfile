# The image of the operator: the bundle on the Node.js line that package.json names. sandbox/image/ makes the
# same image without a container engine: its description.ts repeats the last stage below.
# docs/how-to/build-image.md explains how to change the digests.

# The bundle runs on every platform, so it is made once, on the platform of the builder.
FROM --platform=$BUILDPLATFORM node:24.21.0-trixie-slim@sha256:173f125896c3b47ddf056734c7ea789d04595a6a08769a8f78e0df642781fb66 AS build
WORKDIR /source
COPY package.json package-lock.json ./
COPY cli/package.json cli/
COPY operator/package.json operator/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY cli cli
COPY operator operator
COPY LICENSE tsconfig.json ./
RUN node operator/bundle.mjs

# Contains Node.js, its libraries and CA certificates, but no shell and no package manager.
FROM gcr.io/distroless/nodejs24-debian13:nonroot@sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="Hub Operator" \
      org.opencontainers.image.description="Runs Home Assistant and everything inside it from Kubernetes custom resources" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /source/build/operator.cjs /source/build/operator.cjs.map /app/
COPY --from=build /source/build/kubectl-hub.cjs /app/
COPY --from=build /source/LICENSE /source/build/third-party-licenses.txt /app/
# By default glibc gives each thread its own heap, which returns little memory to the system. This setting
# saves 13 MB.
ENV MALLOC_ARENA_MAX=1
# An allocation of at least this size, such as the buffer of a read from a socket, is mapped separately and
# returned to the system when it is freed. By default glibc raises this threshold to the size of the first
# long body that is freed. Its heap then keeps all free memory below the last allocation in it: 50 MB after a
# flood of requests.
ENV MALLOC_MMAP_THRESHOLD_=16384
# The user is a number, so that a node can verify that it is not root.
USER 65532:65532
EXPOSE 8080 9443
# The limit of the heap is a share of the container's memory limit (manifests/memory.ts). It is an argument,
# because a user's NODE_OPTIONS would replace a variable. By default V8 uses up to 64 MB for young objects,
# twice the memory of an idle operator.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=2", "--max-old-space-size-percentage=41", "/app/operator.cjs"]

# The operator's image: its bundle on the Node.js line that package.json names for it. sandbox/image/ makes the same
# image without a container engine: its description.ts repeats the last stage below. docs/how-to/build-image.md says how
# to move to other digests.

# What is bundled runs on every platform, so it is bundled once, on the platform of the builder.
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

# Node.js, its libraries and CA certificates; no shell, no package manager.
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
# glibc would give each thread a heap of its own, of which little is ever given back: 13 MB.
ENV MALLOC_ARENA_MAX=1
# A larger piece, such as what a socket reads at once, is memory of its own and given back when it is free. By default glibc raises this limit to the
# size of the first long body that is freed. Its heap then keeps all that is free before the last thing in it: 50 MB after a flood.
ENV MALLOC_MMAP_THRESHOLD_=16384
# A number, so that a node can tell that it is not root.
USER 65532:65532
EXPOSE 8080 9443
# The heap is a share of the container's memory limit (manifests/memory.ts). A variable would be replaced by NODE_OPTIONS of a user.
# V8 takes 64 MB for young objects otherwise, twice what the operator holds when it rests.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=2", "--max-old-space-size-percentage=41", "/app/operator.cjs"]

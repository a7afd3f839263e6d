# The operator's image: one bundled file on Node.js. `make image` makes the bundle first.
FROM node:22-alpine
COPY build/operator.cjs build/operator.cjs.LEGAL.txt LICENSE /app/
# A number, so that a node can tell that it is not root (manifests/operator.ts uses the same).
USER 65532:65532
EXPOSE 8080 9443
# 64 MB for young objects would be twice what the operator holds when it rests.
ENTRYPOINT ["node", "--max-semi-space-size=2", "/app/operator.cjs"]

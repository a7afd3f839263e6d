/** Metadata that the API server sets on every namespaced object, with fixed values. */
export const objectMetadata = {
  namespace: 'home',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};

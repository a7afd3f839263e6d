// The kinds: one line each, and the only list of them. CRDs, the role, watches, metrics, docs and the types of index.ts follow.

export * from './hub';
export * from './configuration';
export * from './secrets';
export * from './automation';
export * from './scene';
export * from './script';
export * from './integration';
export * from './floor';
export * from './label';
export * from './area';
export * from './zone';
export * from './device';
export * from './entity-settings';
export * from './community-repository';

// The only list of the kinds, one line each. CRDs, the role, watches, metrics, docs and the types of index.ts
// are derived from it.

export * from './hub';
export * from './configuration';
export * from './secrets';
export * from './automation';
export * from './scene';
export * from './script';
export * from './blueprint';
export * from './integration';
export * from './floor';
export * from './label';
export * from './area';
export * from './zone';
export * from './helper';
export * from './person';
export * from './device';
export * from './entity-settings';
export * from './community-repository';

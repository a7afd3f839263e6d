import { project } from './jest.config.mjs';

// The configuration of the tests on a real node. They are separate because they have their own cluster, and
// need Linux and root.
export default {
  rootDir: import.meta.dirname,
  testTimeout: 1_500_000,
  testSequencer: '<rootDir>/__tests__/runner/longest-first.mjs',
  reporters: [
    'default',
    '<rootDir>/__tests__/runner/keep-on-failure.mjs',
    '<rootDir>/__tests__/runner/results-so-far.mjs',
  ],
  // At most one or two hubs run at the same time: the machine has other work, and some tests remove the
  // operator.
  maxWorkers: 1,
  projects: [
    project('node', {
      globalSetup: '<rootDir>/__tests__/node-cluster/setup.ts',
      globalTeardown: '<rootDir>/__tests__/node-cluster/teardown.ts',
    }),
  ],
};

import { project } from './jest.config.mjs';

// The tests on a real node, apart from the others: they have a cluster of their own, and need Linux and root.
export default {
  rootDir: import.meta.dirname,
  testTimeout: 1_500_000,
  testSequencer: '<rootDir>/__tests__/runner/longest-first.mjs',
  reporters: [
    'default',
    '<rootDir>/__tests__/runner/keep-on-failure.mjs',
    '<rootDir>/__tests__/runner/results-so-far.mjs',
  ],
  // One hub or two at a time: the machine has other work, and some tests remove the operator.
  maxWorkers: 1,
  projects: [
    project('node', {
      globalSetup: '<rootDir>/__tests__/node-cluster/setup.ts',
      globalTeardown: '<rootDir>/__tests__/node-cluster/teardown.ts',
    }),
  ],
};

// These packages are ESM; jest runs CommonJS, so swc translates them as well.
const esmPackages = [
  '@kubernetes/client-node',
  'openid-client',
  'oauth4webapi',
  'jose',
  'jsonpath-plus',
  '@jsep-plugin',
  'jsep',
  'rfc4648',
  'home-assistant-js-websocket',
];

const common = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  // Data of running sandboxes is not searched for modules and snapshots.
  modulePathIgnorePatterns: ['<rootDir>/.sandbox/', '<rootDir>/build/'],
  transform: {
    '^.+\\.(t|m?j)sx?$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
};

const cluster = {
  globalSetup: '<rootDir>/__tests__/cluster/setup.ts',
  globalTeardown: '<rootDir>/__tests__/cluster/teardown.ts',
};

const project = (name, extra = {}) => ({
  ...common,
  ...extra,
  displayName: name,
  testMatch: [`<rootDir>/__tests__/${name}/**/*.test.ts`],
});

export default {
  rootDir: import.meta.dirname,
  // A machine that does something else as well is slow: what counts is that a state is reached.
  testTimeout: 600_000,
  testSequencer: '<rootDir>/__tests__/runner/longest-first.mjs',
  reporters: ['default', '<rootDir>/__tests__/runner/keep-on-failure.mjs'],
  projects: [
    project('unit'),
    project('schema', cluster),
    project('integration', cluster),
    project('faults', cluster),
  ],
};

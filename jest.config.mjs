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
  testTimeout: 300_000,
  projects: [
    project('unit'),
    project('schema', cluster),
    project('integration', cluster),
    project('faults', cluster),
  ],
};

import type { Config } from 'jest';

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
  rootDir: __dirname,
  testEnvironment: 'node',
  transform: {
    '^.+\\.(t|m?j)sx?$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
} satisfies Config;

const cluster = {
  globalSetup: '<rootDir>/__tests__/cluster/setup.ts',
  globalTeardown: '<rootDir>/__tests__/cluster/teardown.ts',
};

const project = (name: string, extra: Config = {}) => ({
  ...common,
  ...extra,
  displayName: name,
  testMatch: [`<rootDir>/__tests__/${name}/**/*.test.ts`],
});

const config: Config = {
  testTimeout: 120_000,
  projects: [
    project('unit'),
    project('schema', cluster),
    project('integration', cluster),
    project('faults', cluster),
  ],
};

export default config;

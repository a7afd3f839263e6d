import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

// These packages are ES modules. jest runs CommonJS, so swc translates them too.
const esmPackages = ['home-assistant-js-websocket', '@marcbachmann/cel-js'];

/**
 * Bundles the Kubernetes client into one CommonJS file. The package has 1,500 ES modules, and loading them
 * again for each test file took more than a second of processor time.
 */
function kubernetesClient() {
  const packages = join(import.meta.dirname, 'node_modules');
  const source = join(packages, '@kubernetes', 'client-node');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const outfile = join(packages, '.cache', `kubernetes-client-${version}.cjs`);
  if (!existsSync(outfile)) {
    // another jest process may build the file at the same time
    const unfinished = `${outfile}.${process.pid}`;
    buildSync({ entryPoints: [source], outfile: unfinished, bundle: true, platform: 'node', format: 'cjs' });
    renameSync(unfinished, outfile);
  }
  return outfile;
}

const common = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  // Folders of running sandboxes are not searched for modules and snapshots.
  modulePathIgnorePatterns: ['<rootDir>/.sandbox/', '<rootDir>/build/'],
  transform: {
    '^.+\\.(t|m?j)sx?$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  moduleNameMapper: { '^@kubernetes/client-node$': kubernetesClient() },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
};

const cluster = {
  globalSetup: '<rootDir>/__tests__/cluster/setup.ts',
  globalTeardown: '<rootDir>/__tests__/cluster/teardown.ts',
};

export const project = (name, extra = {}) => ({
  ...common,
  ...extra,
  displayName: name,
  testMatch: [`<rootDir>/__tests__/${name}/**/*.test.ts`],
});

export default {
  rootDir: import.meta.dirname,
  // On a busy machine tests are slow, and the time limit must only end tests that hang.
  testTimeout: 1_800_000,
  testSequencer: '<rootDir>/__tests__/runner/longest-first.mjs',
  reporters: ['default', '<rootDir>/__tests__/runner/keep-on-failure.mjs'],
  projects: [
    project('unit', { testEnvironment: '<rootDir>/__tests__/runner/environment.mjs' }),
    project('schema', cluster),
    project('integration', cluster),
    project('faults', cluster),
  ],
};

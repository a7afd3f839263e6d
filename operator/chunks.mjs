import { basename } from 'node:path';
import { transform } from 'esbuild';

/**
 * Joins a program that esbuild has split into one file again. Code that only some commands need becomes a
 * string, which Node.js parses when such a command runs, instead of parsing all code at each start.
 *
 * @param outputs of a build with `splitting`, without source maps
 * @param entry name of the output that is the program
 * @returns the source of a CommonJS module
 */
export async function inOneFile(outputs, entry, target) {
  const sources = new Map(outputs.map(({ path, text }) => [`./${basename(path)}`, text]));
  const toCommonJs = async (source) => {
    const { code } = await transform(source, {
      format: 'cjs',
      platform: 'node',
      target,
      minify: true,
      supported: { 'dynamic-import': false }, // becomes a call of require
    });
    return code;
  };
  // The names that esbuild gives depend on the folder of the sources, so that the chunks are named again.
  const names = new Map();
  const chunks = {};
  const include = async (source) => {
    const found = (await toCommonJs(source)).split(/(?<=")(\.\/[^"]+\.cjs)(?=")/);
    for (const [index, name] of found.entries()) {
      if (!sources.has(name)) continue;
      const isNew = !names.has(name);
      if (isNew) names.set(name, `./${names.size + 1}`);
      found[index] = names.get(name);
      if (isNew) chunks[names.get(name)] = await include(sources.get(name));
    }
    return found.join('');
  };
  const program = await include(sources.get(`./${entry}`));
  return `#!/usr/bin/env node
"use strict";
const chunks = ${JSON.stringify(chunks)};
const loaded = {};
function load(name) {
  if (!Object.hasOwn(chunks, name)) return require(name);
  if (!loaded[name]) {
    const { compileFunction } = require("node:vm");
    const chunk = (loaded[name] = { exports: {} });
    const parameters = ["require", "module", "exports", "__filename", "__dirname"];
    try {
      compileFunction(chunks[name], parameters, { filename: \`\${__filename}/\${name}\` })(load, chunk, chunk.exports, __filename, __dirname);
    } catch (error) {
      delete loaded[name]; // as Node.js does: it has a part of its exports
      throw error;
    }
  }
  return loaded[name].exports;
}
load.main = require.main;
((require) => {
${program.replace(/^#!.*\n/, '')}
})(load);
`;
}

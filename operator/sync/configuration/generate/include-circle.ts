import { posix } from 'node:path';
import { isScalar, type Scalar, visit } from 'yaml';
import {
  type ConfigFile,
  type ConfigFiles,
  includedFiles,
  isIncludeOfFolder,
  nameInConfig,
} from './config-files';

/**
 * A file that includes itself, perhaps through others, in words. The hub refuses such a configuration, and names no file. Undefined:
 * there is none.
 */
export function includeCircle(files: ConfigFiles): string | undefined {
  const done = new Set<string>();
  const within = (name: string, above: readonly string[]): string | undefined => {
    if (done.has(name) || !files.textOf(name).includes('!include')) return undefined;
    const file = files.parse(name);
    const chain = [...above, name];
    for (const [node, included] of file ? includesOf(file, files.names) : []) {
      const begin = chain.indexOf(included);
      if (begin >= 0) return circle(files.fieldOf(name), file!, node, [...chain.slice(begin), included]);
      const found = within(included, chain);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  return within('configuration.yaml', []);
}

/** The known files that a file includes, each with the node that does. */
function includesOf(file: ConfigFile, names: readonly string[]): (readonly [Scalar, string])[] {
  const found: (readonly [Scalar, string])[] = [];
  visit(file.document, {
    Scalar(_, node) {
      if (!isScalar(node) || !node.tag?.startsWith('!include')) return;
      const path = nameInConfig(String(node.value), posix.dirname(file.name));
      // The hub reads configuration.yaml as well where its own directory is included.
      const folder =
        path === '.' ? ['configuration.yaml', ...includedFiles(names, path)] : includedFiles(names, path);
      const included = isIncludeOfFolder(node) ? folder : names.filter((name) => name === path);
      for (const name of included) found.push([node, name]);
    },
  });
  return found;
}

function circle(field: string, file: ConfigFile, node: Scalar, names: readonly string[]): string {
  const { line, column } = file.positionOf(node.range![0]);
  return `${field}, line ${line}, column ${column}: the files include each other in a circle: ${names.join(' → ')}. Remove one of the includes.`;
}

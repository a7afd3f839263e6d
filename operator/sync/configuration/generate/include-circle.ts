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
 * A sentence about files that include each other in a circle. The hub rejects such a configuration without
 * naming the files.
 *
 * @returns undefined when there is no circle
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

/** The known files that a file includes, each with the node that includes it. */
function includesOf(file: ConfigFile, names: readonly string[]): (readonly [Scalar, string])[] {
  const found: (readonly [Scalar, string])[] = [];
  visit(file.document, {
    Scalar(_, node) {
      if (!isScalar(node) || !node.tag?.startsWith('!include')) return;
      const path = nameInConfig(String(node.value), posix.dirname(file.name));
      // If the hub's own directory is included, the hub reads configuration.yaml too.
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

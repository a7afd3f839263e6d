import { join } from 'node:path/posix';
import { Yaml } from 'cdk8s';
import type { Value, ValueSchema } from './values';

type Tree = { [name: string]: Tree | Value };

const isValue = (node: Tree | Value): node is Value => typeof node['path'] === 'string';

/** Returns `values.yaml` with the description of each value as its comment. */
export function valuesYaml(values: readonly Value[]): string {
  return `# yaml-language-server: $schema=values.schema.json\n# Written by \`make synth\`. What each value means for an installation: docs/reference/helm-values.md.\n${linesOf(treeOf(values), '').join('\n')}\n`;
}

function linesOf(tree: Tree, indentation: string): string[] {
  return Object.entries(tree).flatMap(([name, node]) => {
    if (!isValue(node)) return [`${indentation}${name}:`, ...linesOf(node, `${indentation}  `)];
    const comment = plain(node.about).map((line) => `${indentation}# ${line}`);
    const value = Yaml.stringify({ [name]: node.default })
      .trimEnd()
      .split('\n')
      .map((line) => indentation + line);
    return [...comment, ...value];
  });
}

/** Turns links of `docs/reference` into paths in the repository. */
export function withoutLinks(markdown: string): string {
  return markdown.replace(
    /\[([^\]]*)\]\(([^)]*)\)/g,
    (_, text: string, path: string) => `${text} (${join('docs/reference', path)})`,
  );
}

/** Returns the lines of a comment: Markdown without its links. */
function plain(markdown: string): string[] {
  return withoutLinks(markdown)
    .replace(/(.{1,100})(?: |$)/g, '$1\n')
    .trimEnd()
    .split('\n');
}

/** Returns `values.schema.json`, by which Helm refuses a value with an unknown name or of another type. */
export function valuesSchema(values: readonly Value[]): object {
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(treeOf(values)) };
}

function schemaOf(tree: Tree): ValueSchema {
  return {
    type: 'object',
    properties: {
      // Helm passes `global` to a chart that is a dependency of another one.
      ...(Object.values(tree).some((node) => !isValue(node)) && { global: { type: 'object' } }),
      ...Object.fromEntries(
        Object.entries(tree).map(([name, node]) => [
          name,
          isValue(node) ? { description: node.about, ...node.schema } : schemaOf(node),
        ]),
      ),
    },
    additionalProperties: false,
  };
}

function treeOf(values: readonly Value[]): Tree {
  const root: Tree = {};
  for (const value of values) {
    const names = value.path.split('.');
    const last = names.pop()!;
    const parent = names.reduce<Tree>((node, name) => (node[name] ??= {}) as Tree, root);
    parent[last] = value;
  }
  return root;
}

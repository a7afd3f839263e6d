import { isScalar, visit } from 'yaml';
import { parseHubYaml } from './hub-yaml';
import type { Files } from './config-files';

/** The keys that `!secret` asks for in these files, each with its first place: `spec.configuration, line 3, column 5`. */
export function secretUses(files: Files, parse = parseHubYaml): ReadonlyMap<string, string> {
  const uses = new Map<string, string>();
  for (const [name, text] of Object.entries(files)) {
    const file = parse(text);
    if (!('document' in file)) continue;
    const field = name === 'configuration.yaml' ? 'spec.configuration' : `spec.files[${name}]`;
    visit(file.document, {
      Scalar(_, node) {
        const key = String(node.value);
        if (!isScalar(node) || node.tag !== '!secret' || uses.has(key)) return;
        const { line, column } = file.positionOf(node.range![0]);
        uses.set(key, `${field}, line ${line}, column ${column}`);
      },
    });
  }
  return uses;
}

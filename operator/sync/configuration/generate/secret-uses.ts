import { isScalar, visit } from 'yaml';
import type { ReadSecrets } from '../../secrets-yaml/secrets-yaml';
import { parseHubYaml } from './hub-yaml';
import { fieldOfFile, type Files, isYaml, type Origins } from './config-files';

/**
 * The keys that `!secret` refers to in these files, each with its first place: `spec.configuration, line 3,
 * column 5`.
 */
export function secretUses(
  files: Files,
  parse = parseHubYaml,
  origins?: Origins,
): ReadonlyMap<string, string> {
  const uses = new Map<string, string>();
  for (const [name, text] of Object.entries(files)) {
    if (!isYaml(name)) continue;
    const file = parse(text);
    if (!('document' in file)) continue;
    const field = fieldOfFile(name, origins);
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

/** Number of missing keys in a message. */
const MOST_KEYS = 5;

/** The keys that the configuration uses but no HubSecrets provides, each with its place in words. */
export function missingKeys(uses: ReadonlyMap<string, string>, secrets: ReadSecrets | undefined) {
  return [...uses].filter(([key]) => !secrets?.values.has(key) || secrets.kept.has(key));
}

/** A warning about a key of {@link missingKeys} and its place. */
export const missingKeyMessage = (hub: string, [key, place]: readonly [string, string]): string =>
  `${place}: no HubSecrets of the Hub ${hub} gives the key ${key} of !secret: add it to one.`;

/**
 * A message about secrets that the configuration uses but no HubSecrets provides. The hub would start in
 * recovery mode without them.
 *
 * @returns undefined when none are missing
 */
export function missingSecrets(
  uses: ReadonlyMap<string, string>,
  secrets: ReadSecrets | undefined,
  hub: string,
): string | undefined {
  const missing = missingKeys(uses, secrets);
  if (missing.length === 0) return undefined;
  const named = missing.slice(0, MOST_KEYS).map(([key, place]) => `${key} (${place})`);
  const rest = missing.length > MOST_KEYS ? [`${missing.length - MOST_KEYS} more`] : [];
  return `The configuration uses !secret with keys that no HubSecrets of the Hub ${hub} gives: ${[...named, ...rest].join('; ')}. Add them to a HubSecrets.`;
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { kinds } from '../../operator/kinds';
import { API_GROUP } from '../../operator/kinds/group';

/** The health check of all kinds, as a Lua script for Argo CD. */
export const healthCheck = (): string => readFileSync(join(__dirname, 'health.lua'), 'utf8');

/**
 * The part of Argo CD's ConfigMap that makes it use the check. There is an entry for each kind, because such
 * a key cannot have a wildcard.
 */
export function argoSettings() {
  const check = healthCheck();
  const keys = kinds.map(({ kind }) => `resource.customizations.health.${API_GROUP}_${kind}`);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm' },
    data: Object.fromEntries(keys.map((key) => [key, check])),
  };
}

/**
 * Writes `argocd/` into the folder of the synth: a patch, since the ConfigMap belongs to the administrator of
 * Argo CD.
 */
export function writeArgoSettings(outdir: string): void {
  const folder = join(outdir, 'argocd');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'argocd-cm-patch.yaml'), Yaml.stringify(argoSettings()));
}

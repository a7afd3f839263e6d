import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Chart, Yaml } from 'cdk8s';

const NAME_REFERENCES = 'name-references.yaml';

/**
 * The ClusterRole refers to the webhook registration by name, so a prefix that kustomize adds to the
 * registration has to be added there.
 */
const nameReferences = {
  nameReference: [
    {
      kind: 'ValidatingWebhookConfiguration',
      fieldSpecs: [{ kind: 'ClusterRole', path: 'rules/resourceNames' }],
    },
  ],
};

/**
 * Writes `kustomization.yaml` into a folder, for `kubectl apply -k` and as a base of other kustomizations.
 */
export function writeKustomization(folder: string, resources: readonly string[], hasWebhook = false): void {
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources,
    ...(hasWebhook && { configurations: [NAME_REFERENCES] }),
  };
  writeFileSync(join(folder, 'kustomization.yaml'), Yaml.stringify(kustomization));
  if (hasWebhook) writeFileSync(join(folder, NAME_REFERENCES), Yaml.stringify(nameReferences));
}

/**
 * Writes a folder of the synth that can be used as a base, since a kustomization reads no file outside of its
 * folder.
 * @param charts adds the charts; each becomes a file of its name, listed in this order
 * @param notice comment at the beginning of each file
 */
export function writeBase(folder: string, charts: (app: App) => readonly Chart[], notice?: string): void {
  mkdirSync(folder, { recursive: true });
  const app = new App({ outdir: folder, outputFileExtension: '.yaml' });
  const names = charts(app).map(({ node }) => `${node.id}.yaml`);
  app.synth();
  writeKustomization(folder, names);
  if (notice === undefined) return;
  for (const name of [...names, 'kustomization.yaml']) {
    const file = join(folder, name);
    writeFileSync(file, `# ${notice}\n${readFileSync(file, 'utf8')}`);
  }
}

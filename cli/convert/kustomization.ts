import type { ExportedFile } from '../export/files';
import { printDocument } from '../yaml/print';
import type { ConfigMapPlan } from './config-maps';

const REFERENCES = 'kustomizeconfig/hub-configuration.yaml';

/**
 * The files with which Kustomize, Flux and Argo CD generate ConfigMaps from the folders. The ConfigMaps have
 * no hash in their names, so that a changed file changes its ConfigMap. If the user enables hashes, the
 * second file makes Kustomize write the names into `spec.filesFrom` too.
 */
export function kustomization(
  resources: readonly string[],
  configMaps: readonly ConfigMapPlan[],
  { namespace }: { readonly namespace?: string },
): readonly ExportedFile[] {
  const generated = configMaps.map(({ name, files }) => ({
    name,
    files: files.map(({ key, path }) =>
      path.endsWith(`/${key}`) || path === key ? `config/${path}` : `${key}=config/${path}`,
    ),
  }));
  const main = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    ...(namespace !== undefined && { namespace }),
    resources,
    ...(generated.length > 0 && {
      configurations: [REFERENCES],
      generatorOptions: { disableNameSuffixHash: true },
      configMapGenerator: generated,
    }),
  };
  const references = {
    nameReference: [
      {
        kind: 'ConfigMap',
        version: 'v1',
        fieldSpecs: [{ kind: 'HubConfiguration', path: 'spec/filesFrom/configMapRef/name' }],
      },
    ],
  };
  return [
    fileOf('kustomization.yaml', main),
    ...(generated.length > 0 ? [fileOf(REFERENCES, references)] : []),
  ];
}

const fileOf = (path: string, content: object): ExportedFile => ({
  path,
  text: printDocument(content),
  object: path,
  kind: '',
  name: path,
});

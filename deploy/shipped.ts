import { join } from 'node:path';
import { readManifests } from '../manifests/read-manifests';
import { CommandError } from './command-error';

/** All of the operator, for the whole cluster. */
const INSTALL = join(__dirname, '..', 'dist', 'install.yaml');

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: {
    readonly template?: { readonly spec: { containers: readonly { readonly image: string }[] } };
  };
}

/** The objects of `dist/install.yaml`, in the order in which they are applied. */
export function shippedManifests(): readonly Manifest[] {
  return readManifests(INSTALL) as Manifest[];
}

/** The image of the operator in these manifests. */
export function imageOf(manifests: readonly Manifest[]): string {
  const image = manifests.find(isDeployment)?.spec?.template?.spec.containers[0]?.image;
  if (image === undefined)
    throw new CommandError('dist/install.yaml has no Deployment with an image.', 'Run `make synth`.');
  return image;
}

/** The manifests with another image of the operator. */
export function withImage(manifests: readonly Manifest[], image: string): readonly Manifest[] {
  return manifests.map((manifest) => {
    const template = manifest.spec?.template;
    if (!isDeployment(manifest) || !template) return manifest;
    const containers = template.spec.containers.map((container) => ({ ...container, image }));
    return {
      ...manifest,
      spec: { ...manifest.spec, template: { ...template, spec: { ...template.spec, containers } } },
    };
  });
}

/** As one object, for kubectl's standard input. */
export function asList(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

export const isDefinition = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition';
export const isNamespace = ({ kind }: Manifest): boolean => kind === 'Namespace';
const isDeployment = ({ kind }: Manifest): boolean => kind === 'Deployment';

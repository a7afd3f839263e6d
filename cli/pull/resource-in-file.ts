import { isDeepStrictEqual } from 'node:util';
import type { BoundedTasks } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import type { KindDefinition } from '../../operator/kinds/kind';
import type { CustomResource } from '../../operator/kinds/resource';
import { fieldOf } from '../../operator/offline/field-path';
import { readManifestsWithin } from '../../operator/offline/manifests';
import { checkSchema } from '../../operator/offline/schema';
import { CommandError } from '../command-error';

/** Fields that determine the hub and the object of a resource. */
const IDENTITY = ['hubRef', 'id', 'hubId', 'select'] as const;

/**
 * The resource with the spec from a file, and the defaults of the API server.
 *
 * @param resource the resource in the cluster
 * @throws CommandError the file lacks the resource, has it for another object, or has an invalid spec
 */
export async function resourceInFile(
  texts: BoundedTasks,
  { path, text }: { readonly path: string; readonly text: string },
  definition: KindDefinition,
  resource: CustomResource,
): Promise<CustomResource> {
  const { name, namespace } = resource.metadata;
  const manifests = await readManifestsWithin(texts, path, text);
  const found = manifests.find((each) => {
    if (!('object' in each) || each.object['kind'] !== definition.kind) return false;
    const { metadata } = each.object;
    if (!isObject(metadata) || metadata['name'] !== name) return false;
    return metadata['namespace'] === undefined || metadata['namespace'] === namespace;
  });
  if (!found || !('object' in found)) {
    const [problem] = manifests.filter((each) => 'message' in each);
    throw new CommandError(
      problem
        ? `${path}:${problem.line}: ${problem.message}`
        : `${path} has no ${definition.kind} ${name}: name the file that has it`,
    );
  }
  const { object, problems } = checkSchema(definition, found.object);
  const [problem] = problems;
  if (problem)
    throw new CommandError(
      `${path}:${found.lineOf(problem.path)}: ${fieldOf(problem.path)}: ${problem.message} Correct it first: kubectl hub validate ${path}`,
    );
  const spec = object['spec'] as CustomResource['spec'];
  for (const field of IDENTITY) {
    const [inFile, inCluster] = [spec, resource.spec].map((each) => (each as Fields)[field]);
    if (!isDeepStrictEqual(inFile, inCluster))
      throw new CommandError(
        `${path} has the ${definition.kind} ${name} with another spec.${field} than the cluster: apply the file first`,
      );
  }
  return { ...resource, kind: definition.kind, spec };
}

type Fields = Readonly<Record<string, unknown>>;

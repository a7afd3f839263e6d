import { dirname, resolve } from 'node:path';
import type { BoundedTasks } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import { hub as hubKind, kindsByName } from '../../operator/kinds';
import { GROUP_VERSION } from '../../operator/kinds/group';
import type { CustomResource } from '../../operator/kinds/resource';
import { filesOf, read } from '../../operator/offline/files';
import { fieldOf } from '../../operator/offline/field-path';
import { isOurs } from '../../operator/offline/findings';
import { type Manifest, readManifestsWithin, type SyntaxProblem } from '../../operator/offline/manifests';
import { checkSchema } from '../../operator/offline/schema';
import { CommandError } from '../command-error';
import type { HubOptions } from '../export/command';
import { oneLine } from '../output';
import { hubNameOf } from '../status/causes';

/** A resource in a file. */
export interface Given {
  readonly file: string;
  readonly resource: CustomResource;
}

interface Paths {
  readonly filename: readonly string[];
  readonly recursive?: boolean;
  readonly url?: string;
}

/** @param input reads the standard input, for which `-` stands. @throws CommandError, NotRead */
export async function readResources(
  { filename: paths, recursive: isRecursive = false, url }: Paths,
  texts: BoundedTasks,
  input: () => Promise<string>,
): Promise<readonly Given[]> {
  const isCheckedLater = url === undefined; // by the API server
  const given: Given[] = [];
  for (const path of paths)
    if (path === '-')
      given.push(
        ...resourcesOf('stdin', await readManifestsWithin(texts, 'stdin', await input()), isCheckedLater),
      );
    else
      for (const file of (await filesOf(path)).filter((each) => isRecursive || isDirectlyIn(each, path)))
        given.push(...resourcesOf(file, await read(file, file === path, texts), isCheckedLater));
  if (given.length === 0)
    throw new CommandError(
      `there is no resource of ours in ${paths.join(', ')}: name other files${isRecursive ? '' : ', or read the folders in a directory with -R'}`,
    );
  return given;
}

/** @throws CommandError */
function resourcesOf(
  file: string,
  manifests: readonly (Manifest | SyntaxProblem)[],
  isCheckedLater: boolean,
): readonly Given[] {
  return manifests.flatMap((found) => {
    if (!('object' in found)) throw new CommandError(`${found.file}:${found.line}: ${found.message}`);
    if (!isOurs(found)) return [];
    const resource = found.object as unknown as CustomResource;
    const definition = kindsByName.get(resource.kind);
    if (!definition || typeof resource.metadata?.name !== 'string')
      throw new CommandError(`${file}: there is no kind ${resource.kind}, or metadata.name is missing`);
    if (!resource.apiVersion)
      throw new CommandError(
        `${file}: ${resource.kind} ${resource.metadata.name} has no apiVersion: write apiVersion: ${GROUP_VERSION}`,
      );
    const isUsable = isCheckedLater && namesHub(resource);
    const [problem] = isUsable ? [] : checkSchema(definition, found.object).problems;
    if (problem)
      throw new CommandError(
        `${file}:${found.lineOf(problem.path)}: ${resource.kind} ${resource.metadata.name}: ${fieldOf(problem.path)}: ${problem.message} kubectl hub validate lists all such faults`,
      );
    return [{ file, resource }];
  });
}

/** Whether a resource names its Hub, without which there is no hub to compare with. */
function namesHub({ kind, spec }: CustomResource): boolean {
  if (!isObject(spec)) return false;
  return kind === hubKind.kind || (isObject(spec['hubRef']) && typeof spec['hubRef']['name'] === 'string');
}

const isDirectlyIn = (file: string, path: string): boolean =>
  file === path || resolve(dirname(file)) === resolve(path);

/** The resources of the Hub that the options name. @throws CommandError there is none, or --url needs a name */
export function ofNamedHub(
  given: readonly Given[],
  { hub, url }: Pick<HubOptions, 'hub' | 'url'>,
): readonly Given[] {
  const names = [...new Set(given.map(({ resource }) => hubNameOf(resource)))].sort().map(oneLine);
  if (hub === undefined) {
    if (url === undefined || names.length === 1) return given;
    throw new CommandError(
      `--url is one hub, and the files have resources of the Hubs ${names.join(', ')}: choose one with --hub`,
    );
  }
  const found = given.filter(({ resource }) => hubNameOf(resource) === hub);
  if (found.length > 0) return found;
  throw new CommandError(
    `the files have no resource of the Hub ${oneLine(hub)}, only of ${names.join(', ')}: correct --hub, or name other files`,
  );
}

import type { Command } from 'commander';
import type { BoundedTasks } from '../../operator/base/bounded-task';
import { withTexts } from '../with-texts';
import { truncate } from '../../operator/base/truncate';
import { redactValue } from '../../operator/client/connection/redact';
import { type Hub, hub as hubKind, integration, kindsByName } from '../../operator/kinds';
import { duplicateMessage } from '../../operator/kinds/duplicate-id';
import type { CustomResource } from '../../operator/kinds/resource';
import { byAge } from '../../operator/runtime/age';
import { filesOf, read } from '../../operator/offline/files';
import { isOurs } from '../../operator/offline/findings';
import { type FieldDiff, formatDiff } from '../../operator/sync/objects/field-diff';
import { isHeld } from '../../operator/sync/still-desired';
import type { Cluster } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { exitCodes } from '../exit-codes';
import { type HubOptions, openNamed, withHub } from '../export/command';
import { likelySecrets } from '../export/likely-secrets';
import { openHub, type OpenHub } from '../hub/access';
import { oneLine, type OutputOptions, printResult, withOutput } from '../output';
import { hubNameOf } from '../status/causes';
import { type ClusterChange, clusterChange } from './cluster-change';
import { configEntityChange, entityTypeOf } from './config-entity-change';
import { type HubChange, isChange } from './hub-change';
import { integrationChange } from './integration-change';
import { entryTypeOf, registryChange } from './registry-change';
import { StoredObjects } from './stored-objects';

interface DiffOptions extends HubOptions, OutputOptions {
  readonly filename: string[];
}

/** What applying one resource would change. Texts are redacted. */
export interface ResourceDiff {
  readonly kind: string;
  readonly name: string;
  readonly file: string;
  readonly cluster?: Omit<ClusterChange, 'before' | 'after'>;
  readonly hub?: HubChange;
}

export function diffCommand(context: CommandContext): Command {
  return withOutput(
    withHub(clusterCommand('diff'))
      .summary('show what applying files would change, in the cluster and in the hub')
      .description(
        'Compares the resources in files with those in the cluster, by a dry run of the API server, and with the objects in the ' +
          'hub, by the decisions of the operator. With --url it compares with that hub alone, before there is a Hub for it. ' +
          'Nothing is changed; secrets are masked. Exit code 0: no difference. 1: differences. 2: an error, such as a ' +
          'resource that the API server refuses.',
      )
      .requiredOption('-f, --filename <file...>', 'files or directories'),
  ).action(
    context.action(async (options: DiffOptions) => {
      const { environment } = context;
      const given = await withTexts(environment.clock, (texts) => readResources(options.filename, texts));
      const diffs =
        options.url === undefined
          ? await compareWithCluster(environment, options, given)
          : await compareWithHub(environment, options, given);
      const shown = diffs.filter(isDifferent);
      await printResult(environment.terminal, options, shown, () => format(shown, diffs.length));
      if (diffs.some(({ cluster }) => cluster?.action === 'refused')) return exitCodes.failure;
      return shown.length > 0 ? exitCodes.negative : exitCodes.success;
    }),
  );
}

const isDifferent = ({ cluster, hub }: ResourceDiff): boolean =>
  (cluster !== undefined && cluster.action !== 'none') || (hub !== undefined && isChange(hub));

interface Given {
  readonly file: string;
  readonly resource: CustomResource;
}

/** @throws CommandError */
export async function readResources(
  paths: readonly string[],
  texts: BoundedTasks,
): Promise<readonly Given[]> {
  const given: Given[] = [];
  for (const path of paths)
    for (const file of await filesOf(path))
      for (const found of await read(file, file === path, texts)) {
        if (!('object' in found)) throw new CommandError(`${found.file}:${found.line}: ${found.message}`);
        if (!isOurs(found)) continue;
        const resource = found.object as unknown as CustomResource;
        if (!kindsByName.has(resource.kind) || typeof resource.metadata?.name !== 'string')
          throw new CommandError(`${file}: there is no kind ${resource.kind}, or metadata.name is missing`);
        given.push({ file, resource });
      }
  if (given.length === 0)
    throw new CommandError(`there is no resource of ours in ${paths.join(', ')}: name other files`);
  return given;
}

async function compareWithHub(
  environment: Environment,
  options: DiffOptions,
  given: readonly Given[],
): Promise<readonly ResourceDiff[]> {
  const hub = await openNamed(environment, options);
  try {
    const stored = new StoredObjects(hub.client, environment.clock);
    const all = given.map(({ resource }) => resource);
    const diffs: ResourceDiff[] = [];
    for (const { file, resource } of given) {
      environment.terminal.progress(`Comparing ${resource.kind} ${resource.metadata.name}`);
      const change = await changeInHub(resource, undefined, all, stored);
      const { kind, metadata } = resource;
      diffs.push({ kind, name: metadata.name, file, ...(change && { hub: masked(change, hub) }) });
    }
    return diffs;
  } finally {
    hub.close();
  }
}

async function compareWithCluster(
  environment: Environment,
  options: DiffOptions,
  given: readonly Given[],
): Promise<readonly ResourceDiff[]> {
  const cluster = environment.connect(options);
  const hubs = new Map<string, OpenHub | undefined>();
  const stored = new Map<OpenHub, StoredObjects>();
  try {
    const present = [...(await cluster.listAll()).values()].flat();
    const diffs: ResourceDiff[] = [];
    const compared: { readonly given: Given; readonly change: ClusterChange }[] = [];
    for (const each of given) {
      environment.terminal.progress(`Comparing ${each.resource.kind} ${each.resource.metadata.name}`);
      compared.push({ given: each, change: await clusterChange(cluster, each.resource) });
    }
    const afterwards = mergedWith(
      present,
      compared.flatMap(({ change }) => change.after ?? []),
    );
    for (const {
      given: { file, resource },
      change,
    } of compared) {
      const { before, after, ...inCluster } = change;
      const { kind, metadata } = resource;
      const shown = { kind, name: metadata.name, file, cluster: maskedFields(inCluster) };
      const name = hubNameOf(resource);
      if (!hubs.has(name)) hubs.set(name, await openPresent(cluster, environment, present, name));
      const hub = hubs.get(name);
      if (!hub || !after) {
        diffs.push(shown);
        continue;
      }
      const objects = stored.get(hub) ?? new StoredObjects(hub.client, environment.clock);
      stored.set(hub, objects);
      const siblings = afterwards.filter((each) => each.kind !== hubKind.kind && hubNameOf(each) === name);
      const inHub = await changeInHub(after, before, siblings, objects);
      diffs.push({ ...shown, ...(inHub && { hub: masked(inHub, hub) }) });
    }
    return diffs;
  } finally {
    for (const hub of hubs.values()) hub?.close();
    cluster.close();
  }
}

/** Undefined: there is no such Hub yet, or nothing has been said to it. */
async function openPresent(
  cluster: Cluster,
  { clock }: Environment,
  present: readonly CustomResource[],
  name: string,
): Promise<OpenHub | undefined> {
  const found = present.find(({ kind, metadata }) => kind === hubKind.kind && metadata.name === name);
  const hub = found as unknown as Hub | undefined;
  if (!hub || (!hub.spec.external && hub.status?.url === undefined)) return undefined;
  return openHub(cluster, name, clock);
}

/** The resources as they would be in the cluster. */
function mergedWith(
  present: readonly CustomResource[],
  applied: readonly CustomResource[],
): readonly CustomResource[] {
  const key = ({ kind, metadata }: CustomResource) => `${kind}/${metadata.name}`;
  return [...new Map([...present, ...applied].map((each) => [key(each), each])).values()];
}

/** The name of an older resource with the object in the hub; of new ones the first is the older. */
function ownerOfObject(resource: CustomResource, siblings: readonly CustomResource[]): string | undefined {
  const definition = kindsByName.get(resource.kind)!;
  const id = definition.identity?.(resource);
  if (id === undefined || definition.keptObject?.(resource) !== undefined) return undefined;
  const same = siblings.filter((each) => each.kind === resource.kind && definition.identity?.(each) === id);
  const [oldest] = same.toSorted((a, b) => byAge(a.metadata, b.metadata));
  return oldest && oldest.metadata.name !== resource.metadata.name ? oldest.metadata.name : undefined;
}

/** Undefined: the kind has no object in the hub that its API shows. */
async function changeInHub(
  resource: CustomResource,
  before: CustomResource | undefined,
  siblings: readonly CustomResource[],
  stored: StoredObjects,
): Promise<HubChange | undefined> {
  if (isHeld(resource)) return { action: 'none', fields: [], notes: [] };
  const owner = ownerOfObject(resource, siblings);
  if (owner !== undefined) {
    const definition = kindsByName.get(resource.kind)!;
    return { action: 'refused', fields: [], notes: [duplicateMessage(definition, resource, owner)] };
  }
  const entityType = entityTypeOf(resource.kind);
  if (entityType) return configEntityChange(entityType, resource, stored);
  const entryType = entryTypeOf(resource.kind);
  if (entryType) return registryChange(entryType, resource, siblings, stored);
  if (resource.kind === integration.kind) return integrationChange(resource, before, siblings, stored);
  return undefined;
}

const MASK = '***';

/** Values that look like secrets, or are secrets of the hub, do not leave the program. */
function masked({ fields, notes, ...change }: HubChange, { client }: OpenHub): HubChange {
  const { redact } = client.rest;
  const mask = (field: string, value: unknown): unknown => maskedValue(redact, field, value);
  return {
    ...change,
    fields: fields.map(({ field, actual, desired }) => ({
      field,
      actual: mask(field, actual),
      desired: mask(field, desired),
    })),
    notes: notes.map(redact),
  };
}

function maskedFields({ fields, ...change }: Omit<ClusterChange, 'before' | 'after'>) {
  const mask = (field: string, value: unknown) => maskedValue((text) => text, field, value);
  return {
    ...change,
    fields: fields.map(({ field, before, after }) => ({
      field,
      before: mask(field, before),
      after: mask(field, after),
    })),
  };
}

/** The value without the parts that look like secrets. */
function maskedValue(redact: (text: string) => string, field: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  const key = field.split('.').at(-1) ?? field;
  if (likelySecrets(value, [key]).length === 0) return redactValue(value, redact);
  if (Array.isArray(value)) return value.map((item) => maskedValue(redact, key, item));
  if (typeof value !== 'object' || value === null) return MASK;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, maskedValue(redact, name, part)]),
  );
}

/** Characters of a value in a line. */
const LONGEST_VALUE = 80;

function format(diffs: readonly ResourceDiff[], all: number): string {
  const lines = diffs.flatMap(({ kind, name, file, cluster, hub }) => [
    `${kind} ${name} (${file})`,
    ...(cluster && cluster.action !== 'none' ? [`  cluster: ${clusterText(cluster)}`] : []),
    ...(cluster?.fields.map(
      ({ field, before, after }) => `    ${field}: ${short(before)} → ${short(after)}`,
    ) ?? []),
    ...(hub && isChange(hub) ? hubLines(hub) : []),
  ]);
  return [
    ...lines,
    `${all} resource${all === 1 ? '' : 's'} compared, ${diffs.length} would change something`,
  ].join('\n');
}

const clusterText = ({ action, refusal }: NonNullable<ResourceDiff['cluster']>): string =>
  refusal === undefined ? `${action}` : `${action}: ${oneLine(refusal)}`;

function hubLines({ action, fields, notes }: HubChange): readonly string[] {
  return [
    `  hub: ${action}`,
    ...(fields.length > 0 ? fields.map((field) => `    ${oneField(field)}`) : []),
    ...notes.map((note) => `    ${oneLine(note)}`),
  ];
}

const oneField = (field: FieldDiff): string => oneLine(formatDiff([field], (text) => text));

const short = (value: unknown): string =>
  value === undefined ? 'nothing' : truncate(oneLine(JSON.stringify(value)), LONGEST_VALUE);

import type { Command } from 'commander';
import { withTexts } from '../with-texts';
import { OperationalError } from '../../operator/base/errors';
import { truncate } from '../../operator/base/truncate';
import { HubFailed, HubRejected } from '../../operator/client/connection/errors';
import { redactValue } from '../../operator/client/connection/redact';
import { blueprint, type Hub, hub as hubKind, integration, kindsByName } from '../../operator/kinds';
import { duplicateMessage } from '../../operator/kinds/duplicate-id';
import type { CustomResource } from '../../operator/kinds/resource';
import { byAge } from '../../operator/runtime/age';
import type { Child } from '../../operator/sync/objects/child';
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
import { blueprintChange } from './blueprint-change';
import { type ClusterChange, clusterChange } from './cluster-change';
import { configEntityChange, entityTypeOf } from './config-entity-change';
import { type HubChange, isChange } from './hub-change';
import { type Given, ofNamedHub, readResources } from './given';
import { integrationChange } from './integration-change';
import { entryTypeOf } from '../../operator/sync/registry/entry-types';
import { registryChange } from './registry-change';
import { borrowedTypeOf } from '../settings/borrowed';
import { settingsChange, withOwnEntity } from './settings-change';
import { StoredObjects } from './stored-objects';

interface DiffOptions extends HubOptions, OutputOptions {
  readonly filename: string[];
  readonly recursive?: true;
}

/** The changes that applying one resource would make. Texts are redacted. */
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
        'Compares the resources in files with those in the cluster, by a dry run of an apply, and with the objects in the ' +
          'hub, by the decisions of the operator. With --url it compares with that hub alone, before there is a Hub for it. ' +
          'With --hub only the resources of this Hub are compared. ' +
          'Nothing is changed; secrets are masked. Exit code 0: no difference. 1: differences. 2: an error, such as a ' +
          'resource that the API server refuses, or a hub that cannot be read.',
      )
      .requiredOption('-f, --filename <file...>', 'files or directories, or - for the standard input')
      .option('-R, --recursive', 'also the folders in a directory'),
  ).action(
    context.action(async (options: DiffOptions) => {
      const { environment } = context;
      const found = await withTexts(environment.clock, (texts) =>
        readResources(options, texts, () => environment.readStandardInput()),
      );
      const given = ofNamedHub(found, options);
      const diffs =
        options.url === undefined
          ? await compareWithCluster(environment, options, given)
          : await compareWithHub(environment, options, given);
      const shown = diffs.filter(isDifferent);
      await printResult(environment.terminal, options, shown, () => format(shown, diffs.length));
      if (diffs.some(({ cluster, hub }) => cluster?.action === 'refused' || hub?.action === 'unknown'))
        return exitCodes.failure;
      return shown.length > 0 ? exitCodes.negative : exitCodes.success;
    }),
  );
}

const isDifferent = ({ cluster, hub }: ResourceDiff): boolean =>
  (cluster !== undefined && cluster.action !== 'none') || (hub !== undefined && isChange(hub));

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
      environment.terminal.progress(oneLine(`Comparing ${resource.kind} ${resource.metadata.name}`));
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
  const hubs = new PresentHubs(environment);
  try {
    const placed = given.map((each) => ({ ...each, namespace: namespaceOf(each, cluster) }));
    const diffs: ResourceDiff[] = [];
    for (const namespace of new Set(placed.map((each) => each.namespace)))
      diffs.push(
        ...(await compareInNamespace(
          cluster.inNamespace(namespace),
          environment,
          hubs,
          placed.filter((each) => each.namespace === namespace),
        )),
      );
    return diffs;
  } finally {
    hubs.close();
    cluster.close();
  }
}

/** The namespace by kubectl's rules. @throws CommandError the option -n differs from the file */
function namespaceOf({ file, resource: { kind, metadata } }: Given, cluster: Cluster): string {
  const { namespace } = cluster.options;
  if (metadata.namespace && namespace !== undefined && metadata.namespace !== namespace)
    throw new CommandError(
      `${file}: ${kind} ${metadata.name} has the namespace ${metadata.namespace}, and -n is ${namespace}: leave out -n, or name the same in both`,
    );
  return metadata.namespace || cluster.namespace;
}

async function compareInNamespace(
  cluster: Cluster,
  environment: Environment,
  hubs: PresentHubs,
  given: readonly Given[],
): Promise<readonly ResourceDiff[]> {
  const present = [...(await cluster.listAll()).values()].flat();
  const compared: { readonly given: Given; readonly change: ClusterChange }[] = [];
  for (const each of given) {
    environment.terminal.progress(oneLine(`Comparing ${each.resource.kind} ${each.resource.metadata.name}`));
    compared.push({ given: each, change: await clusterChange(cluster, each.resource) });
  }
  const afterwards = mergedWith(
    present,
    compared.flatMap(({ change }) => change.after ?? []),
  );
  const diffs: ResourceDiff[] = [];
  for (const { given: each, change } of compared) {
    const { before, after, ...inCluster } = change;
    const { kind, metadata } = each.resource;
    const shown = { kind, name: metadata.name, file: each.file, cluster: maskedFields(inCluster) };
    const name = hubNameOf(each.resource);
    const siblings = afterwards.filter((one) => one.kind !== hubKind.kind && hubNameOf(one) === name);
    const inHub =
      after &&
      (await hubs.compare(cluster, present, name, (stored) => changeInHub(after, before, siblings, stored)));
    diffs.push({ ...shown, ...(inHub && { hub: inHub }) });
  }
  return diffs;
}

/** Whether an error of the hub is about one object or its file only, so that the others can still be read. */
const isAboutObject = (error: OperationalError): boolean =>
  error instanceof HubFailed || error instanceof HubRejected;

/** The hubs of existing Hubs. A hub that cannot be read is tried only once. */
class PresentHubs {
  private readonly hubs = new Map<string, OpenHub | OperationalError | undefined>();
  private readonly stored = new Map<OpenHub, StoredObjects>();
  private readonly opened: OpenHub[] = [];

  constructor(private readonly environment: Environment) {}

  /**
   * Compares a resource with its hub. @returns undefined if the Hub does not exist yet, was not contacted, or
   * its API does not show the object
   */
  async compare(
    cluster: Cluster,
    present: readonly CustomResource[],
    name: string,
    change: (stored: StoredObjects) => Promise<HubChange | undefined>,
  ): Promise<HubChange | undefined> {
    const key = `${cluster.namespace}/${name}`;
    try {
      if (!this.hubs.has(key)) this.hubs.set(key, await this.open(cluster, present, name));
      const hub = this.hubs.get(key);
      if (hub === undefined) return undefined;
      if (hub instanceof OperationalError) throw hub;
      const stored = this.stored.get(hub) ?? new StoredObjects(hub.client, this.environment.clock);
      this.stored.set(hub, stored);
      const found = await change(stored);
      return found && masked(found, hub);
    } catch (error) {
      if (!(error instanceof OperationalError)) throw error;
      if (!this.hubs.has(key) || !isAboutObject(error)) this.hubs.set(key, error);
      const why = `The hub of the Hub ${name} cannot be read: ${oneLine(error.message)}`;
      return { action: 'unknown', fields: [], notes: [why] };
    }
  }

  close(): void {
    for (const hub of this.opened) hub.close();
  }

  private async open(
    cluster: Cluster,
    present: readonly CustomResource[],
    name: string,
  ): Promise<OpenHub | undefined> {
    const found = present.find(({ kind, metadata }) => kind === hubKind.kind && metadata.name === name);
    const hub = found as unknown as Hub | undefined;
    if (!hub || (!hub.spec.external && hub.status?.url === undefined)) return undefined;
    const opened = await openHub(cluster, name, this.environment.clock);
    this.opened.push(opened);
    return opened;
  }
}

/** The resources that the cluster would have after the apply. */
function mergedWith(
  present: readonly CustomResource[],
  applied: readonly CustomResource[],
): readonly CustomResource[] {
  const key = ({ kind, metadata }: CustomResource) => `${kind}/${metadata.name}`;
  return [...new Map([...present, ...applied].map((each) => [key(each), each])).values()];
}

/**
 * The name of an older resource that owns the object in the hub; undefined if there is none. Of new
 * resources, the first counts as the older.
 */
function ownerOfObject(resource: CustomResource, siblings: readonly CustomResource[]): string | undefined {
  const definition = kindsByName.get(resource.kind)!;
  const id = definition.identity?.(resource);
  if (id === undefined || definition.keptObject?.(resource) !== undefined) return undefined;
  const same = siblings.filter((each) => each.kind === resource.kind && definition.identity?.(each) === id);
  const [oldest] = same.toSorted((a, b) => byAge(a.metadata, b.metadata));
  return oldest && oldest.metadata.name !== resource.metadata.name ? oldest.metadata.name : undefined;
}

/** @returns undefined for a kind without an object that the hub's API shows */
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
  if (entityType) {
    const change = await configEntityChange(entityType, resource, stored);
    return withOwnEntity(change, resource, entityType.id(resource as Child), siblings, stored);
  }
  const entryType = entryTypeOf(resource);
  if (entryType)
    return registryChange(entryType, resource, siblings, stored, (change, id) =>
      withOwnEntity(change, resource, id, siblings, stored),
    );
  const borrowedType = borrowedTypeOf(resource.kind);
  if (borrowedType) return settingsChange(borrowedType, resource, siblings, stored);
  if (resource.kind === blueprint.kind) return blueprintChange(resource, stored);
  if (resource.kind === integration.kind) return integrationChange(resource, before, siblings, stored);
  return undefined;
}

const MASK = '***';

/** Masks values that look like secrets, or are secrets of the hub, before they are shown. */
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

/** The value with the parts masked that look like secrets. */
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

/** Most characters of a value in a line. */
const LONGEST_VALUE = 80;

function format(diffs: readonly ResourceDiff[], all: number): string {
  const changing = diffs.filter(
    ({ cluster, hub }) => (cluster && cluster.action !== 'none') || hub?.action !== 'unknown',
  );
  const lines = changing.flatMap(({ kind, name, file, cluster, hub }) => [
    oneLine(`${kind} ${name} (${file})`),
    ...(cluster && cluster.action !== 'none' ? [`  cluster: ${clusterText(cluster)}`] : []),
    ...(cluster?.fields.map(
      ({ field, before, after }) => `    ${field}: ${short(before)} → ${short(after)}`,
    ) ?? []),
    ...(hub && hub.action !== 'unknown' && isChange(hub) ? hubLines(hub) : []),
    // The resource adopts an object that already equals the file.
    ...(hub && !isChange(hub) && cluster?.action === 'create' ? ['  hub: nothing changes'] : []),
  ]);
  const unread = new Set(diffs.flatMap(({ hub }) => (hub?.action === 'unknown' ? hub.notes : [])));
  return [
    ...lines,
    ...unread,
    `${all} resource${all === 1 ? '' : 's'} compared, ${changing.length} would change something`,
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

import { createHash } from 'node:crypto';
import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { isMarker } from '../../kinds/ids';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { DELIVERIES, deliveryMetadata } from './delivery';
import { volumeOf } from './hub-volume';
import { keepsVolume } from './retain';

/**
 * Delivered definitions belong to the volume of a hub, like the definitions in its own files (rules.md,
 * "Another volume").
 */

type VolumeServices = Pick<Services, 'applier' | 'cache'>;

interface MountedConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Moves definitions of other volumes out of the ConfigMaps that the pod mounts into ConfigMaps that are not
 * mounted, and moves definitions of this volume back. Each move creates the copy first, so a crash leaves
 * definitions in both places, never in neither.
 *
 * @param volume uid of the claim, undefined if there is none: the next claim is then another volume than any
 * before
 */
export async function separateDelivered(
  services: VolumeServices,
  hub: Hub,
  volume: string | undefined,
): Promise<void> {
  const { namespace, name } = hub.metadata;
  for (const index of DELIVERIES) {
    const present = deliveryMetadata(services, { namespace, name }, index);
    const isOther = present && volumeOf(present) !== undefined && volumeOf(present) !== volume;
    if (isOther && services.applier.isOurs(present, hub)) await keepAside(services, hub, index, volume);
  }
  for (const kept of keptDelivered(services, hub))
    if (volumeOf(kept.object) === volume) await bringBack(services, hub, kept);
}

/**
 * A sentence that names the ConfigMaps with definitions of other volumes.
 *
 * @returns undefined when there are none
 */
export function keptNotice(services: VolumeServices, hub: Hub): string | undefined {
  const names = keptDelivered(services, hub).map(({ object }) => object.metadata.name);
  if (names.length === 0) return undefined;
  return (
    `Automations, scenes or scripts that were delivered to another volume are kept in ${names.sort().join(', ')} (ConfigMaps) and not run: ` +
    'apply resources for those that are needed, then delete these ConfigMaps.'
  );
}

/** The end of the name of a ConfigMap that is kept aside: a hash of its content. */
const HASH = /^[0-9a-f]{8}$/;

interface Kept {
  readonly object: ClusterObject;
  readonly index: number;
}

function keptDelivered({ applier, cache }: VolumeServices, hub: Hub): readonly Kept[] {
  const { namespace, name } = hub.metadata;
  const indexOf = (kept: string) =>
    DELIVERIES.find((index) => {
      const prefix = objectNames(name).keptDelivery(index, '');
      return kept.startsWith(prefix) && HASH.test(kept.slice(prefix.length));
    });
  return [...cache.list<ClusterObject>(builtin.ConfigMap.kind, namespace)].flatMap((object) => {
    const index = applier.isOurs(object, hub) ? indexOf(object.metadata.name) : undefined;
    return index === undefined ? [] : [{ object, index }];
  });
}

async function keepAside(
  { applier }: VolumeServices,
  hub: Hub,
  index: number,
  volume: string | undefined,
): Promise<void> {
  const { namespace, name } = hub.metadata;
  const names = objectNames(name);
  const found = await applier.find<MountedConfigMap>(builtin.ConfigMap, namespace, names.delivery(index));
  const former = found && volumeOf(found);
  if (!found || former === undefined || former === volume) return;
  const content = createHash('sha256')
    .update(JSON.stringify([former, found.data]))
    .digest('hex');
  if (hasDefinitions(found))
    // The copy gets no owner reference: it may have definitions that users made, and their volume may outlive
    // the Hub.
    await applier.apply(
      builtin.ConfigMap,
      copyOf(found, { namespace, name: names.keptDelivery(index, content.slice(0, 8)) }),
      {
        owner: hub,
        ownerReference: 'never',
      },
    );
  await applier.remove(builtin.ConfigMap, hub, names.delivery(index));
}

async function bringBack(services: VolumeServices, hub: Hub, { object, index }: Kept): Promise<void> {
  const { applier } = services;
  const { namespace, name } = hub.metadata;
  const target = objectNames(name).delivery(index);
  const found = await applier.find<MountedConfigMap>(builtin.ConfigMap, namespace, object.metadata.name);
  // If the hub has got other delivered definitions since, these stay aside.
  if (!found || (await applier.find(builtin.ConfigMap, namespace, target))) return;
  await applier.apply(builtin.ConfigMap, copyOf(found, { namespace, name: target }), {
    owner: hub,
    ownerReference: keepsVolume(services, hub) ? 'never' : 'at creation',
  });
  await applier.remove(builtin.ConfigMap, hub, object.metadata.name);
}

function copyOf(
  { metadata: { annotations }, data }: MountedConfigMap,
  at: { readonly namespace: string; readonly name: string },
) {
  const { volume, contentHash } = operatorAnnotations;
  const kept = [volume, contentHash].map((key) => [key, annotations?.[key] ?? ''] as const);
  const metadata = { ...at, annotations: Object.fromEntries(kept) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

/**
 * Reports whether a ConfigMap has definitions. Without any it has only lines with brackets and with marker
 * scripts.
 */
const hasDefinitions = ({ data = {} }: MountedConfigMap): boolean =>
  Object.values(data).some((text) => text.split('\n').some(isDefinition));

function isDefinition(line: string): boolean {
  const [, script = ''] = /^"([^"]*)": /.exec(line) ?? [];
  return line.length > 1 && !isMarker(script);
}

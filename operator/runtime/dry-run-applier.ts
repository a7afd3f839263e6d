import { isDeepStrictEqual } from 'node:util';
import { errorOf } from '../base/errors';
import { isObject } from '../base/is-object';
import { truncate } from '../base/truncate';
import type { ApiClient } from './api-client';
import { Applier, type ApplyOptions, type Manifest } from './apply';
import type { Cache } from './cache';
import type { ClusterObject, ResourceType } from './objects';
import type { CustomResource } from '../kinds/resource';

/** Most differences that are listed for one object. */
const MOST_FIELDS = 5;
const LONGEST_VALUE = 60;

/** An applier for dry runs. Each write is sent with `dryRun=All`, and its differences are recorded. */
export class DryRunApplier extends Applier {
  /** One sentence per object that would be written. */
  readonly differences: string[] = [];

  constructor(cluster: ApiClient, cache: Pick<Cache, 'get' | 'watches'>, group: string) {
    // The response to a dry run must not enter the cache.
    const readOnly: Pick<Cache, 'get' | 'watches' | 'recordWrite'> = {
      get: (...object) => cache.get(...object),
      watches: (...kind) => cache.watches(...kind),
      recordWrite: (object) => object,
    };
    super(cluster, readOnly, group);
  }

  /** Reads the object from the API server, because the cache has no contents of Secrets and ConfigMaps. */
  protected override read<T extends ClusterObject>(
    type: ResourceType,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return this.find<T>(type, namespace, name);
  }

  override async remove(type: ResourceType, owner: CustomResource, name: string): Promise<void> {
    const present = await this.find(type, owner.metadata.namespace, name);
    if (present && !present.metadata.deletionTimestamp && this.isOurs(present, owner)) {
      this.differences.push(`${type.kind} ${name} would be deleted.`);
    }
  }

  /** Rethrows: a dry run must not replace an object. */
  protected override replaceImmutable<T extends ClusterObject>(
    _type: ResourceType,
    _desired: Manifest,
    _options: ApplyOptions,
    error: unknown,
  ): Promise<T> {
    return Promise.reject(errorOf(error));
  }

  protected override async send<T extends ClusterObject>(
    path: string,
    body: ClusterObject,
    present: ClusterObject | undefined,
  ): Promise<T> {
    const result = await super.send<T>(path, body, present, { dryRun: 'All' });
    const what = `${body.kind} ${body.metadata.name}`;
    if (!present) this.differences.push(`${what} would be created.`);
    else {
      const fields = differences(contentOf(present), contentOf(result), '', body.kind === 'Secret');
      const shown =
        fields.length > MOST_FIELDS
          ? [...fields.slice(0, MOST_FIELDS), `${fields.length - MOST_FIELDS} more`]
          : fields;
      if (fields.length > 0) this.differences.push(`${what} would be changed: ${shown.join(', ')}.`);
    }
    return result;
  }
}

/** The object without the metadata that the API server sets, and without status. */
function contentOf(object: ClusterObject): object {
  const { labels, annotations, ownerReferences } = object.metadata;
  const content = Object.entries(object).filter(
    ([field]) => !['apiVersion', 'kind', 'metadata', 'status'].includes(field),
  );
  return { metadata: { labels, annotations, ownerReferences }, ...Object.fromEntries(content) };
}

function differences(before: unknown, after: unknown, place: string, secret: boolean): string[] {
  if (isDeepStrictEqual(before, after) || place.endsWith('/last-applied-hash')) return [];
  if (isObject(before) && isObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      differences(before[key], after[key], place ? `${place}.${key}` : key, secret),
    );
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => differences(item, after[index], `${place}[${index}]`, secret));
  }
  return [secret ? place : `${place} ${shown(before)} → ${shown(after)}`];
}

function shown(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'nothing', LONGEST_VALUE);
}

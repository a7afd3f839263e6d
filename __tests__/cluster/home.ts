import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../operator/base/clock';
import { HubClient } from '../../operator/client/hub-client';
import type { Condition } from '../../operator/kinds';
import { GROUP_VERSION } from '../../operator/kinds/group';
import { HUB_VERSION } from '../../sandbox/hub-software';
import { sandboxDirectory, until } from '.';
import {
  type AppliedObject,
  applyObject,
  deleteObject,
  getObject,
  listObjects,
  patchObject,
  Refused,
} from './api';
import { writtenEvents } from './events';
import { kstatusViolations } from './kstatus';
import { silentLog } from './silent-log';
import { isAlive } from '../is-alive';

export { HUB_VERSION };

export interface Manifest extends AppliedObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** An object in the API server, with the fields that tests read. */
export interface Stored {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { kind: string; name: string; uid: string; controller?: boolean }[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly StoredCondition[] };
  readonly data?: Readonly<Record<string, string>>;
}

export type StoredCondition = Required<Condition>;

/** Returns a condition if it applies to the current generation. */
export function conditionOf({ status, metadata }: Stored, type: string): StoredCondition | undefined {
  const condition = status?.conditions?.find((each) => each.type === type);
  return condition?.observedGeneration === metadata.generation ? condition : undefined;
}

/**
 * Makes a resource. Fields that are null are left out, so that a spec may lack fields that the functions
 * below set.
 */
const resource = (kind: string, name: string, spec: object): Manifest => ({
  apiVersion: GROUP_VERSION,
  kind,
  metadata: { name },
  spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null)),
});

export const hub = (name: string, spec: object = {}): Manifest =>
  resource('Hub', name, { version: HUB_VERSION, ...spec });

export const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
});

/** The configuration with which the hubs of onboarded volumes were checked. */
export const DEFAULT_CONFIGURATION = 'logger:\n  default: warning\n';

export const configuration = (hubName: string, text = DEFAULT_CONFIGURATION, spec: object = {}) =>
  resource('HubConfiguration', hubName, { hubRef: { name: hubName }, configuration: text, ...spec });

export const hubSecrets = (hubName: string, name: string, spec: object): Manifest =>
  resource('HubSecrets', name, { hubRef: { name: hubName }, ...spec });

export const automation = (hubName: string, name: string, spec: object = {}): Manifest =>
  resource('HubAutomation', name, {
    hubRef: { name: hubName },
    alias: `The automation ${name}`,
    triggers: [{ trigger: 'time', at: '07:30:00' }],
    actions: [{ action: 'persistent_notification.create', data: { message: `by ${name}` } }],
    ...spec,
  });

export const scene = (hubName: string, name: string, spec: object = {}): Manifest =>
  resource('HubScene', name, {
    hubRef: { name: hubName },
    name: `The scene ${name}`,
    entities: [{ entity_id: 'light.sofa', state: 'on', attributes: { brightness: 20 } }],
    ...spec,
  });

export const script = (hubName: string, name: string, spec: object = {}): Manifest =>
  resource('HubScript', name, {
    hubRef: { name: hubName },
    alias: `The script ${name}`,
    sequence: [{ delay: { seconds: 1 } }],
    ...spec,
  });

export const integration = (hubName: string, name: string, domain: string, spec: object = {}): Manifest =>
  resource('HubIntegration', name, { hubRef: { name: hubName }, domain, ...spec });

/** A blueprint of an automation, with the path `tests/<name>.yaml`; its text is a part of the spec. */
export const blueprint = (hubName: string, name: string, spec: object): Manifest =>
  resource('HubBlueprint', name, {
    hubRef: { name: hubName },
    domain: 'automation',
    path: `tests/${name}.yaml`,
    ...spec,
  });

const registryEntry = (kind: string) => (hubName: string, name: string, spec: object) =>
  resource(kind, name, { hubRef: { name: hubName }, ...spec });

/** The specs of registry entries need a `name`. */
export const floor = registryEntry('HubFloor');
export const label = registryEntry('HubLabel');
export const area = registryEntry('HubArea');
/** The specs of zones need a latitude and a longitude too. */
export const zone = registryEntry('HubZone');
/** The spec of a helper needs a `type` as well. */
export const helper = registryEntry('HubHelper');
export const person = registryEntry('HubPerson');
/** The specs of settings need a `select`. */
export const entity = registryEntry('HubEntity');
export const device = registryEntry('HubDevice');

/** A namespace, and what its owner does with the resources in it. */
export class Home {
  constructor(readonly namespace: string) {}

  /** Applies the objects one after another, like `kubectl apply --server-side`. */
  async apply(...objects: readonly AppliedObject[]): Promise<void> {
    for (const object of objects) await applyObject(this.namespace, object);
  }

  async get(kind: string, name: string): Promise<Stored> {
    return (await getObject(kind, this.namespace, name)) as Stored;
  }

  /** Returns all objects of these kinds (`hubs,secrets`) in no particular order. */
  async list(kinds: string): Promise<readonly Stored[]> {
    return (await listObjects(kinds, this.namespace)) as Stored[];
  }

  async exists(kind: string, name: string): Promise<boolean> {
    return this.get(kind, name).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refused && error.status === 404) return false;
        throw error;
      },
    );
  }

  async condition(kind: string, name: string, type = 'Ready'): Promise<StoredCondition | undefined> {
    return conditionOf(await this.get(kind, name), type);
  }

  /**
   * Waits until the condition `Ready` of the current generation matches `expected`, and resolves with it.
   * Rejects at once when the status breaks a rule of kstatus.
   */
  async ready(
    kind: string,
    name: string,
    expected: Partial<StoredCondition> = {},
    timeoutMs?: number,
  ): Promise<StoredCondition> {
    const { status = 'True', ...others } = expected;
    const fields = Object.entries({ status, ...others });
    let seen: StoredCondition | undefined;
    let broken: readonly string[] = [];
    await until(
      `${kind} ${name} is Ready=${status} ${others.reason ?? ''}`,
      async () => {
        const object = await this.get(kind, name);
        broken = kstatusViolations(object);
        if (broken.length > 0) return true;
        seen = conditionOf(object, 'Ready');
        if (seen && fields.every(([key, value]) => seen![key as keyof StoredCondition] === value))
          return true;
        throw new Error(seen ? `${seen.reason}: ${seen.message}` : 'not looked at yet');
      },
      timeoutMs,
    );
    if (broken.length > 0) throw new Error(`the status of ${kind} ${name} is wrong: ${broken.join('; ')}`);
    return seen!;
  }

  /**
   * Waits until one of the object's events matches `<type> <reason>: <message>`, and resolves with it. To
   * assert that an event is absent, use `TestOperator.events`.
   */
  event(kind: string, name: string, pattern: RegExp): Promise<string> {
    return until(`an event of ${kind} ${name} ${pattern.source}`, async () => {
      const written = await writtenEvents(this.namespace, kind, name);
      const found = written.find((event) => pattern.test(event));
      if (found === undefined) throw new Error(`there are: ${written.join(' | ')}`);
      return found;
    });
  }

  /**
   * Returns the events that are written by now, for polling. A test uses {@link event} or
   * `TestOperator.events` instead.
   */
  events(kind: string, name: string): Promise<string[]> {
    return writtenEvents(this.namespace, kind, name);
  }

  /** Sets an annotation `key=value`, or removes it with `key-`. */
  async annotate(kind: string, name: string, annotation: string): Promise<void> {
    const [, key = '', value] = /^([^=]+?)(?:-|=(.*))$/s.exec(annotation) ?? [];
    await patchObject(kind, this.namespace, name, { metadata: { annotations: { [key]: value ?? null } } });
  }

  /** Applies a merge patch to the spec. */
  change(kind: string, name: string, spec: object): Promise<void> {
    return patchObject(kind, this.namespace, name, { spec });
  }

  /** Deletes an object like `kubectl delete`: waits until it is gone, unless `wait` is false. */
  async delete(kind: string, name: string, { wait = true }: { wait?: boolean } = {}): Promise<void> {
    const { metadata } = await this.get(kind, name);
    await deleteObject(kind, this.namespace, name);
    if (!wait) return;
    await until(`${kind} ${name} is gone`, async () => {
      const remaining = (await this.list(kind)).find((object) => object.metadata.name === name);
      return remaining?.metadata.uid !== metadata.uid;
    });
  }

  /** Waits until no object of a kind exists. */
  async gone(kind: string): Promise<void> {
    await until(`no ${kind} is left`, async () => (await this.list(kind)).length === 0);
  }

  /** Deletes all objects of a kind; finalizers may still hold them. */
  deleteAll(kind: string): Promise<void> {
    return deleteObject(kind, this.namespace);
  }

  async secret(name: string, key: string): Promise<string> {
    return Buffer.from((await this.get('secret', name)).data![key]!, 'base64').toString();
  }

  /** Returns a client of the hub's own API, with the operator's token. */
  async client(hubName: string): Promise<HubClient> {
    const { status } = await this.get('hub', hubName);
    const token = await this.secret(`${hubName}-api-token`, 'token');
    const client = new HubClient({ url: String(status!['url']), token, clock: systemClock, log: silentLog });
    clients.push(client);
    return client;
  }

  /** Returns the directory on this machine that is the hub's `/config`. */
  async volumeOf(hubName: string): Promise<string> {
    const { spec } = await this.get('persistentvolumeclaim', `${hubName}-config`);
    const volume = await this.get('persistentvolume', String(spec['volumeName']));
    return (volume.spec as { hostPath: { path: string } }).hostPath.path;
  }

  /**
   * Returns the process id of the running container of the hub. Between two runs of the container it waits
   * for the next one.
   */
  hubProcess(hubName: string): Promise<number> {
    return until(`the hub ${hubName} has a process`, async () => {
      const { name, uid } = (await this.get('pod', `${hubName}-0`)).metadata;
      const directory = join(sandboxDirectory(), 'node', 'pods', `${this.namespace}_${name}_${uid}`);
      const pid = Number(await readFile(join(directory, 'hub.pid'), 'utf8'));
      return pid > 0 && isAlive(pid) && pid;
    });
  }

  /** Sends a signal to the hub's process. */
  async signal(hubName: string, signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.hubProcess(hubName), signal);
  }

  /**
   * Does some work while the hub's process is frozen. A failed probe of its pod may replace the process in
   * the meantime.
   */
  async whileFrozen<T>(hubName: string, work: () => Promise<T>): Promise<T> {
    const pid = await this.hubProcess(hubName);
    process.kill(pid, 'SIGSTOP');
    try {
      return await work();
    } finally {
      thaw(pid);
    }
  }
}

/** Continues a frozen process, if it still exists. */
export function thaw(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGCONT');
}

const clients: HubClient[] = [];

afterAll(() => {
  for (const client of clients.splice(0)) client.close();
});

import type { RegistryFields, RegistryRecord } from '../../../../operator/client/connection/api-types';
import { HubRejected } from '../../../../operator/client/connection/errors';
import { floor, person } from '../../../../operator/kinds';
import { type EntryResource, entryTypes } from '../../../../operator/sync/registry/entry-types';
import { EntryContexts } from '../../../../operator/sync/registry/entry-contexts';
import { RegistrySync } from '../../../../operator/sync/registry/sync';
import { silentLog } from '../../../cluster/silent-log';
import fc from '../../../fast-check';
import { ManualClock } from '../../manual-clock';
import { hubClient } from '../../stand-in-hub/hub-client';
import { aHub, services } from '../fixtures';
import { anEntry } from './entries';

const IDS = ['a', 'b', 'c'] as const;
type Id = (typeof IDS)[number];
type Value = string | null | undefined;

/** The kinds whose entries have a unique value. */
const uniqueValues = {
  HubFloor: {
    definition: floor,
    type: 'floor',
    idField: 'floorID',
    field: 'name',
    spec: (_: Id, name: string) => ({ name }),
    others: { level: 1 },
  },
  HubPerson: {
    definition: person,
    type: 'person',
    idField: 'id',
    field: 'user_id',
    spec: (name: Id, username: string) => ({ name, username }),
    others: { deviceTrackers: ['device_tracker.phone'] },
  },
} as const;

/** Three resources, and a hub that refuses a value that another entry has. */
class Bench {
  readonly clock = new ManualClock();
  private readonly kind;
  private readonly entries = new Map<string, RegistryRecord>();
  private resources: EntryResource[];
  private module!: RegistrySync;
  private readonly client;

  constructor(kind: keyof typeof uniqueValues) {
    this.kind = uniqueValues[kind];
    const { field, idField, spec, type } = this.kind;
    this.resources = IDS.map((id) =>
      anEntry(kind, id, { spec: spec(id, `of ${id}`), status: { [idField]: id } }),
    );
    for (const id of IDS)
      this.entries.set(id, { name: id, [`${type}_id`]: id, device_trackers: [], [field]: `of ${id}` });
    this.client = hubClient({
      components: { isLoaded: async () => true },
      rest: { redact: (text: string) => text, get: async () => ({ state: 'home', attributes: {} }) },
      entityRegistry: {
        onChange: () => undefined,
        onAppearance: () => undefined,
        withoutEntry: async () => [],
        find: async (component: string, id: string) => ({ entity_id: `${component}.${id}` }),
        get: async () => undefined,
      },
      users: { onChange: () => undefined, find: async (name: string) => name },
      registries: {
        floor: { onChange: () => undefined },
        label: { onChange: () => undefined },
        [type]: {
          onChange: () => undefined,
          entries: async () => new Map(this.entries),
          update: async (id: string, fields: RegistryFields) => this.update(id, fields),
        },
      },
    });
    this.restart();
  }

  private update(id: string, fields: RegistryFields): RegistryRecord {
    const { field } = this.kind;
    const isTaken = IDS.some((each) => each !== id && this.valueOf(each) === fields[field]);
    if (isTaken && fields[field] !== null) throw new HubRejected('invalid_info', 'taken');
    const record = { ...this.entries.get(id)!, ...fields };
    this.entries.set(id, record);
    return record;
  }

  valueOf(id: Id): Value {
    return this.entries.get(id)![this.kind.field] as Value;
  }

  /** Starts an operator that knows only status. */
  restart(): void {
    const { definition, type } = this.kind;
    const given = services({
      clock: this.clock,
      cache: {
        get: () => aHub() as never,
        ofHub: <T>() => [...this.resources] as never as Generator<T>,
      },
      metrics: { countDrift: () => undefined },
    });
    const contexts = new EntryContexts(
      given,
      entryTypes.filter((each) => each.type === type),
    );
    this.module = new RegistrySync(definition, given, contexts);
  }

  edit(id: Id, value: string, others: object = {}): void {
    this.change(id, (resource) => ({
      ...resource,
      metadata: { ...resource.metadata, generation: resource.metadata.generation + 1 },
      spec: { hubRef: resource.spec.hubRef, ...this.kind.spec(id, value), ...others },
    }));
  }

  private change(id: Id, change: (resource: EntryResource) => EntryResource): void {
    this.resources = this.resources.map((each) => (each.metadata.name === id ? change(each) : each));
  }

  /** @param isCut the operator is killed before status is written */
  async reconcile(id: Id, isCut = false): Promise<void> {
    const resource = this.resources.find(({ metadata }) => metadata.name === id)!;
    if (resource.spec.suspend) return;
    const { signal } = new AbortController();
    const context = { signal, log: silentLog, forced: false, dryRun: false };
    const outcome = await this.module.sync(resource, this.client, context);
    if (isCut) return this.restart();
    const { message, reason } = outcome;
    const observedGeneration = resource.metadata.generation;
    const isReady = outcome.type === 'Ready' ? 'True' : 'False';
    const ready = { type: 'Ready', status: isReady, reason, message, observedGeneration };
    this.change(id, (each) => {
      const status = { ...each.status, ...outcome.status, conditions: [ready] };
      const present = Object.entries(status).filter(([, value]) => value !== null);
      return { ...each, status: Object.fromEntries(present) };
    });
  }
}

const anId = fc.constantFrom(...IDS);
const aPolicy = fc.constantFrom('Correct', 'Warn');
const aStep = fc.oneof(
  fc.record({
    type: fc.constant('edit' as const),
    id: anId,
    of: anId,
    driftPolicy: aPolicy,
    suspend: fc.boolean(),
  }),
  fc.record({ type: fc.constant('reconcile' as const), id: anId, isCut: fc.boolean() }),
  fc.record({ type: fc.constant('all' as const) }),
  fc.record({ type: fc.constant('pause' as const), milliseconds: fc.nat(3_000) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never;

async function run(bench: Bench, step: Step): Promise<void> {
  if (step.type === 'pause') return bench.clock.advance(step.milliseconds);
  if (step.type === 'reconcile') return bench.reconcile(step.id, step.isCut);
  if (step.type === 'all') return void (await Promise.all(IDS.map((id) => bench.reconcile(id))));
  const { driftPolicy, id, of, suspend } = step;
  bench.edit(id, `of ${of}`, { driftPolicy, suspend });
}

test.each(['HubFloor', 'HubPerson'] as const)(
  'each %s gets the value of its last spec after exchanges that were interrupted and changed',
  async (kind) => {
    const order = fc.shuffledSubarray([...IDS], { minLength: IDS.length });
    const policies = fc.tuple(aPolicy, aPolicy, aPolicy);
    await fc.assert(
      fc.asyncProperty(
        fc.array(aStep, { minLength: 10, maxLength: 40, size: 'max' }),
        order,
        policies,
        async (steps, last, policy) => {
          const bench = new Bench(kind);
          for (const id of IDS) await bench.reconcile(id);
          for (const step of steps) await run(bench, step);
          // Status does not record what a killed operator has written: it counts as drift of a spec that was
          // accepted before. So the last spec is a new one.
          const { others } = uniqueValues[kind];
          IDS.forEach((id, index) =>
            bench.edit(id, `of ${last[index]!}`, { ...others, driftPolicy: policy[index]! }),
          );
          for (let round = 0; round < 12; round++) {
            for (const id of IDS) await bench.reconcile(id);
            await bench.clock.advance(2_000);
          }
          expect(IDS.map((id) => bench.valueOf(id))).toEqual(last.map((id) => `of ${id}`));
        },
      ),
      { numRuns: 40 },
    );
  },
);

import fc from '../../../fast-check';
import { HubFailed } from '../../../../operator/client/connection/errors';
import { OUTAGE, House } from './delivery/house';

// Random histories of two automations while the delivery is switched, the operator is killed, the hub is
// restarted, and the API server or the kubelet does not answer. At the end each definition is in one place,
// and in use.

const KIND = 'HubAutomation';
const GOOD = { triggers: [{ trigger: 'sun' }], actions: [{ delay: 1 }] };
const EDITS = {
  good: GOOD,
  rejected: { ...GOOD, triggers: [{ trigger: 'bad' }] },
  lazy: { ...GOOD, autoReload: false },
  eager: { ...GOOD, autoReload: true },
  // Two definitions of this size need two ConfigMaps.
  big: { ...GOOD, description: 'x'.repeat(600_000) },
};
const LONGEST_PAUSE = 600_000;

type Edit = keyof typeof EDITS;
type Step = (history: History) => void | Promise<void>;
/** A step whose text is printed after a failure. */
const step = (text: string, run: Step) => Object.assign(run, { toString: () => text });
const either = <T extends string>(...values: readonly T[]) => fc.constantFrom(...values);

const name = either('a', 'b');
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(name, either<Edit>('good', 'good', 'good', 'rejected', 'lazy', 'eager', 'big'))
        .map(([of, edit]) => step(`edit ${of}: ${edit}`, (history) => history.edit(of, edit))),
    },
    { weight: 1, arbitrary: name.map((of) => step(`rename ${of}`, (history) => history.rename(of))) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(name, either('Delete', 'Orphan'))
        .map(([of, policy]) => step(`delete ${of}: ${policy}`, (history) => history.delete(of, policy))),
    },
    { weight: 1, arbitrary: name.map((of) => step(`a person makes ${of}`, (history) => history.make(of))) },
    {
      weight: 4,
      arbitrary: either('switchDelivery', 'kill', 'restartHub', 'slowDown', 'fail').map((what) =>
        step(what, (history) => history[what]()),
      ),
    },
    {
      weight: 6,
      arbitrary: fc
        .tuple(fc.integer({ min: 1, max: 8 }), fc.constantFrom(10, 60, 120, 250, 500, 1_000))
        .map(([count, pause]) =>
          step(`work ${count} × ${pause} ms`, ({ house }) => work(house, count, pause)),
        ),
    },
  ),
  { minLength: 3, maxLength: 25 },
);

async function work(house: House, count: number, pause: number): Promise<void> {
  await house.settle(count, pause).catch((error: Error) => {
    if (!error.message.startsWith('not settled')) throw error;
  });
}

interface Desired {
  readonly id: string;
  readonly alias: string;
  readonly edit: Edit;
}

/** A house and its desired objects. */
class History {
  readonly house = new House();
  readonly desired = new Map<string, Desired>();
  /** Ids that may stay without a resource, by the names of the resources that had them. */
  private readonly former = new Map<string, Set<string>>();
  readonly mayStay = new Set<string>();
  private edits = 0;

  edit(of: string, edit: Edit): void {
    if (this.house.isDeleting(KIND, of)) return;
    const alias = `${of} ${++this.edits}`;
    const id = this.desired.get(of)?.id ?? of;
    this.house.apply(KIND, of, { description: '', ...EDITS[edit], alias, id });
    this.desired.set(of, { alias, id, edit });
  }

  rename(of: string): void {
    const before = this.desired.get(of);
    if (!before) return;
    const id = `${of}${++this.edits}`;
    this.house.apply(KIND, of, { id });
    this.desired.set(of, { ...before, id });
    this.former.set(of, (this.former.get(of) ?? new Set()).add(before.id));
  }

  delete(of: string, deletionPolicy: string): void {
    const before = this.desired.get(of);
    if (!before) return;
    this.house.apply(KIND, of, { deletionPolicy });
    this.house.beginDeletion(`${KIND} ${of}`);
    if (deletionPolicy === 'Orphan')
      for (const id of [before.id, ...(this.former.get(of) ?? [])]) this.mayStay.add(id);
    this.desired.delete(of);
    this.former.delete(of);
  }

  make(of: string): void {
    const id = this.desired.get(of)?.id ?? of;
    const key = `automation ${id}`;
    for (const map of [this.house.definitions.ownFiles, this.house.definitions.loaded])
      map.set(key, { alias: 'Mine', triggers: [], actions: [] });
    if (!this.house.definitions.registry.has(key))
      this.house.definitions.registry.set(key, { entity_id: `automation.${id}`, labels: [], area: '' });
    this.mayStay.add(id);
  }

  switchDelivery(): void {
    this.house.delivery = this.house.delivery === 'Api' ? 'File' : 'Api';
  }

  kill(): void {
    this.house.start();
  }

  restartHub(): void {
    this.house.hub.restart();
  }

  slowDown(isSlow = this.house.configMaps.applyTime === 0): void {
    const { configMaps, definitions, hub } = this.house;
    configMaps.applyTime = isSlow ? 130 : 0;
    definitions.postTime = isSlow ? 170 : 0;
    hub.pod.refreshTime = isSlow ? 300 : 0;
  }

  fail(fails = !this.house.failsStatus): void {
    const { configMaps, definitions, hub } = this.house;
    configMaps.applyError = fails ? new Error(OUTAGE) : undefined;
    definitions.removeError = fails ? new HubFailed('its file is read-only') : undefined;
    this.house.failsStatus = fails;
    hub.pod.refreshes = !fails;
  }

  /** Ends all faults and pauses, and settles. */
  async end(): Promise<Readonly<Record<string, string>>> {
    this.slowDown(false);
    this.fail(false);
    await this.house.clock.advance(LONGEST_PAUSE);
    await this.house.settle(200);
    await this.house.clock.advance(LONGEST_PAUSE);
    const reasons = await this.house.settle(200);
    this.house.hub.restart();
    await this.house.settle(200);
    if (this.house.delivery === 'Api') await this.house.report();
    return reasons;
  }
}

const idsOf = (keys: Iterable<string>) =>
  [...keys].filter((key) => key.startsWith('automation ')).map((key) => key.slice('automation '.length));

test('each definition ends in one place, and in use; nothing remains of a deleted one', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const past = new History();
      for (const run of history) await run(past);
      const reasons = await past.end();
      const { house, desired, mayStay } = past;
      const own = idsOf(house.definitions.ownFiles.keys());
      const mounted = house.delivered.filter((id) => !id.startsWith('hub_'));
      const [here, elsewhere] = house.delivery === 'Api' ? [own, mounted] : [mounted, own];
      const rejected = [...desired].flatMap(([of, { edit }]) => (edit === 'rejected' ? [of] : []));
      const isRejected = (id: string) => rejected.includes(id[0]!);
      for (const [of, { id, alias }] of [...desired].filter(([each]) => !rejected.includes(each))) {
        expect([of, reasons[of]]).toEqual([of, 'Ready']);
        expect(here).toContain(id);
        expect(elsewhere).not.toContain(id);
        expect(house.definitions.loaded.get(`automation ${id}`)?.['alias']).toBe(alias);
        expect(house.definitions.registry.has(`automation ${id}`)).toBe(true);
      }
      const known = new Set([...[...desired.values()].map(({ id }) => id), ...mayStay]);
      const all = [...new Set([...own, ...mounted])].filter((id) => !isRejected(id));
      expect(all.filter((id) => !known.has(id))).toEqual([]);
      expect(all.filter((id) => own.includes(id) && mounted.includes(id))).toEqual([]);
      const registered = idsOf(house.definitions.registry.keys()).filter((id) => !isRejected(id));
      expect(registered.filter((id) => !all.includes(id))).toEqual([]);
    }),
    { numRuns: Number(process.env['RUNS'] ?? 100) },
  );
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { HubIntegration } from '../../../../operator/kinds/integration';
import { RESYNC } from '../../../../operator/base/limits';
import { unbounded } from '../../../../operator/base/bounded-task';
import { findingsOf } from '../../../../operator/offline/findings';
import { readManifests } from '../../../../operator/offline/manifests';
import { anEntry } from '../../stand-in-hub/integrations';
import { House } from './house';
import { type Fault, scriptOf, STAND_INS } from './stand-ins';

// The manifests of docs/how-to/popular-integrations.md with stand-ins of the real flows. Each of them works,
// and a permanent fault costs the device and the account only a few requests.

const PAGE = readFileSync(join(__dirname, '../../../../docs/how-to/popular-integrations.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text!);
type Manifest = Pick<HubIntegration, 'spec'> & { readonly metadata: { readonly name: string } };
const MANIFESTS = BLOCKS.flatMap((text) => parseAllDocuments(text).map((each) => each.toJS() as Manifest));
const BY_DOMAIN = new Map(MANIFESTS.map((manifest) => [manifest.spec.domain, manifest]));

const HOUR = 3_600_000;
const NAME = 'one';

/** One resource and the stand-in of its integration. */
class Bench {
  readonly house = new House();
  fault: Fault | undefined;
  shown = true;
  /** Times at which a flow was started. */
  readonly starts: number[] = [];
  logins = 0;
  /** Number of changes of an entry that unload it for a moment. */
  reloads = 0;
  /** The answers with which the entry was made. */
  private readonly data: Record<string, unknown> = {};

  constructor(private readonly domain: string) {
    const { integrations, clock } = this.house;
    const { steps, reconfigure = [], options = [], reauth = [] } = STAND_INS[domain]!;
    const changed = () => {
      this.reloads++;
      return { type: 'abort', reason: 'reconfigure_successful' } as const;
    };
    integrations.scriptOf = (request) => {
      const isReauth = integrations.reauthFlows.size > 0 && !('entryId' in request);
      const forms =
        request.kind === 'options' ? options : 'entryId' in request ? reconfigure : isReauth ? reauth : steps;
      // The hub loads an entry again only if its options differ.
      let isChanged = false;
      const end = () => {
        if (request.kind === 'options') {
          if (isChanged) this.reloads++;
          return { type: 'create_entry' } as const;
        }
        return 'entryId' in request || isReauth ? changed() : this.made();
      };
      const script = scriptOf(forms, end, { fault: this.fault, shown: this.shown });
      return (answers) => {
        const { next_step_id: option, ...data } = { ...answers.at(-1) } as { next_step_id?: string };
        if (!('entryId' in request)) Object.assign(this.data, data);
        isChanged ||= Object.entries(data).some(([field, value]) => this.data[field] !== value);
        const step = script(answers);
        const confirmed = forms[answers.length - 1];
        if (confirmed?.isStop && option === undefined) this.reloads++;
        if (step.type === 'form' && step.errors && this.fault?.isLogin) this.logins++;
        return step;
      };
    };
    integrations.onCarriedOut = (call) => {
      if (call.startsWith('start')) this.starts.push(clock.now());
    };
  }

  private made() {
    return this.house.integrations.created({
      domain: this.domain,
      title: this.spec.title ?? this.domain,
      ...this.supports,
    });
  }

  private get supports() {
    const { reconfigure, options } = STAND_INS[this.domain]!;
    return { supports_reconfigure: reconfigure !== undefined, supports_options: options !== undefined };
  }

  get spec() {
    return BY_DOMAIN.get(this.domain)!.spec;
  }

  /** Applies the manifest of the page, with all Secrets. */
  apply(more: object = {}): void {
    for (const [, name, key] of JSON.stringify(this.spec).matchAll(
      /"secretKeyRef":\{"name":"(.*?)","key":"(.*?)"\}/g,
    ))
      this.house.secrets[name!] = { ...this.house.secrets[name!], [key!]: `${key} of ${name}` };
    const { hubRef: _, ...spec } = this.spec;
    this.house.apply(NAME, { ...spec, ...more });
  }

  /** Changes all texts of the spec. */
  changeAnswers(): void {
    const other = (_: string, value: unknown) => (typeof value === 'string' ? `${value}-2` : value);
    const { configuration = {}, steps = [] } = this.spec;
    const texts = (values: object) =>
      Object.fromEntries(
        Object.entries(values).map(([field, value]: [string, object]) => [
          field,
          'value' in value ? (JSON.parse(JSON.stringify(value), other) as object) : value,
        ]),
      );
    const changed = steps.map((step) => ({ ...step, ...(step.values && { values: texts(step.values) }) }));
    this.apply({
      ...(this.spec.configuration && { configuration: texts(configuration) }),
      ...(this.spec.steps && { steps: changed }),
    });
  }

  /** Adds an entry that a user made in the hub's UI. */
  addEntry(): string {
    const entry = anEntry({
      entry_id: 'of-a-person',
      domain: this.domain,
      title: this.spec.title ?? '',
      ...this.supports,
    });
    this.house.integrations.entries.set(entry.entry_id, entry);
    return entry.entry_id;
  }

  /** Lets time pass, with the requeues of the queue. */
  async live(duration: number): Promise<void> {
    const { clock } = this.house;
    const end = clock.now() + duration;
    while (clock.now() < end) {
      const { after = RESYNC } = await this.house.settle(NAME);
      await clock.advance(Math.min(Math.max(after, 1_000), RESYNC, end - clock.now()));
    }
  }

  settle() {
    return this.house.settle(NAME);
  }

  /** The highest number of flows that were started within an hour. */
  get busiestHour(): number {
    return Math.max(
      0,
      ...this.starts.map((from) => this.starts.filter((at) => at >= from && at < from + HOUR).length),
    );
  }
}

/** Returns a bench whose resource has a working entry. */
async function settled(domain: string): Promise<Bench> {
  const bench = new Bench(domain);
  if (STAND_INS[domain]!.isAdopted) bench.addEntry();
  bench.shown = false;
  bench.apply();
  expect(await bench.settle()).toMatchObject({ type: 'Ready' });
  return bench;
}

const DOMAINS = Object.keys(STAND_INS);
const MADE = DOMAINS.filter((domain) => !STAND_INS[domain]!.isAdopted);
const FAULTS = DOMAINS.flatMap((domain) =>
  STAND_INS[domain]!.faults.map((fault) => [domain, fault.key, fault] as const),
);
const LOGINS = FAULTS.filter(([, , { isLogin }]) => isLogin);
const CHANGEABLE = DOMAINS.filter(
  (domain) => STAND_INS[domain]!.reconfigure && !STAND_INS[domain]!.isAdopted,
);
const REAUTHS = DOMAINS.filter((domain) => STAND_INS[domain]!.reauth);

describe('docs/how-to/popular-integrations.md', () => {
  test('each manifest is valid', async () => {
    const manifests = readManifests('popular-integrations.md', BLOCKS.join('---\n'));
    expect(manifests.filter((each) => !('object' in each))).toEqual([]);
    expect(await findingsOf(manifests as Parameters<typeof findingsOf>[0], unbounded)).toEqual([]);
  });

  test('has a manifest for each stand-in, and no other', () => {
    expect([...BY_DOMAIN.keys()].sort()).toEqual([...DOMAINS].sort());
  });

  describe.each(MADE)('%s', (domain) => {
    test.each([true, false])('is set up, with steps that depend on a discovery: %s', async (shown) => {
      const bench = new Bench(domain);
      bench.shown =
        shown && !STAND_INS[domain]!.steps.some(({ step_id: id }) => ['2sa', 'site'].includes(id));
      bench.apply();
      expect(await bench.settle()).toMatchObject({ type: 'Ready', reason: 'EntryLoaded' });
      await bench.live(HOUR);
      expect(await bench.settle()).toMatchObject({ type: 'Ready' });
      expect([bench.house.integrations.entries.size, bench.reloads, bench.starts.length]).toEqual([1, 0, 1]);
    });
  });

  test.each(DOMAINS.filter((domain) => STAND_INS[domain]!.isAdopted))('%s is adopted', async (domain) => {
    const bench = new Bench(domain);
    const id = bench.addEntry();
    bench.apply();
    expect(await bench.settle()).toMatchObject({ type: 'Ready', reason: 'EntryLoaded' });
    expect(bench.house.status(NAME)).toMatchObject({ entryID: id, adopted: true });
    expect(bench.starts).toEqual([]);
  });
});

describe('a fault that lasts', () => {
  test.each(FAULTS)('%s, %s: at most 12 attempts an hour', async (domain, _, fault) => {
    const bench = new Bench(domain);
    bench.fault = fault;
    bench.apply();
    await bench.live(4 * HOUR);
    expect(bench.busiestHour).toBeLessThanOrEqual(12);
    expect(bench.logins).toBeLessThanOrEqual(3);
    expect(bench.reloads).toBe(0);
    expect(bench.house.integrations.flows.size).toBe(0);
  });

  const changes = [
    { key: 'cannot_connect', most: 12 },
    { key: 'unknown', most: 12 },
    { key: 'invalid_auth', most: 3 },
  ];
  const changed = CHANGEABLE.flatMap((domain) => changes.map((each) => [domain, each.key, each] as const));

  test.each(changed)(
    '%s, a change ends with %s: a working entry is left alone',
    async (domain, key, { most }) => {
      const bench = await settled(domain);
      const step = STAND_INS[domain]!.reconfigure!.find(({ menu }) => !menu);
      bench.fault = { at: step!.step_id, key, type: 'error', isLogin: key !== 'cannot_connect' };
      bench.starts.length = 0;
      bench.changeAnswers();
      for (let process = 0; process < 3; process++) {
        await bench.live(2 * HOUR);
        bench.house.start();
      }
      expect(bench.busiestHour).toBeGreaterThan(0);
      expect(bench.busiestHour).toBeLessThanOrEqual(most);
      if (key === 'invalid_auth') expect(bench.logins).toBeLessThanOrEqual(3);
      expect(bench.reloads).toBe(0);
      expect([...bench.house.integrations.entries.values()]).toMatchObject([{ state: 'loaded' }]);
    },
  );

  test.each(LOGINS)('%s, %s: at most 3 logins, also by other processes', async (domain, _, fault) => {
    const bench = new Bench(domain);
    bench.fault = fault;
    bench.apply();
    for (let process = 0; process < 4; process++) {
      await bench.live(HOUR);
      bench.house.start();
    }
    await bench.live(HOUR);
    expect(bench.logins).toBeGreaterThan(0);
    expect(bench.logins).toBeLessThanOrEqual(3);
  });

  const secret = MADE.filter((domain) => /secretKeyRef/.test(JSON.stringify(BY_DOMAIN.get(domain)!.spec)));

  test.each(secret)('%s: another value of its Secret removes nothing, and reloads once', async (domain) => {
    const bench = await settled(domain);
    const ids = [...bench.house.integrations.entries.keys()];
    const { secrets } = bench.house;
    for (const [name, values] of Object.entries(secrets))
      secrets[name] = Object.fromEntries(Object.keys(values).map((key) => [key, 'typo']));
    for (let process = 0; process < 3; process++) {
      await bench.live(2 * HOUR);
      bench.house.start();
    }
    expect([...bench.house.integrations.entries.keys()]).toEqual(ids);
    // A form of the entry may ask for the value after a form that does not.
    expect(bench.reloads).toBeLessThanOrEqual(1);
    expect(bench.house.integrations.flows.size).toBe(0);
  });

  const typo = { no_such_field: { value: 'x' } };

  test.each(DOMAINS)('%s: a field that no form has reloads no working entry', async (domain) => {
    const bench = await settled(domain);
    bench.apply({ configuration: { ...bench.spec.configuration, ...typo } });
    await bench.live(6 * HOUR);
    expect(bench.reloads).toBe(0);
    expect(bench.busiestHour).toBeLessThanOrEqual(12);
    expect([...bench.house.integrations.entries.values()]).toMatchObject([{ state: 'loaded' }]);
  });

  test.each(DOMAINS)('%s: an option that no form has reloads no working entry', async (domain) => {
    const bench = await settled(domain);
    bench.apply({ options: typo });
    for (let process = 0; process < 3; process++) {
      await bench.live(2 * HOUR);
      bench.house.start();
    }
    expect(bench.reloads).toBe(0);
    expect(bench.busiestHour).toBeLessThanOrEqual(12);
    expect(await bench.settle()).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
    expect([...bench.house.integrations.entries.values()]).toMatchObject([{ state: 'loaded' }]);
  });

  test('zha: another path in the spec does not unload Zigbee', async () => {
    const bench = await settled('zha');
    bench.house.calls.length = 0;
    const [port, ...steps] = bench.spec.steps!;
    bench.apply({ steps: [{ ...port, values: { path: { value: '/dev/other' } } }, ...steps] });
    await bench.live(6 * HOUR);
    expect(await bench.settle()).toMatchObject({ type: 'Stalled', reason: 'RecreateRequired' });
    expect(bench.house.calls.filter((call) => call.startsWith('submit'))).toEqual([]);
  });

  test.each(REAUTHS)('%s: other credentials are needed, and those of the spec are wrong', async (domain) => {
    const bench = await settled(domain);
    const { integrations } = bench.house;
    const [id] = [...integrations.entries.keys()];
    integrations.set(id!, { state: 'setup_error', reason: 'could not authenticate' });
    integrations.reauthFlows.set(id!, 'reauth-1');
    const [step] = STAND_INS[domain]!.reauth!;
    bench.fault = { at: step!.step_id, key: 'invalid_auth', type: 'error', isLogin: true };
    for (let process = 0; process < 3; process++) {
      await bench.live(HOUR);
      bench.house.start();
    }
    expect(await bench.settle()).toMatchObject({ reason: 'AuthNeeded' });
    // A user has to confirm a form without fields.
    expect(bench.logins).toBeLessThanOrEqual(step!.fields?.length ? 3 : 0);
    expect([...integrations.entries.keys()]).toEqual([id]);
  });
});

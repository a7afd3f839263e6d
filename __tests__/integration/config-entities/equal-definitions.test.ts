import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigEntityKind, EntityPayload } from '../../../operator/client/connection/config-entity';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { getEntityState } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { Home } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';
import { runPython } from '../../cluster/python-script';
import {
  different,
  equalBesideBlueprint,
  equalByRun,
  equalByValidation,
  type Row,
} from '../../unit/sync/config-entities/equal-definitions';

// The real hub confirms each rule of the normal form, by its own validation or by the traces of its runs.

type Ran = Exclude<ConfigEntityKind, 'scene'>;

/** Hubs before 2026.11 refuse notes. */
const withNote = ({ forms }: Row) => (JSON.stringify(forms).includes('"note":') ? ' with a note' : '');
const named = (rows: readonly Row[]) =>
  rows.map((row) => [`${row.kind}${withNote(row)}: ${row.what}`, row] as const);

describe('the validation of the hub', () => {
  let validated: ReadonlyMap<Row, readonly unknown[]>;

  beforeAll(async () => {
    const rows = [...equalByValidation, ...equalByRun, ...different];
    const program = await readFile(join(__dirname, 'validate-definitions.py'), 'utf8');
    const given = rows.flatMap(({ forms, kind }) => forms.map((form) => [kind, form]));
    const { output } = await runPython(program, JSON.stringify(given));
    const answers = JSON.parse(output.trim().split('\n').at(-1)!) as unknown[];
    validated = new Map(rows.map((row) => [row, answers.splice(0, row.forms.length)]));
  });

  test.each(named(equalByValidation))('treats as one definition: %s', (_, row) => {
    const [first, ...others] = validated.get(row)!;
    expect(first).toHaveProperty('valid');
    for (const other of others) expect(other).toEqual(first);
  });

  test.each(named(equalByRun))('accepts %s', (_, row) => {
    for (const answer of validated.get(row)!) expect(answer).toHaveProperty('valid');
  });

  // Some integrations are not set up in this process.
  test.each(named(different).filter(([name]) => !name.includes('keys of an integration')))(
    'tells apart %s',
    (_, row) => {
      const [first, second] = validated.get(row)!;
      for (const answer of [first, second]) expect(answer).toHaveProperty('valid');
      expect(second).not.toEqual(first);
    },
  );
});

/** The blueprint of {@link equalBesideBlueprint}. Its input may be left out. */
const BLUEPRINT = `
blueprint: { name: Motion, domain: automation, input: { a: { default: 1 } } }
triggers: []
actions: [{ event: x, event_data: { a: !input a } }]
`;

describe('the runs of the hub', () => {
  let client: HubClient;

  beforeAll(async () => {
    const home = new Home(await freshNamespace('equal'));
    await startTestOperator(home.namespace);
    await startHub(home, 'villa');
    client = await home.client('villa');
    const blueprints = join(await home.volumeOf('villa'), 'blueprints', 'automation');
    await writeFile(join(blueprints, 'motion.yaml'), BLUEPRINT);
  });

  /**
   * Starts a run by its own trigger, if there is one. The hub answers with an error if the run ends with one.
   */
  async function start(kind: Ran, entityId: string, { triggers }: EntityPayload): Promise<void> {
    const [trigger] = Array.isArray(triggers) ? (triggers as Readonly<Record<string, unknown>>[]) : [];
    if (typeof trigger?.['event_type'] === 'string')
      await client.rest.post(`/api/events/${trigger['event_type']}`, {});
    else if (kind === 'script')
      await callService(client.rest, 'script', 'turn_on', { entity_id: entityId }).catch(() => undefined);
    else
      await callService(client.rest, 'automation', 'trigger', {
        entity_id: entityId,
        skip_condition: false,
      }).catch(() => undefined);
  }

  /** Returns the state of an automation or script and the trace of one run, without times and ids. */
  async function behaviour(domain: Ran, id: string, form: EntityPayload): Promise<object> {
    await client.entities.write(domain, id, form);
    const entity = await until(`${id} is registered`, () => client.entityRegistry.findNow(domain, id));
    await until(`${id} is loaded`, () => getEntityState(client.rest, entity.entity_id));
    await start(domain, entity.entity_id, form);
    const run = await until(`${id} has run`, async () => {
      const runs = await client.connection.command('trace/list', { domain, item_id: id });
      return runs.find(({ state }) => state === 'stopped');
    });
    const { trace, script_execution, error } = await client.connection.command('trace/get', {
      domain,
      item_id: id,
      run_id: run.run_id,
    });
    const state = await getEntityState(client.rest, entity.entity_id);
    const { id: _, last_triggered: __, ...attributes } = state!.attributes;
    const steps = Object.entries(trace).map(([path, all]) => [
      path,
      all.map(({ result, error: failure }) => ({ result, failure })),
    ]);
    const text = JSON.stringify({ state: state!.state, attributes, script_execution, error, steps });
    return JSON.parse(
      text.replaceAll(/"remaining":[^,}]+/g, '"remaining":0').replaceAll(id, 'the id'),
    ) as object;
  }

  const rows = [...equalByRun, ...equalBesideBlueprint];

  test.each(named(rows))('are the same for %s', async (name, row) => {
    const behaviours: object[] = [];
    for (const [index, form] of row.forms.entries())
      behaviours.push(await behaviour('automation', `run_${rows.indexOf(row)}_${index}`, form));
    const [first, ...others] = behaviours;
    expect(JSON.stringify(first)).toContain('"state":"on"');
    for (const other of others) expect({ name, ...other }).toEqual({ name, ...first });
  });

  test('are the same for a script without an alias, and one whose alias is its key', async () => {
    const sequence = [{ event: 'x' }];
    const without = await behaviour('script', 'run_key', { sequence });
    expect(JSON.stringify(without)).toContain('"friendly_name":"the id"');
    expect(await behaviour('script', 'run_alias', { alias: 'run_alias', sequence })).toEqual(without);
  });

  test('do not start by a disabled trigger, which proves that the comparison notices whether one is enabled', async () => {
    const disabled = { trigger: 'event', event_type: 'asleep', enabled: false };
    const form = { alias: 'A', triggers: [disabled, { ...disabled, enabled: true }], actions: [] };
    expect(await behaviour('automation', 'run_disabled', form)).toMatchObject({
      steps: [[expect.stringContaining('trigger/1'), expect.anything()]],
    });
  });

  test('differ for a wait that stops, which proves that the comparison notices the course of a run', async () => {
    const wait = { wait_template: '{{ false }}', timeout: 0.01 };
    const behaviours: object[] = [];
    for (const goesOn of [true, false]) {
      const actions = [{ ...wait, continue_on_timeout: goesOn }, { event: 'x' }];
      const id = `run_wait_${goesOn}`;
      behaviours.push(await behaviour('automation', id, { alias: 'A', triggers: [], actions }));
    }
    expect(behaviours[0]).not.toEqual(behaviours[1]);
  });
});

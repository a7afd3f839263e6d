import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  equalByRun,
  equalByValidation,
  type Row,
} from '../../unit/sync/config-entities/equal-definitions';

// The real hub proves each rule of the normal form: by its own validation, or by the traces of its runs.

const named = (rows: readonly Row[]) => rows.map((row) => [`${row.kind}: ${row.what}`, row] as const);

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

  test.each(named(equalByValidation))('makes one definition of %s', (_, row) => {
    const [first, ...others] = validated.get(row)!;
    expect(first).toHaveProperty('valid');
    for (const other of others) expect(other).toEqual(first);
  });

  test.each(named(equalByRun))('accepts %s', (_, row) => {
    for (const answer of validated.get(row)!) expect(answer).toHaveProperty('valid');
  });

  // Some are of integrations that this process has not set up.
  test.each(named(different).filter(([name]) => !name.includes('keys of an integration')))(
    'tells apart %s',
    (_, row) => {
      const [first, second] = validated.get(row)!;
      for (const answer of [first, second]) expect(answer).toHaveProperty('valid');
      expect(second).not.toEqual(first);
    },
  );
});

describe('the runs of the hub', () => {
  let client: HubClient;

  beforeAll(async () => {
    const home = new Home(await freshNamespace('equal'));
    await startTestOperator(home.namespace);
    await startHub(home, 'villa');
    client = await home.client('villa');
  });

  /** The state of an automation and the trace of one run, without times and names. */
  async function behaviour(id: string): Promise<object> {
    const entity = await until(`${id} is registered`, () => client.entityRegistry.findNow('automation', id));
    await until(`${id} is loaded`, () => getEntityState(client.rest, entity.entity_id));
    // The hub answers with an error if the run ends with one.
    await callService(client.rest, 'automation', 'trigger', {
      entity_id: entity.entity_id,
      skip_condition: false,
    }).catch(() => undefined);
    const run = await until(`${id} has run`, async () => {
      const runs = await client.connection.command('trace/list', { domain: 'automation', item_id: id });
      return runs.find(({ state }) => state === 'stopped');
    });
    const { trace, script_execution, error } = await client.connection.command('trace/get', {
      domain: 'automation',
      item_id: id,
      run_id: run.run_id,
    });
    const state = await getEntityState(client.rest, entity.entity_id);
    const { id: _, last_triggered: __, friendly_name: ___, ...attributes } = state!.attributes;
    const steps = Object.entries(trace).map(([path, all]) => [
      path,
      all.map(({ result, error: failure }) => ({ result, failure })),
    ]);
    const text = JSON.stringify({ state: state!.state, attributes, script_execution, error, steps });
    return JSON.parse(text.replaceAll(/"remaining":[^,}]+/g, '"remaining":0')) as object;
  }

  test.each(named(equalByRun))('are the same for %s', async (name, row) => {
    const behaviours: object[] = [];
    for (const [index, form] of row.forms.entries()) {
      const id = `run_${equalByRun.indexOf(row)}_${index}`;
      await client.entities.write('automation', id, form);
      behaviours.push(await behaviour(id));
    }
    const [first, ...others] = behaviours;
    expect(JSON.stringify(first)).toContain('"state":"on"');
    for (const other of others) expect({ name, ...other }).toEqual({ name, ...first });
  });

  test('differ for a wait that stops, so the comparison sees what happens', async () => {
    const wait = { wait_template: '{{ false }}', timeout: 0.01 };
    const behaviours: object[] = [];
    for (const goesOn of [true, false]) {
      const actions = [{ ...wait, continue_on_timeout: goesOn }, { event: 'x' }];
      const id = `run_wait_${goesOn}`;
      await client.entities.write('automation', id, { alias: 'A', triggers: [], actions });
      behaviours.push(await behaviour(id));
    }
    expect(behaviours[0]).not.toEqual(behaviours[1]);
  });
});

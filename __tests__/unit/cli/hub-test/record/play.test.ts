import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../../operator/base/clock';
import { MOST_DATA, play, type PlayRequest } from '../../../../../cli/test/record/play';
import type { Answer, Home } from '../../../../../cli/test/protocol';
import { Terminal } from '../../../../../cli/terminal';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'play-'));
});
afterEach(() => rm(directory, { recursive: true }));

const request: PlayRequest = {
  home: {} as Home,
  history: { from: 1_793_630_000.5, to: 1_793_640_000, entities: {} },
  placed: { 'light.a': { area: 'Hall' } },
  description: 'the hub as it is',
};
const hub: Answer = { type: 'hub', version: '2026.11.0', python: '3.14.2' };
const at = '2026-11-02T19:09:00.000+01:00';
const end = (parts: object = {}) => ({
  ...{ type: 'case', file: 0, case: 0, virtualSeconds: 1, realSeconds: 1 },
  ...{ faults: [], warnings: ['WARNING a'], withoutState: [], ...parts },
});
const call = {
  type: 'call',
  file: 0,
  case: 0,
  at,
  action: 'a.b',
  entities: ['c.d'],
  data: { e: 1 },
  by: null,
};

/**
 * Plays a history with a JavaScript program in place of Python, which prints the answers and writes the
 * request to a file.
 */
async function played(answers: readonly object[]) {
  const program = join(directory, 'python');
  const lines = answers.map((each) => JSON.stringify(each)).join('\n');
  const code = `const text = require('fs').readFileSync(0, 'utf8'); require('fs').writeFileSync(${JSON.stringify(`${program}.request`)}, text); console.log(${JSON.stringify(lines)});`;
  await writeFile(program, `#!${process.execPath}\n${code}\n`);
  await chmod(program, 0o755);
  let shown = '';
  const terminal = new Terminal({
    stdout: { write: () => undefined },
    stderr: { write: (text) => (shown += text), isTTY: true },
    env: {},
  });
  const environment = { terminal, clock: systemClock, signal: new AbortController().signal };
  const launch = { program, args: [], description: 'the Python P' };
  const result = await play(launch, request, environment as unknown as Parameters<typeof play>[2]);
  return { result, shown };
}

describe('a history that is played', () => {
  test('gives the calls, the refused definitions and the warnings', async () => {
    const refused = { type: 'refused', entity: 'automation.a', name: 'A', message: 'Unknown device' };
    const unsimulated = {
      type: 'unsimulated',
      domains: ['mqtt'],
      triggers: [{ trigger: 'mqtt', entity: 'automation.a' }],
    };
    const { result, shown } = await played([
      ...[hub, refused, refused, unsimulated, call],
      end({ withoutState: ['light.hal'] }),
    ]);
    expect(result).toEqual({
      versions: { hub: '2026.11.0', python: '3.14.2' },
      calls: [{ at, action: 'a.b', entities: ['c.d'], data: { e: 1 }, by: null }],
      refused: [{ entity: 'automation.a', name: 'A', message: 'Unknown device' }],
      unsimulated: ['mqtt'],
      silentTriggers: [{ trigger: 'mqtt', entity: 'automation.a' }],
      warnings: ['WARNING a'],
      withoutState: ['light.hal'],
    });
    expect(shown).toContain('Starting Home Assistant for the hub as it is');
    expect(shown).toContain('Playing the history against the hub as it is: Mon 2 Nov 19:09:00');
  });

  test('is one case without an echo, with the places of entities', async () => {
    await played([hub, end()]);
    const { files, options } = JSON.parse(await readFile(join(directory, 'python.request'), 'utf8')) as {
      files: object[];
      options: object;
    };
    const { history, placed } = request;
    expect(files).toEqual([
      {
        path: 'history',
        cases: [
          expect.objectContaining({
            ...{ start: '2026-11-02T14:33:20', steps: [], mock: {}, echo: false },
            ...{ history, given: placed },
          }),
        ],
      },
    ]);
    expect(options).toEqual({ coverage: false, timeline: false });
  });

  test('does not count warnings as faults', async () => {
    const faults = [{ kind: 'log', at, message: 'WARNING a' }];
    expect((await played([hub, end({ faults })])).result.warnings).toEqual(['WARNING a']);
  });

  test('ends with an error where an automation runs without an end', async () => {
    const faults = [{ kind: 'runaway', at, message: 'automation.a ran 100 times within one second.' }];
    await expect(played([hub, end({ faults })])).rejects.toThrow(
      'the history could not be played against the hub as it is: Mon 2 Nov 19:09:00: automation.a ran 100 times within one second.',
    );
  });

  test('ends with an error where its calls have more data than the memory takes', async () => {
    const large = { ...call, data: { text: 'x'.repeat(MOST_DATA / 2) } };
    await expect(played([hub, large, large, end()])).rejects.toThrow(
      'the hub as it is makes calls with more than 64 MB of data: ask for a shorter time with --record',
    );
  });

  test('ends with an error where the configuration is not loaded', async () => {
    const message = 'Invalid config';
    await expect(
      played([hub, { type: 'refused', entity: 'configuration', name: 'configuration.yaml', message }]),
    ).rejects.toThrow('Home Assistant does not load configuration.yaml of the hub as it is: Invalid config');
  });

  test('lists the faults of a configuration that is loaded nevertheless', async () => {
    const faults = ['one', 'two'].map((message) => ({
      ...{ type: 'refused', entity: 'configuration', name: 'configuration.yaml', message },
    }));
    const { result } = await played([hub, ...faults, end()]);
    expect(result.refused.map(({ message }) => message)).toEqual(['one', 'two']);
  });

  test('ends with an error where the program has no result', async () => {
    await expect(played([hub])).rejects.toThrow(
      'the Python P has ended, in the case “the hub as it is” without its result',
    );
  });
});

import { kinds, kindsByName } from '../../../operator/kinds';
import { disabledEntityText, failedFlowWithCause } from '../../../operator/kinds/case-texts';
import { runningText } from '../../../operator/kinds/hub/running-text';
import { ApiServerUnreachable } from '../../../operator/runtime/api-errors';
import { treesOf } from '../../../cli/status/tree';
import { renderTrees } from '../../../cli/status/render';
import { growth, NEARLY_LINEAR } from '../growth';
import { CommandLine, forbidden, ofHub, resource } from './command-line';

const villa = resource(
  'Hub',
  'villa',
  {},
  {
    reason: 'HubRunning',
    fields: { phase: 'Running', version: '2026.11.0', url: 'http://villa.home.svc:8123' },
  },
);
const failed = { status: 'False', isStalled: true } as const;
const flowFailure = (key: string) =>
  `${failedFlowWithCause({ flow: 'configuration', domain: 'mqtt', step: 'broker' }, { key, isEnd: false })}.`;
const waiting = { status: 'False' } as const;
/** Characters that clear the terminal before each redraw. */
const ESCAPES = '\u001b[H\u001b[2J\u001b[3J'.length;

describe('status', () => {
  test('kinds that are Ready take one line each, and the exit code is 0', async () => {
    const line = new CommandLine(
      villa,
      resource('HubLabel', 'a', { ...ofHub('villa'), name: 'A' }),
      resource('HubLabel', 'b', { ...ofHub('villa'), name: 'B' }),
    );
    expect(await line.run('status')).toEqual({
      code: 0,
      stdout: '✓ Hub villa  Ready  2026.11.0  http://villa.home.svc:8123\n└─ ✓ HubLabel  2 of 2 Ready\n',
      stderr: '',
    });
  });

  test('a resource that is not Ready is expanded with the chain of causes and the remedy, and the exit code is 1', async () => {
    const line = new CommandLine(
      villa,
      resource('HubArea', 'bath', { ...ofHub('villa'), name: 'Bath' }),
      resource(
        'HubArea',
        'kitchen',
        { ...ofHub('villa'), name: 'Kitchen', floorName: 'The Attic' },
        {
          ...waiting,
          reason: 'FloorNotReady',
          message: 'Waiting for the floor The Attic.',
        },
      ),
    );
    const { code, stdout } = await line.run('status villa');
    expect(stdout.split('\n').slice(1)).toEqual([
      '└─ … HubArea  1 of 2 Ready',
      '   └─ … kitchen ← floor The Attic is missing',
      '        Waiting for the floor The Attic.',
      expect.stringMatching(/^ {8}→ Create a HubFloor of that name/),
      '',
    ]);
    expect(code).toBe(1);
  });

  test('a chain continues to the first object that failed on its own, and the remedy is that of its reason', () => {
    const floor = resource(
      'HubFloor',
      'attic',
      { ...ofHub('villa'), name: 'Attic' },
      {
        ...failed,
        reason: 'RejectedByHub',
      },
    );
    const area = resource(
      'HubArea',
      'kitchen',
      { ...ofHub('villa'), name: 'Kitchen', floorName: 'ATTIC' },
      {
        ...waiting,
        reason: 'FloorNotReady',
      },
    );
    const [tree] = treesOf(objects(villa, floor, area));
    const problem = tree!.kinds.find(({ kind }) => kind === 'HubArea')!.problems[0]!;
    expect(problem.causes).toEqual([
      { kind: 'HubFloor', name: 'attic', state: 'Failed', reason: 'RejectedByHub' },
    ]);
    expect(problem.wayOut).toContain('Correct the resource');
    expect(renderTrees([tree!], (_, text) => text)).toContain(
      'kitchen ← floor attic is not Ready (RejectedByHub)',
    );
  });

  test('resources that wait for their Hub are counted, and the problem of the Hub is shown once', async () => {
    const hub = resource(
      'Hub',
      'villa',
      {},
      {
        ...waiting,
        reason: 'PodNotReady',
        message: 'No node takes the pod.',
      },
    );
    const children = ['a', 'b', 'c'].map((name) =>
      resource('HubAutomation', name, ofHub('villa'), { ...waiting, reason: 'HubNotReady' }),
    );
    const { stdout } = await new CommandLine(hub, ...children).run('status');
    expect(stdout).toContain('… Hub villa\n│  PodNotReady: No node takes the pod.\n');
    expect(stdout).toContain('└─ … HubAutomation  0 of 3 Ready, 3 wait for the Hub\n');
    expect(stdout.match(/No node/g)).toHaveLength(1);
  });

  test('a Hub to which resources refer and that does not exist is reported', async () => {
    const child = resource('HubScene', 'dusk', ofHub('chalet'), { ...waiting, reason: 'HubNotFound' });
    const { code, stdout } = await new CommandLine(child).run('status');
    expect(stdout).toContain('✗ Hub chalet\n│  The Hub chalet does not exist');
    expect(stdout).toContain('HubScene  0 of 1 Ready, 1 wait for the Hub');
    expect(code).toBe(1);
  });

  test('a Hub that waits for its configuration names the missing one', () => {
    const hub = resource('Hub', 'villa', {}, { ...waiting, reason: 'WaitingForConfiguration' });
    const [{ problem } = {}] = treesOf(objects(hub));
    expect(problem!.causes).toEqual([{ kind: 'HubConfiguration', name: 'of the hub', state: 'missing' }]);
  });

  test('a missing Secret ends a chain only where its absence is known', async () => {
    const secrets = resource(
      'HubSecrets',
      'logins',
      { ...ofHub('villa'), secretRefs: [{ name: 'mail' }] },
      {
        ...waiting,
        reason: 'SecretNotFound',
      },
    );
    const line = new CommandLine(villa, secrets);
    expect((await line.run('status')).stdout).toContain('logins ← Secret mail is missing');
    line.intercept = ({ path }) => {
      if (path.endsWith('/secrets')) throw forbidden();
      return undefined;
    };
    expect((await line.run('status')).stdout).toContain('logins: SecretNotFound');
  });

  test('each kind is read by one request, whose answer is parsed without changes', async () => {
    const line = new CommandLine(villa);
    await line.run('status');
    const asked = line.client.requests.map(({ path, plain }) => ({ kind: path.split('/').at(-1), plain }));
    expect(asked).toEqual(kinds.map(({ plural }) => ({ kind: plural, plain: true })));
  });

  test('the content of Secrets is not requested', async () => {
    const secrets = resource(
      'HubSecrets',
      'logins',
      { ...ofHub('villa'), secretRefs: [{ name: 'mail' }] },
      {
        ...waiting,
        reason: 'SecretNotFound',
      },
    );
    const line = new CommandLine(villa, secrets);
    await line.run('status');
    const asked = line.client.requests.filter(({ path }) => path.includes('/secrets'));
    expect(asked.map(({ accept }) => accept)).toEqual([
      expect.stringContaining('as=PartialObjectMetadataList'),
    ]);
  });

  test.each([
    ['a suspended one', resource('HubLabel', 'a', { ...ofHub('villa'), suspend: true }), 0, '1 suspended'],
    [
      'a changed one that the operator has not seen',
      resource('HubLabel', 'a', ofHub('villa'), { metadata: { generation: 2 } }),
      1,
      'The operator has not reconciled the last change yet.',
    ],
    [
      'one that was never reconciled',
      { ...resource('HubLabel', 'a', ofHub('villa')), status: {} },
      1,
      'a: not reconciled yet',
    ],
    [
      'one that is being deleted',
      resource('HubLabel', 'a', ofHub('villa'), { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      1,
      'a: Reason',
    ],
  ])('%s is shown like that', async (_, child, expected, text) => {
    const { code, stdout } = await new CommandLine(villa, child).run('status');
    expect(stdout).toContain(text);
    expect(code).toBe(expected);
  });

  test('-o json and yaml contain the same as data, without colours', async () => {
    const line = new CommandLine(villa);
    const json = await line.run('status -o json', { isTerminal: true });
    expect(JSON.parse(json.stdout)).toEqual([
      {
        name: 'villa',
        state: 'Ready',
        phase: 'Running',
        version: '2026.11.0',
        url: 'http://villa.home.svc:8123',
        kinds: [],
      },
    ]);
    expect((await line.run('status -o yaml')).stdout).toMatch(/^- name: villa\n {2}state: Ready\n/);
  });

  test('a kind that the user may not list is marked, and is not a cause', async () => {
    const area = resource(
      'HubArea',
      'kitchen',
      { ...ofHub('villa'), name: 'Kitchen', floorName: 'Attic' },
      { ...waiting, reason: 'FloorNotReady' },
    );
    const line = new CommandLine(villa, area);
    line.intercept = ({ path }) => {
      if (path.endsWith('/hubfloors')) throw forbidden();
      return undefined;
    };
    const { stdout } = await line.run('status');
    expect(stdout).toContain('? HubFloor  not read\n│    secrets is forbidden\n');
    expect(stdout).toContain('kitchen: FloorNotReady');
  });

  test('without the right to list Hubs, their resources are shown; without any right, the remedy', async () => {
    const line = new CommandLine(villa, resource('HubLabel', 'a', ofHub('villa')));
    line.intercept = ({ path }) => {
      if (path.endsWith('/hubs')) throw forbidden();
      return undefined;
    };
    expect(await line.run('status')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^\? Hub villa\n│ {2}not read: secrets is forbidden\n└─ ✓ HubLabel/,
      ) as string,
    });
    line.intercept = () => {
      throw forbidden();
    };
    const { code, stderr } = await line.run('status');
    expect(stderr).toContain('you may list no resource of the operator in the namespace home: secrets is');
    expect(stderr).toContain('ask for the role hub-operator-view');
    expect(code).toBe(2);
  });

  test('-A shows the hubs of all namespaces', async () => {
    const other = resource('Hub', 'villa', {}, { metadata: { namespace: 'garden' } });
    const { stdout } = await new CommandLine(villa, other).run('status -A');
    expect(stdout).toMatch(/^✓ Hub garden\/villa .*\n\n✓ Hub home\/villa /);
  });

  test('additional conditions of a Hub that is Ready are shown', async () => {
    const message = runningText('2026.11.0', 'http://villa', 'RUNNING', ['Backups are not set up: x.']);
    const { code, stdout } = await new CommandLine(resource('Hub', 'villa', {}, { message })).run('status');
    expect(stdout).toContain('\n│  ! Backups are not set up: x.\n');
    expect(code).toBe(0);
  });

  test.each([
    ['DriftDetected', 'alias differs', 'kubectl hub pull haauto/porch --write FILE'],
    [
      'DriftDetected',
      disabledEntityText('automation', 'automation.a', 'user'),
      'Enable the entity in the hub.',
    ],
    ['ConfigFlowFailed', flowFailure('cannot_connect'), 'Nothing if the service comes back'],
    ['ConfigFlowFailed', flowFailure('invalid_host'), 'Correct the answer that the message names.'],
  ])('the remedy of %s matches its case: %s', async (reason, message, wayOut) => {
    const kind = reason === 'DriftDetected' ? 'HubAutomation' : 'HubIntegration';
    const child = resource(kind, 'porch', ofHub('villa'), { ...failed, reason, message });
    expect((await new CommandLine(villa, child).run('status')).stdout).toContain(`→ ${wayOut}`);
  });

  test('messages are broken between words at the width of the terminal, and lines are joined with a full stop', async () => {
    const message = `got 5\nThe configuration before stays.${' word'.repeat(30)}`;
    const child = resource('HubLabel', 'a', ofHub('villa'), { ...failed, message });
    const line = new CommandLine(villa, child);
    const { stdout } = await line.run('status', { isTerminal: true, columns: 60, env: { NO_COLOR: '1' } });
    const lines = stdout.split('\n').filter((each) => /word|got/.test(each));
    expect(lines[0]).toMatch(/^ {8}got 5\. The configuration before stays\./);
    expect(lines.length).toBeGreaterThan(3);
    for (const each of lines) expect(each).toMatch(/^ {8}\S.{0,51}$/);
  });

  test('colours are for a terminal, unless NO_COLOR is set', async () => {
    const line = new CommandLine(villa);
    expect((await line.run('status')).stdout).not.toContain('\u001b');
    expect((await line.run('status', { isTerminal: true })).stdout).toContain('\u001b[32m✓');
    const { stdout } = await line.run('status', { isTerminal: true, env: { NO_COLOR: '1' } });
    expect(stdout).not.toContain('\u001b');
  });

  test('text of the cluster cannot control the terminal', async () => {
    const child = resource('HubLabel', 'a', ofHub('villa'), {
      ...failed,
      message: 'one\n\u001b[2Jtwo\u009b3J',
    });
    const { stdout } = await new CommandLine(villa, child).run('status');
    expect(stdout).toContain('one [2Jtwo 3J');
  });

  test('a namespace without hubs, or without the named one, is an error with a remedy', async () => {
    const empty = await new CommandLine().run('status -n home');
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('no Hub') as string });
    const { code, stderr } = await new CommandLine(villa).run('status chalet');
    expect(stderr).toBe(
      'error: there is no Hub chalet in the namespace home: choose the namespace with -n, or see all with kubectl hub status -A\n',
    );
    expect(code).toBe(2);
  });

  test('--watch shows each change once, and survives an API server that does not answer', async () => {
    const line = new CommandLine(villa);
    let reads = 0;
    line.intercept = ({ path }) => {
      if (!path.endsWith('/hubs')) return undefined;
      reads += 1;
      if (reads === 3) throw forbidden();
      if (reads === 5) line.objects.push(resource('HubLabel', 'a', ofHub('villa')));
      if (reads === 7) line.stop();
      return undefined;
    };
    const { code, stdout } = await line.run('status --watch');
    const [first, error, again, changed] = stdout.split('\n\n');
    expect(first).toMatch(/^✓ Hub villa/);
    expect(error).toContain('secrets is forbidden');
    expect(again).toBe(first);
    expect(changed).toContain('HubLabel  1 of 1 Ready');
    expect(code).toBe(0);
  });

  test('--watch names the server that does not answer, broken at the width of the terminal', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => {
      if (path.endsWith('/hubs')) line.stop();
      throw new ApiServerUnreachable('GET /apis: ECONNREFUSED');
    };
    const { stdout } = await line.run('status --watch', { isTerminal: true, columns: 50 });
    expect(stdout.replaceAll('\n', ' ')).toContain(
      'the API server of the cluster cannot be used: GET /apis: ECONNREFUSED: check that it runs',
    );
    for (const each of stdout.trimEnd().split('\n')) expect(each.length).toBeLessThanOrEqual(50 + ESCAPES);
  });

  test.each([
    ['vila', 'did you mean villa? Choose the namespace with -n'],
    ['chalet', 'in the namespace home: choose the namespace with -n'],
  ])('a Hub that does not exist, %s, is reported with one of a similar name', async (name, message) => {
    const { stderr } = await new CommandLine(villa).run(`status ${name}`);
    expect(stderr).toContain(message);
  });

  test('the trees of 2,000 resources, none of them Ready, take no more time for each than those of 125', async () => {
    const render = (count: number) => {
      const floor = { ...waiting, reason: 'FloorNotReady' };
      const all = Array.from({ length: count / 2 }, (_, index) => [
        resource('HubAutomation', `a${index}`, ofHub('villa'), { ...failed, reason: 'RejectedByHub' }),
        resource('HubArea', `r${index}`, { ...ofHub('villa'), floorName: `F${index}` }, floor),
      ]);
      const stopped = resource('Hub', 'villa', {}, { ...waiting, reason: 'PodNotReady' });
      const text = renderTrees(treesOf(objects(stopped, ...all.flat())), (_, part) => part);
      expect(text.split('\n').length).toBeGreaterThan(2 * count);
    };
    expect(await growth(render, 2_000)).toBeLessThan(NEARLY_LINEAR);
  });
});

function objects(...all: readonly ReturnType<typeof resource>[]) {
  const resources = new Map(
    [...kindsByName.keys()].map((kind) => [kind, all.filter((each) => each.kind === kind)]),
  );
  return { resources, hasSecret: () => undefined };
}

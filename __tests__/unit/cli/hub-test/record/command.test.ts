import { GROUP_VERSION } from '../../../../../operator/kinds/group';
import { readRunningHub } from '../../../../../cli/test/record/running-hub';
import { CommandLine } from '../../command-line';
import { hubClient } from '../../../stand-in-hub/hub-client';

const automation = JSON.stringify({
  apiVersion: GROUP_VERSION,
  kind: 'HubAutomation',
  metadata: { name: 'a', namespace: 'attic' },
  spec: { hubRef: { name: 'villa' }, alias: 'A', triggers: [], actions: [] },
});

describe('hub test --record', () => {
  test.each([
    ['--only x', '--record and --only exclude each other'],
    ['--timeline', '--record and --timeline exclude each other'],
    ['--coverage', '--record and --coverage exclude each other'],
    ['--min-coverage 5', '--record and --min-coverage exclude each other'],
    ['--junit r.xml', '--record and --junit exclude each other'],
  ])('does not allow %s', async (option, message) => {
    const { code, stderr } = await new CommandLine().run(`test - --record 7d ${option}`);
    expect(stderr).toBe(`error: ${message}: a history has no cases\n`);
    expect(code).toBe(2);
  });

  test.each(['--leave-out sensor.a', '--context a', '--kubeconfig a'])(
    'is required for %s',
    async (option) => {
      const { code, stderr } = await new CommandLine().run(`test - ${option}`);
      const [name] = option.split(' ');
      expect(stderr).toBe(
        `error: ${name} is for the history of a hub, and tests need none: add --record, such as --record 7d, or leave it out\n`,
      );
      expect(code).toBe(2);
    },
  );

  test('refuses a file of tests', async () => {
    const { code, stderr } = await new CommandLine().run('test home tests/a.hubtest.yaml --record 7d');
    expect(stderr).toBe(
      'error: --record plays a history, and no cases: leave out tests/a.hubtest.yaml, or run it without --record\n',
    );
    expect(code).toBe(2);
  });

  test('refuses another time', async () => {
    const { code, stderr } = await new CommandLine().run('test - --record week');
    expect(stderr).toContain('Write it like 7d, 24h or 1d12h.');
    expect(code).toBe(2);
  });

  test('names the errors of the files', async () => {
    const input = automation.replace('"triggers"', '"trigger"');
    const { code, stdout } = await new CommandLine().run('test - --record 7d', { input });
    expect(stdout).toContain('spec.trigger: ');
    expect(code).toBe(2);
  });

  test('asks the Hub of the files in its namespace, in the cluster of the options', async () => {
    const cli = new CommandLine();
    const { code, stderr } = await cli.run('test - --record 7d --context other', { input: automation });
    expect(stderr).toContain('there is no Hub villa in the namespace attic');
    expect(code).toBe(2);
    expect(cli.connections).toMatchObject([{ namespace: 'attic', context: 'other' }]);
  });

  test.each([
    [['recorder'], 'has no history, so that', 'add default_config: or history: to'],
    [['history'], 'has no recorder, so that', 'add default_config: or recorder: to'],
    [[], 'has no recorder and no history, so that', 'add default_config: or recorder: and history: to'],
  ])('says so if the hub has only %j', async (components, what, wayOut) => {
    const rest = { get: () => Promise.resolve(components) };
    const read = readRunningHub(hubClient({ rest }), 'villa', () => undefined);
    await expect(read).rejects.toThrow(`the hub of the Hub villa ${what}`);
    await expect(read).rejects.toThrow(wayOut);
  });
});

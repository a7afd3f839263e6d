import { spawnSync } from 'node:child_process';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { build } from 'esbuild';
import { version } from '../../../package.json';
import cliPackage from '../../../cli/package.json';
import { CommandContext } from '../../../cli/command-context';
import { destinationOf, withDestination } from '../../../cli/export/options';
import { HubFailed } from '../../../operator/client/connection/errors';
import { createProgram } from '../../../cli/program';
import { formatRuns, stepsOf } from '../../../cli/trace/command';
import { formatResult, formatTable } from '../../../cli/output';
import { CommandLine, ofHub, resource } from './command-line';

const villa = resource('Hub', 'villa', {});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const line = new CommandLine(villa, resource('HubLabel', 'night', ofHub('villa')));
    const { stdout } = await line.run(`__complete ${words.join(' ')}`);
    return { lines: stdout.trimEnd().split('\n'), line };
  };

  test('the first word is a command', async () => {
    expect((await complete('su')).lines).toEqual(['suspend', ':4']);
  });

  test('an argument is a Hub, or a kind and a name', async () => {
    expect((await complete('sync', 'vi')).lines).toEqual(['villa', ':4']);
    expect((await complete('sync', 'hubla')).lines).toEqual(['hublabel/', ':4']);
    expect((await complete('sync', 'halb/n')).lines).toEqual(['halb/night', ':4']);
    expect((await complete('status', 'hubl')).lines).toEqual([':4']);
  });

  test('an option is one of the command, and its value is one of its choices', async () => {
    expect((await complete('status', '--out')).lines).toEqual(['--output', ':4']);
    expect((await complete('status', '-o', 'y')).lines).toEqual(['yaml', ':4']);
    expect((await complete('validate', 'sam')).lines).toEqual([':0']);
    expect((await complete('test', '--j')).lines).toEqual(['--junit', ':4']);
    expect((await complete('test', 'sam')).lines).toEqual([':0']);
  });

  test('all options are offered after two hyphens', async () => {
    const { lines } = await complete('status', '--');
    expect(lines).toEqual(
      expect.arrayContaining(['--namespace', '--output', '--watch', '--all-namespaces', ':4']),
    );
    expect((await complete('-n', 'home', 'status', 'vi')).lines).toEqual(['villa', ':4']);
  });

  test('names are those of the namespace and cluster that were typed', async () => {
    const { line } = await complete('status', '-n', 'home', '--context', 'lab', 'v');
    expect(line.connections).toEqual([{ namespace: 'home', context: 'lab' }]);
  });

  test('a Hub is offered after --hub, of any command', async () => {
    expect((await complete('validate', '--hub', 'vi')).lines).toEqual(['villa', ':4']);
    expect((await complete('export', '--hub', 'x')).lines).toEqual([':4']);
    expect((await complete('validate', '--h')).lines).toEqual(['--hub', ':4']);
  });

  test('a cluster that does not answer delays the shell for two seconds at most', async () => {
    const line = new CommandLine(villa);
    line.intercept = () => new Promise(() => undefined);
    expect((await line.run('__complete status v')).stdout).toBe(':4\n');
    expect(line.clock.monotonic()).toBeLessThan(5_000);
  });

  test.each(['bash', 'zsh', 'fish'])('the script for %s asks the program', async (shell) => {
    const { code, stdout } = await new CommandLine().run(`completion ${shell}`);
    expect(stdout).toContain('kubectl-hub __complete');
    expect(code).toBe(0);
  });

  test('the script for bash is valid, and offers the candidates', async () => {
    const { stdout } = await new CommandLine().run('completion bash');
    const script = `kubectl-hub() { printf 'status\\nsync\\n:4\\n'; }\n${stdout}\nCOMP_WORDS=(kubectl-hub sy); COMP_CWORD=1; _kubectl_hub; echo "\${COMPREPLY[@]}"`;
    const bash = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(bash).toMatchObject({ status: 0, stdout: 'sync\n', stderr: '' });
  });

  test('another shell is refused', async () => {
    expect(await new CommandLine().run('completion tcsh')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are bash, zsh, fish') as string,
    });
  });
});

describe('a terminal', () => {
  test('gets no escape sequence of a hub by an error', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => {
      if (path.includes('/pods/')) throw new HubFailed('first\u001b[2J\u009b2J\nsecond\u0007');
      return undefined;
    };
    const { stderr } = await line.run('logs villa');
    expect(stderr).toBe('error: the hub: first\nsecond\n');
  });

  test('gets no escape sequence in JSON, which keeps the text', async () => {
    const texts = { a: 'x\u001b[2J\u009b2J\u007f' };
    const shown = await formatResult('json', texts, () => '');
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(JSON.parse(shown)).toEqual(texts);
  });
});

describe('logs', () => {
  test('are those of the hub’s container, line by line', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) =>
      path.endsWith('/pods/villa-0/log') ? Readable.from(['one\ntw', 'o\n']) : undefined;
    const { code, stdout } = await line.run('logs villa --tail 5');
    expect(stdout).toBe('one\ntwo\n');
    expect(code).toBe(0);
    expect(line.client.requests.at(-1)!.query).toMatchObject({ container: 'hub', tailLines: 5 });
  });

  test('a hub without a pod is an error with a remedy', async () => {
    const { code, stderr } = await new CommandLine(villa).run('logs villa');
    expect(stderr).toBe(
      'error: the pod villa-0 does not exist: kubectl hub status villa says what the hub waits for\n',
    );
    expect(code).toBe(2);
  });

  test('the in-memory log of a hub cannot be followed', async () => {
    const { code, stderr } = await new CommandLine(villa).run('logs villa --system --follow');
    expect(stderr).toContain('leave out --follow');
    expect(code).toBe(2);
  });
});

describe('trace', () => {
  const at = (second: number) => `2026-01-01T00:00:0${second}.500000+00:00`;

  test('the steps of all paths are in the order in which they were taken', () => {
    const steps = stepsOf({
      'trigger/0': [{ path: 'trigger/0', timestamp: at(0) }],
      'action/0': [
        { path: 'action/0', timestamp: at(1), result: { choice: 'then' } },
        { path: 'action/0', timestamp: at(3), result: null },
      ],
      'action/0/then/0': [{ path: 'action/0/then/0', timestamp: at(2), error: 'No such\nlamp.' }],
    });
    const run = {
      run_id: 'a',
      state: 'stopped',
      script_execution: 'error',
      trigger: 'time',
      timestamp: { start: at(0), finish: at(3) },
      steps,
    };
    expect(formatRuns([run]).split('\n')).toEqual([
      '2026-01-01T00:00:00.500000+00:00  error  triggered by time',
      '  +0.000s  trigger/0',
      '  +1.000s  action/0  {"choice":"then"}',
      '  +2.000s  action/0/then/0  failed: No such lamp.',
      '  +3.000s  action/0',
    ]);
  });

  test('only automations and scripts have runs', async () => {
    const { code, stderr } = await new CommandLine().run('trace hubscene/dusk');
    expect(stderr).toContain('a HubScene has no runs');
    expect(code).toBe(2);
  });
});

describe('the start of the program', () => {
  const root = join(__dirname, '../../..');

  /** Returns the packages that these modules load, without those loaded by `import()`. */
  async function packagesOf(...modules: readonly string[]): Promise<readonly string[]> {
    const { metafile } = await build({
      absWorkingDir: root,
      outdir: 'build', // esbuild writes no file
      entryPoints: [...modules],
      bundle: true,
      platform: 'node',
      packages: 'external',
      metafile: true,
      write: false,
    });
    const packages = new Set<string>();
    const queue = [...modules];
    const seen = new Set(queue);
    for (let path = queue.shift(); path !== undefined; path = queue.shift())
      for (const { path: imported, external, kind } of metafile.inputs[path]!.imports) {
        if (kind === 'dynamic-import') continue;
        if (external) {
          // An import of types only keeps the path of the source.
          if (!isBuiltin(imported) && !imported.startsWith('.')) packages.add(imported);
        } else if (!seen.has(imported)) {
          seen.add(imported);
          queue.push(imported);
        }
      }
    return [...packages].sort();
  }

  test('of status, whose time is mostly that of its packages, loads no more of them than needed', async () => {
    expect(await packagesOf('cli/index.ts', 'cli/status/command.ts')).toEqual([
      '@kubernetes/client-node',
      'commander',
    ]);
  });

  test('of another command loads its own packages', async () => {
    const packages = await packagesOf('cli/pull/command.ts');
    expect(packages).toContain('yaml');
    expect(packages).not.toContain('pino'); // the client of a hub gets a silent log
  });
});

describe('Ctrl-C', () => {
  test('a command in the middle of a long request ends within seconds, and prints no result', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => {
      if (!path.endsWith('/hubs')) return undefined;
      line.stop();
      return line.clock.sleep(60_000).then(() => ({ items: [villa] }));
    };
    expect(await line.run('status')).toEqual({ code: 2, stdout: '', stderr: '' });
    expect(line.clock.monotonic()).toBeLessThan(10_000);
  });

  test('a command that ends by itself soon after keeps its exit code and its output', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => {
      if (!path.endsWith('/hubs')) return undefined;
      line.stop();
      return line.clock.sleep(1_000).then(() => ({ items: [villa] }));
    };
    expect(await line.run('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('Hub villa') });
  });
});

describe('wrong arguments', () => {
  test.each([
    ['stauts', "unknown command 'stauts'\n(Did you mean status?)"],
    ['status --frob', "unknown option '--frob'"],
    ['status -o xml', 'Allowed choices are table, json, yaml.'],
    ['sync', "missing required argument 'resource'"],
  ])('“%s” is an error with a remedy', async (given, message) => {
    const { code, stdout, stderr } = await new CommandLine().run(given);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^error: .*--help says what can be given.\n$/s);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('no argument prints the help', async () => {
    const { code, stdout, stderr } = await new CommandLine().run('');
    expect(stdout).toMatch(/^Usage: kubectl hub /);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test.each([
    ['reconcile villa', "unknown command 'reconcile': kubectl hub sync does that"],
    ['help reconcile', "unknown command 'reconcile': kubectl hub sync does that"],
    ['help nothing', "unknown command 'nothing': kubectl hub help lists all"],
  ])('“%s” names the remedy', async (given, message) => {
    const { code, stdout, stderr } = await new CommandLine().run(given);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('words before the command', () => {
  test.each([
    ['-n attic status', { namespace: 'attic' }],
    ['--namespace=attic --context lab status', { namespace: 'attic', context: 'lab' }],
    ['-nattic status', { namespace: 'attic' }],
  ])('“%s”: options of the cluster count, as for kubectl', async (given, expected) => {
    const line = new CommandLine(villa);
    await line.run(given);
    expect(line.connections).toMatchObject([expected]);
  });

  test('-A is taken there as well', async () => {
    expect(await new CommandLine(villa).run('-A status')).toMatchObject({ code: 0 });
  });

  test('an option that is none of the cluster is refused', async () => {
    const { stderr } = await new CommandLine().run('--frob status');
    expect(stderr).toContain("unknown option '--frob'");
  });

  test('version is that of the package, and help is of a command', async () => {
    expect(await new CommandLine().run('version')).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect((await new CommandLine().run('help status')).stdout).toMatch(/^Usage: kubectl hub status/);
  });
});

describe('a name without a kind', () => {
  const night = (kind: string) => resource(kind, 'night', ofHub('villa'));
  const entity = resource(
    'HubAutomation',
    'porch-at-night',
    { ...ofHub('villa'), alias: 'Porch' },
    { fields: { entityId: 'automation.night_2' } },
  );

  test.each([
    ['sync night --no-wait', [night('HubLabel')], 'HubLabel night: requested\n'],
    ['suspend night --no-wait', [night('HubLabel')], 'HubLabel night: suspend requested\n'],
    [
      'sync villa --no-wait',
      [resource('HubConfiguration', 'villa', ofHub('villa'))],
      'Hub villa: requested\n',
    ],
  ])('“%s” means the Hub, or the only resource that fits', async (given, objects, expected) => {
    expect(await new CommandLine(villa, ...objects).run(given)).toMatchObject({ code: 0, stdout: expected });
  });

  test.each([
    ['sync night', [night('HubLabel'), night('HubScene')], 'write hasc/night or halb/night'],
    [
      'trace night',
      [night('HubAutomation'), night('HubScript')],
      'several resources are called night: write',
    ],
    [
      'trace night',
      [night('HubLabel')],
      'no HubAutomation or HubScript in the namespace home is called night',
    ],
    [
      'trace nihgt',
      [night('HubAutomation')],
      'is called nihgt: did you mean night? Write KIND/NAME, or choose the namespace with -n',
    ],
    [
      'trace haauto/nigt',
      [night('HubAutomation')],
      'there is no HubAutomation nigt in the namespace home: did you mean night? Name another one',
    ],
    ['trace automation.night_2', [entity], 'did you mean porch-at-night?'],
    ['trace PORCH', [entity], 'did you mean porch-at-night?'],
    ['trace night', [night('HubLabel'), entity], 'is called night: write KIND/NAME'],
    ['pull night', [], 'no resource with an object in a hub in the namespace home is called night'],
    [
      'resume nothing',
      [],
      'no Hub and no other resource in the namespace home is called nothing: write KIND/NAME',
    ],
  ])('“%s” that matches several or none names the remedy', async (given, objects, message) => {
    const { code, stderr } = await new CommandLine(villa, ...objects).run(given);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

describe('the form of a result', () => {
  test('is a choice of every command that has one', async () => {
    const program = await createProgram('kubectl hub', new CommandContext(new CommandLine().environment()));
    const forms = Object.fromEntries(
      program.commands
        .filter((each) => !['completion', 'help', 'version'].includes(each.name()))
        .map((each) => [each.name(), each.options.find(({ long }) => long === '--output')?.argChoices]),
    );
    expect(Object.keys(forms)).toContain('doctor');
    for (const choices of Object.values(forms)) expect(choices).toEqual(['table', 'json', 'yaml']);
  });

  test('of export is different from its folder, which the former option names for one more release', () => {
    const read = (line: string) => {
      const command = withDestination(new Command('export').action(() => undefined));
      command.parse(line.split(' '), { from: 'user' });
      const { output: folder, format } = destinationOf(command.opts<{ output: string }>());
      return { folder, format };
    };
    expect(read('--to home')).toEqual({ folder: 'home', format: 'table' });
    expect(read('--to home -o json')).toEqual({ folder: 'home', format: 'json' });
    expect(read('-o home')).toEqual({ folder: 'home', format: 'table' });
    expect(read('-o home --format yaml')).toEqual({ folder: 'home', format: 'yaml' });
    expect(() => read('-o json')).toThrow('--to DIRECTORY');
    expect(() => read('--to=')).toThrow('--to DIRECTORY');
    expect(() => read('--to home -o xml')).toThrow('one of table, json, yaml');
  });

  test('does not exist for the log of a container', async () => {
    const { code, stderr } = await new CommandLine(villa).run('logs villa -o json');
    expect(stderr).toContain('-o is for --system');
    expect(code).toBe(2);
  });
});

describe('the package for npm', () => {
  test('has the version of the operator', () => {
    expect(cliPackage.version).toBe(version);
  });
});

describe('formatTable', () => {
  test('columns are as wide as their longest value', () => {
    expect(formatTable(['A', 'B'], [['long', 'x'], ['s']])).toBe('A      B\nlong   x\ns\n');
  });
});

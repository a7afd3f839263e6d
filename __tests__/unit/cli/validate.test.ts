import { unbounded } from '../../../operator/base/bounded-task';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleOperator, repository } from '../../../sandbox/image/bundle';
import { NotRead } from '../../../operator/offline/files';
import { validate } from '../../../cli/validate/validate';
import { CommandLine } from './command-line';
import { documentedCommands, documentedYaml } from '../../integration/docs/documented-commands';

const GROUP = 'hub-operator.dev';
const floor = (spec: string, name = 'ground') =>
  `apiVersion: ${GROUP}/v1\nkind: HubFloor\nmetadata: { name: ${name} }\nspec: { hubRef: { name: villa }, ${spec} }\n`;
const good = floor('name: Ground');
const bad = floor('nam: Ground');
const warned = `${good}---\n${good}`;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'validate-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function written(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

const noInput = () => Promise.reject(new Error('the standard input is read'));
const ofInput = async (text: string, options = {}) => {
  const { code, output } = await validate(['-'], options, () => Promise.resolve(text), unbounded);
  return { code, output };
};
const ofFiles = async (files: Readonly<Record<string, string>>) => {
  const { code, output } = await validate([await written(files)], {}, noInput, unbounded);
  return { code, output: output.replaceAll(`${directory}/`, '') };
};

describe('validate', () => {
  test('the samples and the shipped manifests have no findings', async () => {
    const paths = ['samples', 'dist'].map((name) => join(repository, name));
    const { code, output } = await validate(paths, { strict: true }, noInput, unbounded);
    expect(output).toMatch(
      /^\d\d resources and 1 test file checked, \d+ of other kinds ignored: 0 errors, 0 warnings\n$/,
    );
    expect(code).toBe(0);
  });

  test('prints the output that its page shows', async () => {
    const page = 'docs/how-to/validate.md';
    const shown = (start: string) =>
      documentedCommands().find((each) => each.page === page && each.command.startsWith(start))!.output;
    const { output } = await ofInput(documentedYaml(page, 'name: porch'));
    expect(output).toBe(shown('docker run'));
    expect((await validate([join(repository, 'samples')], {}, noInput, unbounded)).output).toBe(
      shown('make validate'),
    );
  });

  test('-o json has the findings with their places', async () => {
    const { code, stdout } = await new CommandLine().run('validate - -o json', { input: `${bad}---\n{` });
    expect(JSON.parse(stdout)).toEqual({
      checked: 1,
      testFiles: 0,
      findings: [
        expect.objectContaining({ file: 'stdin', severity: 'error' }),
        expect.objectContaining({ line: 4, severity: 'error', field: 'spec.nam' }),
      ],
    });
    expect(code).toBe(1);
  });

  test('an error is one line with its place, and fails', async () => {
    expect(await ofInput(bad)).toEqual({
      output:
        'stdin:4: error: HubFloor ground: spec.nam: HubFloor has no such field: did you mean name?\n' +
        '1 resource checked, 0 of other kinds ignored: 1 error, 0 warnings\n',
      code: 1,
    });
  });

  test('a warning fails only with --strict', async () => {
    const { code, output } = await ofInput(warned);
    expect(output).toMatch(/^stdin:6: warning: HubFloor ground: A HubFloor .*\n2 resources .* 1 warning\n$/);
    expect(code).toBe(0);
    expect(await ofInput(warned, { strict: true })).toEqual({ code: 1, output });
  });

  test('an empty set of files is a warning, since a path may be wrong', async () => {
    const { code, output } = await ofInput('kind: Service\napiVersion: v1\n');
    expect(output).toBe(
      `warning: there is no resource of ${GROUP} in -.\n0 resources checked, 1 of other kinds ignored: 0 errors, 1 warning\n`,
    );
    expect(code).toBe(0);
    expect((await ofInput('', { strict: true })).code).toBe(1);
  });

  test('a directory stands for the YAML and JSON in it, as one set', async () => {
    const { code, output } = await ofFiles({
      'b/c.yml': floor('name: Ground', 'second'),
      'a.yaml': good,
      'd.json': JSON.stringify({ kind: 'ConfigMap' }),
      'e.txt': bad,
      '.git/f.yaml': bad,
      'node_modules/g/h.yaml': bad,
    });
    expect(output).toMatch(
      /^b\/c.yml:1: error: HubFloor second: HubFloor ground owns the same object.*\n2 resources checked, 1 of/,
    );
    expect(code).toBe(1);
  });

  test('links to files count, links to directories and names that begin with a dot do not', async () => {
    const elsewhere = join(await written({ 'elsewhere/a.yaml': good }), 'elsewhere');
    const home = join(await written({ 'home/.hidden.yaml': bad }), 'home');
    await symlink(join(elsewhere, 'a.yaml'), join(home, 'link.yaml'));
    await symlink(elsewhere, join(home, 'directory'));
    await symlink(elsewhere, join(home, 'directory.yaml'));
    await symlink('.', join(home, 'itself'));
    expect(await validate([home], {}, noInput, unbounded)).toMatchObject({
      code: 0,
      output: '1 resource checked, 0 of other kinds ignored: 0 errors, 0 warnings\n',
    });
    expect((await validate([join(home, 'directory')], {}, noInput, unbounded)).output).toMatch(
      /^1 resource checked/,
    );
  });

  test('tests in files are checked by their own schema, and are not resources', async () => {
    const test = (verb: string) => `hubtest: v1\ntests: [{name: a, steps: [${verb}: {only: true}]}]\n`;
    const files = {
      'a.yaml': good,
      'tests/b.hubtest.yaml': test('expect'),
      'tests/c.hubtest.yml': test('expects'),
    };
    expect(await ofFiles(files)).toEqual({
      output:
        'tests/c.hubtest.yml:2: error: test “a”: tests[0].steps[0].expects: There is no such field here: did you mean expect?\n' +
        '1 resource and 2 test files checked, 0 of other kinds ignored: 1 error, 0 warnings\n',
      code: 1,
    });
    const named = await validate(
      [join(directory, 'tests/b.hubtest.yaml')],
      { strict: true },
      noInput,
      unbounded,
    );
    expect(named).toMatchObject({ code: 0, result: { checked: 0, testFiles: 1 } });
    expect(named.output).toBe(
      '0 resources and 1 test file checked, 0 of other kinds ignored: 0 errors, 0 warnings\n',
    );
  });

  test('what cannot be read in a directory is named, and the rest is checked', async () => {
    const link = (name: string) => symlink('nowhere', join(directory, name));
    await written({ 'a.yaml': bad });
    await link('link.yaml');
    await link('link.hubtest.yaml');
    for (const name of ['pipe.yaml', 'pipe.hubtest.yaml']) {
      const made = spawnSync('mkfifo', [join(directory, name)]);
      expect(made.status).toBe(0);
    }
    const lines = [
      'link.yaml:1: error: It cannot be read: there is no such file or directory.',
      'pipe.yaml:1: error: It is no file, such as a pipe, and is not read: remove it, or give it another name.',
      'a.yaml:4: error: HubFloor ground: spec.nam: HubFloor has no such field: did you mean name?',
      'link.hubtest.yaml:1: error: test file: It cannot be read: there is no such file or directory.',
      'pipe.hubtest.yaml:1: error: test file: It is no file, such as a pipe, and is not read: remove it, or give it another name.',
      '1 resource and 2 test files checked, 0 of other kinds ignored: 5 errors, 0 warnings',
    ];
    expect(await ofFiles({})).toEqual({ output: `${lines.join('\n')}\n`, code: 1 });
    for (const name of ['link.yaml', 'link.hubtest.yaml']) {
      const named = join(directory, name);
      await expect(validate([named], {}, noInput, unbounded)).rejects.toThrow(
        new NotRead(`cannot read ${named}: there is no such file or directory`),
      );
    }
  });

  test('a folder that cannot be read is named, and the rest is checked', async () => {
    // A path that is too long cannot be read by root either.
    const script = 'for each in $(seq 20); do mkdir "$1" && cd "$1" || exit; done';
    const made = spawnSync('bash', ['-c', script, 'bash', 'a'.repeat(250)], { cwd: directory });
    expect(made.status).toBe(0);
    const { code, output } = await ofFiles({ 'b.yaml': bad });
    spawnSync('rm', ['-r', 'a'.repeat(250)], { cwd: directory });
    expect(code).toBe(1);
    expect(output).toMatch(/^a+\/[a/]+:1: error: It cannot be read: ENAMETOOLONG/);
    expect(output).toContain('b.yaml:4: error: HubFloor ground: spec.nam');
    expect(output).toContain('1 resource checked, 0 of other kinds ignored: 2 errors, 0 warnings');
  });

  test('a pipe that the user names is read', async () => {
    const pipe = join(directory, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    const [{ code }] = await Promise.all([validate([pipe], {}, noInput, unbounded), writeFile(pipe, good)]);
    expect(code).toBe(0);
  });

  test.each([
    ['HubFloor', 'metadata: {name: a}', true],
    ['HubFloor', 'spec: {}', true],
    ['HubFloor', 'apiVersion: ""\nspec: {}', true],
    ['HubFloor', 'apiVersion: v1\nspec: {}', false],
    ['HubFloor', 'level: 1', false],
    ['Other', 'spec: {}', false],
  ])('kind %s with %j and without our apiVersion: refused is %s', async (kind, rest, isRefused) => {
    const { code, output } = await ofInput(`kind: ${kind}\n${rest}\n`);
    expect(code).toBe(isRefused ? 1 : 0);
    expect(output).toContain(isRefused ? '1 resource checked, 0 of' : '0 resources checked, 1 of');
    const message = 'A HubFloor needs apiVersion: write apiVersion: hub-operator.dev/v1.';
    expect(output.includes(message)).toBe(isRefused);
  });

  test('in a directory, broken YAML of other programs is ignored, and that with our group is not', async () => {
    const ignored = {
      'other.yaml': 'a: [b\n',
      'chart/Chart.yaml': 'name: x\n',
      'chart/templates/a.yaml': '{{ if x }}\n',
    };
    expect((await ofFiles({ 'a.yaml': good, ...ignored })).code).toBe(0);
    expect((await validate([join(directory, 'other.yaml')], {}, noInput, unbounded)).code).toBe(1);
    const { code, output } = await ofFiles({ 'broken.yaml': `${good}  a: [b\n` });
    expect(output).toMatch(/^broken.yaml:\d: error: This is not YAML: /);
    expect(code).toBe(1);
  });

  test('is a command with its own help', async () => {
    const { code, stdout } = await new CommandLine().run('validate --help');
    expect(stdout).toContain('--strict');
    expect(code).toBe(0);
  });

  test('the command prints its findings, and exits with its code', async () => {
    expect(await new CommandLine().run('validate --strict -', { input: warned })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 warning') as string,
    });
  });

  test.each([
    ['no files', 'validate'],
    ['an unknown option', 'validate --strickt -'],
    ['a file that does not exist', 'validate /nowhere/a.yaml'],
  ])('%s are refused', async (_, line) => {
    expect(await new CommandLine().run(line)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: /) as string,
    });
  });
});

describe('the bundle of the operator', () => {
  let bundle: string;
  beforeAll(async () => {
    bundle = await mkdtemp(join(tmpdir(), 'bundle-')); // not build/, which another test may be reading
    await bundleOperator(repository, bundle);
  });
  afterAll(() => rm(bundle, { recursive: true }));

  const run = (input: string, flags: readonly string[], ...args: string[]) =>
    spawnSync(process.execPath, [...flags, join(bundle, 'operator.cjs'), ...args], {
      input,
      encoding: 'utf8',
      timeout: 300_000, // spawnSync blocks jest's own timeout
    });

  /** Returns flags for Node.js that run a line of JavaScript before the bundle. */
  async function first(line: string): Promise<readonly string[]> {
    const file = join(directory, 'first.cjs');
    await writeFile(file, line);
    return ['--require', file];
  }

  test('runs the command with its input, and exits with its code', () => {
    expect(run(bad, [], 'validate', '-')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('spec.nam: HubFloor has no such field') as string,
    });
    expect(run('', [], 'validate', join(directory, 'absent.yaml'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no such file or directory') as string,
    });
  });

  test.each([
    ['what it found', bad, ['validate', '-'], 1],
    ['a file that it cannot read', '', ['validate', 'absent.yaml'], 2],
    ['its settings', '', ['--no-such-setting'], 1],
  ])('exits after %s: process.exit may wait forever for a thread of V8', async (_, input, args, code) => {
    const flags = await first(`process.exit = () => console.log('process.exit is called');`);
    const { status, stdout } = run(input, flags, ...args);
    expect(status).toBe(code);
    expect(stdout).not.toContain('process.exit is called');
  });

  test('also exits when something would keep the process alive', async () => {
    expect(run(good, await first('setInterval(() => undefined, 1_000);'), 'validate', '-')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 resource checked') as string,
    });
  });
});

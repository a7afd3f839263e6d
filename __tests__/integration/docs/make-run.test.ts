import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { clusterAccess, until } from '../../cluster';
import {
  type DocumentedCommand,
  documentedCommands,
  documentedYaml,
  repository,
  shownAs,
} from './documented-commands';
import { exceptions } from './exceptions';
import { Shell } from './shell';

// A reader of README and docs: `make run` in one terminal, and each documented command in another one.

let folder: string;
let makeRun: ChildProcess;
let printed = '';
let shell: Shell;

const write = (file: string, text: string) => writeFile(join(folder, file), text);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reader-'));
  // As the Makefile starts it.
  makeRun = spawn(process.execPath, ['--import', 'tsx', join('sandbox', 'run.ts')], {
    cwd: repository,
    // On a busy machine an answer may take longer than a lease lasts.
    env: { ...process.env, HUB_OPERATOR_RUNS: join(folder, 'runs'), LEADER_ELECTION: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [makeRun.stdout!, makeRun.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = once(makeRun, 'exit').then(() => {
    throw new Error(`make run has ended:\n${printed}`);
  });
  const { kubeconfig, log, url } = await Promise.race([
    until('make run is ready', () => readyFacts(printed), 1_000_000),
    ended,
  ]);
  ended.catch(() => undefined);

  for (const name of ['dist', 'samples']) await symlink(join(repository, name), join(folder, name));
  await mkdir(join(folder, 'bin'));
  const [program, ...first] = clusterAccess().kubectl;
  // Installed, or else the one that was built.
  if (first.length > 0) await write('bin/kubectl', `#!/bin/sh\nexec ${program} ${first.join(' ')} "$@"\n`);
  // The editor of the tutorial's reader: adds a line below input_boolean, with the same indent as the others.
  await write('bin/editor', `#!/bin/sh\nsed -i 's/^\\( *\\)input_boolean:$/&\\n\\1  porch_light:/' "$1"\n`);
  for (const name of await readdir(join(folder, 'bin'))) await chmod(join(folder, 'bin', name), 0o755);
  shell = new Shell(folder, {
    KUBECONFIG: kubeconfig,
    KUBE_EDITOR: join(folder, 'bin', 'editor'),
    OPERATOR_LOG: log,
    OPERATOR_URL: url,
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
  });
}, 1_200_000);

afterAll(async () => {
  shell?.stop();
  if (makeRun.exitCode === null) {
    makeRun.kill('SIGINT');
    await once(makeRun, 'exit');
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** The facts that `make run` prints when all is ready. */
function readyFacts(text: string): { kubeconfig: string; log: string; url: string } | undefined {
  const [, url, log] = /Operator: .* (http\S+)\/metrics, log (\S+)/.exec(text) ?? [];
  const [, kubeconfig] = /export KUBECONFIG=(\S+)[^]*Events \(Ctrl-C/.exec(text) ?? [];
  return kubeconfig && log && url ? { kubeconfig, log, url } : undefined;
}

const automation = (name: string, spec: string) => `apiVersion: hub-operator.dev/v1
kind: HubAutomation
metadata: { name: ${name}, namespace: home }
spec:
  alias: ${name[0]!.toUpperCase()}${name.slice(1)}
  actions: [{ action: light.turn_on }]
${spec}
`;
const ofHome = (to: string) =>
  `  hubRef: { name: my-home }\n  triggers: [{ trigger: state, entity_id: input_boolean.movie_night, to: ${to} }]`;

/** The earlier steps of the reader, in files that the page speaks of. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  'docs/tutorial.md': async () => {
    await write('porch.yaml', documentedYaml('docs/tutorial.md', 'name: porch-light'));
    await write('unquoted.yaml', documentedYaml('docs/tutorial.md', 'name: unquoted'));
    await write('again.yaml', documentedYaml('docs/tutorial.md', 'name: again'));
  },
  'docs/how-to/yaml-values.md': async () => {
    await write('dim.yaml', documentedYaml('docs/how-to/yaml-values.md', 'name: dim'));
    await write('automation.yaml', documentedYaml('docs/how-to/yaml-values.md', 'mode: twice'));
  },
  'docs/how-to/troubleshoot.md': async () => {
    await write('porch.yaml', documentedYaml('docs/how-to/troubleshoot.md', 'mode: twice'));
    await write('right.yaml', automation('porch', ofHome("'on'")));
    await write('lost.yaml', automation('lost', ofHome("'on'").replace('my-home', 'my-hme')));
    await shell.run('kubectl apply -f right.yaml -f lost.yaml');
  },
  'docs/how-to/popular-integrations.md': async () => {
    await write('hue.yaml', documentedYaml('docs/how-to/popular-integrations.md', 'name: hue'));
    await shell.run('kubectl apply -f hue.yaml');
  },
};

/** Pages whose commands remove objects that the others need are last. */
const order = ['README.md', 'docs/tutorial.md', 'docs/how-to/yaml-values.md', 'docs/how-to/troubleshoot.md'];
const last = ['docs/how-to/uninstall.md'];
const all = documentedCommands();
const others = [...new Set(all.map(({ page }) => page))].filter(
  (page) => ![...order, ...last].includes(page),
);
const pages = [...order, ...others, ...last];

/** Such a command may be run again until the cluster has come so far. */
const isRead = (command: string) => /^(kubectl .*\b(get|wait)\b|curl )/.test(command);
/** The page shows a warning of the webhook, or its refusal; those of the schema have a list. */
const isAnswerOfWebhook = (output: string) => /Warning: spec|is invalid: spec/.test(output);
/** The page shows a refusal. */
const isRefused = (output: string) => / is invalid:/.test(output);

async function follow({ page, command, output }: DocumentedCommand): Promise<void> {
  const exception = exceptions[page]?.[command];
  if (exception && !('as' in exception) && !('uncompared' in exception)) return;
  const run = exception && 'as' in exception ? exception.as : command;
  const attempt = async () => {
    const result = await shell.run(run);
    // `make run` has applied the samples as a person goes on, so that kubectl has nothing to patch.
    if (result.output.includes('last-applied-configuration')) throw new Error(`it warned: ${result.output}`);
    if (result.code !== (isRefused(output) ? 1 : 0))
      throw new Error(`it ended with ${result.code}: ${result.output}`);
    if (output !== '' && !exception && !shownAs(output).test(result.output))
      throw new Error(`${page} shows:\n${output}\nit printed:\n${result.output}`);
  };
  // A webhook that does not answer in time admits the resource without a word, as does one that does not know it yet.
  if (isAnswerOfWebhook(output)) {
    await until(`${page}: ${run}`, async () => {
      try {
        await attempt();
        return true;
      } catch (error) {
        await shell.run(run.replace('apply', 'delete --ignore-not-found'));
        throw error;
      }
    });
    return;
  }
  if (!isRead(run)) return attempt();
  await until(`${page}: ${run}`, () => attempt().then(() => true));
}

describe('the commands of README and docs', () => {
  test('make run prints what the README shows', () => {
    const { output } = all.find(({ page, command }) => page === 'README.md' && command === 'make run')!;
    expect(output).toContain('hubautomation.hub-operator.dev/dim-for-movie-night');
    expect(`…${printed}`).toMatch(shownAs(`…\n${output}…`));
  });

  test.each(pages)('those of %s work as they are shown', async (page) => {
    await before[page]?.();
    const failures: string[] = [];
    for (const each of all.filter((command) => command.page === page && command.command !== 'make run'))
      await follow(each).catch((error: unknown) =>
        failures.push(`$ ${each.command}\n${(error as Error).message}`),
      );
    expect(failures).toEqual([]);
  });

  // The last one: nothing runs after it.
  test('make run ends when its operator does, with the last lines of a log that stays', async () => {
    expect([printed, makeRun.exitCode]).toEqual([printed, null]);
    const ended = once(makeRun, 'close');
    const [, pid, log] = /^Operator: process (\d+), .* log (\S+)$/m.exec(printed)!;
    process.kill(Number(pid), 'SIGKILL');
    expect(await ended).toEqual([1, null]);
    const [, message = ''] = printed.split(/(?=The operator ended with exit code)/);
    expect(message).toContain(log);
    const last = (await readFile(log!, 'utf8')).trimEnd().split('\n').at(-1)!;
    expect(message).toContain(last);
  });
});

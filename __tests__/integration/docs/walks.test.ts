import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../cluster';
import { HubToExport } from '../../cluster/hub-to-export';
import {
  commandsOf,
  commandsUnder,
  type DocumentedCommand,
  documentedYaml,
  repository,
} from './documented-commands';
import { Reader } from './reader';

// Three readers who follow the pages from the first command to the promised result. A fourth, who installs
// with Helm for two namespaces, needs a node that runs the operator: __tests__/node/installation.test.ts.

const README = 'README.md';
const FIRST_STEPS = 'docs/tutorial.md';
const FIRST_HUB = 'docs/how-to/first-hub.md';
const COMMAND_LINE = 'docs/how-to/command-line.md';
const BRING = 'docs/how-to/bring-a-hub.md';
const EXTERNAL = 'docs/how-to/external-hub.md';
const EDIT = 'docs/how-to/edit-in-the-browser.md';
const PASTED = 'docs/how-to/automations-yaml.md';

let reader: Reader;

beforeAll(async () => {
  // The second reader's hub is on this machine.
  reader = await Reader.start({ ALLOW_LOCAL_HUBS: 'true' });
});
afterAll(() => reader?.stop());

/** Returns the commands of a page in their order. */
async function commands(page: string): Promise<readonly DocumentedCommand[]> {
  return commandsOf(page, await readFile(join(repository, page), 'utf8'));
}

describe('a newcomer, by README and First steps alone', () => {
  test('sees a home, writes an automation that the hub has, is warned and refused, changes the configuration, and deletes', async () => {
    expect(commandsUnder(README, 'Try it').slice(0, 2)).toEqual([
      'git clone <this repository> && cd hub-operator',
      'make run',
    ]);
    for (const [file, text] of [
      ['porch.yaml', 'name: porch-light'],
      ['unquoted.yaml', 'name: unquoted'],
      ['again.yaml', 'name: again'],
    ] as const)
      await reader.write(file, documentedYaml(FIRST_STEPS, text));
    const [started, ...typed] = await commands(FIRST_STEPS);
    expect(started!.command).toBe('make run');
    for (const each of typed) await reader.follow(each);
    // “It is removed from the hub as well.”
    await until('the hub has no such automation', async () => {
      const url = '$URL/api/config/automation/config/porch-light';
      const { output } = await reader.shell.run(
        `curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $TOKEN" ${url}`,
      );
      return output === '404';
    });
  });
});

describe('a person with an installed operator, by Your first hub alone', () => {
  test('has a home of two resources, its password and an automation', async () => {
    const emptied = await reader.shell.run(
      'kubectl delete namespace home --timeout=300s && kubectl create namespace home',
    );
    expect(emptied).toMatchObject({ code: 0 });
    await reader.write('home.yaml', documentedYaml(FIRST_HUB, 'kind: Hub\n'));
    await reader.write('sunset.yaml', documentedYaml(FIRST_HUB, 'kind: HubAutomation'));
    const typed = await commands(FIRST_HUB);
    const forwards = typed.filter(({ command }) => command.includes('port-forward')); // these need a kubelet
    expect([typed.length, forwards.length]).toEqual([7, 1]);
    for (const each of typed) if (!forwards.includes(each)) await reader.follow(each);
  });
});

describe('the owner of a running hub, by the pages for that alone', () => {
  const ID = '1699999999999';
  const FILE = 'home/automations/porch.yaml';
  let hub: HubToExport;
  const list = (...objects: readonly object[]) => JSON.stringify(objects);

  beforeAll(async () => {
    hub = await HubToExport.start({
      'automations.yaml': list({
        id: ID,
        alias: 'Porch',
        description: '',
        mode: 'single',
        triggers: [{ trigger: 'state', entity_id: ['sun.sun'], to: ['below_horizon'] }],
        conditions: [],
        actions: [{ action: 'light.turn_on', target: { entity_id: 'light.porch' } }],
      }),
      'scenes.yaml': list({ id: '17', name: 'Film', entities: { 'light.porch': { state: 'off' } } }),
      'scripts.yaml': JSON.stringify({ night: { alias: 'Night', sequence: [{ delay: { seconds: 1 } }] } }),
    });
    // This reader has no other home, since files of two hubs may have equal names.
    await run('kubectl delete namespace home --timeout=300s && kubectl create namespace home');
    // The sandbox lacks the package of this integration, and the entry reports that.
    for (const { domain, entry_id: id } of await ask<{ domain: string; entry_id: string }[]>(ENTRIES))
      if (domain === 'google_translate') await ask(`${ENTRIES}/${id}`, { method: 'DELETE' });
  });
  afterAll(() => hub?.dispose());

  const ENTRIES = '/api/config/config_entries/entry';
  const AUTOMATION = `/api/config/automation/config/${ID}`;
  async function ask<Answer = unknown>(path: string, request: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${hub.process.url}${path}`, {
      ...request,
      headers: { Authorization: `Bearer ${hub.token}`, 'Content-Type': 'application/json' },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.json()) as Answer;
  }

  /** Types the command of a page that equals or starts with this text, for this reader's hub. */
  async function type(page: string, start: string, options: Parameters<Reader['follow']>[1] = {}) {
    const all = await commands(page);
    const same = all.filter(({ command }) => command === start);
    const found = same.length > 0 ? same : all.filter(({ command }) => command.startsWith(start));
    if (found.length !== 1) throw new Error(`${page} has ${found.length} commands that start with ${start}`);
    const typed = (options.typed ?? found[0]!.command).replaceAll(
      'http://192.168.1.10:8123',
      hub.process.url,
    );
    return reader.follow(found[0]!, { ...options, typed });
  }
  async function run(command: string): Promise<string> {
    const { code, output } = await reader.shell.run(command);
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${output}`);
    return output;
  }
  const commit = () =>
    run('git add home && git -c user.name=o -c user.email=o@example.org commit --quiet --message=Home');
  const porch = (path: string) => run(`kubectl -n home get haauto porch -o jsonpath='{${path}}'`);

  test('installs the command line, exports the hub, has it adopted without a write, and pulls an edit made in the browser', async () => {
    const inClone = (command: string) =>
      `(cd ${repository} && npm_config_pack_destination=${reader.folder} ${command})`;
    // The prerequisites of make were made before this test, and must not be installed again while it runs.
    const bundled = inClone('make --old-file=node_modules/.ready bundle');
    await type(COMMAND_LINE, 'make bundle', { typed: bundled });
    await type(COMMAND_LINE, 'npm pack', { typed: inClone('npm pack --workspace kubectl-hub') });
    await type(COMMAND_LINE, 'npm install --global');
    await type(COMMAND_LINE, 'kubectl hub --version');
    await type(COMMAND_LINE, 'kubectl config set-context');

    await reader.write('token.txt', hub.token);
    const stored = await hub.stored();
    await type(BRING, 'kubectl hub export', { compared: false });
    await type(BRING, 'kubectl hub diff -R -f home --url');
    await run('git init --quiet .');
    await commit();
    const cottage = documentedYaml(EXTERNAL, '<the token>')
      .replace('<the token>', hub.token)
      .replace('http://192.168.1.10:8123', hub.process.url);
    await reader.write('cottage.yaml', cottage);
    await type(BRING, 'kubectl apply -f cottage.yaml');
    await type(BRING, 'kubectl -n home wait');
    await type(BRING, 'kubectl hub diff -R -f home', { code: 1 });
    await type(BRING, 'kubectl apply --server-side');
    // “It writes no object that is equal.”
    await until('all is Ready', () => type(BRING, 'kubectl hub status').then(() => true));
    expect(await porch('.status.adopted')).toBe('true');
    expect(await hub.stored()).toEqual(stored);

    const text = await readFile(join(reader.folder, FILE), 'utf8');
    await reader.write(FILE, text.replace('spec:\n', 'spec:\n  driftPolicy: Warn\n'));
    await type(BRING, 'kubectl apply --server-side');
    await commit();
    await until('the operator knows', async () => {
      const [generation, observed] = (
        await porch('.metadata.generation}{" "}{.status.observedGeneration')
      ).split(' ');
      return generation === observed;
    });
    const before = await ask<{ actions: readonly object[] }>(AUTOMATION);
    const edited = {
      ...before,
      alias: 'Porch at dusk',
      actions: [...before.actions, { delay: { seconds: 5 } }],
    };
    await ask(AUTOMATION, { method: 'POST', body: JSON.stringify(edited) });
    const reason = '.status.conditions[?(@.type=="Ready")].reason';
    await until('the edit is reported', async () => (await porch(reason)) === 'DriftDetected');
    const kept = await hub.stored();
    await type(EDIT, 'kubectl hub pull');
    expect(await run('git diff')).toContain('+  alias: Porch at dusk\n');
    await type(EDIT, 'git diff');
    await type(EDIT, 'kubectl hub diff', { code: 1 });
    await type(BRING, 'kubectl apply --server-side');
    await until('all is Ready again', () => type(BRING, 'kubectl hub status').then(() => true));
    expect(await porch('.spec.alias')).toBe('Porch at dusk');
    expect(await hub.stored()).toEqual(kept);
  });

  test('pastes an automation from the web, is told the field for each key, and has it in the hub', async () => {
    const ofThisHub = (text: string) =>
      text
        .replace('name: my-home', 'name: cottage')
        .replace('name: porch,', 'name: pasted,')
        .replaceAll('1699999999999', '1700000000000');
    const resource = ofThisHub(documentedYaml(PASTED, 'kind: HubAutomation'));
    const [, ...keys] = documentedYaml(PASTED, '- id:').split('\n');
    const [head] = resource.split('  alias:');
    await reader.write('pasted.yaml', [head!.trimEnd(), ...keys].join('\n'));
    const { code, output } = await reader.shell.run('kubectl hub validate pasted.yaml');
    expect(code).not.toBe(0);
    for (const field of [
      'triggers',
      'conditions',
      'actions',
      'maxExceeded',
      'triggerVariables',
      'initialState',
    ])
      expect(output).toContain(`did you mean ${field}?`);

    await reader.write('resource.yaml', resource);
    await run('kubectl hub validate resource.yaml && kubectl apply -f resource.yaml');
    await run('kubectl -n home wait --for=condition=Ready haauto/pasted --timeout=120s');
    expect(await ask('/api/config/automation/config/1700000000000')).toMatchObject({
      alias: 'Light on the porch',
      max_exceeded: 'silent',
      trigger_variables: { threshold: 5 },
      initial_state: true,
    });
  });
});

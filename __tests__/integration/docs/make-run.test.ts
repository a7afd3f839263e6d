import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SMALL_HOME, writeHome } from '../../cluster/homes-to-convert';
import { BUNDLE } from '../../cluster/command-line';
import { type DocumentedCommand, documentedCommands, documentedYaml, shownAs } from './documented-commands';
import { exceptions } from './exceptions';
import { Reader } from './reader';

// All commands of README and docs, page by page. walks.test.ts types some of them in the order of a reader.

let reader: Reader;

const write = (file: string, text: string) => reader.write(file, text);

beforeAll(async () => {
  reader = await Reader.start();
  // Replaces the installed package by the file that `make run` has built.
  const program = join(reader.folder, 'bin', 'kubectl-hub');
  await writeFile(program, `#!/bin/sh\nexec node ${BUNDLE} "$@"\n`, { mode: 0o755 });
});

afterAll(() => reader?.stop());

const automation = (name: string, spec: string) => `apiVersion: hub-operator.dev/v1
kind: HubAutomation
metadata: { name: ${name}, namespace: home }
spec:
  alias: ${name[0]!.toUpperCase()}${name.slice(1)}
  actions: [{ action: light.turn_on }]
${spec}
`;
const area = (name: string, floor: string) => `apiVersion: hub-operator.dev/v1
kind: HubArea
metadata: { name: ${name}, namespace: home }
spec: { hubRef: { name: my-home }, name: Hobby room, floorName: ${floor} }
`;
const ofHome = (to: string) =>
  `  hubRef: { name: my-home }\n  triggers: [{ trigger: state, entity_id: input_boolean.movie_night, to: ${to} }]`;

/** A CRD for a kind of the Prometheus operator that accepts any fields. */
const kindOfPrometheus = (kind: string) => {
  const [singular, group] = [kind.toLowerCase(), 'monitoring.coreos.com'];
  const plural = singular.endsWith('s') ? `${singular}es` : `${singular}s`;
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${plural}.${group} }
spec:
  group: ${group}
  scope: Namespaced
  names: { kind: ${kind}, singular: ${singular}, plural: ${plural} }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;
};

/** Writes files that a page assumes from earlier steps. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  'README.md': () => write('late.hubtest.yaml', documentedYaml('README.md', 'hubtest: v1')),
  'docs/how-to/first-test.md': async () => {
    await write('first.hubtest.yaml', documentedYaml('docs/how-to/first-test.md', 'brightness: 25'));
    await write('night.hubtest.yaml', documentedYaml('docs/how-to/first-test.md', 'midnight'));
  },
  'docs/how-to/bring-your-configuration.md': () => writeHome(join(reader.folder, 'config'), SMALL_HOME),
  'docs/tutorial.md': async () => {
    await write('porch.yaml', documentedYaml('docs/tutorial.md', 'name: porch-light'));
    await write('unquoted.yaml', documentedYaml('docs/tutorial.md', 'name: unquoted'));
    await write('again.yaml', documentedYaml('docs/tutorial.md', 'name: again'));
  },
  'docs/how-to/command-line.md': async () => {
    await write('hobby-room.yaml', area('hobby-room', 'Attic'));
    await reader.shell.run(
      [
        'cp "$KUBECONFIG" kubeconfig && export OF_ALL="$KUBECONFIG" KUBECONFIG="$PWD/kubeconfig"',
        'kubectl config set-context --current --namespace=home',
        'kubectl apply -f hobby-room.yaml',
        'kubectl -n home wait --for=jsonpath={.status.conditions[0].reason}=FloorNotReady haar/hobby-room',
      ].join(' && '),
    );
  },
  'docs/how-to/yaml-values.md': async () => {
    await write('dim.yaml', documentedYaml('docs/how-to/yaml-values.md', 'name: dim'));
    await write('automation.yaml', documentedYaml('docs/how-to/yaml-values.md', 'mode: twice'));
  },
  'docs/how-to/troubleshoot.md': async () => {
    await write('unquoted.yaml', documentedYaml('docs/tutorial.md', 'name: unquoted'));
    await write('porch.yaml', documentedYaml('docs/how-to/troubleshoot.md', 'mode: twice'));
    await write('right.yaml', automation('porch', ofHome("'on'")));
    await write('lost.yaml', automation('lost', ofHome("'on'").replace('my-home', 'my-hme')));
    await reader.shell.run('kubectl apply -f right.yaml -f lost.yaml -f unquoted.yaml');
  },
  'docs/how-to/popular-integrations.md': async () => {
    await write('hue.yaml', documentedYaml('docs/how-to/popular-integrations.md', 'name: hue'));
    await reader.shell.run('kubectl apply -f hue.yaml');
  },
  // Installs parts that these pages assume in the cluster: Argo CD, and the Prometheus operator.
  'docs/how-to/gitops.md': async () => {
    await reader.shell.run('kubectl create namespace argocd');
    await reader.shell.run('kubectl -n argocd create configmap argocd-cm');
  },
  'docs/how-to/monitoring.md': async () => {
    await write(
      'prometheus.yaml',
      ['Prometheus', 'PrometheusRule', 'ServiceMonitor'].map(kindOfPrometheus).join('---\n'),
    );
    await reader.shell.run('kubectl apply -f prometheus.yaml');
  },
};

/** Removes objects that would disturb the other pages. */
const after: Readonly<Record<string, () => Promise<unknown>>> = {
  'docs/how-to/bring-your-configuration.md': () => reader.shell.run('rm -r home config'),
  'docs/how-to/command-line.md': () =>
    reader.shell.run('kubectl delete -f hobby-room.yaml && export KUBECONFIG="$OF_ALL"'),
};

/** Pages whose commands remove objects that others need come last. */
const order = [
  'README.md',
  'docs/how-to/command-line.md',
  'docs/tutorial.md',
  'docs/how-to/yaml-values.md',
  'docs/how-to/troubleshoot.md',
];
const last = ['docs/how-to/uninstall.md'];
const all = documentedCommands();
const others = [...new Set(all.map(({ page }) => page))].filter(
  (page) => ![...order, ...last].includes(page),
);
const pages = [...order, ...others, ...last];

async function follow(command: DocumentedCommand): Promise<void> {
  const exception = exceptions[command.page]?.[command.command];
  if (exception && !('as' in exception) && !('uncompared' in exception)) return;
  const typed = exception && 'as' in exception ? exception.as : command.command;
  await reader.follow(command, { typed, compared: !exception });
}

describe('the commands of README and docs', () => {
  test('make run prints what the README shows', () => {
    const { output } = all.find(({ page, command }) => page === 'README.md' && command === 'make run')!;
    expect(output).toContain('hubautomation.hub-operator.dev/dim-for-movie-night');
    expect(`…${reader.printed}`).toMatch(shownAs(`…\n${output}…`));
  });

  test.each(pages)('those of %s work as shown', async (page) => {
    await before[page]?.();
    const failures: string[] = [];
    for (const each of all.filter((command) => command.page === page && command.command !== 'make run'))
      await follow(each).catch((error: unknown) =>
        failures.push(`$ ${each.command}\n${(error as Error).message}`),
      );
    await after[page]?.();
    expect(failures).toEqual([]);
  });

  // This test is the last one, since it ends `make run`.
  test('make run ends when its operator does, with the last lines of a log that stays', async () => {
    const { makeRun, printed } = reader;
    expect([printed, makeRun.exitCode]).toEqual([printed, null]);
    const ended = once(makeRun, 'close');
    const [, pid, log] = /^Operator: process (\d+), .* log (\S+)$/m.exec(printed)!;
    process.kill(Number(pid), 'SIGKILL');
    expect(await ended).toEqual([1, null]);
    const [, message = ''] = reader.printed.split(/(?=The operator ended with exit code)/);
    expect(message).toContain(log);
    const last = (await readFile(log!, 'utf8')).trimEnd().split('\n').at(-1)!;
    expect(message).toContain(last);
  });
});

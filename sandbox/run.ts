import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiError, ApiServerUnreachable } from '../operator/runtime/api-errors';
import { followEvents } from './cluster-events';
import { CodeHost } from './code-host';
import { formatError, SandboxError } from './sandbox-error';
import { ResourceStates, type ResourceState } from './resource-states';
import { type Sandbox, startSandbox } from './index';
import { Interrupted, rejectWhen, untilInterrupted } from './interrupt';
import { bundleOperator, repository } from './image/bundle';
import { lastLines } from './last-lines';
import { installOperator, type OperatorProcess, sandboxKubectl, startOperator } from './operator-process';
import { freePort } from './ports';
import { defaultProgress, type Report, runSteps } from './progress';
import { removeRunFile, writeRunFile } from './run-file';
import { repositoryZip } from './zip';
import { installWebhook, webhookSettings } from './webhook';

const samples = join(repository, 'samples');
/** In milliseconds. On a small board the first start takes minutes. */
const READY_TIMEOUT = 15 * 60_000;
const POLL = 500;
const LAST_LINES = 10;

/** `make run`: runs cluster, hub, operator and samples until Ctrl-C; with ONCE=1 only until everything is Ready. */
async function main(): Promise<void> {
  const interrupted = untilInterrupted();
  const sandbox = await startSandbox({ hubs: true, interrupted });
  // The imports of the hub take longer than all steps before its start and depend on none of them, so the
  // fork server starts now.
  void sandbox.forkServer?.address();
  const resourceStates = new ResourceStates(sandbox.kubeconfig);
  const codeHost = await startCodeHost();
  let failed = false;
  try {
    const operator = await start(sandbox, codeHost, resourceStates, interrupted);
    const states = await resourceStates.list();
    await writeRunFile(sandbox, runFacts(operator, states));
    await show(sandbox, operator, states);
    if (process.env['ONCE'] === '1') return;
    console.log('\nEvents (Ctrl-C stops everything and removes its data):\n');
    const config = new KubeConfig();
    config.loadFromFile(sandbox.kubeconfig);
    const stopEvents = await followEvents(config, (line) => console.log(line));
    try {
      await Promise.race([interrupted, operatorEnded(operator)]);
    } finally {
      await stopEvents();
    }
  } catch (error) {
    // After a failure data and logs are kept for debugging.
    failed = !(error instanceof Interrupted);
    throw error;
  } finally {
    // The end takes some seconds.
    console.log('\nStopping …');
    resourceStates.close();
    await codeHost.stop();
    await removeRunFile(sandbox);
    await sandbox.stop({ keep: failed });
    console.log(
      `All processes are stopped. ${failed ? 'Data and logs stay until the next start' : 'The data is removed'}: ${sandbox.directory}`,
    );
  }
}

/**
 * Serves a plugin that does nothing in place of the real one, so that the samples work without internet
 * access.
 */
async function startCodeHost(): Promise<CodeHost> {
  const codeHost = await CodeHost.start();
  const script = 'console.info("this is the stand-in for card-mod in a sandbox");\n';
  codeHost.serve('thomasloven/lovelace-card-mod', 'v4.2.1', repositoryZip({ 'card-mod.js': script }));
  return codeHost;
}

async function start(
  sandbox: Sandbox,
  codeHost: CodeHost,
  resourceStates: ResourceStates,
  interrupted: Promise<void>,
): Promise<OperatorProcess> {
  let operator!: OperatorProcess;
  await runSteps(
    [
      { title: 'Bundling the operator', run: () => bundleOperator() },
      { title: 'Installing the kinds and the operator’s role', run: () => installOperator(sandbox) },
      {
        title: 'Starting the operator',
        run: async () => {
          const port = await freePort();
          operator = await startOperator(sandbox, {
            settings: { ...webhookSettings(port), CODE_HOST_URL: codeHost.url },
          });
          await installWebhook(sandbox, port);
          return `${operator.url}/metrics`;
        },
      },
      {
        title: 'Applying samples/',
        // The apply is client-side, because a later `kubectl apply` of a user is client-side too and would
        // warn otherwise.
        run: async () => void (await sandboxKubectl(sandbox, ['apply', '-f', samples])),
      },
      {
        title: 'Waiting until everything is Ready',
        run: (report) =>
          Promise.race([
            untilReady(resourceStates, operator, report),
            rejectWhen(interrupted),
            operatorEnded(operator),
          ]),
      },
    ],
    defaultProgress(),
  );
  return operator;
}

async function untilReady(
  resourceStates: ResourceStates,
  operator: OperatorProcess,
  report: Report,
): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT;
  for (;;) {
    const states = await listStates(resourceStates, report);
    const waiting = states.filter(({ ready }) => !ready);
    if (states.length > 0 && waiting.length === 0) return;
    const [first] = waiting;
    report(
      `${states.length - waiting.length} of ${states.length} Ready${first ? `; ${sentence(first)}` : ''}`,
    );
    if (Date.now() > deadline) {
      throw new SandboxError(
        `Not everything became Ready within ${READY_TIMEOUT / 60_000} minutes: ${waiting.map(sentence).join('; ')}`,
        'Read the logs of the operator and of the hub’s containers, which are kept until the next start. LOG_LEVEL=debug logs more.',
        { logFile: operator.process.logFile },
      );
    }
    await sleep(POLL);
  }
}

/** The API server cannot list a kind until a moment after its CRD was installed. */
async function listStates(resourceStates: ResourceStates, report: Report): Promise<ResourceState[]> {
  try {
    return await resourceStates.list();
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ApiServerUnreachable)) throw error;
    report(error.message);
    return [];
  }
}

const sentence = ({ kind, name, message }: ResourceState): string => `${kind} ${name} ${message}`;

async function operatorEnded({ process: { exited, logFile } }: OperatorProcess): Promise<never> {
  const code = await exited;
  throw new SandboxError(
    `The operator ended with exit code ${code}.`,
    'The last lines of its log are below. The logs and data of this run are kept until the next start.',
    { logFile, lines: await lastLines(logFile, LAST_LINES) },
  );
}

async function show(
  sandbox: Sandbox,
  operator: OperatorProcess,
  states: readonly ResourceState[],
): Promise<void> {
  const kubectl = sandbox.kubectl.join(' ');
  console.log(`\n${await sandboxKubectl(sandbox, ['get', 'home', '--all-namespaces'])}`);
  for (const { namespace, name, resource } of states.filter(({ kind }) => kind === 'Hub')) {
    console.log(`Hub ${name}: ${String(resource.status?.['url'])}  (user admin)
Log of the hub: ${join(sandbox.directory, 'node', 'pods', `${namespace}_${name}-0_*`, 'hub.log')}`);
  }
  console.log(`Operator: process ${operator.process.pid}, ${operator.url}/metrics, log ${operator.process.logFile}

Commands for another terminal:
  export KUBECONFIG=${sandbox.kubeconfig}${kubectl === 'kubectl' ? '' : `\n  alias kubectl='${kubectl}'`}
  kubectl get home -A
  kubectl -n home get secret my-home-admin -o jsonpath='{.data.password}' | base64 -d      # of the user admin
  kubectl -n home get secret my-home-api-token -o jsonpath='{.data.token}' | base64 -d
  kubectl -n home describe hubautomation dim-for-movie-night
  kubectl -n home edit hubautomation dim-for-movie-night
  kubectl -n home wait --for=condition=Ready hubautomation --all`);
}

/** The part of the run file that describes operator, hubs and resources. */
function runFacts(operator: OperatorProcess, states: readonly ResourceState[]): Record<string, unknown> {
  return {
    operator: { pid: operator.process.pid, url: operator.url, log: operator.process.logFile },
    hubs: states
      .filter(({ kind }) => kind === 'Hub')
      .map(({ namespace, name, resource }) => ({ namespace, name, url: resource.status?.['url'] })),
    resources: states.map(({ kind, namespace, name, ready }) => ({ kind, namespace, name, ready })),
  };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\n${formatError(error)}`);
    process.exit(1);
  },
);

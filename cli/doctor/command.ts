import type { Command } from 'commander';
import { HubError, HubUnreachable } from '../../operator/client/connection/errors';
import { type Hub, hub as hubKind } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { isForbidden } from '../../operator/runtime/api-errors';
import { conditionOf } from '../../operator/runtime/conditions';
import type { Cluster } from '../cluster';
import { clusterCommand, type CommandContext, withAllNamespaces } from '../command-context';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { exitCodes } from '../exit-codes';
import { NoWayToHub } from '../hub/port-forward';
import { oneLine, type OutputOptions, printResult, withOutput, wrapped } from '../output';
import { hubNameOf } from '../status/causes';
import { stateOf } from '../status/state';
import type { Terminal } from '../terminal';
import {
  checkApiServer,
  checkClock,
  checkDefinitions,
  checkOperator,
  checkUserRights,
  checkWebhook,
} from './cluster-checks';
import { about, type Finding } from './finding';
import { judgeFailure, judgeHub } from './hub-checks';
import { checkResources } from './resource-checks';
import { checkStorage } from './storage-check';

interface DoctorOptions extends OutputOptions {
  readonly all?: true;
  readonly allNamespaces?: true;
}

export function doctorCommand(context: CommandContext): Command {
  return withOutput(
    withAllNamespaces(clusterCommand('doctor'))
      .summary('look for faults of the installation, the hubs and their resources')
      .description(
        'Checks the cluster (version, definitions, rights, webhook, clock, storage class), the operator, and each hub ' +
          '(reachable, token, bans, recovery and safe mode, repairs, includes, trusted proxies, clock, orphans). Each fault is ' +
          'shown with its remedy. It changes nothing. Exit code 1: there is a fault.',
      )
      .argument('[hub]', 'name of a Hub (default: all in the namespace)')
      .option('--all', 'also what is well'),
  ).action(
    context.clusterAction(async (cluster, name: string | undefined, options: DoctorOptions) => {
      const { terminal } = context.environment;
      const findings = await diagnose(cluster, context.environment, name, options.allNamespaces);
      const shown = options.all ? findings : findings.filter(({ verdict }) => verdict !== 'ok');
      await printResult(terminal, options, findings, () => format(shown, findings, terminal));
      return findings.some(({ verdict }) => verdict === 'fault') ? exitCodes.negative : exitCodes.success;
    }),
  );
}

/** Runs all checks one after another, in the order of the output. */
export async function diagnose(
  cluster: Cluster,
  environment: Environment,
  only?: string,
  isEverywhere = false,
): Promise<readonly Finding[]> {
  const { clock, terminal } = environment;
  const ofCluster: readonly (readonly [string, () => Promise<Finding[]>])[] = [
    ['API server', () => checkApiServer(cluster)],
    ['definitions', () => checkDefinitions(cluster)],
    ['operator', () => checkOperator(cluster, clock.now())],
    ['your rights', () => checkUserRights(cluster)],
    ['webhook', () => checkWebhook(cluster)],
    ['clock', () => checkClock(cluster, () => clock.now())],
  ];
  const findings: Finding[] = [];
  for (const [check, run] of ofCluster) {
    terminal.progress(`Checking: ${check}`);
    findings.push(...(await unlessForbidden(check, 'cluster', run)));
  }
  if (!isEverywhere) return [...findings, ...(await diagnoseNamespace(cluster, environment, only))];
  const { resources } = await cluster.inNamespace('').listReadable();
  const all = [...resources.values()].flat();
  for (const namespace of [...new Set(all.map(({ metadata }) => metadata.namespace ?? ''))].sort())
    findings.push(
      ...(await diagnoseNamespace(cluster.inNamespace(namespace), environment, only, true)).map((each) => ({
        ...each,
        subject: each.subject === 'namespace' ? `namespace ${namespace}` : `${each.subject} in ${namespace}`,
      })),
    );
  return findings;
}

/** @param isOptional whether the named Hub may be missing, because it may be in another namespace */
async function diagnoseNamespace(
  cluster: Cluster,
  environment: Environment,
  only: string | undefined,
  isOptional = false,
): Promise<readonly Finding[]> {
  const { clock, terminal } = environment;
  const { resources, refused } = await cluster.listReadable();
  const findings = [
    ...checkResources(resources, clock.now(), only),
    ...[...refused].map(([kind, message]) => about('resources', kind).skipped(oneLine(message))),
  ];
  const hubs = (resources.get(hubKind.kind) ?? []) as unknown as readonly Hub[];
  const chosen = hubs.filter(({ metadata }) => only === undefined || metadata.name === only);
  if (only !== undefined && chosen.length === 0 && !refused.has(hubKind.kind) && !isOptional)
    await cluster.get(hubKind, only);
  for (const hub of chosen) {
    terminal.progress(`Checking: Hub ${hub.metadata.name}`);
    const subject = `Hub ${hub.metadata.name}`;
    findings.push(...(await unlessForbidden('storage class', subject, () => checkStorage(cluster, hub))));
    findings.push(...(await checkHub(cluster, environment, hub, [...resources.values()].flat())));
  }
  return findings;
}

async function unlessForbidden(
  check: string,
  subject: string,
  run: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    if (isForbidden(error)) return [about(check, subject).skipped(oneLine(error.message))];
    throw error;
  }
}

async function checkHub(
  cluster: Cluster,
  { clock, readHub }: Environment,
  hub: Hub,
  resources: readonly CustomResource[],
): Promise<Finding[]> {
  const { name } = hub.metadata;
  if (hub.spec.suspend) return [];
  try {
    const facts = await readHub(cluster, name);
    const children = resources.filter((each) => each.kind !== hubKind.kind && hubNameOf(each) === name);
    return judgeHub(hub, facts, children, clock.now());
  } catch (error) {
    // The condition of a reconciled Hub says why the hub cannot be reached, and what to do.
    const isKnown =
      conditionOf(hub, 'Ready') !== undefined &&
      ['Progressing', 'Failed', 'Deleting'].includes(stateOf(hub).state);
    if (isKnown && (error instanceof HubUnreachable || error instanceof CommandError))
      return [
        about('hub reachable', `Hub ${name}`).skipped(
          `Not asked, since the Hub is not Ready: ${oneLine(error.message)}`,
        ),
      ];
    if (error instanceof HubError) return [judgeFailure(name, error)];
    if (isForbidden(error)) return [about('token', `Hub ${name}`).skipped(oneLine(error.message))];
    if (!(error instanceof CommandError)) throw error;
    return [
      about(error instanceof NoWayToHub ? 'hub reachable' : 'token', `Hub ${name}`).fault(
        oneLine(error.message),
        `kubectl hub status ${name} says what the hub waits for.`,
      ),
    ];
  }
}

const MARKS = {
  ok: ['green', '✓'],
  fault: ['red', '✗'],
  notice: ['yellow', '!'],
  skipped: ['yellow', '?'],
} as const;

function format(shown: readonly Finding[], all: readonly Finding[], terminal: Terminal): string {
  const { width = Infinity } = terminal;
  const lines = shown.flatMap(({ check, subject, verdict, message, remedy }) => {
    const [colour, mark] = MARKS[verdict];
    const text = `${subject}: ${check}: ${oneLine(message)}`;
    const wayOut = remedy === undefined ? [] : marked('→', remedy, width - INDENT.length);
    return [
      ...marked(terminal.paint(colour, mark), text, width),
      ...wayOut.map((line) => `${INDENT}${terminal.paint('cyan', line)}`),
    ];
  });
  const count = (verdict: Finding['verdict']) => all.filter((each) => each.verdict === verdict).length;
  const faults = count('fault');
  const summary = `${all.length} checks: ${faults} fault${faults === 1 ? '' : 's'}, ${count('skipped')} skipped`;
  return [...lines, summary].join('\n');
}

/** Indent of the remedy below its finding. */
const INDENT = '    ';

/** The lines of a wrapped text; the first one begins with a mark of one column. */
const marked = (mark: string, text: string, width: number): string[] =>
  wrapped(text, width - 2).map((line, index) => `${index === 0 ? mark : ' '} ${line}`);

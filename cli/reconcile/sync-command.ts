import { Argument, type Command } from 'commander';
import { timestamp } from '../../operator/base/clock';
import { hub, kindsByName } from '../../operator/kinds';
import { userAnnotations } from '../../operator/kinds/annotations';
import { type Cluster, resourceType } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { exitCodes } from '../exit-codes';
import { findTarget, type Target } from '../kind-names';
import { Results } from '../output';
import { hubNameOf } from '../status/causes';
import { readTrees } from '../status/command';
import { renderTrees } from '../status/render';
import { stateOf } from '../status/state';
import type { Terminal } from '../terminal';
import { addState, describeState, waitFor, type WaitOptions, withWait } from './wait';

interface SyncOptions extends WaitOptions {
  readonly withResources?: true;
}

export function syncCommand(context: CommandContext): Command {
  return withWait(
    clusterCommand('sync')
      .summary('have the operator reconcile resources now, and wait')
      .description(
        `Sets the annotation \`${userAnnotations.reconcileAt}\`, so that the operator reconciles the resource without remembered ` +
          'answers, and waits until it has. Exit code 1: a resource is not Ready then.',
      )
      .addArgument(new Argument('<resource...>', 'KIND/NAME, or the name of a Hub'))
      .option('--with-resources', 'also every resource that belongs to a named Hub'),
  ).action(
    context.clusterAction(async (cluster, names: string[], options: SyncOptions) => {
      const named = await Promise.all(names.map((each) => findTarget(cluster, each)));
      const targets = options.withResources ? await withChildren(cluster, named) : named;
      const { terminal } = context.environment;
      const showsTree = options.withResources === true && options.wait && options.output === 'table';
      const results = new Results(terminal, options, !showsTree);
      const done = await Promise.all(
        targets.map((target) => sync(cluster, context, target, options, results)),
      ).finally(() => results.end());
      if (showsTree) await printTrees(cluster, terminal, targets);
      return done.includes(false) ? exitCodes.negative : exitCodes.success;
    }),
  );
}

/** Prints the trees of `status` for the Hubs, instead of a line for each resource. */
async function printTrees(cluster: Cluster, terminal: Terminal, targets: readonly Target[]): Promise<void> {
  const hubs = targets.filter(({ definition }) => definition.kind === hub.kind).map(({ name }) => name);
  const trees = (await readTrees(cluster)).filter(({ name }) => hubs.includes(name));
  terminal.print(renderTrees(trees, (style, text) => terminal.paint(style, text), terminal.width));
}

/** @returns false if the resource is not Ready */
async function sync(
  cluster: Cluster,
  { environment }: CommandContext,
  { definition, name }: Target,
  { wait, timeout }: WaitOptions,
  results: Results,
): Promise<boolean> {
  const { clock } = environment;
  await cluster.get(definition, name);
  const requested = `${timestamp(clock.now())} ${Math.round(clock.monotonic())}`;
  await cluster.patch(resourceType(definition), name, {
    metadata: { annotations: { [userAnnotations.reconcileAt]: requested } },
  });
  if (!wait) {
    const { kind } = definition;
    results.add({ kind, name, state: 'Requested' }, `${kind} ${name}: requested`);
    return true;
  }
  const resource = await waitFor(cluster, environment, definition, name, timeout, (each) => {
    // A later request may have replaced this one. The operator then handles both at once.
    const last = each.metadata.annotations?.[userAnnotations.reconcileAt] ?? requested;
    if (each.status?.lastHandledReconcileAt !== last) return 'waiting for the operator';
    return stateOf(each).state === 'Progressing' ? describeState(each) : true;
  });
  return addState(results, resource, definition);
}

async function withChildren(cluster: Cluster, targets: readonly Target[]): Promise<readonly Target[]> {
  const hubs = targets.filter(({ definition }) => definition.kind === hub.kind).map(({ name }) => name);
  const resources = [...(await cluster.listAll()).values()].flat();
  const children = resources
    .filter((each) => each.kind !== hub.kind && hubs.includes(hubNameOf(each)))
    .map(({ kind, metadata }) => ({ definition: kindsByName.get(kind)!, name: metadata.name }));
  const all = [...targets, ...children].map(
    (target) => [`${target.definition.kind}/${target.name}`, target] as const,
  );
  return [...new Map(all).values()];
}

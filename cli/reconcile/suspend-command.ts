import { Argument, type Command } from 'commander';
import { conditionOf } from '../../operator/runtime/conditions';
import { type Cluster, resourceType } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { exitCodes } from '../exit-codes';
import { findTarget } from '../kind-names';
import { Results } from '../output';
import { stateOf } from '../status/state';
import { addState, describeState, type Expectation, waitFor, type WaitOptions, withWait } from './wait';

export function suspendCommand(context: CommandContext): Command {
  return switchCommand(context, 'suspend', true)
    .summary('have the operator leave resources alone')
    .description(
      'Sets `spec.suspend`, and waits until the operator says so: it changes nothing in the hub or the cluster for the ' +
        'resource any more. The next apply of a manifest without `suspend` takes it back.',
    );
}

export function resumeCommand(context: CommandContext): Command {
  return switchCommand(context, 'resume', false)
    .summary('have the operator look after suspended resources again')
    .description(
      'Removes `spec.suspend`, and waits until the resource is Ready. Exit code 1: it is not Ready.',
    );
}

function switchCommand(context: CommandContext, name: string, suspend: boolean): Command {
  return withWait(
    clusterCommand(name).addArgument(new Argument('<resource...>', 'KIND/NAME, or the name of a Hub')),
  ).action(
    context.clusterAction(async (cluster, names: string[], options: WaitOptions) => {
      const results = new Results(context.environment.terminal, options);
      const given = { suspend, options, results };
      const done = await Promise.all(names.map((each) => apply(cluster, context, each, given))).finally(() =>
        results.end(),
      );
      return done.includes(false) ? exitCodes.negative : exitCodes.success;
    }),
  );
}

interface Given {
  readonly suspend: boolean;
  readonly options: WaitOptions;
  readonly results: Results;
}

/** @returns false if a resource is not Ready after it was resumed */
async function apply(
  cluster: Cluster,
  { environment }: CommandContext,
  argument: string,
  { suspend, options: { wait, timeout }, results }: Given,
): Promise<boolean> {
  const { definition, name } = await findTarget(cluster, argument);
  const patched = await cluster.patch(resourceType(definition), name, { spec: { suspend } });
  const { kind } = definition;
  if (!wait) {
    results.add(
      { kind, name, state: 'Requested' },
      `${kind} ${name}: ${suspend ? 'suspend' : 'resume'} requested`,
    );
    return true;
  }
  const expected = suspend ? isSuspended : isSettled(patched.metadata.generation);
  const resource = await waitFor(cluster, environment, definition, name, timeout, expected);
  if (!suspend) return addState(results, resource, definition);
  results.add(
    { kind, name, ...stateOf(resource) },
    `${kind} ${name}: Suspended: the operator changes nothing for it`,
  );
  return true;
}

const isSuspended: Expectation = (resource) =>
  conditionOf(resource, 'Suspended')?.status === 'True' || 'waiting for the operator';

const isSettled =
  (generation: number): Expectation =>
  (resource) => {
    if (conditionOf(resource, 'Suspended') || (resource.status?.observedGeneration ?? 0) < generation)
      return 'waiting for the operator';
    return stateOf(resource).state === 'Progressing' ? describeState(resource) : true;
  };

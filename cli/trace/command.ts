import { type Command, Option } from 'commander';
import type { RunTrace, TraceStep } from '../../operator/client/connection/api-types';
import { redactValue } from '../../operator/client/connection/redact';
import { automation, script } from '../../operator/kinds';
import type { Cluster } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { CommandError } from '../command-error';
import { countFrom } from '../duration';
import { type ExitCode, exitCodes } from '../exit-codes';
import { openHub } from '../hub/access';
import { findTarget, type Target } from '../kind-names';
import { oneLine, type OutputOptions, printResult, withOutput } from '../output';
import { hubNameOf } from '../status/causes';

interface TraceOptions extends OutputOptions {
  readonly runs: number;
}

/** A run with its steps in the order in which they were executed. */
export interface Run extends RunTrace {
  readonly steps: readonly TraceStep[];
}

export function traceCommand(context: CommandContext): Command {
  return withOutput(
    clusterCommand('trace')
      .summary('show the last runs of an automation or script')
      .description(
        'Shows the last runs that the hub remembers, newest first: what triggered them, the steps that were taken with their ' +
          'results, and how they ended.',
      )
      .argument('<resource>', 'name of a HubAutomation or HubScript, or KIND/NAME')
      .addOption(new Option('--runs <count>', 'number of runs').argParser(countFrom(1)).default(1, '1')),
  ).action(
    context.clusterAction(async (cluster, argument: string, options: TraceOptions) =>
      trace(cluster, context, await targetOf(cluster, argument), options),
    ),
  );
}

async function targetOf(cluster: Cluster, argument: string): Promise<Target> {
  const target = await findTarget(cluster, argument, [automation, script]);
  const { kind } = target.definition;
  if (kind !== automation.kind && kind !== script.kind)
    throw new CommandError(`a ${kind} has no runs: name a HubAutomation or a HubScript`);
  return target;
}

async function trace(
  cluster: Cluster,
  { environment: { clock, terminal } }: CommandContext,
  { definition, name }: Target,
  options: TraceOptions,
): Promise<ExitCode> {
  const resource = await cluster.get(definition, name);
  const domain = definition.kind === automation.kind ? 'automation' : 'script';
  const id = definition.identity!(resource)!;
  const hub = await openHub(cluster, hubNameOf(resource), clock);
  try {
    const { connection, rest } = hub.client;
    const known = await connection.command('trace/list', { domain, item_id: id });
    const last = [...known].reverse().slice(0, options.runs);
    const runs = await Promise.all(
      last.map(async ({ run_id: runId }): Promise<Run> => {
        const { trace: byPath, ...run } = await connection.command('trace/get', {
          domain,
          item_id: id,
          run_id: runId,
        });
        return { ...summaryOf(run), steps: stepsOf(byPath) };
      }),
    );
    if (runs.length === 0 && options.output === 'table')
      terminal.warn(`The hub remembers no run of ${definition.kind} ${name} since its start.`);
    else
      await printResult(terminal, options, redactValue(runs, rest.redact), () =>
        rest.redact(formatRuns(runs)),
      );
    return exitCodes.success;
  } finally {
    hub.close();
  }
}

function summaryOf({ run_id, state, script_execution, timestamp, error, trigger }: RunTrace): RunTrace {
  return { run_id, state, script_execution, timestamp, error, trigger };
}

/** The steps of all paths in chronological order; simultaneous steps keep the order of the answer. */
export function stepsOf(byPath: Readonly<Record<string, readonly TraceStep[]>>): TraceStep[] {
  return Object.values(byPath)
    .flat()
    .map(({ path, timestamp, result, error }) => ({
      path,
      timestamp,
      ...(result != null && { result }),
      ...(error != null && { error }),
    }))
    .sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
}

export function formatRuns(runs: readonly Run[]): string {
  return runs.map(formatRun).join('\n\n');
}

function formatRun({ timestamp, script_execution: end, state, trigger, error, steps }: Run): string {
  const head = [
    timestamp.start,
    end ?? state,
    ...(trigger ? [`triggered by ${oneLine(trigger)}`] : []),
    ...(error ? [oneLine(error)] : []),
  ];
  const start = Date.parse(timestamp.start);
  const lines = steps.map(({ path, timestamp: at, result, error: failed }) => {
    const seconds = Math.max(0, (Date.parse(at) - start) / 1_000).toFixed(3);
    const outcome = failed ? `failed: ${oneLine(failed)}` : result ? oneLine(JSON.stringify(result)) : '';
    return `  +${seconds}s  ${path}  ${outcome}`.trimEnd();
  });
  return [head.join('  '), ...lines].join('\n');
}

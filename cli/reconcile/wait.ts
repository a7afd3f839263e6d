import type { Command } from 'commander';
import type { KindDefinition } from '../../operator/kinds/kind';
import type { CustomResource } from '../../operator/kinds/resource';
import type { Cluster } from '../cluster';
import { CommandError } from '../command-error';
import { parseDuration } from '../duration';
import type { Environment } from '../environment';
import { exitCodes } from '../exit-codes';
import { oneLine, type OutputOptions, type Results, withOutput } from '../output';
import { stateOf } from '../status/state';

/** Milliseconds between two reads while waiting for a resource. */
const INTERVAL = 1_000;

export interface WaitOptions extends OutputOptions {
  readonly wait: boolean;
  /** Longest wait in milliseconds. */
  readonly timeout: number;
}

export function withWait(command: Command): Command {
  return withOutput(
    command
      .option('--no-wait', 'return at once')
      .option('--timeout <duration>', 'longest wait, such as 90s or 5m', parseDuration, 5 * 60_000),
  );
}

/** True if the resource is as expected, or else a few words about the missing part. */
export type Expectation = (resource: CustomResource) => true | string;

/**
 * Reads a resource repeatedly until it is as expected.
 *
 * @throws CommandError after the timeout, with exit code 1 and the last state
 */
export async function waitFor(
  cluster: Cluster,
  { clock, signal, terminal }: Pick<Environment, 'clock' | 'signal' | 'terminal'>,
  definition: KindDefinition,
  name: string,
  timeout: number,
  expected: Expectation,
): Promise<CustomResource> {
  const end = clock.monotonic() + timeout;
  const object = `${definition.kind} ${name}`;
  for (;;) {
    const resource = await cluster.get(definition, name);
    const answer = expected(resource);
    if (answer === true) return resource;
    if (clock.monotonic() >= end)
      throw new CommandError(
        `${object} is not there after ${timeout / 1_000} s: ${oneLine(answer)}`,
        exitCodes.negative,
      );
    terminal.progress(`${object}: ${oneLine(answer)}`);
    await clock.sleep(INTERVAL, signal);
  }
}

/** Adds the final state of a resource after a wait. @returns whether it is Ready */
export function addState(results: Results, resource: CustomResource, { kind }: KindDefinition): boolean {
  const { name } = resource.metadata;
  const state = stateOf(resource);
  results.add({ kind, name, ...state }, `${kind} ${name}: ${describeState(resource)}`);
  return state.state === 'Ready';
}

/** Describes the state of a resource in a few words. */
export function describeState(resource: CustomResource): string {
  const { state, reason, message } = stateOf(resource);
  return [reason ?? state, message].filter((part) => part !== undefined).join(': ');
}

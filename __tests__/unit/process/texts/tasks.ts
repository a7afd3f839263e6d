import type { BoundedTask } from '../../../../operator/base/bounded-task';

/** Tasks that use the memory and the time of the process up to its limits, and beyond. */

export const echo: BoundedTask<unknown, unknown> = { name: 'echo', run: (input) => input };

export const inPlace: BoundedTask<string, string> = {
  name: 'inPlace',
  run: (input) => input,
  inPlace: (input) => (input === 'short' ? 'in place' : undefined),
};

export const spin: BoundedTask<string, never> = {
  name: 'spin',
  run: (part, at) => {
    at(part);
    for (;;) JSON.stringify(part);
  },
};

/** A process that waits without using the processor, as on a busy machine. */
export const sleep: BoundedTask<string, never> = {
  name: 'sleep',
  run: (part, at) => {
    at(part);
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  },
};

/** Allocations that a thread with `resourceLimits` does not survive. */
const waysToFill: Readonly<Record<string, () => never>> = {
  objects: () => {
    for (const kept: object[] = []; ;) kept.push({});
  },
  numbers: () => {
    for (const kept: number[] = []; ;) kept.push(1.5);
  },
  map: () => {
    const kept = new Map<number, number>();
    for (let index = 0; ; index++) kept.set(index, index);
  },
};

export const fill: BoundedTask<string, never> = {
  name: 'fill',
  run: (way, at) => {
    at(`spec.${way}`);
    return waysToFill[way]!();
  },
};

export const deep: BoundedTask<null, unknown> = {
  name: 'deep',
  run: () => {
    const nest = (depth: number): number => (depth < 0 ? 0 : 1 + nest(depth + 1));
    return nest(0);
  },
};

export const values: BoundedTask<number, readonly number[]> = {
  name: 'values',
  run: (count) => Array.from({ length: count }, (_, index) => index),
};

export const broken: BoundedTask<string, never> = {
  name: 'broken',
  run: (text) => {
    throw new TypeError(`cannot read ${text}`);
  },
};

/** Uses this many milliseconds of processor time, over all threads. */
export const burn: BoundedTask<number, string> = {
  name: 'burn',
  run: (time) => {
    const used = () => {
      const { system, user } = process.cpuUsage();
      return (system + user) / 1_000;
    };
    for (const end = used() + time; used() < end;);
    return 'burnt';
  },
};

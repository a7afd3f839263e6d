import { defaultSettings } from './settings';

/**
 * Percentage of the container's memory limit for V8's old generation. The remainder is for the rest of the
 * Node.js process, for the buffers of answers, and for the process that parses untrusted texts, which takes
 * up to 106 MiB.
 *
 * Without the flag V8 would size its heap for the machine, and the kernel would kill the process before it
 * collects its garbage. Node.js reads the limit from the container's cgroup, so the limit is set in one
 * place.
 */
export const HEAP_PERCENTAGE = 41;

/** The shipped memory limit in bytes. */
export function shippedMemory(): number {
  const [, mebibytes] = /^(\d+)Mi$/.exec(defaultSettings.resources.limits.memory)!;
  return Number(mebibytes) * 2 ** 20;
}

/**
 * V8's limit for the old generation in MiB under the shipped memory limit, for a process without a container.
 */
export function shippedHeapLimit(): number {
  return heapLimit(shippedMemory());
}

/** {@link shippedHeapLimit} under another memory limit, in bytes. */
export function heapLimit(memory: number): number {
  return Math.floor((memory / 2 ** 20) * (HEAP_PERCENTAGE / 100));
}

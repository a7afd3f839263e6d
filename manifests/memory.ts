import { defaultSettings } from './settings';

/**
 * Percent of the container's memory limit for V8's old objects. The remainder is for what else a Node.js process needs,
 * for the buffers of answers, and for the process that reads foreign texts, which takes up to 106 MiB. By itself V8 would take the size of its heap from the machine, and be killed before it
 * collects its garbage. Node.js reads the limit from the container's cgroup, so that the limit is set in one place.
 */
export const HEAP_PERCENTAGE = 41;

/** The shipped memory limit in bytes. */
export function shippedMemory(): number {
  const [, mebibytes] = /^(\d+)Mi$/.exec(defaultSettings.resources.limits.memory)!;
  return Number(mebibytes) * 2 ** 20;
}

/** V8's limit for old objects in MiB under the shipped memory limit, for a process without a container. */
export function shippedHeapLimit(): number {
  return heapLimit(shippedMemory());
}

/** {@link shippedHeapLimit} under another memory limit, in bytes. */
export function heapLimit(memory: number): number {
  return Math.floor((memory / 2 ** 20) * (HEAP_PERCENTAGE / 100));
}

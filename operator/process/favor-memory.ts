import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 prefer a small heap to speed. As a flag of the command line, this would also limit a half of the young generation to 1 MB
 * against `--max-semi-space-size`, and collections would take a fifth of the processor time.
 */
export function favorMemory(): void {
  setFlagsFromString('--optimize-for-size');
}

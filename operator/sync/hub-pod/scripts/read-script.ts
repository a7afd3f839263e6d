import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The text of a program in this folder. In the bundle this module is replaced by the texts themselves
 * (operator/bundle.mjs).
 */
export const readScript = (name: string): string => readFileSync(join(__dirname, name), 'utf8');

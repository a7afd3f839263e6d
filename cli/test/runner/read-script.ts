import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The source of a Python file in this folder. In the bundle, operator/bundle.mjs replaces this module by one
 * with the sources.
 */
export const readScript = (name: string): string => readFileSync(join(__dirname, name), 'utf8');

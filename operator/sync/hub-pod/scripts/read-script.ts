import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The text of a program in this folder. In the bundle, operator/bundle.mjs puts the texts in the place of this module. */
export const readScript = (name: string): string => readFileSync(join(__dirname, name), 'utf8');

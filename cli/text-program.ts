import { join } from 'node:path';
import { bundled } from '../operator/text-program';

/**
 * The source of the commands' program `text-tasks.ts`, built on demand. In a bundle, operator/bundle.mjs
 * replaces this module by a constant.
 */
export const textProgram = (): Promise<string> => bundled(join(__dirname, 'text-tasks.ts'));

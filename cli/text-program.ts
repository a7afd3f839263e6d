import { join } from 'node:path';
import { bundled } from '../operator/text-program';

/** The program `text-tasks.ts` of the commands as one text. In a bundle it is a constant that operator/bundle.mjs puts here. */
export const textProgram = (): Promise<string> => bundled(join(__dirname, 'text-tasks.ts'));

import { join } from 'node:path';
import { build } from 'esbuild';

/** The program `text-tasks.ts` as one text. In a bundle it is a constant that operator/bundle.mjs puts in the place of this module. */
export const textProgram = (): Promise<string> => bundled(join(__dirname, 'text-tasks.ts'));

export async function bundled(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

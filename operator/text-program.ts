import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * The source of the program `text-tasks.ts`, built on demand. In a bundle, operator/bundle.mjs replaces this
 * module by a constant.
 */
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

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds and runs a program with two chunks, the second of which throws while it runs. */
function runTwice(): unknown {
  const entry = `
    const load = () => import('./part.cjs').then(Object.keys, ({ message }) => message);
    load().then(async (first) => console.log(JSON.stringify([first, await load()])));`;
  const part = `export const half = 1; throw new Error('no room');`;
  const build = `
    import { inOneFile } from ${JSON.stringify(join(__dirname, '../../../operator/chunks.mjs'))};
    const outputs = ${JSON.stringify([
      { path: '/kubectl-hub.cjs', text: entry },
      { path: '/part.cjs', text: part },
    ])};
    console.log(await inOneFile(outputs, 'kubectl-hub.cjs', 'node20'));`;
  const program = execFileSync(process.execPath, ['--input-type=module', '-e', build], { encoding: 'utf8' });
  // Compiled as a file for Node.js, since the program needs its own name.
  const run = `new (require('node:module'))('/kubectl-hub.cjs')._compile(${JSON.stringify(program)}, '/kubectl-hub.cjs')`;
  return JSON.parse(execFileSync(process.execPath, ['-e', run], { encoding: 'utf8' }));
}

test('a chunk of the program that throws while it runs does not count as loaded', () => {
  expect(runTwice()).toEqual(['no room', 'no room']);
});

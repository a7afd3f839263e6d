import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HubInBrowser, findBrowser } from '../__tests__/cluster/browser';
import { runFile } from '../sandbox/run-file';

// `make picture`, while `make run` runs: makes docs/images/home.png, which shows the output of commands about
// the samples beside a page of the hub.

const HEIGHT = 640;

async function main(): Promise<void> {
  const run = JSON.parse(readFileSync(runFile(), 'utf8')) as { kubeconfig: string; kubectl: string[] };
  const [program, ...first] = run.kubectl as [string, ...string[]];
  const env = { ...process.env, KUBECONFIG: run.kubeconfig };
  const read = (...args: string[]) =>
    execFileSync(program, [...first, '-n', 'home', 'get', ...args], { encoding: 'utf8', env });
  const status = execFileSync('node_modules/.bin/tsx', ['cli/index.ts', 'status', '-n', 'home'], {
    encoding: 'utf8',
    env,
    cwd: join(__dirname, '..'),
  });
  const outputs = [
    typed('kubectl hub status -n home', status),
    typed('kubectl get hubautomations -n home', read('hubautomations')),
  ];
  const url = read('hub', 'my-home', '-o', 'jsonpath={.status.url}');
  const token = read('secret', 'my-home-api-token', '-o', 'jsonpath={.data.token}');
  const found = findBrowser();
  if ('obstacle' in found) throw new Error(`cannot make the picture: ${found.obstacle}`);
  const hub = await HubInBrowser.open(found.path, url, Buffer.from(token, 'base64').toString());
  try {
    const { page } = hub;
    await page.setViewportSize({ width: 980, height: HEIGHT });
    await hub.goto('/config/automation/dashboard');
    await page.getByText('Welcome home after a holiday').first().waitFor();
    const shown = (await page.screenshot()).toString('base64');
    await page.setViewportSize({ width: 1600, height: HEIGHT + 60 });
    await page.setContent(sideBySide(outputs.join('\n'), shown));
    const folder = join(__dirname, '..', 'docs', 'images');
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, 'home.png') });
  } finally {
    await hub.close();
  }
}

/** Formats a command as typed by a user, and its output. */
const typed = (command: string, output: string) =>
  `<u>$ ${command}</u>\n${escaped(output).replaceAll('✓', '<i>✓</i>')}`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const sideBySide = (outputs: string, shown: string) => `<style>
  body { margin: 0; padding: 30px; display: flex; gap: 30px; background: #dfe7ef; }
  pre { margin: 0; flex: 1; height: ${HEIGHT}px; padding: 20px; box-sizing: border-box; overflow: hidden;
    border-radius: 10px; background: #16202b; color: #d8e2ec; font: 14px/1.25 monospace; }
  i { color: #7ee2a8; font-style: normal; } u { color: #8fa3b7; text-decoration: none; }
  img { height: ${HEIGHT}px; border-radius: 10px; }
</style><pre>${outputs}</pre><img src="data:image/png;base64,${shown}">`;

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

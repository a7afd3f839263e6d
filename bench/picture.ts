import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HubInBrowser, findBrowser } from '../__tests__/cluster/browser';
import type { CustomResource } from '../operator/kinds/resource';
import { conditionOf } from '../operator/runtime/conditions';
import { runFile } from '../sandbox/run-file';

// `make picture`, while `make run` runs: docs/images/home.png, the resources of the samples beside a page of the hub.

const HEIGHT = 640;

async function main(): Promise<void> {
  const run = JSON.parse(readFileSync(runFile(), 'utf8')) as { kubeconfig: string; kubectl: string[] };
  const [program, ...first] = run.kubectl as [string, ...string[]];
  const read = (...args: string[]) =>
    execFileSync(program, [...first, '--kubeconfig', run.kubeconfig, '-n', 'home', 'get', ...args], {
      encoding: 'utf8',
    });
  const url = read('hub', 'my-home', '-o', 'jsonpath={.status.url}');
  const token = read('secret', 'my-home-api-token', '-o', 'jsonpath={.data.token}');
  const { items } = JSON.parse(read('home', '-o', 'json')) as { items: CustomResource[] };
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
    await page.setContent(sideBySide(treeOf(items), shown));
    const folder = join(__dirname, '..', 'docs', 'images');
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, 'home.png') });
  } finally {
    await hub.close();
  }
}

/** The Hub, and below it the other resources by kind. */
function treeOf(items: readonly CustomResource[]): string {
  const children = items.filter(({ kind }) => kind !== 'Hub');
  const kinds = [...new Set(children.map(({ kind }) => kind))];
  const lines = kinds.flatMap((kind, index) => {
    const ofKind = children.filter((each) => each.kind === kind);
    const [branch, trunk] = index === kinds.length - 1 ? ['└─', '  '] : ['├─', '│ '];
    return [
      `${branch} <b>${kind}</b>`,
      ...ofKind.map((each, position) => {
        const isReady = conditionOf(each, 'Ready')?.status === 'True';
        return `${trunk} ${position === ofKind.length - 1 ? '└─' : '├─'} ${each.metadata.name} <i>${isReady ? '✓' : '…'}</i>`;
      }),
    ];
  });
  return ['<u>$ kubectl get home -n home</u>', '<b>Hub</b> my-home <i>✓</i>', ...lines].join('\n');
}

const sideBySide = (tree: string, shown: string) => `<style>
  body { margin: 0; padding: 30px; display: flex; gap: 30px; background: #dfe7ef; }
  pre { margin: 0; flex: 1; height: ${HEIGHT}px; padding: 20px; box-sizing: border-box; overflow: hidden;
    border-radius: 10px; background: #16202b; color: #d8e2ec; font: 14px/1.25 monospace; }
  b { color: #7cc7ff; } i { color: #7ee2a8; font-style: normal; } u { color: #8fa3b7; text-decoration: none; }
  img { height: ${HEIGHT}px; border-radius: 10px; }
</style><pre>${tree}</pre><img src="data:image/png;base64,${shown}">`;

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

import { join } from 'node:path';
import { goInstalled } from './go-install';
import type { Report } from './progress';

/** Path of the real Helm, which the tests of the chart call; built when the cache has none. */
export async function helmProgram(report: Report = () => {}): Promise<string> {
  const folder = await goInstalled(
    { name: 'helm', title: 'Helm', commands: ['helm.sh/helm/v3/cmd/helm'], version: 'v3.19.2' },
    report,
  );
  return join(folder, 'helm');
}

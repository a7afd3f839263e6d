import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NEWEST_SUPPORTED, OLDEST_SUPPORTED } from '../../../operator/base/hub-version';
import { NEWEST_HUB } from '../../../sandbox/hub-software';
import { repository } from './sources';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

describe('docs/reference/supported-versions.md', () => {
  const page = read('docs/reference/supported-versions.md');

  test('names the Kubernetes of the sandbox', () => {
    const [, version] = /k8s\.io\/kubernetes v([\d.]+)/.exec(read('sandbox/go/go.mod'))!;
    expect(page).toContain(`| Kubernetes     | ${version} `);
  });

  test('names the Home Assistant of the sandbox', () => {
    expect(NEWEST_SUPPORTED).toBe(NEWEST_HUB);
    expect(page).toContain(`| Home Assistant | ${NEWEST_HUB} `);
    expect(page).toContain(`| Home Assistant | ${OLDEST_SUPPORTED} `);
  });
});

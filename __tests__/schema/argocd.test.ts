import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { argoSettings, healthCheck } from '../../manifests/argocd';
import { kinds } from '../../operator/kinds';
import type { Condition } from '../../operator/kinds/condition';
import type { CustomResource } from '../../operator/kinds/resource';
import {
  conditionsAfter,
  conditionsAfterError,
  conditionsWhileSuspended,
} from '../../operator/runtime/conditions';
import { ready, stalled, waiting } from '../../operator/runtime/outcome';
import { argoHealth, type Health } from '../../sandbox/checks';
import { mustKubectl } from '../cluster';
import { kstatusViolations } from '../cluster/kstatus';
import { resource } from '../unit/resource';

/** Argo CD's health check in its Lua interpreter, with the conditions that the operator itself writes. */

const at = '2026-11-22T08:00:00Z';

const withConditions = (conditions: readonly Condition[], generation = 1, spec: object = {}) =>
  resource('villa', spec, { generation, status: { observedGeneration: 1, conditions } });

const isReady = conditionsAfter([], ready('HubRunning', 'The hub runs.'), 1, at);
const isWaiting = conditionsAfter([], waiting('HubNotReady', 'Waiting for the Hub my-home.', 10_000), 1, at);
const isStalled = conditionsAfter([], stalled('InvalidSpec', 'spec.alias is empty: set it.'), 1, at);
const hasFailed = conditionsAfterError([], { reason: 'InternalError', message: 'It failed.' }, 1, at);

const cases: readonly [string, CustomResource, Health][] = [
  ['is Ready', withConditions(isReady), { status: 'Healthy', message: 'The hub runs.' }],
  ['waits', withConditions(isWaiting), { status: 'Progressing', message: 'Waiting for the Hub my-home.' }],
  ['is stalled', withConditions(isStalled), { status: 'Degraded', message: 'spec.alias is empty: set it.' }],
  ['has failed and is retried', withConditions(hasFailed), { status: 'Progressing', message: 'It failed.' }],
  [
    'was Ready before it was changed',
    withConditions(isReady, 2),
    { status: 'Progressing', message: 'Waiting for the operator.' },
  ],
  [
    'was stalled before it was changed',
    withConditions(isStalled, 2),
    { status: 'Progressing', message: 'Waiting for the operator.' },
  ],
  [
    'the operator has not seen yet',
    resource('villa', {}, { status: { observedGeneration: -1 } }),
    { status: 'Progressing', message: 'Waiting for the operator.' },
  ],
  [
    'is suspended',
    withConditions(conditionsWhileSuspended(isReady, 1, at), 1, { suspend: true }),
    { status: 'Suspended', message: 'spec.suspend is true.' },
  ],
  [
    'is in a dry-run',
    withConditions(conditionsAfter([], ready('DryRun', 'Nothing would be changed.'), 1, at)),
    { status: 'Suspended', message: 'Nothing would be changed.' },
  ],
];

describe('healthCheck', () => {
  test.each(cases)('a resource that %s has its health', async (_, object, health) => {
    expect(await argoHealth(healthCheck(), [object])).toEqual([health]);
  });

  test.each(cases)('the status of a resource that %s follows the rules of kstatus', (_, object) => {
    expect(kstatusViolations(object)).toEqual([]);
  });

  test('each kind has the check', () => {
    const { data } = argoSettings();
    expect(Object.entries(data)).toEqual(
      kinds.map(({ kind }) => [`resource.customizations.health.hub-operator.dev_${kind}`, healthCheck()]),
    );
  });

  test('the file is a patch for kustomize, too, which keeps what the ConfigMap has', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'argocd-'));
    try {
      const files = {
        'kustomization.yaml': 'resources: [argocd-cm.yaml]\npatches: [{ path: argocd-cm-patch.yaml }]\n',
        'argocd-cm.yaml':
          'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: argocd-cm }\ndata: { url: https://example.org }\n',
      };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      await copyFile('dist/argocd/argocd-cm-patch.yaml', join(folder, 'argocd-cm-patch.yaml'));
      const { data } = load(await mustKubectl(['kustomize', folder])) as { data: Record<string, string> };
      expect(data).toEqual({ url: 'https://example.org', ...argoSettings().data });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

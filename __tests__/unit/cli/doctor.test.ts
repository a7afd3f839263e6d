import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { version } from '../../../package.json';
import { HubBanned, NotHomeAssistant, TokenRejected } from '../../../operator/client/connection/errors';
import { kinds } from '../../../operator/kinds';
import { API_GROUP } from '../../../operator/kinds/group';
import { runningText } from '../../../operator/kinds/hub/running-text';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import type { Finding } from '../../../cli/doctor/finding';
import { judgeHub } from '../../../cli/doctor/hub-checks';
import { type HubFacts, type InnerFacts, readFacts } from '../../../cli/doctor/hub-facts';
import { silentLog } from '../../../cli/hub/silent-log';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { refusedProxy } from '../../../operator/client/setup/http-settings';
import { CommandError } from '../../../cli/command-error';
import { CONFIG, FakeHub, json, text } from '../client/fake-hub';
import { notFound } from '../runtime/fake-api-client';
import { CommandLine, forbidden, ofHub, resource } from './command-line';

const NOW = Date.UTC(2026, 0, 1);
const villa = resource('Hub', 'villa', {}, { reason: 'HubRunning' });
const porch = resource('HubAutomation', 'porch', ofHub('villa'), { fields: { automationId: 'porch' } });

const inner: InnerFacts = {
  components: ['automation', 'scene', 'script'],
  issues: [],
  trustsProxies: true,
  created: [{ kind: 'automation', id: 'porch', entityId: 'automation.porch', labels: [] }],
};
const healthy: HubFacts = {
  core: { version: '2026.11.0', state: 'RUNNING', recovery_mode: false, safe_mode: false },
  isAdmin: true,
  time: NOW,
  inner,
};

const labels = { 'app.kubernetes.io/version': version };
const installed = {
  '/version': { major: '1', minor: '36', gitVersion: 'v1.36.3' },
  '/apis/apps/v1/deployments': {
    items: [
      {
        metadata: { name: 'hub-operator', namespace: 'operators', labels },
        spec: { template: { spec: { serviceAccountName: 'hub-operator' } } },
        status: { availableReplicas: 1 },
      },
    ],
  },
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hub-operator': {
    metadata: { name: 'hub-operator' },
    webhooks: [
      {
        clientConfig: { caBundle: 'Q0E=', service: { namespace: 'operators', name: 'hub-operator-webhook' } },
      },
    ],
  },
  '/apis/discovery.k8s.io/v1/namespaces/operators/endpointslices': {
    items: [{ endpoints: [{ conditions: { ready: true } }] }],
  },
  '/api/v1/namespaces/home/configmaps': {
    metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' },
  },
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: true } },
  '/apis/authorization.k8s.io/v1/subjectaccessreviews': { status: { allowed: true } },
  '/api/v1/namespaces/home/persistentvolumeclaims/villa-config': {
    metadata: { name: 'villa-config' },
    spec: { storageClassName: 'fast' },
    status: { phase: 'Bound' },
  },
  '/apis/storage.k8s.io/v1/storageclasses': { items: [{ metadata: { name: 'slow' } }] },
  ...Object.fromEntries(
    kinds.map(({ plural }) => [
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${API_GROUP}`,
      { metadata: { name: plural, labels }, spec: { versions: [{ name: 'v1', served: true }] } },
    ]),
  ),
} as const;

type Answers = Record<string, unknown>;

function cluster(answers: Answers = {}, ...objects: readonly CustomResource[]): CommandLine {
  const line = new CommandLine(...(objects.length > 0 ? objects : [villa, porch]));
  const all: Answers = { ...installed, ...answers };
  line.intercept = ({ path, body }: ApiRequest) => {
    if (!(path in all)) return undefined;
    const answer = all[path];
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? (answer as (body: unknown) => unknown)(body) : answer;
  };
  line.readHub = () => Promise.resolve({ ...healthy, time: line.clock.now() });
  return line;
}

const crd = (plural: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${API_GROUP}`;
const hubWith = (facts: Partial<HubFacts>) => {
  const line = cluster();
  line.readHub = () => Promise.resolve({ ...healthy, time: line.clock.now(), ...facts });
  return line;
};
const hubTelling = (facts: Partial<InnerFacts>) => hubWith({ inner: { ...inner, ...facts } });
const hubFailing = (error: Error) => {
  const line = cluster();
  line.readHub = () => Promise.reject(error);
  return line;
};
const [deployment] = installed['/apis/apps/v1/deployments'].items;
/** Returns the Deployment of an operator with these settings. */
function operatorIn(namespace: string, settings: Readonly<Record<string, string>>) {
  const env = Object.entries(settings).map(([name, value]) => ({ name, value }));
  const containers = [{ env: [...env, { name: 'POD_IP', valueFrom: {} }] }];
  return {
    ...deployment,
    metadata: { ...deployment.metadata, namespace },
    spec: { template: { spec: { serviceAccountName: 'hub-operator', containers } } },
  };
}
const denied =
  (resource: string) =>
  (body: { spec: { resourceAttributes: { resource: string } } }): object => ({
    status: { allowed: body.spec.resourceAttributes.resource !== resource },
  });
const old = '2025-12-31T23:00:00Z';

/** Faults by name: the cluster that has the fault, the line that names it, and a part of its remedy. */
const faults: readonly (readonly [string, CommandLine, string, string])[] = [
  [
    'an old API server',
    cluster({ '/version': { major: '1', minor: '31+', gitVersion: 'v1.31.2' } }),
    'cluster: API server: Kubernetes v1.31.2 is older than 1.32',
    'Update the cluster',
  ],
  [
    'a missing definition',
    cluster({ [crd('hubzones')]: notFound() }),
    `CRD hubzones.${API_GROUP}: definitions: The cluster does not have it.`,
    'Apply the CRDs',
  ],
  [
    'a definition of another version',
    cluster({
      [crd('hubs')]: {
        metadata: { name: 'hubs', labels: { 'app.kubernetes.io/version': '0.0.9' } },
        spec: { versions: [{ name: 'v1', served: true }] },
      },
    }),
    `It is of version 0.0.9, and this program of ${version}`,
    'Apply the CRDs of version',
  ],
  [
    'an operator that does not run',
    cluster({ '/apis/apps/v1/deployments': { items: [{ ...deployment, status: {} }] } }),
    'cluster: operator: No pod of the Deployment operators/hub-operator is ready.',
    'kubectl describe pods -n operators',
  ],
  [
    'a second operator that does not run',
    cluster({
      '/apis/apps/v1/deployments': {
        items: [
          operatorIn('operators', { WATCH_NAMESPACES: 'home' }),
          { ...operatorIn('other', { WATCH_NAMESPACES: 'cabin' }), status: {} },
        ],
      },
    }),
    'cluster: operator: No pod of the Deployment other/hub-operator is ready.',
    'kubectl describe pods -n other',
  ],
  [
    'two operators that work in one namespace',
    cluster({
      '/apis/apps/v1/deployments': {
        items: [operatorIn('operators', {}), operatorIn('other', { WATCH_NAMESPACES: 'home' })],
      },
    }),
    'cluster: operator: The Deployments operators/hub-operator and other/hub-operator both work in the namespace home:',
    'Uninstall one of them',
  ],
  [
    'a right that the user lacks',
    cluster({ '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': denied('secrets') }),
    'cluster: your rights: You may not get secrets.',
    'ask for a role',
  ],
  [
    'ports that the user may not forward',
    cluster({ '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': denied('pods') }),
    'cluster: your rights: You may not get pods/log; get, list pods; create pods/portforward.',
    'ask for a role',
  ],
  [
    'a right that the operator lacks',
    cluster({ '/apis/authorization.k8s.io/v1/subjectaccessreviews': denied('statefulsets') }),
    'system:serviceaccount:operators:hub-operator may not get, list, watch, create, patch, delete statefulsets in apps.',
    'Apply the roles',
  ],
  [
    'a webhook without a certificate',
    cluster({
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hub-operator': {
        metadata: { name: 'hub-operator' },
        webhooks: [{ clientConfig: { service: { namespace: 'operators', name: 'x' } } }],
      },
    }),
    'cluster: webhook: Its registration has no certificate authority',
    'read its log',
  ],
  [
    'a webhook that no pod serves',
    cluster({ '/apis/discovery.k8s.io/v1/namespaces/operators/endpointslices': { items: [] } }),
    'The Service operators/hub-operator-webhook has no ready pod',
    'kubectl get pods -n operators',
  ],
  [
    'a wrong clock of this machine',
    cluster({
      '/api/v1/namespaces/home/configmaps': {
        metadata: { name: 'x', creationTimestamp: '2026-01-01T00:05:00Z' },
      },
    }),
    'cluster: clock: This machine and the API server differ by 300 s.',
    'NTP',
  ],
  [
    'a storage class that does not exist',
    cluster({
      '/api/v1/namespaces/home/persistentvolumeclaims/villa-config': {
        metadata: { name: 'villa-config' },
        spec: { storageClassName: 'fast' },
        status: { phase: 'Pending' },
      },
    }),
    'Hub villa: storage class: The storage class fast does not exist',
    'one of slow',
  ],
  [
    'no default storage class',
    cluster({ '/api/v1/namespaces/home/persistentvolumeclaims/villa-config': notFound() }),
    'Hub villa: storage class: The cluster has no default storage class',
    'is-default-class',
  ],
  [
    'a hub that does not answer',
    hubFailing(new NotHomeAssistant('http://villa is not a hub')),
    'Hub villa: hub reachable: http://villa is not a hub.',
    'Correct the address',
  ],
  [
    'a token that is missing',
    hubFailing(new CommandError('the Secret villa-api-token has no key token')),
    'Hub villa: token: the Secret villa-api-token has no key token',
    'kubectl hub status villa',
  ],
  [
    'a token that was revoked',
    hubFailing(new TokenRejected('HTTP 401')),
    'Hub villa: token: the hub rejected the token (HTTP 401).',
    'Store a long-lived token',
  ],
  [
    'a token of another user',
    hubWith({ isAdmin: false }),
    'Hub villa: token: The token belongs to a user who is no administrator',
    'Store a token',
  ],
  [
    'a ban of the operator',
    hubFailing(new HubBanned()),
    'Hub villa: bans: the hub has banned the address of the operator',
    'ip_bans.yaml',
  ],
  [
    'a ban of another address',
    hubTelling({ bannedAddress: '10.1.2.3' }),
    'Hub villa: bans: The hub has banned 10.1.2.3',
    'ip_bans.yaml',
  ],
  [
    'recovery mode',
    hubWith({ core: { ...healthy.core, recovery_mode: true } }),
    'The hub runs in recovery mode',
    'kubectl hub logs',
  ],
  [
    'safe mode',
    hubWith({ core: { ...healthy.core, safe_mode: true } }),
    'The hub runs in safe mode',
    'kubectl hub restart',
  ],
  [
    'an old hub',
    hubWith({ core: { ...healthy.core, version: '2024.5.1' } }),
    'Home Assistant 2024.5.1 is older than',
    'Update the hub',
  ],
  [
    'a repair',
    hubTelling({
      issues: [
        {
          domain: 'mqtt',
          issue_id: 'broker_down',
          translation_key: 'broker_down',
          translation_placeholders: { host: 'mqtt.home' },
        },
      ],
    }),
    'Hub villa: repairs: The hub asks for a repair: mqtt: broker_down, host mqtt.home.',
    'Repairs',
  ],
  [
    'a missing include',
    hubTelling({ components: ['scene', 'script'] }),
    'Hub villa: includes: The hub has not loaded automation',
    'automation: !include automations.yaml',
  ],
  [
    'an untrusted proxy',
    hubTelling({ refusedProxy: '10.42.0.7' }),
    'Hub villa: trusted proxies: The hub refuses requests that the proxy 10.42.0.7 forwards.',
    'trusted_proxies: [10.42.0.7]',
  ],
  [
    'a wrong clock of the hub',
    hubWith({ time: NOW - 3_600_000 }),
    'Hub villa: clock: The clock of the hub and that of this machine differ by 36',
    'NTP',
  ],
  [
    'an object that no resource describes',
    hubTelling({ created: [{ kind: 'script', id: 'old', entityId: 'script.old', labels: [] }] }),
    'Hub villa: orphans: The operator has created script.old in the hub',
    `kubectl annotate hub/villa ${API_GROUP}/remove-left-behind=script.old`,
  ],
  [
    'a resource without its Hub',
    cluster({}, villa, porch, resource('HubLabel', 'night', ofHub('chalet'))),
    'HubLabel night: orphans: It belongs to the Hub chalet, which does not exist.',
    'Create the Hub',
  ],
  [
    'a deletion that does not end',
    cluster(
      {},
      villa,
      porch,
      resource('HubLabel', 'night', ofHub('villa'), {
        metadata: { deletionTimestamp: old, finalizers: ['example.org/other'] },
      }),
    ),
    'with the finalizers example.org/other',
    'another controller',
  ],
  [
    'a namespace that the operator does not watch',
    cluster({}, { ...villa, metadata: { ...villa.metadata, creationTimestamp: old }, status: {} }, porch),
    'Hub villa: reconciliation: The operator has not reconciled it',
    'WATCH_NAMESPACES',
  ],
  [
    'a stored object that the hub does not load',
    cluster(
      {},
      villa,
      porch,
      resource('HubScene', 'dusk', ofHub('villa'), { status: 'False', reason: 'NotLoaded' }),
    ),
    'The hub has stored HubScene dusk and does not load it: A message.',
    'Correct what the message names',
  ],
];

describe('doctor', () => {
  test.each(faults)('names %s with the remedy, and nothing else', async (_, line, message, remedy) => {
    const { code, stdout } = await line.run('doctor');
    const shown = stdout.trimEnd().split('\n');
    expect(shown[0]).toMatch(/^✗ /);
    expect(shown[0]).toContain(message);
    expect(shown[1]).toMatch(/^ {4}→ /);
    expect(shown[1]).toContain(remedy);
    expect(shown[2]).toMatch(/^\d+ checks: 1 fault, 0 skipped$/);
    expect(code).toBe(1);
  });

  test('finds nothing without faults, and --all lists the checks', async () => {
    const line = cluster();
    expect(await line.run('doctor')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ checks: 0 faults, 0 skipped\n$/) as string,
    });
    const { stdout } = await line.run('doctor villa --all');
    expect(stdout.match(/^✓ /gm)!.length).toBeGreaterThan(12);
  });

  test('finds nothing in the samples', async () => {
    const folder = join(__dirname, '../../../samples');
    const samples = readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => loadAll(readFileSync(join(folder, name), 'utf8')) as CustomResource[])
      .filter((each) => each?.apiVersion?.startsWith(API_GROUP))
      .map(({ kind, metadata, spec }) => resource(kind, metadata.name, spec));
    const hubs = samples.filter(({ kind }) => kind === 'Hub').map(({ metadata }) => metadata.name);
    const claims = hubs.map((name) => [
      `/api/v1/namespaces/home/persistentvolumeclaims/${name}-config`,
      installed['/api/v1/namespaces/home/persistentvolumeclaims/villa-config'],
    ]);
    const line = cluster(Object.fromEntries(claims) as Answers, ...samples);
    line.readHub = () =>
      Promise.resolve({ ...healthy, inner: { ...inner, created: [] }, time: line.clock.now() });
    expect((await line.run('doctor')).stdout).toMatch(/^\d+ checks: 0 faults, 0 skipped\n$/);
  });

  test('a check that the user may not make is skipped, and the others are made', async () => {
    const line = cluster({
      '/apis/apps/v1/deployments': forbidden(),
      '/apis/discovery.k8s.io/v1/namespaces/operators/endpointslices': forbidden(),
    });
    const { code, stdout } = await line.run('doctor');
    expect(stdout).toMatch(
      /^\? cluster: operator: .*\n\? cluster: webhook: .*\n\d+ checks: 0 faults, 2 skipped\n$/,
    );
    expect(code).toBe(0);
  });

  const findingsOf = async (line: CommandLine, args = '') => {
    const { code, stdout } = await line.run(`doctor ${args}`);
    return { code, lines: stdout.trimEnd().split('\n') };
  };

  test.each([
    ['holds its Lease', NOW - 1_000, 0, /^\d+ checks: 0 faults/],
    ['has let its Lease go', NOW - 3_600_000, 1, /^✗ .* laptop has renewed its Lease last at 2025-12-31T23/],
  ])('an operator that runs as a process and %s', async (_, renewed, expected, text) => {
    const line = cluster({
      '/apis/apps/v1/deployments': { items: [{ ...deployment, status: {} }] },
      '/apis/coordination.k8s.io/v1/namespaces/operators/leases/hub-operator': {
        metadata: { name: 'hub-operator' },
        spec: {
          holderIdentity: 'laptop',
          leaseDurationSeconds: 15,
          renewTime: new Date(renewed).toISOString(),
          acquireTime: old,
        },
      },
    });
    const { code, lines } = await findingsOf(line);
    expect(lines[0]).toMatch(text);
    expect(code).toBe(expected);
    if (expected === 0)
      expect((await line.run('doctor --all')).stdout).toContain(
        `laptop is the operator: it holds the Lease operators/hub-operator since ${old}.`,
      );
  });

  test('an operator that runs as a process holds the Lease that its Deployment names', async () => {
    const named = structuredClone({ ...deployment, status: {} });
    const containers = [{ name: 'operator', env: [{ name: 'LEASE_NAME', value: 'other' }] }];
    Object.assign(named.spec.template.spec, { containers });
    const line = cluster({
      '/apis/apps/v1/deployments': { items: [named] },
      '/apis/coordination.k8s.io/v1/namespaces/operators/leases/other': {
        metadata: { name: 'other' },
        spec: {
          holderIdentity: 'laptop',
          leaseDurationSeconds: 15,
          renewTime: new Date(NOW).toISOString(),
          acquireTime: old,
        },
      },
    });
    expect((await findingsOf(line)).code).toBe(0);
    expect((await line.run('doctor --all')).stdout).toContain('it holds the Lease operators/other since');
  });

  test('an account without any of its rights takes one line', async () => {
    const { lines } = await findingsOf(
      cluster({ '/apis/authorization.k8s.io/v1/subjectaccessreviews': { status: { allowed: false } } }),
    );
    expect(lines[0]).toContain('may not do anything that is needed: no role is bound.');
    expect(lines[1]).toContain('Apply the ClusterRoleBinding or RoleBinding');
  });

  test('ends with the resources that are not Ready, and with the parts of a Hub that are not set up', async () => {
    const hub = resource(
      'Hub',
      'villa',
      {},
      {
        message: runningText('2026.11.0', 'http://villa.home.svc:8123', 'RUNNING', [
          'Backups are not set up: x.',
        ]),
      },
    );
    const waits = resource('HubArea', 'bath', ofHub('villa'), { status: 'False', reason: 'FloorNotReady' });
    const line = cluster({}, hub, porch, waits);
    const { code, lines } = await findingsOf(line);
    expect(lines.slice(0, 4)).toEqual([
      '! Hub villa: parts: Backups are not set up: x.',
      '    → Correct what the message names.',
      '! namespace: resources: 1 resource is not Ready: HubArea bath (FloorNotReady).',
      '    → kubectl hub status says why, and what to do.',
    ]);
    expect(code).toBe(0);
    const failed = resource('HubArea', 'attic', ofHub('villa'), {
      status: 'False',
      reason: 'RejectedByHub',
      isStalled: true,
    });
    line.objects.push(failed);
    expect(await findingsOf(line)).toMatchObject({
      code: 1,
      lines: expect.arrayContaining([expect.stringMatching(/^✗ .*2 resources are not Ready/)]) as string[],
    });
  });

  test('names resources that refer to what their hub does not have, and is no failure', async () => {
    const broken = ['a', 'b', 'c', 'd', 'e'].map((name) => {
      const { status, ...others } = resource('HubScene', name, ofHub('villa'));
      const conditions = status!.conditions as object[];
      const message = `The hub does not have light.${name}.`;
      const missing = { ...conditions[0], type: 'ReferencesFound', status: 'False', message };
      return { ...others, status: { ...status, conditions: [...conditions, missing] } };
    });
    const { code, lines } = await findingsOf(cluster({}, villa, porch, ...(broken as never[])));
    expect(lines.filter((each) => each.includes(': references: '))).toEqual([
      '! HubScene a: references: The hub does not have light.a.',
      '! HubScene b: references: The hub does not have light.b.',
      '! HubScene c: references: The hub does not have light.c.',
      '! namespace: references: Others refer to what their hub does not have as well: HubScene d, HubScene e.',
    ]);
    expect(code).toBe(0);
  });

  test('findings and remedies are broken between words at the width of the terminal', async () => {
    const notices = [`Backups are not set up:${' word'.repeat(40)}.`];
    const message = runningText('2026.11.0', 'http://villa.home.svc:8123', 'RUNNING', notices);
    const line = cluster({}, resource('Hub', 'villa', {}, { message }), porch);
    const { stdout } = await line.run('doctor', { isTerminal: true, columns: 60, env: { NO_COLOR: '1' } });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^! Hub villa: parts: Backups/);
    expect(lines.filter((each) => /^ {2}word/.test(each)).length).toBeGreaterThan(2);
    expect(lines).toContain('    → Correct what the message names.');
    for (const each of lines) expect(each.length).toBeLessThanOrEqual(60);
  });

  test('of a named Hub, only its own resources are asked whether they are Ready', async () => {
    const other = resource('Hub', 'cottage', {}, { status: 'False', isStalled: true });
    const { code } = await findingsOf(cluster({}, villa, porch, other), 'villa');
    expect(code).toBe(0);
  });

  test('a hub that is only starting is not a second fault', async () => {
    const hub = resource('Hub', 'villa', {}, { status: 'False', reason: 'PodNotReady' });
    const line = cluster({}, hub);
    line.readHub = () => Promise.reject(new CommandError('the Secret villa-api-token does not exist'));
    const { code, lines } = await findingsOf(line);
    expect(lines).toContain(
      '? Hub villa: hub reachable: Not asked, since the Hub is not Ready: the Secret villa-api-token does not exist',
    );
    expect(code).toBe(0);
  });

  test('a kind that the user may not list is skipped, and the others are checked', async () => {
    const labels = `/apis/${API_GROUP}/v1/namespaces/home/hublabels`;
    const { code, lines } = await findingsOf(cluster({ [labels]: forbidden() }));
    expect(lines[0]).toBe('? HubLabel: resources: secrets is forbidden');
    expect(code).toBe(0);
    const hubs = `/apis/${API_GROUP}/v1/namespaces/home/hubs`;
    expect((await findingsOf(cluster({ [hubs]: forbidden() }))).lines[0]).toMatch(/^\? Hub: resources/);
  });

  test('-A checks the hubs of all namespaces', async () => {
    const other = resource('Hub', 'cottage', {}, { metadata: { namespace: 'garden' } });
    const { lines } = await findingsOf(cluster({}, villa, porch, other), '-A --all');
    expect(lines).toContainEqual(expect.stringMatching(/^✓ Hub villa in home: token/));
    expect(lines).toContainEqual(expect.stringMatching(/^✓ Hub cottage in garden: token/));
  });

  test('a warning of the hub is a notice, and not a fault', async () => {
    const issue = {
      domain: 'homeassistant',
      issue_id: 'country_not_configured',
      translation_key: 'country_not_configured',
      translation_placeholders: null,
      severity: 'warning',
    };
    const { code, stdout } = await hubTelling({ issues: [issue] }).run('doctor');
    expect(stdout).toContain(
      '! Hub villa: repairs: The hub asks for a repair: homeassistant: country_not_configured.',
    );
    expect(code).toBe(0);
  });

  test('the data has each verdict', async () => {
    const { stdout } = await hubWith({ isAdmin: false }).run('doctor -o json');
    expect(JSON.parse(stdout)).toContainEqual({
      check: 'token',
      subject: 'Hub villa',
      verdict: 'fault',
      message: 'The token belongs to a user who is no administrator of the hub.',
      remedy: 'Store a token of an administrator in the Secret.',
    });
  });

  describe('checks that a hub is not asked for, or that it does not answer, are skipped with the reason', () => {
    let server: FakeHub;
    let client: HubClient;

    beforeEach(async () => {
      server = await FakeHub.start();
      client = new HubClient({ url: server.url, token: server.token, clock: systemClock, log: silentLog });
    });
    afterEach(async () => {
      client.close();
      await server.close();
    });

    /** Returns the checks with a verdict, and the commands of the WebSocket that were sent. */
    async function judged(config: object, isAdmin: boolean, only: Finding['verdict']) {
      server.routes.set('GET /api/config', json(200, { ...CONFIG, ...config }));
      server.routes.set('POST /api/template', text(200, String(Date.now() / 1_000)));
      server.onCommand = ({ message, succeed }) =>
        succeed(
          message.type === 'auth/current_user' ? { id: 'a', name: 'Guest', is_admin: isAdmin } : undefined,
        );
      const findings = judgeHub(villa, await readFacts(client), [porch], Date.now());
      const sent = server.commands.map(({ type }) => type).filter((type) => type !== 'get_config');
      return { checks: findings.filter(({ verdict }) => verdict === only).map(textOf), sent };
    }
    const textOf = ({ check, message }: Finding) => `${check}: ${message}`;

    test.each([
      [
        'a token of no administrator',
        {},
        false,
        ['clock', 'bans', 'repairs', 'includes', 'trusted proxies', 'orphans'],
        'the hub tells it to administrators alone',
      ],
      [
        'recovery mode',
        { recovery_mode: true },
        true,
        ['bans', 'repairs', 'includes', 'trusted proxies', 'orphans'],
        'the hub has not loaded it in recovery mode',
      ],
    ])('with %s', async (_, config, isAdmin, checks, reason) => {
      const { checks: skipped, sent } = await judged(config, isAdmin, 'skipped');
      expect(skipped).toEqual(checks.map((check) => `${check}: Not asked: ${reason}.`));
      expect(sent).toEqual(['auth/current_user']);
      const { checks: ok } = await judged(config, isAdmin, 'ok');
      expect(ok.map((each) => each.split(':')[0])).toEqual(
        isAdmin ? ['hub reachable', 'token', 'clock'] : ['hub reachable', 'recovery and safe mode'],
      );
    });

    const told = async (hub = villa) =>
      judgeHub(hub, await readFacts(client), [porch], Date.now()).map(
        (finding) => `${finding.verdict} ${textOf(finding)}`,
      );

    test.each(['unavailable', ' ', 'Infinity'])('a clock that shows “%s”', async (shown) => {
      server.routes.set('GET /api/config', json(200, { ...CONFIG, recovery_mode: true }));
      server.routes.set('POST /api/template', text(200, shown));
      server.onCommand = ({ succeed }) => succeed({ id: 'a', name: 'Owner', is_admin: true });
      const expected = `skipped clock: The hub answers its time with “${shown.trim()}”.`;
      expect(await told()).toContain(expected);
    });

    test.each([
      [
        'no log',
        undefined,
        'skipped trusted proxies: The hub does not show its log, where it names a proxy that it refuses.',
      ],
      ['a log', [], 'ok trusted proxies: The hub has logged no proxy that it refuses.'],
    ])('proxies of a hub that shows %s and does not report which it trusts', async (_, log, expected) => {
      const config = { ...CONFIG, version: '2026.7.0' };
      server.routes.set('GET /api/config', json(200, config));
      server.routes.set('GET /api/components', json(200, []));
      server.routes.set('POST /api/template', text(200, String(Date.now() / 1_000)));
      const answers: Record<string, unknown> = {
        'auth/current_user': { id: 'a', name: 'Owner', is_admin: true },
        get_config: config,
        'persistent_notification/get': [],
        'config/label_registry/list': [],
        'system_log/list': log,
      };
      server.onCommand = ({ message: { type }, succeed, fail }) =>
        type.startsWith('subscribe') || answers[type] !== undefined
          ? succeed(answers[type])
          : fail('unknown_command', 'Unknown command.');
      const checks = await told(resource('Hub', 'villa', { ingress: { enabled: true } }));
      expect(checks).toContain(expected);
      // A user may have dismissed the notice.
      expect(checks).toContain('ok bans: The hub shows no notice of a ban.');
    });
  });

  test('a hub that has not loaded its repairs is not reported as having none', async () => {
    const { stdout } = await hubTelling({ issues: undefined }).run('doctor');
    expect(stdout).toMatch(
      /^\? Hub villa: repairs: The hub has not loaded its repairs.\n\d+ checks: 0 faults, 1 skipped\n$/,
    );
  });

  test('changes nothing', async () => {
    const line = cluster();
    await line.run('doctor');
    const writes = line.client.writes.filter(
      ({ path, query }) => !path.includes('accessreviews') && query?.['dryRun'] !== 'All',
    );
    expect(writes).toEqual([]);
  });

  test.each([
    [
      'A request from a reverse proxy was received from 10.42.0.7, but your HTTP integration is not set-up',
      '10.42.0.7',
    ],
    ['Received X-Forwarded-For header from an untrusted proxy fd00::7', 'fd00::7'],
    ['Login attempt from 10.42.0.9', undefined],
  ])('“%s” names the proxy %s', (text, proxy) => {
    expect(refusedProxy([{ message: [text] }])).toBe(proxy);
  });
});

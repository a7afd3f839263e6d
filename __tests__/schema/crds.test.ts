import { kinds } from '../../operator/kinds';
import { API_GROUP, GROUP_VERSION } from '../../operator/kinds/group';
import { mustKubectl } from '../cluster';
import { kstatusViolations } from '../cluster/kstatus';
import { ApiServer } from './api-server';
import { fullSample } from './full';
import { places } from './places';
import { expectStrictDryRun } from './strict-dry-run';

/** The CRDs as the API server and users see them. */

interface Crd {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

let namespace: string;

beforeAll(async () => {
  const api = await ApiServer.withKinds();
  namespace = api.namespace;
  for (const { kind } of kinds) await api.store(fullSample(kind));
});

describe('the custom resource definitions', () => {
  test('the API server accepts every CRD without a warning', () => expectStrictDryRun('dist/crds.yaml'));

  test('every CRD is established and structural', async () => {
    const { items } = JSON.parse(await mustKubectl(['get', 'crd', '-o', 'json'])) as { items: Crd[] };
    for (const { plural } of kinds) {
      const crd = items.find(({ metadata }) => metadata.name === `${plural}.${API_GROUP}`);
      const conditions = crd?.status.conditions.map(({ type, status }) => `${plural} ${type}=${status}`);
      expect(conditions?.sort()).toEqual([`${plural} Established=True`, `${plural} NamesAccepted=True`]);
    }
  });

  test.each(kinds.map(({ singular, kind }) => [singular, kind]))(
    'kubectl explain %s shows every field',
    async (singular, kind) => {
      const explained = await mustKubectl(['explain', `${singular}.spec`, '--recursive']);
      const fields = places.filter((place) => place.kind === kind && place.path.startsWith('spec.'));
      for (const { path } of fields) {
        const name = path.split('.').pop()!.replaceAll('[]', '');
        if (name !== '*') expect(explained).toMatch(new RegExp(`^ +${name}\t`, 'm'));
      }
    },
  );

  test('kubectl explain says what a field does and what it can be', async () => {
    const explained = await mustKubectl(['explain', 'hubautomation.spec.mode']);
    expect(explained).toContain('What happens when it is started while it still runs.');
    expect(explained).toMatch(/single.*restart.*queued.*parallel/s);
  });

  test('kubectl apply, client-side and server-side, changes a list of templates and objects', async () => {
    const manifest = (template: string) => ({
      apiVersion: GROUP_VERSION,
      kind: 'HubAutomation',
      metadata: { name: 'templates', namespace },
      spec: {
        hubRef: { name: 'home' },
        alias: 'Templates',
        triggers: [{ trigger: 'sun', event: 'sunset' }],
        conditions: [template, { condition: 'sun', after: 'sunset' }],
        actions: [{ delay: 1 }, template],
      },
    });
    for (const flags of [[], ['--server-side', '--force-conflicts'], []]) {
      for (const template of ['{{ true }}', '{{ false }}']) {
        await mustKubectl(['apply', ...flags, '-f', '-'], { input: JSON.stringify(manifest(template)) });
        const stored = await mustKubectl(
          ['get', 'haauto', 'templates', '-o', 'jsonpath={.spec.conditions[0]}'],
          {
            namespace,
          },
        );
        expect(stored).toBe(template);
      }
    }
    expect(await mustKubectl(['explain', 'hubautomation.spec.conditions'])).toContain(
      'Conditions that must hold',
    );
    await mustKubectl(['delete', 'haauto', 'templates'], { namespace });
  });

  test('kubectl get home lists the resources of all kinds', async () => {
    const listed = await mustKubectl(['get', 'home', '-o', 'name'], { namespace });
    const names = kinds.map(({ kind }) => `${kind.toLowerCase()}.${API_GROUP}/sample`);
    expect(listed.trim().split('\n').sort()).toEqual(names.sort());
  });

  /** Returns the header that `kubectl get` prints for each of these names, with one space between columns. */
  async function headers(
    names: readonly string[],
    ...flags: readonly string[]
  ): Promise<Record<string, string>> {
    const printed = await mustKubectl(['get', names.join(','), ...flags], { namespace });
    const tables = printed.split('\n\n');
    expect(tables).toHaveLength(names.length);
    const header = (table: string) => table.split('\n')[0]!.trim().split(/\s+/).join(' ');
    return Object.fromEntries(names.map((name, index) => [name, header(tables[index]!)]));
  }

  test('kubectl get shows these columns', async () => {
    const columns = {
      hub: 'NAME PHASE READY VERSION URL AGE',
      hubcfg: 'NAME HUB STRATEGY READY LAST RELOAD AGE',
      hubsec: 'NAME HUB SECRETS READY AGE',
      haauto: 'NAME HUB READY AGE',
      hasc: 'NAME HUB NAME ENTITIES READY AGE',
      hascp: 'NAME HUB ALIAS MODE READY AGE',
      haint: 'NAME HUB DOMAIN TITLE STATE READY AGE',
      hafl: 'NAME HUB NAME LEVEL READY AGE',
      halb: 'NAME HUB NAME COLOR READY AGE',
      haar: 'NAME HUB NAME FLOOR READY AGE',
      hacr: 'NAME HUB CATEGORY REPOSITORY REF PHASE READY AGE',
    };
    expect(await headers(Object.keys(columns))).toEqual(columns);
  });

  test('kubectl get -o wide ends with reason and message of Ready', async () => {
    const wide = await headers(
      kinds.map(({ plural }) => plural),
      '-o',
      'wide',
    );
    expect(wide['hubautomations']).toBe('NAME HUB ALIAS ENABLED REFERENCES READY AGE REASON STATUS');
    for (const { plural } of kinds) expect(wide[plural]).toMatch(/ READY .* REASON STATUS$/);
  });

  test('resources can be selected by their Hub', async () => {
    const of = (hub: string) =>
      mustKubectl(['get', 'haauto', '-o', 'name', `--field-selector=spec.hubRef.name=${hub}`], { namespace });
    expect(await of('home')).toContain('sample');
    expect(await of('other')).toBe('');
  });

  test('a status is written apart from the spec', async () => {
    const stored = await mustKubectl(['get', 'haauto', 'sample', '-o', 'jsonpath={.spec.alias}:{.status}'], {
      namespace,
    });
    expect(stored).toBe('Movie night:{"observedGeneration":-1}');
  });

  // kstatus would take a resource without a status for a reconciled one.
  test.each(kinds.map(({ singular }) => singular))(
    'a new %s that no operator has seen is waited for',
    async (singular) => {
      const stored = await mustKubectl(['get', singular, 'sample', '-o', 'json'], { namespace });
      const object = JSON.parse(stored) as Parameters<typeof kstatusViolations>[0];
      expect(object.status).toEqual({ observedGeneration: -1 });
      expect(kstatusViolations(object)).toEqual([]);
    },
  );

  test('the first status of the operator takes the place of the default', async () => {
    const status = { observedGeneration: 1, labelID: 'energy' };
    const metadata = { name: 'sample', namespace };
    await mustKubectl(['apply', '--server-side', '--subresource=status', '-f', '-'], {
      input: JSON.stringify({ apiVersion: GROUP_VERSION, kind: 'HubLabel', metadata, status }),
    });
    const stored = await mustKubectl(['get', 'halb', 'sample', '-o', 'jsonpath={.status}'], { namespace });
    expect(JSON.parse(stored)).toEqual(status);
  });
});

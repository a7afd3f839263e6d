import type { HubClient } from '../../../operator/client/hub-client';
import { operatorAnnotations } from '../../../operator/kinds/annotations';
import {
  area,
  automation,
  communityRepository,
  configuration,
  hub as hubDefinition,
  type HubConfiguration,
} from '../../../operator/kinds';
import { columnsOf } from '../../../operator/kinds/columns';
import { duplicateMessage } from '../../../operator/kinds/duplicate-id';
import type { KindDefinition } from '../../../operator/kinds/kind';
import type { CustomResource } from '../../../operator/kinds/resource';
import { defaulted } from '../../../operator/kinds/schema';
import { builtin } from '../../../operator/runtime/types';
import { generateConfiguration } from '../../../operator/sync/configuration/generate/generate';
import { missingSecrets, secretUses } from '../../../operator/sync/configuration/generate/secret-uses';
import { podProblem } from '../../../operator/sync/hub/health/pod-state';
import { refuseDowngrade } from '../../../operator/sync/hub/workload/downgrade';
import { HubClients } from '../../../operator/sync/hub-connection/hub-clients';
import { areas } from '../../../operator/sync/registry/entry-types';
import { resolveReferences } from '../../../operator/sync/registry/locate-entry';
import { type DocumentedCommand, documentedCommands } from '../../integration/docs/documented-commands';
import { type Exception, exceptions } from '../../integration/docs/exceptions';
import { objectMetadata } from '../object-metadata';
import { resource } from '../resource';
import { aHub, aHubContext, services } from '../sync/fixtures';

// The docs show states that a reader who follows them does not get. Their text is compared with the
// operator's own text, from the function that makes it.

const HUB = 'my-home';
const hubRef = { name: HUB };

/** Returns the operator's text for the status of the documented resource. */
type Written = () => string | Promise<string>;
interface State {
  /** The table whose headings are compared too; undefined when the output is not a table. */
  readonly table?: { readonly definition: KindDefinition; readonly wide: boolean };
  readonly written: Written;
}

const wide = (definition: KindDefinition, written: Written): State => ({
  table: { definition, wide: true },
  written,
});

async function hubNotReady(): Promise<string> {
  const given = services({
    cache: { get: ((kind: string) => (kind === 'Hub' ? aHub() : { kind: builtin.Secret.kind })) as never },
    secrets: { get: () => Promise.resolve(new Map([['token', 'a-token']])) },
  });
  const hubs = new HubClients(given);
  const reached = await hubs.reach('home', HUB);
  hubs.close();
  if (!('outcome' in reached)) throw new Error('the Hub is ready');
  return `${reached.outcome.reason} ${reached.outcome.message}`;
}

const unscheduled = (): string => {
  const message = '0/1 nodes are available: 1 Insufficient memory.';
  const conditions = [{ type: 'PodScheduled', status: 'False', message }];
  return `PodNotReady ${podProblem({ metadata: { name: `${HUB}-0` }, status: { conditions } })}`;
};

const downgrade = (): string => {
  const { hub, spec } = aHubContext(aHub({ spec: { version: '2026.10.0' } }));
  const annotations = { [operatorAnnotations.ranVersion]: '2026.11.0' };
  const claim = {
    ...resource(`${HUB}-config`, {}),
    metadata: { ...objectMetadata, name: `${HUB}-config`, annotations },
  };
  return `DowngradeRefused ${refuseDowngrade(hub, spec, claim)}`;
};

const notYaml = (): string => {
  const text = 'light:\n  - platform: [demo,\nswitch: []\n';
  const { spec } = resource('my-home', { hubRef, configuration: text }) as HubConfiguration;
  const generated = generateConfiguration({ ...defaulted(configuration.spec, spec), hasSecrets: false });
  if (generated.type !== 'invalid') throw new Error('the configuration is valid');
  return `InvalidConfiguration ${generated.message} The last good configuration stays.`;
};

const noFloor = async (): Promise<string> => {
  const kitchen = resource('kitchen', { hubRef, name: 'Kitchen', floorName: 'Attic' });
  const unresolved = await resolveReferences(areas, kitchen, {
    entries: () => Promise.resolve(new Map()),
    resources: () => [],
    client: {} as HubClient,
  });
  if (!('outcome' in unresolved)) throw new Error('the floor was found');
  return `${unresolved.outcome.reason} ${unresolved.outcome.message}`;
};

const missingKey = (): string => {
  const text = `${'\n'.repeat(11)}  token: !secret phone_token`;
  return missingSecrets(secretUses({ 'configuration.yaml': text }), undefined, HUB)!;
};

const duplicate = (): string => {
  const again = resource('again', { hubRef, alias: 'Again', id: 'unquoted' }) as CustomResource;
  return `DuplicateId ${duplicateMessage(automation, again, 'unquoted')}`;
};

/** States by page and command, in the order of the page where a command is documented more than once. */
const states: Readonly<Record<string, readonly State[]>> = {
  'docs/how-to/community-repositories.md: kubectl -n home get hubcommunityrepository': [
    { table: { definition: communityRepository, wide: false }, written: () => 'Installed True' },
  ],
  'docs/how-to/community-repositories.md: kubectl -n home get hubcommunityrepository shelf -o jsonpath=\'{.status.digest}{"\\n"}\'':
    [{ written: () => 'sha256:' }],
  'docs/how-to/secrets.md: kubectl -n home get hubconfiguration my-home -o jsonpath=\'{.status.conditions[?(@.type=="Ready")].message}\'':
    [{ written: () => missingKey().split(' Add them')[0]! }],
  'docs/how-to/troubleshoot.md: kubectl -n home get hubautomation again -o wide': [
    wide(automation, duplicate),
  ],
  'docs/how-to/troubleshoot.md: kubectl -n home get hubautomation -o wide': [wide(automation, hubNotReady)],
  'docs/how-to/troubleshoot.md: kubectl -n home get hub -o wide': [
    wide(hubDefinition, unscheduled),
    wide(hubDefinition, downgrade),
  ],
  'docs/how-to/troubleshoot.md: kubectl -n home get hubconfiguration -o wide': [wide(configuration, notYaml)],
  'docs/how-to/troubleshoot.md: kubectl -n home get hubarea kitchen -o wide': [wide(area, noFloor)],
};

/** Outputs that are not compared with a run of their command. */
const shown = documentedCommands().filter(({ page, command, output }) => {
  const exception: Exception | undefined = exceptions[page]?.[command];
  return output !== '' && exception && ('as' in exception || 'uncompared' in exception);
});
const nameOf = ({ page, command }: DocumentedCommand): string => `${page}: ${command}`;
const oneSpace = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

describe('states that the docs show', () => {
  test('every output that is not compared with a run of its command is compared here', () => {
    const listed = Object.entries(states).flatMap(([key, each]) => each.map(() => key));
    expect(shown.map(nameOf).sort()).toEqual(listed.sort());
  });

  test.each(Object.entries(states))('the output of %s is what the operator writes', async (key, given) => {
    const outputs = shown.filter((each) => nameOf(each) === key).map(({ output }) => output);
    for (const [index, { table, written }] of given.entries()) {
      const output = outputs[index]!;
      expect(oneSpace(output)).toContain(oneSpace(await written()));
      if (!table) continue;
      const columns = columnsOf(table.definition).filter((column) => table.wide || !column.wide);
      const headings = ['NAME', ...columns.map(({ name }) => name.toUpperCase())];
      expect(oneSpace(output.split('\n')[0]!)).toBe(headings.join(' '));
    }
  });
});

import { text, textUpTo } from './fields';
import {
  defineRegistryEntry,
  entryIcon,
  keptWhenAbsent,
  registryEntrySpec,
  registryEntryStatus,
} from './registry-entry';
import type { Resource } from './resource';
import type { Infer } from './schema';

const spec = registryEntrySpec('label', {
  icon: entryIcon,
  color: {
    type: 'string',
    description:
      'Colour: `#rrggbb` with six hex digits, or a name that the hub knows: primary, accent, disabled, red, pink, ' +
      'purple, deep-purple, indigo, blue, light-blue, cyan, teal, green, light-green, lime, yellow, amber, orange, ' +
      `deep-orange, brown, light-grey, grey, dark-grey, blue-grey, black, white. ${keptWhenAbsent}`,
    pattern: '^(#[0-9a-fA-F]{6}|[a-z]+(-[a-z]+)*)$',
    maxLength: 32,
  },
  description: textUpTo(1024, `What the label means. ${keptWhenAbsent}`),
});

const status = registryEntryStatus('label', { labelID: text('Id of the label in the hub.') });

export const label = defineRegistryEntry({
  kind: 'HubLabel',
  rank: 4,
  shortNames: ['halb'],
  description:
    'HubLabel is one label in the registry of a Home Assistant instance (the hub). Areas refer to it by `labels`.',
  spec,
  status,
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color' },
  ],
  // An area needs only the id.
  dependentStatus: ({ status }) => ({ id: status?.labelID }),
});

export type HubLabel = Resource<Infer<typeof spec>, Infer<typeof status>>;

import { unbounded } from '../../../operator/base/bounded-task';
import { API_GROUP } from '../../../operator/kinds/group';
import { findingsOf } from '../../../operator/offline/findings';
import { readManifests } from '../../../operator/offline/manifests';
import { sourceFiles } from './sources';

// Resources that a page shows completely are valid, since readers copy them.

const pages = [...sourceFiles('docs', 'README.md', 'CONTRIBUTING.md')].filter(([name]) =>
  name.endsWith('.md'),
);

/** YAML blocks with resources of our kinds. */
const blocks = pages.flatMap(([page, text]) =>
  [...text.matchAll(/^( *)```yaml\n([^]*?)^ *```/gm)]
    .map(([, indent, block]) => block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
    .filter((block) => block.includes(`apiVersion: ${API_GROUP}/`))
    .map((block) => ({ page, block })),
);

const twice = 'spec.mode: "twice" is not supported: use single, restart, queued, parallel.';
const unquoted =
  ': spec.triggers[0].to is the boolean true, and the hub wants text: quote on, off, yes, no, true and false.';

/** Faults that a page shows on purpose. */
const known: Readonly<Record<string, readonly string[]>> = {
  'docs/how-to/troubleshoot.md': [`HubAutomation home/porch: ${twice}`],
  'docs/how-to/validate.md': [
    `HubAutomation home/porch: ${twice}`,
    `HubAutomation home/dusk: ${unquoted}`,
    'HubAutomation home/attic: metadata.name: HubAutomation dusk has the id attic in the Hub my-home already: delete it, or give this one another spec.id or metadata.name.',
  ],
  'docs/how-to/yaml-values.md': [`HubAutomation home/dim: ${unquoted}`, `HubAutomation home/dim: ${twice}`],
  'docs/tutorial.md': [`HubAutomation home/unquoted: ${unquoted}`],
};

test('the resources on the pages are valid, except for the faults that the pages show', async () => {
  expect(blocks.length).toBeGreaterThan(20);
  const found: Record<string, string[]> = {};
  for (const { page, block } of blocks) {
    const manifests = readManifests('page', block);
    const unreadable = manifests.flatMap((each) => ('object' in each ? [] : [each.message]));
    const findings = await findingsOf(
      manifests.filter((each) => 'object' in each),
      unbounded,
    );
    const faults = findings.map(({ object, field, message }) => `${object}: ${field ?? ''}: ${message}`);
    if (unreadable.length + faults.length > 0) (found[page] ??= []).push(...unreadable, ...faults);
  }
  expect(found).toEqual(known);
});

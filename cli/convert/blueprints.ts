import type { BoundedTasks } from '../../operator/base/bounded-task';
import { blueprint } from '../../operator/kinds';
import { BLUEPRINT_PATH } from '../../operator/kinds/blueprint-path';
import { GROUP_VERSION } from '../../operator/kinds/group';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import { blueprintTask } from '../../operator/sync/configuration/blueprint/read-blueprint';
import { Names } from '../export/names';
import type { Described } from '../export/resources';
import { within } from './within';

interface DescribedBlueprints {
  readonly resources: readonly Described[];
  /** Files that became resources. The others stay files of the configuration. */
  readonly taken: ReadonlySet<string>;
}

const PLACE = /^blueprints\/(automation|script|template)\/(.+)$/;
const PATH = new RegExp(BLUEPRINT_PATH);
const LONGEST = blueprint.spec.properties.content.maxLength;
const LONGEST_PATH = blueprint.spec.properties.path.maxLength;

/** Describes the blueprints of users as resources. @throws CommandError a text costs more than its length allows */
export async function describeBlueprints(
  files: Files,
  hub: string,
  texts: BoundedTasks,
): Promise<DescribedBlueprints> {
  const names = new Names();
  const resources: Described[] = [];
  const taken = new Set<string>();
  for (const [file, text] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [, domain, path] = PLACE.exec(file) ?? [];
    if (domain === undefined || path === undefined || path.startsWith('homeassistant/')) continue;
    if (!PATH.test(path) || path.length > LONGEST_PATH || text.length > LONGEST) continue;
    const read = await within(texts, blueprintTask, { text, domain, field: file }, file);
    if ('problem' in read) continue;
    const name = names.take(path.replace(/\.yaml$/, '').replaceAll('/', ' '), path);
    taken.add(file);
    resources.push({
      object: `blueprint ${domain}/${path}`,
      id: path,
      definition: blueprint,
      resource: {
        apiVersion: GROUP_VERSION,
        kind: blueprint.kind,
        metadata: { name },
        spec: { hubRef: { name: hub }, domain, path, content: text },
      },
    });
  }
  return { resources, taken };
}

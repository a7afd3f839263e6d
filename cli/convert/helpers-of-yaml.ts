import type { BoundedTasks } from '../../operator/base/bounded-task';
import type { RegistryRecord } from '../../operator/client/connection/api-types';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import { filesOf } from '../export/files';
import type { Described } from '../export/resources';
import { cutHelpersTask, helperKey } from './cut-helpers';
import type { Left } from './sorting';
import { within } from './within';
import { type YamlHelper, yamlHelpersTask } from './yaml-helpers';

/** The helpers in the YAML of a configuration, which become resources if the user wants that. */
export class HelpersOfYaml {
  private constructor(
    private readonly helpers: readonly YamlHelper[],
    private readonly isConverted: boolean,
  ) {}

  /** @throws CommandError */
  static async read(files: Files, isConverted: boolean, texts: BoundedTasks): Promise<HelpersOfYaml> {
    const helpers = await within(texts, yamlHelpersTask, files, 'configuration.yaml');
    return new HelpersOfYaml(helpers, isConverted);
  }

  /** Whether the YAML has a helper with this key, `<domain>.<id>`. */
  has(key: string): boolean {
    return this.helpers.some((each) => helperKey(each) === key);
  }

  /** The helpers of a domain that may become resources. */
  records(domain: string): readonly RegistryRecord[] {
    if (!this.isConverted) return [];
    return this.helpers
      .filter((each) => each.domain === domain && each.fields)
      .map(({ id, fields }) => ({ ...fields, id, [`${domain}_id`]: id }) as unknown as RegistryRecord);
  }

  /**
   * Takes the helpers that have become resources out of the files.
   *
   * @param described all resources
   * @throws CommandError
   */
  async takeOut(files: Files, described: readonly Described[], texts: BoundedTasks) {
    if (!this.isConverted) return { files, resources: described, stays: [], warnings: [] };
    const byObject = new Map(this.helpers.map((each) => [objectOf(each), each]));
    const { notExpressed } = await filesOf(described.filter(({ object }) => byObject.has(object)));
    const reasons = new Map(notExpressed.map(({ object, reason }) => [object, reason.replace(/\.$/, '')]));
    const helpers = [...byObject.values()]
      .filter((each) => each.fields && !reasons.has(objectOf(each)))
      .map(helperKey);
    const cut = await within(texts, cutHelpersTask, { files, helpers }, 'configuration.yaml');
    const kept = new Set(cut.kept);
    const gone = new Set(helpers.filter((each) => !kept.has(each)));
    const stays = this.helpers.flatMap((each): Left[] => {
      const reason =
        each.reason ??
        reasons.get(objectOf(each)) ??
        (kept.has(helperKey(each))
          ? 'its lines cannot be taken out of the file alone: write it in lines of its own'
          : undefined);
      return reason === undefined
        ? []
        : [{ path: `${each.file}, line ${each.line}, ${helperKey(each)}`, reason }];
    });
    const left = new Set(this.helpers.filter((each) => !gone.has(helperKey(each))).map(objectOf));
    return {
      files: { ...files, ...cut.files },
      resources: described.filter(({ object }) => !left.has(object)),
      stays,
      warnings: cut.warnings,
    };
  }
}

/** The name of a helper among all objects of a hub. */
const objectOf = ({ domain, id }: YamlHelper): string => `${domain} ${id}`;

import { HubFailed, HubRejected, HubTooLarge } from '../connection/errors';
import { type KeptList, Scale } from '../connection/kept-lists';
import type { HubConnection } from '../connection/connection';
import type { FlowKind, Placeholders } from '../connection/flow-step';

/** The kind of a text in a flow: an error of a form, or the reason of an abort. */
type TextKind = 'error' | 'abort';

const CATEGORY: Readonly<Record<FlowKind, string>> = {
  config: 'config',
  options: 'options',
  subentries: 'config_subentries',
};

/**
 * The English texts of the hub's integrations, which its UI also shows. They are read once per integration.
 */
export class Translations {
  private readonly resources = new Map<string, Promise<Readonly<Record<string, string>>>>();

  private readonly kept: KeptList;

  constructor(private readonly connection: HubConnection) {
    this.kept = connection.lists.add('texts of integrations', () => this.resources.clear());
  }

  /**
   * The text of an error or of an abort in a flow, with its placeholders filled in; undefined if the
   * integration has no such text.
   *
   * @param flow `type` is the type of the subentry, in a flow for one
   */
  async ofFlow(
    domain: string,
    flow: { readonly kind: FlowKind; readonly type?: string },
    text: { readonly kind: TextKind; readonly key: string },
    placeholders: Placeholders = {},
  ): Promise<string | undefined> {
    const category = CATEGORY[flow.kind];
    const within = flow.type === undefined ? category : `${category}.${flow.type}`;
    const resources = await this.load(domain, category);
    const found = resources[`component.${domain}.${within}.${text.kind}.${text.key}`];
    return found === undefined ? undefined : fill(found, placeholders ?? {});
  }

  private async load(domain: string, category: string): Promise<Readonly<Record<string, string>>> {
    const key = `${category} ${domain}`;
    let loaded = this.resources.get(key);
    if (!loaded) {
      loaded = this.read(domain, category).catch((error: unknown) => {
        this.resources.delete(key);
        // The hub has no frontend, cannot read the texts of an integration, or has too many texts.
        if (error instanceof HubRejected || error instanceof HubFailed || error instanceof HubTooLarge)
          return {};
        throw error;
      });
      this.resources.set(key, loaded);
    }
    return loaded;
  }

  /** @throws HubTooLarge */
  private async read(domain: string, category: string): Promise<Readonly<Record<string, string>>> {
    this.kept.beginRead();
    const fields = { language: 'en', category, integration: domain };
    const { resources } = await this.connection.command('frontend/get_translations', fields);
    this.kept.assertAdmitted(); // the texts may have been dropped in the meantime
    this.kept.set(this.kept.weight + new Scale().weigh(resources));
    this.kept.assertAdmitted();
    return resources;
  }
}

function fill(text: string, placeholders: NonNullable<Placeholders>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => String(placeholders[name] ?? all));
}

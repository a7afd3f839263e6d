import { fewNames } from '../../base/few-names';
import {
  createDashboardModule,
  customIntegration,
  dashboardResources,
  deleteDashboardResource,
  integrationError,
  pythonScripts,
  reloadPythonScripts,
  reloadTemplates,
  reloadThemes,
  templateError,
  themeNames,
  updateDashboardModule,
} from '../../client/setup/community-content';
import { HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { HubCommunityRepository } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';

/**
 * The state of an installed repository in the hub. If the hub does not show it, the message names the missing
 * part of the hub, or the hub's error.
 */
interface Activation {
  readonly type: 'active' | 'inactive';
  readonly message: string;
  /** The new value of `status.provides`, if the hub has forgotten what former files provided. */
  readonly provides?: readonly string[];
}

interface Activated {
  /** Value of `status.provides`. Of a plugin, the first is its script; others are of former files. */
  readonly provides: readonly string[];
  /** Value of `status.digest`. */
  readonly digest: string;
  /** True if the hub has not been told to load these files yet. */
  readonly isNew: boolean;
}

type Category = HubCommunityRepository['spec']['category'];

interface Activator {
  /** Makes the hub load the files if it has not loaded them yet, and checks that it shows them. */
  activate(client: HubClient, installed: Activated): Promise<Activation>;
  /** Makes the hub forget files that were removed. */
  deactivate(client: HubClient, provides: readonly string[]): Promise<void>;
}

/**
 * How a hub loads the files on its volume, with the least disturbance (rules.md, "Community repositories").
 * An integration is loaded by a restart, which the reconcile of the Hub causes.
 */
export const activators: Readonly<Record<Category, Activator>> = {
  integration: {
    async activate(client, { provides: [domain = ''] }) {
      const known = await customIntegration(client, domain);
      if (!known)
        return inactive(
          `The hub does not find the integration ${domain} since its restart. If its files were lost, set the annotation ${userAnnotations.reconcileAt} to have them put there again; otherwise read the hub's log.`,
        );
      const error = await integrationError(client, known);
      if (error !== undefined) return inactive(`The hub cannot load the integration ${domain}: ${error}`);
      const isLoaded = await client.components.isLoaded(domain);
      const use = isLoaded ? 'has loaded it' : 'loads it when it is configured';
      return active(`The hub has the integration ${domain} ${known.version} and ${use}.`);
    },
    deactivate: () => Promise.resolve(), // the restart removes it
  },
  theme: {
    async activate(client, { provides, isNew }) {
      if (isNew) await reloadThemes(client);
      const shown = await themeNames(client);
      const missing = provides.filter((name) => !shown.has(name));
      return missing.length === 0
        ? active(`The hub has the ${list('theme', provides)}.`)
        : inactive(
            `The hub does not list the ${list('theme', missing)}: the HubConfiguration needs "frontend:" with "themes: !include_dir_merge_named themes".`,
          );
    },
    deactivate: reloadThemes,
  },
  python_script: {
    async activate(client, { provides: [name = ''], isNew }) {
      if (isNew && !(await reloadPythonScripts(client)))
        return inactive(
          'The hub has not loaded python_script: the HubConfiguration needs the section "python_script:".',
        );
      return (await pythonScripts(client)).has(name)
        ? active(`The hub has the action python_script.${name}.`)
        : inactive(`The hub does not show the action python_script.${name}: read its log.`);
    },
    deactivate: async (client) => void (await reloadPythonScripts(client)),
  },
  template: {
    async activate(client, { provides: [name = ''], isNew }) {
      if (isNew) await reloadTemplates(client);
      const error = await templateError(client, name);
      return error === undefined
        ? active(`Templates of the hub can import ${name}.`)
        : inactive(`The hub cannot import the template ${name}: ${error}`);
    },
    deactivate: reloadTemplates,
  },
  plugin: {
    async activate(client, { provides: [path = '', ...former], digest }) {
      // Browsers cache a script by its URL, so the URL changes with the digest.
      const url = `${path}?digest=${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`;
      const present = (await dashboardResources(client)).find((each) => pathOf(each.url) === path);
      const id = present?.id;
      const isShown = present?.url === url || (present !== undefined && id === undefined);
      try {
        if (!isShown)
          await (id === undefined
            ? createDashboardModule(client, url)
            : updateDashboardModule(client, id, url));
      } catch (error) {
        if (!(error instanceof HubRejected)) throw error;
        return inactive(
          `The hub has its dashboard resources in configuration.yaml: add {url: ${path}, type: module} to "resources:" of "lovelace:". The hub says: ${error.message}`,
        );
      }
      if (former.length > 0) await removeScripts(client, former);
      return {
        ...active(`The dashboards of the hub load ${path}.`),
        ...(former.length > 0 && { provides: [path] }),
      };
    },
    deactivate: removeScripts,
  },
};

async function removeScripts(client: HubClient, paths: readonly string[]): Promise<void> {
  for (const { id, url } of await dashboardResources(client))
    if (id !== undefined && paths.includes(pathOf(url))) await deleteDashboardResource(client, id);
}

const active = (message: string): Activation => ({ type: 'active', message });
const inactive = (message: string): Activation => ({ type: 'inactive', message });

const pathOf = (url: string): string => url.split(/[?#]/)[0]!;

/** A list of names in words: `theme A`, `themes A, B and 3 more`. */
function list(noun: string, names: readonly string[]): string {
  return `${noun}${names.length === 1 ? '' : 's'} ${fewNames(names, 5)}`;
}

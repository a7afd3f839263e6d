import { undefinedIf } from '../../base/undefined-if';
import { HubRejected, isRejected } from '../connection/errors';
import type { HubClient } from '../hub-client';
import { callService, listServices } from '../services';

// Information of the hub about installed community content, and the services that load it.

/** A custom integration that the hub has found at its start. */
interface CustomIntegration {
  readonly domain: string;
  readonly version: string;
  /** The Python packages that it requires, such as `name==1.2.3`. */
  readonly requirements: readonly string[];
}

/** @returns undefined if the hub has found no custom integration of this domain */
export async function customIntegration(
  { connection }: HubClient,
  domain: string,
): Promise<CustomIntegration | undefined> {
  const manifest = await undefinedIf(isRejected, connection.command('manifest/get', { integration: domain }));
  const { is_built_in: isBuiltIn, requirements = [], version } = manifest ?? {};
  return isBuiltIn === true || version === undefined ? undefined : { domain, version, requirements };
}

/**
 * Beginning of the hub's log message about a package that it cannot install. The name of the package and the
 * reason follow.
 */
const NOT_INSTALLED = 'Unable to install package ';

/**
 * Why the hub cannot load an integration, in the hub's words; undefined if no problem is known. The function
 * asks for triggers of a device, because the hub then installs the packages that the integration requires.
 * Otherwise it installs them only when the integration is configured.
 */
export async function integrationError(
  { connection }: HubClient,
  { domain, requirements }: CustomIntegration,
): Promise<string | undefined> {
  const trigger = { trigger: 'device', domain, device_id: 'none', type: 'none' };
  const { triggers } = await connection.command('validate_config', { triggers: [trigger] });
  const logged = (await connection.command('system_log/list'))
    .filter(({ level }) => level === 'ERROR' || level === 'CRITICAL')
    .flatMap(({ message }) => message);
  const setup = logged.find(
    (message) =>
      message.startsWith(`Setup failed for custom integration '${domain}'`) ||
      message.startsWith(`Error during setup of component ${domain}:`),
  );
  if (!triggers?.error?.includes('could not be loaded')) return setup && inOneLine(setup);
  // The hub may lack packages of other integrations too, so only those of this one are reported.
  const packages = requirements.flatMap(
    (each) => logged.find((message) => message.startsWith(`${NOT_INSTALLED}${each}:`)) ?? [],
  );
  const missing = packages.length > 0 ? [...packages, 'The hub tries again when it is restarted.'] : [];
  return [triggers.error, ...missing].map(inOneLine).join(' ');
}

/** Words of the hub as one sentence of a message. */
function inOneLine(words: string): string {
  const line = words.trim().replace(/\s+/g, ' ');
  return line.endsWith('.') ? line : `${line}.`;
}

/** Makes the hub reload its themes. */
export async function reloadThemes({ rest }: HubClient): Promise<void> {
  await callService(rest, 'frontend', 'reload_themes');
}

export async function themeNames({ connection }: HubClient): Promise<ReadonlySet<string>> {
  const { themes } = await connection.command('frontend/get_themes');
  return new Set(Object.keys(themes));
}

/** @returns false if the hub has not loaded `python_script` */
export async function reloadPythonScripts({ connection, rest }: HubClient): Promise<boolean> {
  const services = await listServices(connection);
  if (!services.get('python_script')?.has('reload')) return false;
  await callService(rest, 'python_script', 'reload');
  return true;
}

export async function pythonScripts({ connection }: HubClient): Promise<ReadonlySet<string>> {
  return (await listServices(connection)).get('python_script') ?? new Set();
}

export async function reloadTemplates({ rest }: HubClient): Promise<void> {
  await callService(rest, 'homeassistant', 'reload_custom_templates');
}

/** Why the hub cannot import a template, in the hub's words; undefined if it can. */
export async function templateError({ rest }: HubClient, name: string): Promise<string | undefined> {
  try {
    await rest.post('/api/template', {
      template: `{% import ${JSON.stringify(name)} as imported %}imported`,
    });
    return undefined;
  } catch (error) {
    if (error instanceof HubRejected) return error.message;
    throw error;
  }
}

export function dashboardResources({ connection }: HubClient) {
  return connection.command('lovelace/resources');
}

/** @throws HubRejected the resources are defined in `configuration.yaml` */
export async function createDashboardModule({ connection }: HubClient, url: string): Promise<void> {
  await connection.command('lovelace/resources/create', { res_type: 'module', url });
}

export async function updateDashboardModule(
  { connection }: HubClient,
  id: string,
  url: string,
): Promise<void> {
  await connection.command('lovelace/resources/update', { resource_id: id, res_type: 'module', url });
}

export async function deleteDashboardResource({ connection }: HubClient, id: string): Promise<void> {
  await connection.command('lovelace/resources/delete', { resource_id: id });
}

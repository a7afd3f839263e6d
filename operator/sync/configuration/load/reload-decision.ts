import { isDeepStrictEqual } from 'node:util';
import { CUSTOM_TEMPLATES, type Section, sectionOf, type Sections } from '../generate/sections';

/** Values of `spec.reloadStrategy`. */
export type ReloadStrategy = 'auto' | 'hot-reload' | 'restart';

export interface ReloadPolicy {
  readonly strategy: ReloadStrategy;
  /** Value of `autoRestart` of the HubSecrets: a changed secret may restart the hub. */
  readonly autoRestart: boolean;
}

/** The abilities of the running hub that a decision depends on. */
export interface HubCapabilities {
  /**
   * The services of the hub, as `<domain>.<service>`. The services of a component exist only while it is
   * loaded.
   */
  readonly services: ReadonlySet<string>;
  /**
   * The hub gets its `http:` settings by its API and ignores that section of the file (since Home Assistant
   * 2026.8).
   */
  readonly httpByApi: boolean;
  /** Parts of the former configuration that the hub has not set up. */
  readonly notSetUp: ReadonlySet<string>;
}

/** A service that loads sections. */
export interface SectionReload {
  /**
   * Name as `<domain>.<service>`. {@link LOGGER_SERVICE} represents the calls that set each level of
   * `logger:`.
   */
  readonly service: string;
  /** The sections that the service loads, such as `logger` or `sensor.filter`. */
  readonly sections: readonly string[];
}

export type ReloadDecision =
  /** The hub reads the same as before, or gets the difference by its API. */
  | { readonly type: 'nothing' }
  | {
      readonly type: 'hot-reload';
      readonly reloads: readonly SectionReload[];
      /** Sections that only a restart loads, and that are left for the next one (`RestartPending`). */
      readonly pending: readonly string[];
    }
  /** The sections in `because` need the restart. */
  | { readonly type: 'restart'; readonly because: readonly string[] };

/**
 * The service that represents reloads of `logger`, which has no reload service: levels are set one by one
 * (`logger.set_default_level`, `logger.set_level`).
 */
export const LOGGER_SERVICE = 'logger.set_level';

/** Parts whose service is not `<section>.reload`. Null: no service loads the part. */
const SERVICES: Readonly<Record<string, string | null>> = {
  homeassistant: 'homeassistant.reload_core_config',
  'homeassistant.auth_providers': null,
  'homeassistant.auth_mfa_modules': null,
  'homeassistant.packages': null,
  [CUSTOM_TEMPLATES]: 'homeassistant.reload_custom_templates',
  logger: LOGGER_SERVICE,
  'logger.filters': null,
  frontend: null,
  'frontend.themes': 'frontend.reload_themes',
  lovelace: null,
  'lovelace.resources': 'lovelace.reload_resources',
  // Only hubs before 2026.8 read this section from the file.
  http: null,
  'scene.homeassistant': 'scene.reload',
  // The reload service reads the scripts, not the section.
  python_script: null,
};

/**
 * Integrations whose `reload` also removes the contents of their section when the whole section is removed.
 */
// prettier-ignore
const REMOVE_THEIR_SECTION = [
  'automation', 'command_line', 'group', 'input_boolean', 'input_button', 'input_datetime', 'input_number', 'input_select',
  'input_text', 'intent_script', 'mqtt', 'person', 'rest_command', 'scene', 'schedule', 'script', 'shell_command', 'timer',
  'zone',
];

/**
 * Integrations whose `reload` reads their section or their platforms again and sets up the integrations found
 * there, according to the source of Home Assistant 2026.11: `async_integration_yaml_config`,
 * `async_setup_reload_service`, or the reload of a collection. Left out are `homekit`, which does not import
 * new bridges, `modbus` and `knx`, which answer before they are set up, `google_assistant`, which keeps its
 * entities, and custom integrations, whose `reload` may do anything.
 */
// prettier-ignore
const READ_THEIR_SECTION: ReadonlySet<string> = new Set([
  ...REMOVE_THEIR_SECTION,
  'bayesian', 'derivative', 'filter', 'generic_thermostat', 'history_stats', 'min_max', 'rest', 'statistics', 'template',
  'trend', 'universal',
]);

/**
 * Sections that restart the hub under `auto`, although the hub may be able to reload them (rules.md, "Reload
 * or restart").
 */
const RESTARTED_BY_AUTO: ReadonlySet<string> = new Set(['homeassistant', 'http', 'mqtt']);

/** Sections and listed parts whose service also removes their former contents. */
const REMOVED_BY_SERVICE: ReadonlySet<string> = new Set([
  ...REMOVE_THEIR_SECTION,
  'logger',
  'homeassistant',
  'frontend.themes',
  CUSTOM_TEMPLATES,
]);

/**
 * Decides how a hub that has loaded the sections `before` is made to load `after`. It is a pure function, so
 * that the same change has the same effect after a crash in between.
 */
export function decideReload(
  { strategy, autoRestart }: ReloadPolicy,
  before: Sections,
  after: Sections,
  hub: HubCapabilities,
): ReloadDecision {
  const services = new Map<string, string[]>();
  const pending: string[] = [];
  const restarted: string[] = [];
  for (const part of changedParts(before, after)) {
    if (part === 'http' && hub.httpByApi && strategy !== 'restart') continue;
    const isRemoved = !after.has(part);
    // A part that the hub has not set up can be removed without a restart.
    if (isRemoved && hub.notSetUp.has(part)) continue;
    const service = serviceFor(strategy, part, isRemoved, hub);
    const ofSecretsAlone = before.get(part)?.digest === after.get(part)?.digest;
    if (service !== undefined) services.set(service, [...(services.get(service) ?? []), part]);
    else if (strategy === 'hot-reload' || (ofSecretsAlone && !autoRestart)) pending.push(part);
    else restarted.push(part);
  }
  if (restarted.length > 0) return { type: 'restart', because: restarted };
  if (services.size === 0 && pending.length === 0) return { type: 'nothing' };
  const reloads = [...services].map(([service, sections]) => ({ service, sections }));
  return { type: 'hot-reload', reloads, pending };
}

/** The parts that differ, also by the value of a secret, sorted. */
export function changedParts(before: Sections, after: Sections): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((part) => !isSame(before.get(part), after.get(part)))
    .sort();
}

function isSame(before: Section | undefined, after: Section | undefined): boolean {
  return before?.digest === after?.digest && isDeepStrictEqual(before?.secrets, after?.secrets);
}

/**
 * The service of the hub that loads this part.
 *
 * @returns undefined when only a restart loads it
 */
function serviceFor(strategy: ReloadStrategy, part: string, removed: boolean, { services }: HubCapabilities) {
  if (strategy === 'restart') return undefined;
  if (strategy === 'auto' && RESTARTED_BY_AUTO.has(sectionOf(part)) && part !== CUSTOM_TEMPLATES)
    return undefined;
  // The service of a platform such as `sensor.filter` belongs to the integration (`filter`), which reloads
  // its platforms in all sections.
  const domain = part.slice(part.lastIndexOf('.') + 1);
  const isListed = Object.hasOwn(SERVICES, part);
  const service = isListed ? SERVICES[part] : READ_THEIR_SECTION.has(domain) && `${domain}.reload`;
  if (!service || !services.has(service)) return undefined;
  const isPlatform = !isListed && part !== sectionOf(part);
  return removed && !isPlatform && !REMOVED_BY_SERVICE.has(part) ? undefined : service;
}

import { isDeepStrictEqual } from 'node:util';
import { CUSTOM_TEMPLATES, type Section, sectionOf, type Sections } from '../generate/sections';

/** `spec.reloadStrategy` */
export type ReloadStrategy = 'auto' | 'hot-reload' | 'restart';

export interface ReloadPolicy {
  readonly strategy: ReloadStrategy;
  /** `autoRestart` of the HubSecrets: a changed value may restart the hub. */
  readonly autoRestart: boolean;
}

/** The parts of a configuration that the running hub can reload. */
export interface HubCapabilities {
  /** The services that it offers, as `<domain>.<service>`. Those of a component exist once it is loaded. */
  readonly services: ReadonlySet<string>;
  /** The hub takes its `http:` settings by its API, and ignores that section of the file (since Home Assistant 2026.8). */
  readonly httpByApi: boolean;
  /** Parts of the configuration before that the hub has not set up. */
  readonly notSetUp: ReadonlySet<string>;
}

/** A service that loads sections. */
export interface SectionReload {
  /** `<domain>.<service>`. {@link LOGGER_SERVICE} stands for the calls that set each level of `logger:`. */
  readonly service: string;
  /** The sections that it loads: `logger`, `sensor.filter`. */
  readonly sections: readonly string[];
}

export type ReloadDecision =
  /** The hub reads the same as before, or takes the difference by its API. */
  | { readonly type: 'nothing' }
  | {
      readonly type: 'hot-reload';
      readonly reloads: readonly SectionReload[];
      /** Sections that only a restart loads, and that are left to the next one (`RestartPending`). */
      readonly pending: readonly string[];
    }
  /** `because`: the sections that force it. */
  | { readonly type: 'restart'; readonly because: readonly string[] };

/** `logger` has no reload: levels are set one by one (`logger.set_default_level`, `logger.set_level`). */
export const LOGGER_SERVICE = 'logger.set_level';

/** Parts that have a service of another name than `<section>.reload`. Null: none. */
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
  // Before 2026.8; later it is no matter of the file.
  http: null,
  'scene.homeassistant': 'scene.reload',
  // The reload reads the scripts, not the section.
  python_script: null,
};

/** Integrations whose `reload` also removes all that their section contained, once the whole section is gone. */
// prettier-ignore
const REMOVE_THEIR_SECTION = [
  'automation', 'command_line', 'group', 'input_boolean', 'input_button', 'input_datetime', 'input_number', 'input_select',
  'input_text', 'intent_script', 'mqtt', 'person', 'rest_command', 'scene', 'schedule', 'script', 'shell_command', 'timer',
  'zone',
];

/**
 * Integrations whose `reload` reads their section or their platforms again and sets up the integrations that it finds,
 * by the source of Home Assistant 2026.11: `async_integration_yaml_config`, `async_setup_reload_service`, or the reload
 * of a collection. `homekit` does not import new bridges, `modbus` and `knx` answer before they are set up,
 * `google_assistant` keeps its entities, and a custom integration may mean anything by the word.
 */
// prettier-ignore
const READ_THEIR_SECTION: ReadonlySet<string> = new Set([
  ...REMOVE_THEIR_SECTION,
  'bayesian', 'derivative', 'filter', 'generic_thermostat', 'history_stats', 'min_max', 'rest', 'statistics', 'template',
  'trend', 'universal',
]);

/** Sections that restart the hub under `auto`, although it may be able to reload them (rules.md, "Reload or restart"). */
const RESTARTED_BY_AUTO: ReadonlySet<string> = new Set(['homeassistant', 'http', 'mqtt']);

/** Sections and listed parts whose service also removes what they contained. */
const REMOVED_BY_SERVICE: ReadonlySet<string> = new Set([
  ...REMOVE_THEIR_SECTION,
  'logger',
  'homeassistant',
  'frontend.themes',
  CUSTOM_TEMPLATES,
]);

/**
 * Decides how a hub that has loaded the sections `before` gets to load `after`: a pure function, so that the same change
 * has the same effect after a crash in between.
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
    // What does not run needs no restart to go.
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

/** The service of the hub that loads this part; undefined: only a restart does. */
function serviceFor(strategy: ReloadStrategy, part: string, removed: boolean, { services }: HubCapabilities) {
  if (strategy === 'restart') return undefined;
  if (strategy === 'auto' && RESTARTED_BY_AUTO.has(sectionOf(part)) && part !== CUSTOM_TEMPLATES)
    return undefined;
  // `filter` of `sensor.filter`: the integration of a platform reloads it in all sections.
  const domain = part.slice(part.lastIndexOf('.') + 1);
  const isListed = Object.hasOwn(SERVICES, part);
  const service = isListed ? SERVICES[part] : READ_THEIR_SECTION.has(domain) && `${domain}.reload`;
  if (!service || !services.has(service)) return undefined;
  const isPlatform = !isListed && part !== sectionOf(part);
  return removed && !isPlatform && !REMOVED_BY_SERVICE.has(part) ? undefined : service;
}

import {
  HubBanned,
  type HubError,
  NotHomeAssistant,
  TokenRejected,
} from '../../operator/client/connection/errors';
import { type Hub, kindsByName } from '../../operator/kinds';
import { userAnnotations } from '../../operator/kinds/annotations';
import { isLower, OLDEST_SUPPORTED } from '../../operator/base/hub-version';
import type { CustomResource } from '../../operator/kinds/resource';
import { conditionOf } from '../../operator/runtime/conditions';
import { DEFINITIONS } from '../export/config-entities';
import { oneLine } from '../output';
import { MAX_CLOCK_SKEW } from './cluster-checks';
import { about, type Finding } from './finding';
import type { HubFacts, InnerFacts } from './hub-facts';

type Check = ReturnType<typeof about>;

/** A Hub with its resources. */
interface Subject {
  readonly hub: Hub;
  readonly children: readonly CustomResource[];
}

/** The checks of facts that a hub shows only to administrators, by name. */
const INNER_CHECKS: Readonly<
  Record<string, (check: Check, facts: InnerFacts, subject: Subject) => Finding[]>
> = {
  bans: judgeBans,
  repairs: judgeRepairs,
  includes: judgeIncludes,
  'trusted proxies': judgeProxies,
  orphans: judgeLeftBehind,
};

/** Judges a hub that answered. @param children the resources of this Hub */
export function judgeHub(
  hub: Hub,
  facts: HubFacts,
  children: readonly CustomResource[],
  now: number,
): Finding[] {
  const subject = `Hub ${hub.metadata.name}`;
  const { core, inner } = facts;
  return [
    about('hub reachable', subject).ok(`Home Assistant ${core.version} answers.`),
    ...judgeVersion(subject, facts),
    ...judgeToken(subject, facts),
    ...judgeMode(subject, facts),
    ...judgeClock(subject, facts, now),
    ...Object.entries(INNER_CHECKS).flatMap(([name, judge]) => {
      const check = about(name, subject);
      return 'notKnown' in inner ? [check.skipped(inner.notKnown)] : judge(check, inner, { hub, children });
    }),
  ];
}

/** Judges a hub that could not be read. */
export function judgeFailure(name: string, error: HubError): Finding {
  const subject = `Hub ${name}`;
  const message = oneLine(error.message).replace(/[.]*$/, '.');
  if (error instanceof TokenRejected)
    return about('token', subject).fault(
      message,
      'Store a long-lived token of an administrator in the Secret. With bootstrap the operator replaces it by itself: read the condition BootstrapReady.',
    );
  if (error instanceof HubBanned)
    return about('bans', subject).fault(
      message,
      'Remove the address from ip_bans.yaml in the folder of the hub’s configuration, and restart the hub.',
    );
  if (error instanceof NotHomeAssistant)
    return about('hub reachable', subject).fault(
      message,
      'Correct the address: another program answers there.',
    );
  return about('hub reachable', subject).fault(
    message,
    `kubectl hub status ${name} says whether its pod runs. Of an external hub, check the address and the network.`,
  );
}

function judgeVersion(subject: string, { core: { version } }: HubFacts): Finding[] {
  if (!isLower(version, OLDEST_SUPPORTED)) return [];
  return [
    about('hub version', subject).fault(
      `Home Assistant ${version} is older than ${OLDEST_SUPPORTED}, the oldest version that is supported.`,
      'Update the hub.',
    ),
  ];
}

function judgeToken(subject: string, { isAdmin }: HubFacts): Finding[] {
  const { ok, fault } = about('token', subject);
  return [
    isAdmin
      ? ok('The hub accepts the token, which is of an administrator.')
      : fault(
          'The token belongs to a user who is no administrator of the hub.',
          'Store a token of an administrator in the Secret.',
        ),
  ];
}

function judgeMode(subject: string, { core }: HubFacts): Finding[] {
  const { ok, fault } = about('recovery and safe mode', subject);
  if (core.recovery_mode)
    return [
      fault(
        'The hub runs in recovery mode: it could not load its configuration or its storage.',
        'kubectl hub logs says what it could not load. Correct that, then kubectl hub restart.',
      ),
    ];
  if (core.safe_mode)
    return [
      fault('The hub runs in safe mode, without custom integrations.', 'kubectl hub restart ends this mode.'),
    ];
  return [ok('The hub runs normally.')];
}

function judgeBans({ ok, fault }: Check, { bannedAddress }: InnerFacts): Finding[] {
  if (bannedAddress === undefined) return [ok('The hub shows no notice of a ban.')];
  return [
    fault(
      `The hub has banned ${bannedAddress} after failed logins.`,
      'Remove it from ip_bans.yaml in the folder of the hub’s configuration, and restart the hub.',
    ),
  ];
}

function judgeRepairs({ ok, fault, notice, skipped }: Check, { issues }: InnerFacts): Finding[] {
  if (!issues) return [skipped('The hub has not loaded its repairs.')];
  if (issues.length === 0) return [ok('The hub asks for no repair.')];
  return issues.map((issue) => {
    const { domain, issue_id: id, translation_key: key, translation_placeholders: values } = issue;
    const details = Object.entries(values ?? {}).map(([name, value]) => `${name} ${oneLine(String(value))}`);
    const text = [`${domain}: ${key || id}`, ...details].join(', ');
    // A warning does not stop the hub, such as one about a country that is not set.
    const verdict = issue.severity === 'warning' ? notice : fault;
    return verdict(`The hub asks for a repair: ${text}.`, 'Open Settings, then Repairs, in the hub.');
  });
}

function judgeIncludes(
  { ok, fault }: Check,
  { components }: InnerFacts,
  { hub, children }: Subject,
): Finding[] {
  const missing = Object.entries(DEFINITIONS).filter(
    ([component, { kind }]) => children.some((each) => each.kind === kind) && !components.includes(component),
  );
  const notLoaded = children.filter((each) => conditionOf(each, 'Ready')?.reason === 'NotLoaded');
  const faults = [
    ...missing.map(([component, { kind }]) =>
      fault(
        `The hub has not loaded ${component}, and there are resources of ${kind}.`,
        `Add to configuration.yaml of the hub: ${component}: !include ${component}s.yaml`,
      ),
    ),
    ...notLoaded.map((each) =>
      fault(
        `The hub has stored ${each.kind} ${each.metadata.name} and does not load it: ${oneLine(conditionOf(each, 'Ready')?.message ?? '')}`,
        `Correct what the message names; kubectl hub logs ${hub.metadata.name} --system has the hub’s own words.`,
      ),
    ),
  ];
  return faults.length > 0 ? faults : [ok('The hub loads what is written to it.')];
}

function judgeProxies(
  { ok, fault, skipped }: Check,
  { trustsProxies, refusedProxy }: InnerFacts,
  { hub }: Subject,
): Finding[] {
  const { ingress, gateway, external } = hub.spec;
  const isProxied = Boolean(ingress?.enabled || gateway?.enabled);
  const refused = typeof refusedProxy === 'string' ? refusedProxy : undefined;
  if (refused === undefined && (!isProxied || trustsProxies !== false)) {
    if (!isProxied && !external) return [];
    return [
      typeof refusedProxy === 'object'
        ? skipped(refusedProxy.notKnown)
        : ok('The hub has logged no proxy that it refuses.'),
    ];
  }
  const addresses = refused ?? 'ADDRESS-OF-THE-INGRESS-CONTROLLER';
  return [
    fault(
      refused === undefined
        ? 'The hub is behind an Ingress or a Gateway, and trusts no proxy: it refuses their requests.'
        : `The hub refuses requests that the proxy ${refused} forwards.`,
      `Write into the configuration of the hub: http: { use_x_forwarded_for: true, trusted_proxies: [${addresses}] }`,
    ),
  ];
}

function judgeClock(subject: string, { time }: HubFacts, now: number): Finding[] {
  const { ok, fault, skipped } = about('clock', subject);
  if (typeof time === 'object') return [skipped(time.notKnown)];
  const skew = Math.abs(time - now);
  return [
    skew > MAX_CLOCK_SKEW
      ? fault(
          `The clock of the hub and that of this machine differ by ${Math.round(skew / 1_000)} s.`,
          'Set the clock of the node or device by NTP: automations run at the wrong time otherwise.',
        )
      : ok('The clock of the hub is right.'),
  ];
}

/** Reports objects that the operator has created and that no resource describes. */
function judgeLeftBehind(
  { ok, fault }: Check,
  { created }: InnerFacts,
  { hub, children }: Subject,
): Finding[] {
  const left = created.filter(({ kind, id }) => {
    const { kind: resourceKind } = DEFINITIONS[kind];
    return !children.some(
      (each) =>
        each.kind === resourceKind &&
        (kindsByName.get(each.kind)?.identity?.(each) === id ||
          Object.values(each.status ?? {}).includes(id)),
    );
  });
  if (left.length === 0) return [ok('Each object that the operator has created has its resource.')];
  const names = left.map(({ entityId }) => entityId);
  return [
    fault(
      `The operator has created ${names.join(', ')} in the hub, and no resource describes them.`,
      `Apply their resources again, or remove them: kubectl annotate hub/${hub.metadata.name} ${userAnnotations.removeLeftBehind}=${names.join(',')}`,
    ),
  ];
}

import { type BoundedTasks, runTwice } from '../base/bounded-task';
import { configuration, hub, integration, type Kind, type ResourceOf, secrets } from '../kinds';
import type { CustomResource } from '../kinds/resource';
import { defaulted } from '../kinds/schema';
import { automations } from '../sync/config-entities/automation';
import { scenes } from '../sync/config-entities/scene';
import { scripts } from '../sync/config-entities/script';
import { foreignWarning } from '../sync/configuration/generate/foreign-targets';
import { endedMessage, generation, httpSection } from '../sync/configuration/generate/texts';
import { statefulSet } from '../sync/hub/workload/statefulset';
import { resolveAnswers } from '../sync/integration/answers';
import { invalidListedKey } from '../sync/secrets/combine';

/** @param message a sentence, which begins with the field if there is one: `spec.files[a.yaml], line 2: …` */
type Report = (severity: 'error' | 'warning', message: string) => void;

/** The message of `Stalled` for a spec that the sync module of a kind rejects by itself; undefined: it accepts the spec. */
type Rule<K extends Kind> = (
  resource: ResourceOf<K>,
  report: Report,
  texts: BoundedTasks,
) => string | undefined | Promise<string | undefined>;

const rules: { readonly [K in Kind]?: Rule<K> } = {
  HubAutomation: (resource) => automations.validate?.(automations.spec(resource)),
  HubScene: (resource) => scenes.validate?.(scenes.spec(resource)),
  HubScript: (resource) => scripts.validate?.(scripts.spec(resource)),
  HubIntegration: async ({ metadata, spec }) => {
    // Secrets are not read: a missing one is not an error here.
    const noSecrets = {
      cache: { list: () => [] },
      secrets: { find: () => Promise.resolve(undefined) },
      settings: { requireSecretLabel: false },
    };
    const resolved = await resolveAnswers(noSecrets, metadata.namespace, defaulted(integration.spec, spec));
    // The messages of `resolveAnswers` name the field without `spec`.
    return 'invalid' in resolved ? `spec.${resolved.invalid}` : undefined;
  },
  HubConfiguration: async (resource, report, texts) => {
    const source = { ...defaulted(configuration.spec, resource.spec), hasSecrets: true };
    const read = await runTwice(texts, generation, source, '');
    if (read.type === 'ended') return endedMessage(read);
    const { output: generated } = read;
    if (generated.type === 'invalid') return generated.message;
    const foreign = generated.targets.map(foreignWarning);
    for (const notice of [...generated.notices, ...generated.lockouts, ...foreign]) report('warning', notice);
    const http = await runTwice(texts, httpSection, generated.files, '');
    const section = http.type === 'done' ? http.output : undefined;
    if (section?.type === 'invalid') report('warning', section.message); // a hub before 2026.8 reads it itself
    return undefined;
  },
  HubSecrets: ({ spec }) => invalidListedKey(defaulted(secrets.spec, spec)),
  Hub: (given) => {
    if (given.spec.external) return undefined;
    const set = statefulSet(given, defaulted(hub.spec, given.spec), { config: '' }, {});
    return 'problem' in set ? set.problem : undefined;
  },
};

/** The message that the reconciliation would report in `Stalled`. */
export async function reportReconciliationProblems(
  resource: CustomResource,
  report: Report,
  texts: BoundedTasks,
): Promise<void> {
  const rule = rules[resource.kind as Kind] as
    ((...given: [CustomResource, Report, BoundedTasks]) => ReturnType<Rule<Kind>>) | undefined;
  const problem = await rule?.(resource, report, texts);
  if (problem !== undefined) report('error', problem);
}

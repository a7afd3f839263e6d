import { type BoundedTasks, runTwice } from '../base/bounded-task';
import {
  blueprint,
  configuration,
  hub,
  type HubConfiguration,
  type HubConfigurationSpec,
  integration,
  type Kind,
  type ResourceOf,
  secrets,
} from '../kinds';
import type { CustomResource } from '../kinds/resource';
import { defaulted } from '../kinds/schema';
import { automations } from '../sync/config-entities/automation';
import { scenes } from '../sync/config-entities/scene';
import { scripts } from '../sync/config-entities/script';
import { blueprintTask } from '../sync/configuration/blueprint/read-blueprint';
import { givenText, tooCostly } from '../sync/configuration/blueprint/text-of';
import { foreignWarning } from '../sync/configuration/generate/foreign-targets';
import { givenFiles } from '../sync/configuration/generate/given-files';
import { missingKeyMessage, missingKeys } from '../sync/configuration/generate/secret-uses';
import { endedMessage, generation } from '../sync/configuration/generate/texts';
import { statefulSet } from '../sync/hub/workload/statefulset';
import { resolveAnswers } from '../sync/integration/answers';
import { entryTypeOf } from '../sync/registry/entry-types';
import { invalidListedKey } from '../sync/secrets/combine';
import type { GivenState } from './given-state';

/** @param message a sentence that begins with the field if there is one: `spec.files[a.yaml], line 2: …` */
type Report = (severity: 'error' | 'warning', message: string) => void;

/**
 * Checks a spec like the sync module of its kind. @returns the message of `Stalled`; undefined if the module
 * accepts the spec
 */
type Rule<K extends Kind> = (
  resource: ResourceOf<K>,
  report: Report,
  texts: BoundedTasks,
  state: GivenState,
) => string | undefined | Promise<string | undefined>;

const rules: { readonly [K in Kind]?: Rule<K> } = {
  HubAutomation: (resource) => automations.validate?.(automations.spec(resource)),
  HubScene: (resource) => scenes.validate?.(scenes.spec(resource)),
  HubScript: (resource) => scripts.validate?.(scripts.spec(resource)),
  HubIntegration: async ({ metadata, spec }) => {
    // Secrets are not read, and a missing one is not an error here.
    const noSecrets = {
      cache: { list: () => [] },
      secrets: { find: () => Promise.resolve(undefined) },
      settings: { requireSecretLabel: false },
    };
    const resolved = await resolveAnswers(noSecrets, metadata.namespace, defaulted(integration.spec, spec));
    // The messages of `resolveAnswers` name the field without the prefix `spec.`.
    return 'invalid' in resolved ? `spec.${resolved.invalid}` : undefined;
  },
  HubConfiguration: async (resource, report, texts, state) => {
    const spec = defaulted(configuration.spec, resource.spec);
    const { given, unseen } = filesInManifests(resource, spec, state);
    for (const each of unseen) report('warning', each);
    if (given.type !== 'files') return given.message;
    const source = { ...spec, ...given, hasSecrets: true };
    const read = await runTwice(texts, generation, source, '');
    if (read.type === 'ended') return endedMessage(read);
    const { output: generated } = read;
    if (generated.type === 'invalid') return generated.message;
    // A ConfigMap that is not among the manifests may contain the file that an include names.
    const foreign =
      unseen.length === 0 ? [...generated.targets.map(foreignWarning), ...generated.unlooked] : [];
    for (const each of missingInConfigMaps(resource, generated.secrets, state)) report('warning', each);
    for (const notice of [...generated.notices, ...generated.lockouts, ...generated.hidden, ...foreign])
      report('warning', notice);
    const { http } = generated;
    if (http.type === 'invalid') report('warning', http.message); // a hub before 2026.8 reads the file
    return undefined;
  },
  HubBlueprint: async ({ metadata, spec: given }, report, texts, state) => {
    const spec = defaulted(blueprint.spec, given);
    const { configMapRef } = spec;
    const configMap = configMapRef && state.configMap(metadata.namespace, configMapRef.name);
    if (configMapRef && !configMap) {
      report(
        'warning',
        `spec.configMapRef: the ConfigMap ${configMapRef.name} is not in these files, so the blueprint is not checked: name its file as well, or check what kubectl kustomize prints.`,
      );
      return undefined;
    }
    const text = givenText(spec, configMap);
    if (text.type !== 'text') return text.message;
    const read = await runTwice(texts, blueprintTask, { ...text, domain: spec.domain }, '');
    if (read.type === 'ended') return tooCostly(text.field, read);
    return 'problem' in read.output ? read.output.problem : undefined;
  },
  HubHelper: (resource) => entryTypeOf(resource)?.validate?.(resource),
  HubSecrets: ({ spec }) => invalidListedKey(defaulted(secrets.spec, spec)),
  Hub: (given) => {
    if (given.spec.external) return undefined;
    const set = statefulSet(given, defaulted(hub.spec, given.spec), { config: '' }, {});
    return 'problem' in set ? set.problem : undefined;
  },
};

/**
 * The files of a configuration that are among the manifests. `unseen` has a sentence for each ConfigMap that
 * is not among them.
 */
function filesInManifests(
  { metadata: { namespace } }: HubConfiguration,
  spec: HubConfigurationSpec,
  state: GivenState,
) {
  const { hubRef, files, filesFrom = [] } = spec;
  const found = new Map(
    filesFrom.map(({ configMapRef: { name } }) => [name, state.configMap(namespace, name)] as const),
  );
  const isUnseen = (name: string) => found.get(name) === undefined;
  const unseen = filesFrom.flatMap(({ configMapRef: { name } }, index) =>
    isUnseen(name)
      ? [
          `spec.filesFrom[${index}]: the ConfigMap ${name} is not in these files, so its files are not checked: name its file as well, or check what kubectl kustomize prints.`,
        ]
      : [],
  );
  const sources = filesFrom.map((each) =>
    isUnseen(each.configMapRef.name) ? { ...each, optional: true } : each,
  );
  return { given: givenFiles({ hubRef, ...(files && { files }), filesFrom: sources }, found), unseen };
}

/**
 * Warns of secrets that files in ConfigMaps use and the hub does not have. The webhook checks only the texts
 * of the spec.
 */
function missingInConfigMaps(
  { metadata, spec }: HubConfiguration,
  uses: ReadonlyMap<string, string>,
  state: GivenState,
): string[] {
  const secretsOfHub = state.secretsOf(metadata.namespace, spec.hubRef.name);
  if (!secretsOfHub) return [];
  const inConfigMaps = new Map([...uses].filter(([, place]) => place.startsWith('spec.filesFrom')));
  return missingKeys(inConfigMaps, secretsOfHub).map((each) => missingKeyMessage(spec.hubRef.name, each));
}

/** Reports the message that the reconcile would write to `Stalled`. */
export async function reportReconciliationProblems(
  resource: CustomResource,
  report: Report,
  texts: BoundedTasks,
  state: GivenState,
): Promise<void> {
  const rule = rules[resource.kind as Kind] as
    ((...given: [CustomResource, Report, BoundedTasks, GivenState]) => ReturnType<Rule<Kind>>) | undefined;
  const problem = await rule?.(resource, report, texts, state);
  if (problem !== undefined) report('error', problem);
}

import { configuration as definition, type HubConfiguration, type HubConfigurationSpec } from '../../kinds';
import type { ReadyReason } from '../../kinds/reasons';
import { overriddenDatabase } from '../../kinds/recorder-sources';
import { defaulted } from '../../kinds/schema';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';
import { readsDelivery } from '../hub-pod/delivery';
import { readGeneratedSecrets } from '../secrets-yaml/generated-secrets';
import { secretsOfHub } from '../secrets-yaml/hub-resources';
import { recorderUrl } from '../secrets-yaml/recorder-url';
import type { Services } from '../services';
import { type Content, contentOf, type GeneratedConfiguration } from './generate/generate';
import type { GeneratedConfigurationCache } from './generate/generated-configuration-cache';
import { missingSecrets } from './generate/secret-uses';
import { textsOfHub } from './generate/texts';
import { readGivenFiles } from './read-given-files';
import { restartForAll } from './record/publish';
import { ensureRecorderSecret } from './record/recorder-secret';

export type PrepareServices = Pick<
  Services,
  'applier' | 'cache' | 'secrets' | 'settings' | 'requeue' | 'texts'
>;

type Prepared = { readonly content: Content; readonly events: readonly EventSpec[] } | Unprepared;

interface Unprepared {
  /** The problem that prevents the generation. The hub keeps its last configuration. */
  readonly outcome: Outcome;
}

/** Generates the files, and the Secret with the database URL that they may refer to. */
export async function prepare(
  services: PrepareServices,
  generation: GeneratedConfigurationCache,
  resource: HubConfiguration,
  spec = defaulted(definition.spec, resource.spec),
): Promise<Prepared> {
  const { namespace } = resource.metadata;
  const { name } = spec.hubRef;
  const url = await recorderUrl(services, resource);
  if (url?.type === 'missing') {
    const { reason, message } = url;
    return { outcome: reason === 'SecretRefused' ? stalled(reason, kept(message)) : wait(reason, message) };
  }
  const before = await readGeneratedSecrets(services, namespace, name);
  const hasSecrets = before !== undefined || url !== undefined;
  const generated = await generate(services, generation, resource, spec, hasSecrets);
  if ('outcome' in generated) return generated;
  const waits = await ensureRecorderSecret(services, resource, url?.url);
  if (waits !== undefined) return { outcome: wait('KeyNotFound', waits) };
  const secrets = await readGeneratedSecrets(services, namespace, name);
  // The Secret was created while the files were generated, so the marker does not have its hash yet.
  if (secrets !== undefined && !hasSecrets) return prepare(services, generation, resource, spec);
  // The Secret outlives its HubSecrets, for the configuration that is in use. New content may only use
  // secrets of an existing HubSecrets.
  const inUse = secretsOfHub(services, namespace, name) && secrets;
  const missing = missingSecrets(generated.secrets, inUse, name);
  if (missing !== undefined) return { outcome: wait('KeyNotFound', missing) };
  const restart = restartForAll(services, resource, generated, secrets);
  return {
    content: contentOf(generated, secrets, restart, textsOfHub(services, namespace, name)),
    events: warningsOf(resource, spec, generated),
  };
}

/** Generates the files from the spec and the ConfigMaps that it names. */
async function generate(
  services: PrepareServices,
  generation: GeneratedConfigurationCache,
  resource: HubConfiguration,
  spec: HubConfigurationSpec,
  hasSecrets: boolean,
): Promise<GeneratedConfiguration | Unprepared> {
  const given = await readGivenFiles(services, resource, spec);
  if (given.type === 'missing') return { outcome: wait('ConfigMapNotFound', given.message) };
  if (given.type === 'invalid') return { outcome: invalid(given.message) };
  const { configuration, hubRef, recorder } = spec;
  const generated = await generation.generate(resource, {
    configuration,
    ...(recorder && { recorder }),
    files: given.files,
    origins: given.origins,
    hasSecrets,
    readsDelivery: readsDelivery(services, resource.metadata.namespace, hubRef.name),
  });
  if (generated.type === 'waiting')
    return { outcome: waiting('ConfigurationGenerated', kept(generated.message), generated.after) };
  return generated.type === 'invalid' ? { outcome: invalid(generated.message) } : generated;
}

const kept = (problem: string): string => `${problem} The last configuration stays.`;

const invalid = (problem: string): Outcome =>
  stalled('InvalidConfiguration', `${problem} The last good configuration stays.`);

const wait = (reason: ReadyReason, problem: string): Outcome =>
  waiting(reason, kept(problem), DEPENDENCY_REQUEUE);

/**
 * Warnings about parts of the spec that have no effect, and about parts that lock the operator out. They are
 * reported once per version of the spec.
 */
function warningsOf(
  { metadata, status }: HubConfiguration,
  { recorder }: HubConfigurationSpec,
  { notices, lockouts }: Pick<GeneratedConfiguration, 'notices' | 'lockouts'>,
): EventSpec[] {
  if (status?.observedGeneration === metadata.generation) return [];
  const overridden = overriddenDatabase(recorder);
  const sentences = overridden === undefined ? notices : [overridden, ...notices];
  return [
    ...sentences.map((message) => ({ type: 'Warning', reason: 'RecorderOverridden', message }) as const),
    ...lockouts.map((message) => ({ type: 'Warning', reason: 'PasswordLoginMissing', message }) as const),
  ];
}

import {
  configuration as definition,
  type Hub,
  type HubConfiguration,
  type HubConfigurationSpec,
} from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { DEPENDENCY_REQUEUE } from '../../limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, ready, stalled, waiting } from '../../runtime/outcome';
import type { SyncModule } from '../../runtime/sync-module';
import { dryRunOutcome } from '../dry-run';
import { readGeneratedSecrets } from '../secrets/generated-secrets';
import type { Services } from '../services';
import { checkFailureOf } from './check-verdict';
import { type ConfigurationSource, generateConfiguration } from './generate';
import { missingSecrets } from './missing-secrets';
import { publishConfiguration } from './publish';
import { ensureRecorderSecret } from './recorder-secret';
import { restartForAll } from './restart-hashes';
import { unsupportedParts } from './unsupported';

/** Generates the hub's configuration into a ConfigMap, which needs no running hub. The Hub mounts it. */
export function configurationModule(services: Services): SyncModule<HubConfiguration> {
  return {
    sync: (resource, { dryRun }) =>
      dryRun
        ? dryRunOutcome(services, (applier) => publish({ ...services, applier }, resource))
        : publish(services, resource),
  };
}

/** Publishes the configuration, unless the hub would not load it. */
async function publish(services: Services, resource: HubConfiguration): Promise<Outcome> {
  const spec = defaulted(definition.spec, resource.spec);
  const { namespace } = resource.metadata;
  const { name } = spec.hubRef;
  const missingUrl = await ensureRecorderSecret(services, resource, spec);
  if (missingUrl)
    return waiting(
      missingUrl.reason,
      `${missingUrl.message} The last configuration stays.`,
      DEPENDENCY_REQUEUE,
    );
  const secrets = await readGeneratedSecrets(services, namespace, name);
  const generated = generateConfiguration(sourceOf(spec, secrets?.hash !== undefined));
  if (generated.type === 'invalid')
    return stalled('InvalidConfiguration', `${generated.message} The last good configuration stays.`);
  const missing = missingSecrets(generated.secrets, secrets, name);
  if (missing) return waiting('KeyNotFound', missing, DEPENDENCY_REQUEUE);
  const restart = restartForAll(services, resource, generated, secrets);
  await publishConfiguration(services, resource, generated.files, restart);

  const details = {
    status: { configHash: generated.hash },
    events: overrides(resource, spec, generated.notices),
  };
  const failure = await checkFailureOf(services, resource, generated.hash);
  if (failure) return stalled('CheckFailed', failure, details);
  const hub = services.cache.get<Hub>('Hub', namespace, name);
  if (!hub)
    return waiting(
      'HubNotFound',
      `Waiting for the Hub ${name}: it does not exist.`,
      DEPENDENCY_REQUEUE,
      details,
    );
  const unsupported = unsupportedParts(spec, [...generated.sections.keys()], hub.status?.version);
  if (unsupported.length > 0) return stalled('NotYetSupported', unsupported.join(' '), details);
  const message = 'The configuration is generated; a change of it restarts the hub.';
  return ready('ConfigurationGenerated', message, details);
}

function sourceOf(
  { configuration, files, recorder }: HubConfigurationSpec,
  hasSecrets: boolean,
): ConfigurationSource {
  return {
    configuration,
    files,
    recorder: recorder && { ...recorder, databaseFromSecret: recorder.databaseSecretRef !== undefined },
    hasSecrets,
  };
}

/** What of `spec.recorder` has no effect, reported once for each version of the spec. */
function overrides(
  { metadata, status }: HubConfiguration,
  { recorder }: HubConfigurationSpec,
  notices: readonly string[],
): EventSpec[] {
  if (status?.observedGeneration === metadata.generation) return [];
  const both = recorder?.database !== undefined && recorder.databaseSecretRef !== undefined;
  const sentences = both
    ? [
        'spec.recorder has database and databaseSecretRef, and the Secret is used: remove database.',
        ...notices,
      ]
    : notices;
  return sentences.map((message) => ({ type: 'Warning', reason: 'RecorderOverridden', message }));
}

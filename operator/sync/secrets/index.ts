import { type HubSecrets, type HubSecretsSpec, secrets as definition } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import { type Outcome, ready, stalled, waiting } from '../../runtime/outcome';
import { readNamedSecret } from '../../runtime/named-secret';
import type { SecretContent } from '../../runtime/secrets';
import type { SyncModule } from '../../runtime/sync-module';
import { dryRunOutcome } from '../dry-run';
import type { Services } from '../services';
import { combineSecrets } from './combine';
import type { ConfigurationInUse } from '../secrets-yaml/values-in-use';
import { writeGeneratedSecrets } from '../secrets-yaml/generated-secrets';
import { configurationOfHub } from '../secrets-yaml/hub-resources';
import { recorderUrl } from '../secrets-yaml/recorder-url';
import { RECORDER_KEY } from '../secrets-yaml/secrets-yaml';

/** Combines Secrets into the hub's `secrets.yaml`, which the Hub mounts. No running hub is needed. */
export function secretsModule(
  services: Pick<Services, 'applier' | 'cache' | 'cluster' | 'secrets' | 'settings'>,
  inUse: ConfigurationInUse,
): SyncModule<HubSecrets> {
  return {
    sync: (resource, { dryRun }) =>
      dryRun
        ? dryRunOutcome(services, (applier) => generate({ ...services, applier }, inUse, resource))
        : generate(services, inUse, resource),
  };
}

async function generate(
  services: Pick<Services, 'applier' | 'cache' | 'secrets' | 'settings'>,
  inUse: ConfigurationInUse,
  resource: HubSecrets,
): Promise<Outcome> {
  const { namespace } = resource.metadata;
  const spec = defaulted(definition.spec, resource.spec);
  const hub = spec.hubRef.name;
  const combined = combineSecrets(spec, await readSources(services, namespace, spec));
  const staying = 'The last secrets of the hub stay.';
  if (combined.type === 'missing')
    return waiting(combined.reason, `${combined.message} ${staying}`, DEPENDENCY_REQUEUE);
  if (combined.type === 'invalid') return stalled('InvalidSpec', `${combined.message} ${staying}`);

  const configuration = configurationOfHub(services, namespace, hub);
  const url = configuration && (await recorderUrl(services, configuration));
  const values = new Map(combined.values);
  if (url?.type === 'url') values.set(RECORDER_KEY, url.url);
  const { hash } = await writeGeneratedSecrets(
    services,
    inUse,
    { owner: resource, formerOwner: configuration },
    hub,
    values,
  );
  const keys = combined.values.size;
  const what = `${keys} ${keys === 1 ? 'secret' : 'secrets'}`;
  return ready('SecretsGenerated', `The hub gets ${what} for !secret.`, {
    status: { secretsHash: hash, keys },
  });
}

/**
 * Reads the existing Secrets of `secretRefs`, by name.
 *
 * @throws SecretRefused
 */
async function readSources(
  services: Pick<Services, 'cache' | 'secrets' | 'settings'>,
  namespace: string,
  { hubRef, secretRefs }: HubSecretsSpec,
): Promise<ReadonlyMap<string, SecretContent>> {
  const found = new Map<string, SecretContent>();
  for (const [index, { name }] of secretRefs.entries()) {
    const field = `spec.secretRefs[${index}]`;
    const content = await readNamedSecret(services, { namespace, hub: hubRef.name, name, field });
    if (content) found.set(name, content);
  }
  return found;
}

import { randomBytes } from 'node:crypto';
import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import type { CustomResource } from '../../kinds/resource';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import { assertStillDesired } from '../still-desired';
import type { Services } from '../services';
import {
  type ConfigurationInUse,
  FORMER_VALUES_KEY,
  valuesToKeep,
  valuesToMask,
  writeFormerValues,
} from './values-in-use';
import { type ReadSecrets, readSecretsYaml, type SecretsYaml, writeSecretsYaml } from './secrets-yaml';

/** Key in the Secret `<hub>-secrets`, and name of the file in the hub. */
export const SECRETS_FILE = 'secrets.yaml';

/** Size of the salt: with 256 bits the hash of the content can be published. */
const SALT_BYTES = 32;

/**
 * The generated `secrets.yaml` of a hub.
 *
 * @returns undefined when the operator has not generated one
 */
export async function readGeneratedSecrets(
  { secrets }: Pick<Services, 'secrets'>,
  namespace: string,
  hub: string,
): Promise<ReadSecrets | undefined> {
  const text = (await secrets.get(namespace, objectNames(hub).secrets))?.get(SECRETS_FILE);
  return text === undefined ? undefined : readSecretsYaml(text);
}

/**
 * Writes the hub's `secrets.yaml` into the Secret `<hub>-secrets`, with its hash as an annotation. The salt
 * of the hash is generated once and kept. The Hub need not exist. If it exists, it keeps the Secret when the
 * Secret's owner is deleted, so that the configuration in use can still be loaded.
 *
 * @param formerOwner the resource that may have written the Secret before
 * @throws NameConflict, ObjectRejected, Stopping
 */
export async function writeGeneratedSecrets(
  services: Pick<Services, 'applier' | 'cache' | 'secrets'>,
  configuration: ConfigurationInUse,
  { owner, formerOwner }: { owner: CustomResource; formerOwner?: CustomResource | undefined },
  hub: string,
  values: ReadonlyMap<string, string>,
): Promise<SecretsYaml> {
  const { namespace } = owner.metadata;
  const { secrets: name } = objectNames(hub);
  const content = await services.secrets.get(namespace, name);
  const before = await readGeneratedSecrets(services, namespace, hub);
  const salt = before?.salt ?? randomBytes(SALT_BYTES).toString('base64');
  const kept = await valuesToKeep(configuration, namespace, hub, before, values);
  const generated = writeSecretsYaml(values, salt, kept);
  const present = new Map([...values, ...kept]);
  const former = await valuesToMask(configuration, namespace, hub, content, before, present);
  // Another resource may have taken over and written the Secret by now.
  assertStillDesired(services, owner);
  const running = services.cache.get<Hub>('Hub', namespace, hub);
  const annotations = { [operatorAnnotations.secretsHash]: generated.hash };
  const metadata = { name, namespace, annotations };
  const data = {
    [SECRETS_FILE]: base64(generated.text),
    ...(former.length > 0 && { [FORMER_VALUES_KEY]: base64(writeFormerValues(former)) }),
  };
  await services.applier.apply<ClusterObject>(
    builtin.Secret,
    { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data },
    {
      owner,
      ...(formerOwner && { formerOwner }),
      keptBy: running?.metadata.deletionTimestamp ? undefined : running,
      takesAbandoned: true,
    },
  );
  return generated;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

import { setTimeout as sleep } from 'node:timers/promises';
import { API_GROUP } from '../operator/kinds/group';
import { objectNames } from '../operator/kinds/object-names';
import { confirm } from './confirm';
import { count } from './count';
import { CommandError } from './command-error';
import { type HubData, listResources, type Resource } from './inventory';
import type { Kubectl } from './kubectl';
import { asList } from './shipped';

// Milliseconds.
const POLL = 500;
/** For the API server, when no finalizer of the operator is left. */
const FORCED_REMOVAL_TIMEOUT = 8_000;

interface Owned {
  readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] };
}

interface RemovalOptions {
  /** How long finalizers may take in all, in milliseconds. */
  readonly timeout: number;
  /** Whether an operator seems to run, which releases them. */
  readonly isOperatorRunning: boolean;
}

/** Removes the custom resources of the operator, with its help while it runs and without it otherwise. */
export class Removal {
  /** When finalizers are no longer waited for. */
  private readonly deadline: number;

  constructor(
    private readonly kubectl: Kubectl,
    private readonly definitions: readonly string[],
    private readonly options: RemovalOptions,
  ) {
    this.deadline = Date.now() + options.timeout;
  }

  /**
   * Removes the owner references to Hubs from the objects that `storage.retain` keeps. The operator does so too; without
   * it, the garbage collector would delete the volumes (rules.md, "Storage").
   */
  async keepVolumes(hubs: readonly HubData[]): Promise<void> {
    for (const { hub, fate } of hubs) {
      if (fate !== 'kept') continue;
      const { volumeClaim, admin } = objectNames(hub.metadata.name);
      const keeps = hub.spec?.storage?.retain || hub.spec?.storage?.existingClaim === volumeClaim;
      if (keeps) await this.disown(hub, `persistentvolumeclaim/${volumeClaim}`);
      if (hub.spec?.storage?.retain) await this.disown(hub, `secret/${admin}`);
    }
  }

  /** Deletes these resources and waits; those whose finalizers are not released lose them after a question. */
  async remove(resources: readonly Resource[]): Promise<void> {
    if (resources.length === 0) return;
    await this.kubectl.run(['delete', '--ignore-not-found', '--wait=false', '--filename=-'], {
      input: asList(resources.map(reference)),
    });
    const left = await this.untilGone(resources, this.deadline);
    if (left.length === 0) return;
    await this.askToForce(left);
    await this.removeFinalizers(left);
    const held = await this.untilGone(resources, Date.now() + FORCED_REMOVAL_TIMEOUT);
    if (held.length > 0) throw heldByOthers(held);
  }

  /** Resolves with the resources that are left when the time is over. */
  private async untilGone(resources: readonly Resource[], deadline: number): Promise<readonly Resource[]> {
    const uids = new Set(resources.map(({ metadata }) => metadata.uid));
    for (;;) {
      const present = await listResources(this.kubectl, this.definitions);
      const left = present.filter(({ metadata }) => uids.has(metadata.uid));
      if (left.length === 0 || Date.now() > deadline) return left;
      await sleep(POLL);
    }
  }

  private async askToForce(left: readonly Resource[]): Promise<void> {
    if (!left.some(hasOurs)) throw heldByOthers(left);
    console.log(`
${count(left.length, 'resource')} marked as deleted, with finalizers that are not released:

${shown(left)}

${
  this.options.isOperatorRunning
    ? 'The operator still removes their objects from the hubs, or it does not work.'
    : 'No operator runs in the cluster, so nothing releases them.'
}
Without their finalizers they go at once. Their objects stay in a hub that stays; volumes that stay are not affected.
`);
    const agreed = await confirm({
      text: 'Remove the finalizers of the operator from them?',
      variable: 'FORCE',
      withoutTerminal: `${count(left.length, 'resource')} waiting for finalizers that are not released; nothing else was deleted.`,
    });
    if (!agreed)
      throw new CommandError(
        'The resources stay marked as deleted. The operator, its kinds and roles were not removed.',
        'Run `make undeploy` again to continue.',
      );
  }

  /** Removes only finalizers of the operator. One kubectl for all resources that keep the same finalizers of others. */
  private async removeFinalizers(resources: readonly Resource[]): Promise<void> {
    const groups = new Map<string, Resource[]>();
    for (const resource of resources.filter(hasOurs)) {
      const others = JSON.stringify(resource.metadata.finalizers!.filter((name) => !isOurs(name)));
      groups.set(others, [...(groups.get(others) ?? []), resource]);
    }
    for (const [others, members] of groups) {
      const patch = JSON.stringify({ metadata: { finalizers: JSON.parse(others) as string[] } });
      const { stderr, code } = await this.kubectl.try(
        ['patch', '--type=merge', `--patch=${patch}`, '--filename=-'],
        { input: asList(members.map(reference)) },
      );
      // One that was released meanwhile is gone.
      const refusals = stderr
        .split('\n')
        .filter((line) => line.trim() !== '' && !line.includes('(NotFound)'));
      if (code !== 0 && refusals.length > 0)
        throw new CommandError(`Cannot remove finalizers: ${refusals.join('\n')}`);
    }
  }

  private async disown({ metadata: { namespace, uid } }: Resource, object: string): Promise<void> {
    const where = [object, `--namespace=${namespace}`];
    const [found] = await this.kubectl.list<Owned>(where);
    const index = found?.metadata.ownerReferences?.findIndex((owner) => owner.uid === uid) ?? -1;
    if (index < 0) return;
    const path = `/metadata/ownerReferences/${index}`;
    const patch = [
      { op: 'test', path: `${path}/uid`, value: uid },
      { op: 'remove', path },
    ];
    await this.kubectl.run(['patch', ...where, '--type=json', `--patch=${JSON.stringify(patch)}`]);
  }
}

const isOurs = (finalizer: string): boolean => finalizer.startsWith(`${API_GROUP}/`);
const hasOurs = ({ metadata }: Resource): boolean => metadata.finalizers?.some(isOurs) ?? false;

/** As little as kubectl needs to find it. */
const reference = ({ apiVersion, kind, metadata: { name, namespace } }: Resource) => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
});

const LISTED = 10;

function shown(resources: readonly Resource[]): string {
  const lines = resources
    .slice(0, LISTED)
    .map(
      ({ kind, metadata: { namespace, name, finalizers = [] } }) =>
        `  ${kind} ${namespace}/${name} (${finalizers.join(', ')})`,
    );
  const more = resources.length - lines.length;
  return [...lines, ...(more > 0 ? [`  … and ${more} others`] : [])].join('\n');
}

function heldByOthers(resources: readonly Resource[]): CommandError {
  return new CommandError(
    `${count(resources.length, 'resource')} held by finalizers of other controllers:\n${shown(resources)}`,
    'Those controllers have to release them. Run `make undeploy` again to continue.',
  );
}

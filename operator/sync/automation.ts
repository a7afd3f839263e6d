import { timestamp } from '../clock';
import type { EntityBody } from '../client/config-entities';
import type { HubClient } from '../client/hub';
import type { ReloadResult } from '../client/reloads';
import { callService } from '../client/services';
import { stateOf } from '../client/states';
import { automation as definition, type HubAutomation, type HubAutomationSpec } from '../kinds';
import { effectiveId } from '../kinds/ids';
import { defaulted } from '../kinds/schema';
import { POD_NOT_READY_REQUEUE } from '../limits';
import { type ConditionValue, type Outcome, ready, stalled, waiting } from '../runtime/outcome';
import { conditionOf } from '../runtime/resource';
import type { Pass, SyncModule } from '../runtime/sync-module';
import { automationBody, bodyHash, differingFields } from './automation-body';
import { childModule } from './child';
import type { HubClients } from './hub-clients';
import type { Services } from './services';

/** A reload that was asked for after a write, and how it ended. */
interface Reload {
  readonly hash: string;
  result?: ReloadResult;
}

/** What a pass works with. */
interface Work {
  readonly resource: HubAutomation;
  readonly client: HubClient;
  readonly id: string;
  readonly spec: HubAutomationSpec;
  readonly body: EntityBody;
  readonly hash: string;
}

/**
 * An automation ("Automation, scene and script lifecycle", spec.md): claimed in status, written by POST when the hub
 * runs something else, reloaded, and shown to run. A crash between two of these steps is made good by the next pass.
 */
export function automationModule(services: Services, hubs: HubClients): SyncModule<HubAutomation> {
  /** By uid. A reload outlives the pass that asked for it, and works the resource again when it has ended. */
  const reloads = new Map<string, Reload>();

  return childModule<HubAutomation>(services, hubs, {
    async sync(resource, client, pass) {
      const spec = defaulted(definition.spec, resource.spec);
      const body = automationBody(spec);
      const work = { resource, client, spec, body, id: effectiveId(resource), hash: bodyHash(body) };
      const { present, differs } = await compare(work);
      if (pass.dryRun) return dryRun(work, differs);
      if (resource.status?.automationId !== work.id) return claim(work, present !== undefined);
      if (differs.length > 0 || pass.forced) return write(work, pass);
      return settle(work);
    },

    async remove({ spec, status, metadata }, client) {
      reloads.delete(metadata.uid);
      // Without a claim nothing of ours is in the hub.
      if (!status?.automationId || spec.deletionPolicy === 'Orphan') return [];
      if (status.adopted && spec.deletionPolicy !== 'Delete') return [];
      await client.entities.remove('automation', status.automationId);
      return [];
    },
  });

  /** What the hub has under this id, and in which fields that is not what is wanted. */
  async function compare({ client, id, spec, body, resource, hash }: Work) {
    const entity = await client.entityRegistry.find('automation', id);
    const present = entity && (await client.entities.running(`automation.${entity.entity_id.slice('automation.'.length)}`));
    // A blueprint comes back expanded: what the hub last accepted has to do.
    const expanded = spec.useBlueprint && present && resource.status?.appliedHash === hash;
    return { present, differs: expanded ? [] : differingFields(present, body) };
  }

  /**
   * The id goes into status before anything goes to the hub, so that a crash in between leaves nothing behind that
   * nobody feels responsible for. What was there before is adopted.
   */
  async function claim({ resource, client, id }: Work, isThere: boolean): Promise<Outcome> {
    const { automationId: former, adopted } = resource.status ?? {};
    if (former !== undefined && !adopted) await client.entities.remove('automation', former);
    return waiting('AutomationGenerated', `The automation ${id} is about to be written.`, 0, {
      status: { automationId: id, adopted: isThere || null, appliedHash: null, entityId: null },
      events: isThere ? [{ type: 'Warning', reason: 'Adopted', message: `The hub had an automation ${id}: it belongs to this resource now.` }] : [],
    });
  }

  async function write(work: Work, pass: Pass): Promise<Outcome> {
    const { client, id, body, hash } = work;
    await client.entities.write('automation', id, body);
    pass.log.info({ id }, 'automation written');
    const reload = askForReload(work);
    return waiting('AutomationGenerated', `The automation ${id} is written; waiting for the hub to load it.`, POD_NOT_READY_REQUEUE, {
      status: { appliedHash: hash, lastAppliedTime: timestamp(services.clock.now()) },
      conditions: { ReloadReady: reload },
    });
  }

  function askForReload({ resource, client, spec, hash }: Work): ConditionValue {
    const { uid, namespace, name } = resource.metadata;
    const again = () => services.requeue(definition.kind, namespace, name);
    if (!spec.autoReload) {
      reloads.delete(uid);
      services.clock.after(LOADED_SOON, again);
      return { status: 'False', reason: 'ReloadDisabled', message: 'autoReload is false: the hub loads it by itself.' };
    }
    const reload: Reload = { hash };
    reloads.set(uid, reload);
    void client.reloads.request('automation').then((result) => {
      reload.result = result;
      again();
    });
    return { status: 'False', reason: 'ReloadPending', message: 'The reload is under way.' };
  }

  /** The hub has what is wanted: the end of the reload is told, the switch is set, and it is ready. */
  async function settle(work: Work): Promise<Outcome> {
    const { resource, client, id, hash } = work;
    const entity = await client.entityRegistry.find('automation', id);
    if (!entity) return waiting('AutomationGenerated', `The hub has accepted ${id} and not loaded it yet.`, POD_NOT_READY_REQUEUE);
    const reload = reloadEnded(work);
    if (!reload) return waiting('AutomationGenerated', `The automation ${id} is being reloaded.`, POD_NOT_READY_REQUEUE);
    await setSwitch(work, entity.entity_id);
    const before = conditionOf(resource, 'ReloadReady');
    const news = reload.status === 'True' && before?.message !== reload.message;
    return ready('AutomationGenerated', `The hub runs it as ${entity.entity_id}.`, {
      status: { entityId: entity.entity_id, enabled: work.spec.enabled, appliedHash: hash },
      conditions: { ReloadReady: reload },
      events: news ? [{ type: 'Normal', reason: 'ReloadSuccessful', message: reload.message }] : [],
    });
  }

  /** The condition that the last reload left; undefined while it is under way. */
  function reloadEnded(work: Work): ConditionValue | undefined {
    const { resource, spec, hash } = work;
    const told = conditionOf(resource, 'ReloadReady');
    if (!spec.autoReload) return { status: 'False', reason: 'ReloadDisabled', message: 'autoReload is false: the hub loads it by itself.' };
    const reload = reloads.get(resource.metadata.uid);
    if (reload?.hash === hash) return reload.result && conditionAfter(reload.result);
    if (told && told.reason !== 'ReloadPending' && told.reason !== 'ReloadDisabled') return told;
    askForReload(work); // the operator was restarted before it had ended
    return undefined;
  }

  /** `enabled: false` is enforced; a change to true turns it on once. While it is true the household decides. */
  async function setSwitch({ resource, client, spec }: Work, entityId: string): Promise<void> {
    if (spec.enabled && resource.status?.enabled === false) return callService(client.rest, 'automation', 'turn_on', { entity_id: entityId });
    if (!spec.enabled && (await stateOf(client.rest, entityId)) === 'on') {
      await callService(client.rest, 'automation', 'turn_off', { entity_id: entityId, stop_actions: true });
    }
  }
}

/** The hub reloads what it was sent by itself, within about this time (milliseconds). */
const LOADED_SOON = 500;

function conditionAfter(result: ReloadResult): ConditionValue {
  if (result.ok) return { status: 'True', reason: 'ReloadSuccessful', message: `Reloaded (ReloadID ${result.reloadId}).` };
  const message = `${result.message} (ReloadID ${result.reloadId}). The hub picks the change up when it next starts.`;
  return { status: 'False', reason: result.reason, message };
}

function dryRun({ id }: Work, differs: readonly string[]): Outcome {
  if (differs.length === 0) return ready('DryRun', `Nothing would be sent: the hub has ${id} as it is here.`);
  return stalled('DryRun', `Would write ${id}; these fields differ: ${differs.join(', ')}. Remove the annotation to have it done.`);
}

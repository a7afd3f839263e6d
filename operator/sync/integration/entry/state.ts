import type { ConfigEntry } from '../../../client/connection/flow-step';
import type { Condition } from '../../../kinds';
import { DEPENDENCY_REQUEUE, RESYNC } from '../../../base/limits';
import { type Outcome, ready, stalled, waiting } from '../../../runtime/outcome';

/** A disabled entry is unloaded, unless the integration cannot be: then it is disabled after a restart. */
export function disabledOutcome({ domain, title, state }: ConfigEntry): Outcome {
  const name = `The ${domain} entry “${title}”`;
  if (state === 'not_loaded') return ready('EntryDisabled', `${name} is disabled in the hub.`);
  if (state === 'unload_in_progress')
    return waiting('EntryNotLoaded', `${name} is being unloaded.`, DEPENDENCY_REQUEUE);
  return stalled(
    'EntryNotLoaded',
    `${name} could not be unloaded: it is disabled after the next restart of the hub.`,
  );
}

/**
 * The outcome of a resource by the state of its entry. The hub's events enqueue the resource when the state changes; a
 * time is the fallback.
 *
 * @param previous the present condition `Ready`: the hub's attempts to set up an entry again are no change
 */
export function entryOutcome(entry: ConfigEntry, previous: Condition | undefined): Outcome {
  const { domain, title, state, reason } = entry;
  const name = `The ${domain} entry “${title}”`;
  const because = reason ? `: ${reason}` : '';
  const failed = (what: string) => stalled('EntryNotLoaded', `${name} could not be ${what}${because || '.'}`);
  switch (state) {
    case 'loaded':
      return ready('EntryLoaded', `${name} is loaded.`);
    case 'setup_retry': {
      const message = `${name} could not be set up yet, and the hub tries again${because}`;
      return waiting('SetupRetry', message, RESYNC, { priority: 'resync' });
    }
    case 'setup_error':
      return stalled('SetupError', `${name} could not be set up${because || '. The hub’s log says why.'}`);
    case 'migration_error':
      return failed('migrated to this version of the hub');
    case 'failed_unload':
      return failed('unloaded: restart the hub');
    case 'setup_in_progress':
    case 'not_loaded':
    case 'unload_in_progress':
      return previous?.reason === 'SetupRetry'
        ? waiting('SetupRetry', previous.message, DEPENDENCY_REQUEUE)
        : waiting('EntryNotLoaded', `${name} is not loaded yet.`, DEPENDENCY_REQUEUE);
    default: {
      const message = `${name} is in the state ${state}${because || '.'}`;
      return waiting('EntryNotLoaded', message, DEPENDENCY_REQUEUE);
    }
  }
}

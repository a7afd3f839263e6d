import { runningText } from '../../kinds/hub/running-text';
import { conditionOf } from '../../runtime/conditions';
import { type Outcome, ready } from '../../runtime/outcome';
import type { Authenticated, HubContext } from './steps';

/**
 * Conditions that do not stop a hub from running. Each is listed with the reason that says that a part of the
 * spec has no effect.
 */
const PARTS = [
  {
    type: 'BackupConfigured',
    reason: 'Failed',
    text: 'Backups are not set up',
    event: 'BackupNotConfigured',
  },
  {
    type: 'BackupConfigured',
    reason: 'LastBackupFailed',
    text: 'Backups fail',
    event: 'BackupFailed',
  },
  { type: 'StorageReady', reason: 'Mismatch', text: 'The volume needs help', event: 'StorageMismatch' },
] as const;

/**
 * The outcome of a hub that runs. Its message also names the parts of the spec that are not set up. Each of
 * these gets one event.
 */
export function readyOutcome(context: HubContext & Authenticated): Outcome {
  const { hub, core, url, conditions, events, notices } = context;
  const missing = PARTS.flatMap(({ type, reason, text, event }) => {
    const condition = conditions[type];
    if (condition?.status !== 'False' || condition.reason !== reason) return [];
    const message = `${text}: ${condition.message}`;
    const before = conditionOf(hub, type);
    if (before?.reason !== reason || before.message !== condition.message)
      events.push({ type: 'Warning', reason: event, message });
    return [message];
  });
  return ready('HubRunning', runningText(core.version, url, core.state, [...missing, ...notices]));
}

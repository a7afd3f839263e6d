import type { HubConfiguration } from '../../../kinds';
import { userAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import type { ReadyReason } from '../../../kinds/reasons';
import { CONFIGURATION_LOAD_REQUEUE, DEPENDENCY_REQUEUE } from '../../../limits';
import { conditionOf } from '../../../runtime/conditions';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, ready, stalled, waiting } from '../../../runtime/outcome';
import type { Accepted } from './accepted-configuration';
import type { Content } from '../generate/configuration-content';
import type { HttpResult } from '../load/http-settings';
import { changedParts, type ReloadPolicy } from '../load/reload-decision';

const LOADED_AGAIN = 'so the last good one is loaded again.';

/** The outcomes of one reconcile of a HubConfiguration: the texts of its conditions, and the fields of its status. */
export class Outcomes {
  /** @param accepted the configuration that the hub has; undefined: unknown */
  constructor(
    private readonly resource: HubConfiguration,
    private readonly content: Content,
    private readonly accepted: Accepted | undefined,
  ) {}

  /** The hub has loaded all of it. */
  loaded(warnings: string): Outcome {
    const status = { ...this.generated, appliedHash: this.content.marker.configuration, changedSections: [] };
    if (warnings)
      return stalled('CheckFailed', `The hub leaves out what its check warns of. Correct it:\n${warnings}`, {
        status,
      });
    return ready('ConfigurationLoaded', 'The hub has loaded the configuration.', { status });
  }

  loading(): Outcome {
    const message = 'The hub checks and loads the configuration.';
    return waiting('ConfigurationGenerated', message, CONFIGURATION_LOAD_REQUEUE, {
      status: this.generated,
      events: this.progress('ConfigurationGenerated', message),
    });
  }

  checkFailed(problem: string, stays = true): Outcome {
    const message = stays
      ? `The hub rejects the configuration, so the one before stays:\n${problem}`
      : problem;
    return stalled('CheckFailed', message, { status: this.generated });
  }

  /**
   * The check accepts it, and the hub cannot start with it.
   *
   * @param running hash of the configuration that the hub runs with instead; undefined: unknown
   */
  failedStart(running?: string): Outcome {
    const status = { ...this.generated, ...(running && { appliedHash: running }) };
    return stalled('CheckFailed', this.failedStartMessage(LOADED_AGAIN), { status });
  }

  /**
   * The hub started with an unchecked configuration, which is not used any more. The conditions of the Hub may have another
   * cause.
   */
  uncheckedStart(): Outcome {
    const { pod } = objectNames(this.resource.spec.hubRef.name);
    const message = `The hub came up in its recovery mode with this configuration, which it had not checked. The previous one is loaded again, and the hub then checks this one. The log of the pod ${pod} says why it failed.`;
    return stalled('CheckFailed', message, { status: this.generated });
  }

  /**
   * The same while the hub is not back. A changed Hub requeues no HubConfiguration, so this outcome has a delay.
   *
   * @param heldBy why the Hub does not begin with the restart that loads the last good one
   */
  failedStartOffline(heldBy?: string): Outcome {
    const { name } = this.resource.spec.hubRef;
    const consequence =
      heldBy === undefined
        ? LOADED_AGAIN
        : `so the last good one is to be loaded again, by a restart. It has not begun: the Hub ${name} reports ${heldBy}. Correct first what its conditions name.`;
    const message = this.failedStartMessage(consequence);
    return stalled('CheckFailed', message, { status: this.generated, after: DEPENDENCY_REQUEUE });
  }

  private failedStartMessage(consequence: string): string {
    const { pod } = objectNames(this.resource.spec.hubRef.name);
    return `The hub came up in its recovery mode with this configuration, although its check accepts it, ${consequence} The log of the pod ${pod} says why. Correct the configuration, or annotate this resource with ${userAnnotations.reconcileAt} to try it again.`;
  }

  /** The same, and the hub has run with no other files: the secrets of before have no copy. */
  failedOnlyStart({ autoRestart }: ReloadPolicy): Outcome {
    const { pod } = objectNames(this.resource.spec.hubRef.name);
    const restart = autoRestart
      ? ''
      : ` spec.autoRestart of the HubSecrets is false, so a corrected secret does not restart the hub: delete the pod ${pod} then.`;
    const message = `The hub came up in its recovery mode with this configuration, and there is no other one that it has run with. The log of the pod ${pod} says why. Correct the configuration or a secret that it uses.${restart}`;
    return stalled('CheckFailed', message, { status: this.generated, after: DEPENDENCY_REQUEUE });
  }

  /** @param heldBy why the Hub does not begin with the restart */
  restarting(sections: readonly string[], heldBy?: string): Outcome {
    const { name } = this.resource.spec.hubRef;
    const loaded = sections.length > 0 ? list(sections) : 'the configuration';
    const message =
      heldBy === undefined
        ? `The hub is being restarted to load ${loaded}.`
        : `The hub is to be restarted to load ${loaded}. The restart has not begun: the Hub ${name} reports ${heldBy}. Correct what its conditions name.`;
    return waiting('RestartPending', message, CONFIGURATION_LOAD_REQUEUE, {
      status: { ...this.generated, changedSections: sections },
      events: this.progress('RestartPending', message),
    });
  }

  /** The restart that would load them is not allowed. */
  restartNeeded(sections: readonly string[], { strategy }: ReloadPolicy): Outcome {
    const why =
      strategy === 'hot-reload'
        ? 'spec.reloadStrategy is hot-reload: restart the hub, or set it to auto'
        : 'spec.autoRestart of the HubSecrets is false: restart the hub';
    const message = `Only a restart of the hub loads ${list(sections)}, and ${why}.`;
    return stalled('RestartPending', message, {
      status: { ...this.generated, changedSections: sections },
    });
  }

  /** A restart of the hub alone has no effect: its files are linked when its pod starts. */
  newPodNeeded(): Outcome {
    const { pod } = objectNames(this.resource.spec.hubRef.name);
    const message = `The hub does not read the files that its pod mounts. A new pod reads them, and spec.reloadStrategy is hot-reload: delete the pod ${pod}, or set spec.reloadStrategy to auto.`;
    return stalled('RestartPending', message, { status: this.generated });
  }

  /** The change is not written: a hub that runs could not read these files. */
  newFiles(names: readonly string[]): Outcome {
    const message = `${list(names)} in spec.files is new. A hub can read it only after its pod has started with it, and spec.reloadStrategy is hot-reload, so nothing of this change is written, and a restart of the hub does not load it. Set spec.reloadStrategy to auto for this change, or put the text into a file that exists or into spec.configuration.`;
    return stalled('RestartPending', message, { status: this.generated });
  }

  reloadFailed(message: string, sections: readonly string[] = []): Outcome {
    return stalled('ReloadFailed', message, {
      status: { ...this.generated, changedSections: sections },
      after: CONFIGURATION_LOAD_REQUEUE,
    });
  }

  /** A change that is being applied is no warning. */
  private progress(reason: ReadyReason, message: string): EventSpec[] {
    const isNew = conditionOf(this.resource, 'Ready')?.reason !== reason;
    return isNew ? [{ type: 'Normal', reason, message }] : [];
  }

  /** Of any outcome: the fields of status that do not depend on it. */
  get generated() {
    const { content, accepted } = this;
    if (!accepted) return { configHash: content.marker.configuration };
    const { lastLoad, loaded } = accepted;
    return {
      configHash: content.marker.configuration,
      changedSections: changedParts(loaded, content.sections),
      ...(lastLoad && { lastReloadMethod: lastLoad.method, lastReloadTime: lastLoad.time }),
    };
  }
}

const list = (sections: readonly string[]): string => sections.join(', ');

/** Interval of the checks of settings that are on trial, in milliseconds. */
const HTTP_POLL = 5_000;

/** A configuration is in use with its section `http:` only. */
export function withHttp(outcome: Outcome, { source, condition, inProgress }: HttpResult): Outcome {
  const details = {
    status: { ...outcome.status, httpSource: source },
    conditions: { ...outcome.conditions, HttpSettingsReady: condition },
  };
  if (outcome.type !== 'Ready' || !condition || condition.status === 'True')
    return { ...outcome, ...details };
  const { message, reason } = condition;
  if (inProgress) return waiting('RestartPending', message, HTTP_POLL, details);
  return stalled(reason === 'RestartPending' ? reason : 'InvalidConfiguration', message, details);
}

import { fewNames } from '../../base/few-names';
import type { HubConfiguration } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import type { ReadyReason } from '../../kinds/reasons';
import { CONFIGURATION_LOAD_REQUEUE, DEPENDENCY_REQUEUE } from '../../base/limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, ready, type Stalled, stalled, waiting } from '../../runtime/outcome';
import type { OwnDefinitions } from '../hub-pod/own-definitions';
import type { Files } from './generate/config-files';
import { type ForeignTarget, missingFile, wayOut } from './generate/foreign-targets';
import type { Observed } from './record/observe';
import type { ConfigurationRecord, ProcessEnds } from './record/record';
import { isSameContent } from '../hub-pod/content-hashes';
import type { Content } from './generate/generate';
import { isInParts, isPartFile } from './generate/parts';
import type { HttpResult } from './load/http-settings';
import { changedParts, type ReloadPolicy } from './load/reload-decision';

/**
 * The outcomes of one reconcile of a HubConfiguration: the messages of its conditions and the fields of its
 * status.
 */
export class Outcomes {
  /** @param record the record of the hub, undefined if there is none */
  constructor(
    private readonly resource: HubConfiguration,
    private readonly content: Content,
    private readonly record: ConfigurationRecord | undefined,
  ) {}

  /**
   * The outcome of a configuration that the hub has loaded completely, except items that the hub reports to
   * have left out.
   *
   * @param empty included folders on the volume that have no file
   */
  loaded(empty: readonly ForeignTarget[] = []): Outcome {
    const status = { ...this.generated, appliedHash: this.content.marker.configuration, changedSections: [] };
    const warnings = this.record?.warnings;
    if (warnings) {
      const message = `The hub leaves out a part of the configuration: ${warnings}\nAll else is loaded. Correct it.`;
      return stalled('CheckFailed', message, { status });
    }
    const message = 'The hub has loaded the configuration.';
    const folders = empty.length > 0 ? `Folders without a file that it includes: ${places(empty)}.` : '';
    const { definitions, remarks } = this.content;
    const sentences = [message, ownSentence(definitions), folders, ...few(remarks)].filter(Boolean);
    return ready('ConfigurationLoaded', sentences.join(' '), { status });
  }

  /** The outcome of a configuration that includes missing folders: the hub treats them like empty ones. */
  foldersMissing(folders: readonly ForeignTarget[]): Outcome {
    const message = `The configuration includes folders that spec.files and the hub's volume do not have, so the hub loads nothing of them: ${places(folders)}. ${wayOut('folder')} Then delete the pod ${this.pod}, if it is not replaced by itself.`;
    return stalled('NotLoaded', message, { status: this.generated, after: DEPENDENCY_REQUEUE });
  }

  /**
   * The outcome when it is unknown whether the included folders exist. The start of a pod would show it, but
   * spec.reloadStrategy does not allow one.
   */
  foldersUnknown(folders: readonly ForeignTarget[]): Outcome {
    const message = `The configuration includes folders that spec.files does not have: ${places(folders)}. Only the start of a pod shows whether the hub's volume has them, and spec.reloadStrategy is hot-reload: delete the pod ${this.pod}, or set it to auto.`;
    return stalled('RestartPending', message, { status: this.generated });
  }

  /**
   * The outcome of a configuration that includes missing files. The hub does not start without them, so they
   * were created as empty files when its pod started.
   */
  includesNothing(names: readonly string[]): Outcome {
    const { targets } = this.content;
    const named = names.map((name) => {
      const target = targets.find(({ type, path }) => type === 'file' && path === name);
      return target ? `${name} (${target.place})` : name;
    });
    return this.failed(
      `The configuration includes ${list(named)}, which did not exist and was made empty. Put it into spec.files, correct its name, or write it on the volume and delete the pod ${this.pod}.`,
    );
  }

  /** The outcome of a configuration that the hub has read, but some sections of which it could not set up. */
  notLoaded(sections: readonly string[], words: string): Outcome {
    const status = { ...this.generated, changedSections: sections };
    const cause = words ? `: ${words}` : '.';
    const message = `The hub could not set up ${list(sections)}${cause}\nCorrect the cause, and restart the hub.`;
    return stalled('NotLoaded', message, { status, after: DEPENDENCY_REQUEUE });
  }

  loading(): Outcome {
    return this.applying('ConfigurationGenerated', 'The hub checks and loads the configuration.');
  }

  /**
   * The outcome of a configuration that the hub's check rejects. The first line of the message is all that a
   * column of kubectl shows.
   */
  checkFailed(problem: string): Outcome {
    const { files, targets } = this.content;
    const cause = missingVariable(problem, files) ?? missingFiles(problem, targets) ?? problem;
    return this.failed(`The hub rejects the configuration: ${cause}\nThe configuration before stays.`);
  }

  /**
   * The outcome of a configuration that the check accepts, but that the hub cannot start with.
   *
   * @param observed.running hash of the configuration that the hub runs with instead, undefined if the hub is
   * not back yet. In that case the outcome has a delay, since a changed Hub requeues no HubConfiguration.
   * @param observed.heldBy the reason why the Hub does not begin the restart that loads the last good
   * configuration
   */
  reverted({
    running,
    heldBy,
    pod,
  }: Pick<Observed, 'heldBy' | 'pod'> & { readonly running?: string | undefined }) {
    const { failed } = this.record ?? {};
    const cause = failed?.cause;
    const held = `The last good one is to be loaded again, by a restart. It has not begun: the Hub ${this.hub} reports ${heldBy}. Correct first what its conditions name.`;
    const message = [
      `${failure(failed?.ends)}, although its check accepts it${cause ? `: ${cause}` : '.'}`,
      pod?.ends && pod.uid !== failed?.pod
        ? `The process ends with the last good one as well (${pod.ends.last}), so the cause is another: the conditions of the Hub ${this.hub} name it.`
        : heldBy === undefined
          ? 'The last good one is loaded again.'
          : held,
      `Correct the configuration, or annotate this resource with ${userAnnotations.reconcileAt} to try it again.`,
    ].join(cause ? '\n' : ' ');
    return running === undefined
      ? this.failed(message, DEPENDENCY_REQUEUE)
      : stalled('CheckFailed', message, { status: { ...this.generated, appliedHash: running } });
  }

  /**
   * The outcome of an unchecked configuration with which the hub came up in recovery mode. The message gives
   * no cause, since the conditions of the Hub may describe another one.
   */
  revertedUnchecked(): Outcome {
    return this.failed(
      'The hub came up in its recovery mode with this configuration, which it had not checked. The previous one is loaded again, and the hub then checks this one.',
      DEPENDENCY_REQUEUE,
    );
  }

  /**
   * The outcome when the hub cannot start, and there are no other files with which it has run. Former secrets
   * are not kept, so only a correction helps.
   */
  noOther({ autoRestart }: ReloadPolicy, ends?: ProcessEnds): Outcome {
    const { pod } = this;
    const cause = ends?.words ?? this.record?.failed?.cause;
    const and = cause ? `: ${cause}\nThere` : ', and there';
    const restart = autoRestart
      ? ''
      : ` spec.autoRestart of the HubSecrets is false, so a corrected secret does not restart the hub: delete the pod ${pod} then.`;
    return this.failed(
      `${failure(ends)}${and} is no other one that it has run with. The log of the pod ${pod} says why. Correct the configuration or a secret that it uses.${restart}`,
      DEPENDENCY_REQUEUE,
    );
  }

  /**
   * The outcome when the hub is in recovery mode with a configuration that it has run with before. Its pod is
   * replaced once.
   *
   * @param rejection the reason why the hub does not run with the desired configuration
   * @param heldBy the reason why the pod is not replaced
   */
  healing(isReplaced: boolean, rejection: string | undefined, heldBy?: string): Outcome {
    const what = 'The hub came up in its recovery mode with a configuration that it has run with';
    const { failed } = this.record ?? {};
    const other =
      rejection !== undefined
        ? `\nThat is not this one, which the hub rejects: ${rejection}`
        : isSameContent(failed?.marker, this.content.marker)
          ? `\nThat is not this one. ${failure(failed?.ends)}.`
          : '';
    if (isReplaced)
      return this.failed(
        `${what}, also after its pod was replaced. The conditions of the Hub ${this.hub} and the log of its pod say why. Correct the cause, then delete the pod, or change the configuration.${other}`,
        DEPENDENCY_REQUEUE,
      );
    const replaced =
      heldBy === undefined
        ? 'Its pod is replaced once.'
        : `Its pod is to be replaced once. That has not begun: the Hub ${this.hub} reports ${heldBy}. Correct first what its conditions name.`;
    const message = `${what}. ${replaced}${other}`;
    return waiting('RestartPending', message, DEPENDENCY_REQUEUE, { status: this.generated });
  }

  /**
   * The outcome while a restart of the hub is pending.
   *
   * @param heldBy the reason why the Hub does not begin the restart
   * @param sections the sections that the restart loads; by default all that differ
   */
  restarting(heldBy: string | undefined, sections: readonly string[] = this.changed): Outcome {
    const loaded = sections.length > 0 ? list(sections) : 'the configuration';
    const message =
      heldBy === undefined
        ? `The hub is being restarted to load ${loaded}.`
        : `The hub is to be restarted to load ${loaded}. The restart has not begun: the Hub ${this.hub} reports ${heldBy}. Correct what its conditions name.`;
    return this.applying('RestartPending', message, sections);
  }

  /** The outcome when a restart is needed to load sections, but not allowed. */
  restartNeeded(sections: readonly string[], { strategy }: ReloadPolicy): Outcome {
    const why =
      strategy === 'hot-reload'
        ? 'spec.reloadStrategy is hot-reload: restart the hub, or set it to auto'
        : 'spec.autoRestart of the HubSecrets is false: restart the hub';
    const message = `Only a restart of the hub loads ${list(sections)}, and ${why}.`;
    return stalled('RestartPending', message, { status: { ...this.generated, changedSections: sections } });
  }

  /**
   * The outcome when the hub does not read the mounted files. A restart of the hub's process has no effect,
   * since its files are linked when its pod starts.
   */
  newPodNeeded(): Outcome {
    const message = `The hub does not read the files that its pod mounts. A new pod reads them, and spec.reloadStrategy is hot-reload: delete the pod ${this.pod}, or set spec.reloadStrategy to auto.`;
    return stalled('RestartPending', message, { status: this.generated });
  }

  /**
   * The outcome of a change that adds or removes files under the strategy hot-reload. The change is not
   * written, since a running hub could not read these files.
   */
  newFiles(names: readonly string[]): Outcome {
    const { files } = this.content;
    if (names.some(isPartFile)) {
      const why = isInParts(files) ? 'is too large for one ConfigMap now' : 'has room in one ConfigMap again';
      return this.unwritten(
        `The configuration ${why}, which a hub reads only when its pod starts, and spec.reloadStrategy is hot-reload. ${UNWRITTEN}.`,
      );
    }
    const changes = names.map((name) => `${name} (${Object.hasOwn(files, name) ? 'new' : 'gone'})`);
    return this.unwritten(
      `Files of spec.files and spec.filesFrom come and go for a hub only when its pod starts, and spec.reloadStrategy is hot-reload: ${list(changes)}. ${UNWRITTEN}, or put the text into a file that exists or into spec.configuration.`,
    );
  }

  reloadFailed(message: string, sections: readonly string[] = []): Outcome {
    return stalled('ReloadFailed', message, {
      status: { ...this.generated, changedSections: sections },
      after: CONFIGURATION_LOAD_REQUEUE,
    });
  }

  private unwritten(message: string): Stalled {
    return stalled('RestartPending', message, { status: this.generated });
  }

  private failed(message: string, after?: number): Stalled {
    const status = this.generated;
    return stalled('CheckFailed', message, after === undefined ? { status } : { status, after });
  }

  /** The outcome while a change is being applied. Its event is Normal, not a warning. */
  private applying(reason: ReadyReason, message: string, changedSections?: readonly string[]): Outcome {
    const isNew = conditionOf(this.resource, 'Ready')?.reason !== reason;
    const events: EventSpec[] = isNew ? [{ type: 'Normal', reason, message }] : [];
    const status = { ...this.generated, ...(changedSections && { changedSections }) };
    return waiting(reason, message, CONFIGURATION_LOAD_REQUEUE, { status, events });
  }

  /** The fields of status that do not depend on the outcome. */
  get generated() {
    const { content, record } = this;
    const lastLoad = record?.lastLoad;
    return {
      configHash: content.marker.configuration,
      ...(record && { changedSections: this.changed }),
      ...(lastLoad && { lastReloadMethod: lastLoad.method, lastReloadTime: lastLoad.time }),
    };
  }

  private get hub(): string {
    return this.resource.spec.hubRef.name;
  }

  private get pod(): string {
    return objectNames(this.hub).pod;
  }

  /** The sections whose present content the hub has not loaded. */
  private get changed(): string[] {
    return this.record ? changedParts(this.record.loaded, this.content.sections) : [];
  }
}

const UNWRITTEN =
  'Nothing of this change is written, and a restart of the hub does not load it. Set spec.reloadStrategy to auto for this change';

/** Describes how the hub failed to start with this configuration. */
function failure(ends: ProcessEnds | undefined): string {
  return ends
    ? `The hub’s process ended ${ends.times} times with this configuration (last: ${ends.last})`
    : 'The hub came up in its recovery mode with this configuration';
}

const list = (sections: readonly string[]): string => sections.join(', ');

/** Maximum number of ids in a message. */
const MOST_IDS = 10;

/**
 * A sentence about the automations, scenes and scripts that the configuration itself defines. Empty if there
 * are none.
 */
function ownSentence(definitions: OwnDefinitions): string {
  const kinds = Object.entries(definitions).map(([kind, ids]) => `${kind} ${fewNames(ids, MOST_IDS)}`);
  return kinds.length > 0 ? `Its own automations, scenes and scripts stay in it: ${kinds.join('; ')}.` : '';
}

/** Maximum number of remarks in a message. */
const MOST_REMARKS = 5;

function few(remarks: readonly string[]): readonly string[] {
  const rest = remarks.length - MOST_REMARKS;
  const more = rest > 0 ? [`kubectl hub validate names ${rest} more.`] : [];
  return [...remarks.slice(0, MOST_REMARKS), ...more];
}

/** Maximum number of targets in a message. */
const MOST_PLACES = 10;

function places(targets: readonly ForeignTarget[]): string {
  const named = targets.slice(0, MOST_PLACES).map(({ path, place }) => `${path} (${place})`);
  const rest = targets.length > MOST_PLACES ? [`${targets.length - MOST_PLACES} more`] : [];
  return [...named, ...rest].join('; ');
}

/**
 * Adds the state of the section `http:` to an outcome: a configuration is Ready only if this section is in
 * use too.
 */
export function withHttp(outcome: Outcome, { source, condition, after }: HttpResult): Outcome {
  const details = {
    status: { ...outcome.status, httpSource: source },
    conditions: { ...outcome.conditions, HttpSettingsReady: condition },
  };
  if (outcome.type !== 'Ready' || !condition || condition.status === 'True')
    return { ...outcome, ...details };
  const { message, reason } = condition;
  if (after !== undefined) return waiting('RestartPending', message, after, details);
  return stalled(reason === 'RestartPending' ? reason : 'InvalidConfiguration', message, details);
}

/**
 * Finds the use of `!env_var` in the files. For a variable without a value, the hub's error is just the name
 * of the variable.
 */
function missingVariable(words: string, files: Files): string | undefined {
  const name = words.trim();
  if (!/^\w+$/.test(name)) return undefined;
  const use = new RegExp(`^[^#]*!env_var +${name}\\b`);
  for (const [file, text] of Object.entries(files)) {
    const index = text.split('\n').findIndex((line) => use.test(line));
    if (index >= 0)
      return `${file}, line ${index + 1}: !env_var ${name} names a variable that the hub's container does not have. Set it in spec.podTemplate of the Hub (env of the container hub), or write a default after its name.`;
  }
  return undefined;
}

/**
 * Adds sentences about missing included files to an error of the hub, which only has their paths and no
 * remedy.
 */
function missingFiles(words: string, targets: readonly ForeignTarget[]): string | undefined {
  const paths = [...words.matchAll(/Unable to read file (.+)$/gm)].map(([, path]) => path!.trim());
  const missing = targets.filter(
    ({ type, path }) => type === 'file' && paths.some((each) => each.endsWith(`/${path}`)),
  );
  return missing.length === 0 ? undefined : [...missing.map(missingFile), words].join('\n');
}

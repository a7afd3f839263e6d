import Operator, { type OperatorLogger, type ResourceEvent, ResourceEventType } from '@dot-i/k8s-operator';
import { kinds } from '../kinds';
import { API_GROUP, API_VERSION } from '../kinds/group';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import type { Logger } from '../base/log';
import type { Change } from '../runtime/store';

/**
 * The framework's event, and the change with the object's previous state, which the framework does not have.
 */
interface ResourceChange extends ResourceEvent {
  readonly change: Change<CustomResource>;
}

/**
 * The framework's operator, with the watches of `operator/runtime`. The framework's own watch ends the
 * process when the connection drops, and misses deletions. The framework's methods that write throw here:
 * they act on stale objects and swallow errors.
 */
export abstract class OperatorAdapter extends Operator {
  private readonly definitions = new Map(kinds.map((definition) => [definition.plural, definition]));

  constructor(log: Logger) {
    super(loggerOf(log));
  }

  /** Watches the resources of a kind; `InformerOptions.onChange` states the guarantees of `onChange`. */
  protected abstract watchKind(
    definition: KindDefinition,
    onChange: (change: Change<CustomResource>) => void,
  ): void;

  /** Watches a kind with the framework's own method. */
  protected watchChanges(
    { plural }: KindDefinition,
    onChange: (change: Change<CustomResource>) => void,
  ): Promise<void> {
    return this.watchResource(API_GROUP, API_VERSION, plural, ({ change }: ResourceChange) => {
      onChange(change);
      return Promise.resolve();
    });
  }

  protected override watchResource(
    _group: string,
    _version: string,
    plural: string,
    onEvent: (event: ResourceChange) => Promise<void>,
  ): Promise<void> {
    const definition = this.definitions.get(plural)!;
    this.watchKind(definition, (change) => void onEvent(eventOf(definition, change)));
    return Promise.resolve();
  }

  protected override handleResourceFinalizer = () => refuse('runtime/finalizer.ts');
  protected override setResourceFinalizers = () => refuse('runtime/finalizer.ts');
  protected override setResourceStatus = () => refuse('runtime/status.ts');
  protected override patchResourceStatus = () => refuse('runtime/status.ts');
  protected override registerCustomResourceDefinition = () => refuse('dist/crds.yaml');
}

function eventOf({ kind, plural }: KindDefinition, change: Change<CustomResource>): ResourceChange {
  const { name, namespace, resourceVersion } = change.object.metadata;
  const apiVersion = `${API_GROUP}/${API_VERSION}`;
  return {
    type: eventTypes[change.type],
    meta: { id: `${plural}.${apiVersion}`, name, namespace, resourceVersion, apiVersion, kind },
    object: { apiVersion, kind, metadata: { name, namespace, resourceVersion } },
    change,
  };
}

const eventTypes = {
  added: ResourceEventType.Added,
  modified: ResourceEventType.Modified,
  deleted: ResourceEventType.Deleted,
} as const;

function refuse(instead: string): Promise<never> {
  return Promise.reject(new Error(`cannot use this method of the framework: see ${instead}`));
}

function loggerOf(log: Logger): OperatorLogger {
  return {
    debug: (message) => log.debug({}, message),
    info: (message) => log.info({}, message),
    warn: (message) => log.warn({}, message),
    error: (message) => log.error({}, message),
  };
}

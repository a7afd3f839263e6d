import { randomBytes } from 'node:crypto';
import { GROUP_VERSION } from '../../operator/kinds/group';
import { until } from '.';
import { applyObject, deleteObject, listObjects } from './api';

// The operator writes events one after another, some time after the status that they belong to. So a test never reads them
// just once: `Home.event` waits for one, `TestOperator.events` for all.

/** `<type> <reason>: <message>`, as many times as each happened: those that are written by now. */
export async function writtenEvents(namespace: string, kind: string, name: string): Promise<string[]> {
  const selector = `?fieldSelector=involvedObject.kind=${kind},involvedObject.name=${name}`;
  const events = (await listObjects('events', namespace, selector)) as {
    type: string;
    reason: string;
    message: string;
    count?: number;
  }[];
  return events.flatMap(({ type, reason, message, count = 1 }) =>
    Array<string>(count).fill(`${type} ${reason}: ${message}`),
  );
}

/**
 * Names and versions of all events that operators have written in a namespace by now. The node writes events of its own,
 * for example of a probe that a busy machine did not answer.
 */
export async function versionsOfEvents(namespace: string): Promise<string[]> {
  const events = (await listObjects('events', namespace)) as {
    metadata: { name: string; resourceVersion: string };
    source?: { component?: string };
  }[];
  return events
    .filter(({ source }) => source?.component === 'hub-operator')
    .map(({ metadata }) => `Event ${metadata.name} ${metadata.resourceVersion}`);
}

/**
 * Resolves when the operator of the namespace has written all events that it has recorded by now: they are written in
 * order, and that of an object that is applied now is written after them. The object is a configuration that is no YAML,
 * of a Hub that does not exist: nothing is made of it.
 */
export async function eventsWritten(namespace: string): Promise<void> {
  const name = `marker-${randomBytes(4).toString('hex')}`;
  const kind = 'HubConfiguration';
  await applyObject(namespace, {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name },
    spec: { hubRef: { name }, configuration: 'logger: [\n' },
  });
  const written = await until('the event of a marker is written', async () => {
    const events = (await listObjects('events', namespace, `?fieldSelector=involvedObject.name=${name}`)) as {
      metadata: { name: string };
    }[];
    return events.length > 0 && events;
  });
  await deleteObject(kind, namespace, name);
  for (const { metadata } of written) await deleteObject('event', namespace, metadata.name);
}

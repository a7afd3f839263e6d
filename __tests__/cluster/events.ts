import { randomBytes } from 'node:crypto';
import { GROUP_VERSION } from '../../operator/kinds/group';
import { until } from '.';
import { applyObject, deleteObject, listObjects } from './api';

// The operator writes events one after another, some time after the status to which they belong. Therefore a
// test never reads events just once: `Home.event` waits for one event, `TestOperator.events` for all.

/**
 * Returns the events of an object that are written by now as `<type> <reason>: <message>`, each as many times
 * as it occurred.
 */
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
 * Returns names and resource versions of all events that operators have written in a namespace by now. Events
 * of the node are left out, for example of a probe that a busy machine did not answer.
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
 * Resolves when the operator of the namespace has written all events that it has recorded by now. Events are
 * written in order, so the function applies a marker object and waits for its event. The marker is a
 * configuration with invalid YAML for a Hub that does not exist, from which nothing is generated.
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

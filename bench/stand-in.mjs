// A lightweight stand-in of a hub, as the container of a pod or as a process. It answers the requests that
// the operator sends to a hub that is set up, keeps automations in memory, and counts requests. It suits only
// benches with many hubs or many automations, since it shows nothing about real hubs.
//
// Environment variables: STATE_FILE keeps the state from the end to the next start. ENTITIES is the number of
// entities of other integrations in the registry. Requests that match WRONG get an answer of a wrong form.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const VERSION = '2026.11.0';
const wrong = process.env.WRONG === undefined ? undefined : new RegExp(process.env.WRONG);
/** An answer that is valid for no request: a list whose item is no object. */
const WRONG_ANSWER = [null];
const core = {
  version: VERSION,
  state: 'RUNNING',
  recovery_mode: false,
  safe_mode: false,
  components: ['automation', 'scene', 'script'],
  config_source: 'storage',
  location_name: 'Home',
  latitude: 0,
  longitude: 0,
  elevation: 0,
  unit_system: { length: 'km' },
  time_zone: 'UTC',
  currency: 'EUR',
  country: null,
  language: 'en',
};

/** Automations by id. */
const automations = new Map();
const counts = { rest: 0, commands: 0, writes: 0 };
/** Ids of labels by entity id. */
const labelsOf = new Map();
const labels = [];
/** Functions that send a message to each subscriber. */
const subscribers = new Set();

const entityOf = (id) => ({
  entity_id: `automation.${id.replaceAll('-', '_')}`,
  unique_id: id,
  platform: 'automation',
  disabled_by: null,
  original_name: id,
  labels: labelsOf.get(`automation.${id.replaceAll('-', '_')}`) ?? [],
});
/** Entities of other integrations, each as large as that of a real hub. */
const foreign = Array.from({ length: Number(process.env.ENTITIES ?? 0) }, (_, index) => ({
  area_id: null,
  categories: {},
  config_entry_id: '01JD0000000000000000000000',
  config_subentry_id: null,
  created_at: 1732200000.123456,
  device_id: 'd'.repeat(32),
  disabled_by: null,
  entity_category: 'diagnostic',
  entity_id: `sensor.number_${index}`,
  has_entity_name: true,
  hidden_by: null,
  icon: null,
  id: String(index).padStart(32, '0'),
  labels: [],
  modified_at: 1732200000.123456,
  name: `The sensor number ${index} of very many`,
  options: { conversation: { should_expose: false }, sensor: { suggested_display_precision: 2 } },
  original_name: `Sensor ${index}`,
  platform: 'mqtt',
  translation_key: 'number',
  unique_id: `mqtt-${'u'.repeat(32)}-${index}`,
}));
const entities = () => [...automations.keys()].map(entityOf);
/** Ids of automations by entity id. */
const idByEntityId = new Map();
const bodyOf = (entityId) => {
  const id = idByEntityId.get(entityId);
  return id === undefined ? undefined : { id, ...automations.get(id) };
};
const entityBy = (entityId) => (idByEntityId.has(entityId) ? entityOf(idByEntityId.get(entityId)) : null);

function write(id, body) {
  counts.writes += 1;
  const isNew = !automations.has(id);
  automations.set(id, body);
  idByEntityId.set(entityOf(id).entity_id, id);
  const data = { action: 'create', entity_id: entityOf(id).entity_id };
  if (isNew) tell('entity_registry_updated', undefined, data);
  told('reload', { domain: 'automation', service: 'reload', service_data: { id } });
  told('automation', {});
}

function remove(id) {
  const { entity_id } = entityOf(id);
  automations.delete(id);
  idByEntityId.delete(entity_id);
  labelsOf.delete(entity_id);
  tell('entity_registry_updated', undefined, { action: 'remove', entity_id });
  told('reload', { domain: 'automation', service: 'reload', service_data: { id } });
  told('automation', {});
}

/** Sends an event to those that subscribed to its type. */
const tell = (type, _id, data) => {
  for (const { events, send } of subscribers) if (events === type) send({ event_type: type, data });
};
/** Sends an event to those that subscribed to a trigger with that id. */
const told = (id, data) => {
  for (const { triggers, send } of subscribers)
    if (triggers) send({ variables: { trigger: { id, event: { data } } } });
};

const rest = {
  'GET /manifest.json': () => ({ name: 'Home Assistant' }),
  'GET /api/config': () => core,
  'GET /api/components': () => core.components,
  'POST /api/services/automation/reload': () => {
    told('reload', { domain: 'automation', service: 'reload', service_data: {} });
    told('automation', {});
    return [];
  },
  'GET /bench': () => ({ ...counts, automations: automations.size }),
};

function answer(method, path, body) {
  if (wrong?.test(`${method} ${path}`)) return WRONG_ANSWER;
  const known = rest[`${method} ${path}`];
  if (known) return known();
  const [, id] = /^\/api\/config\/automation\/config\/(.+)$/.exec(path) ?? [];
  if (id !== undefined && method === 'POST') {
    write(decodeURIComponent(id), body);
    return { result: 'ok' };
  }
  if (id !== undefined && method === 'DELETE' && automations.has(decodeURIComponent(id))) {
    remove(decodeURIComponent(id));
    return { result: 'ok' };
  }
  const [, entityId] = /^\/api\/states\/(.+)$/.exec(path) ?? [];
  if (entityId !== undefined && bodyOf(entityId))
    return { entity_id: entityId, state: 'on', attributes: {}, last_updated: '', context: { id: '' } };
  return undefined;
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const isProbe = request.url === '/manifest.json' || request.url === '/bench';
  if (!isProbe) counts.rest += 1;
  const result = answer(request.method, request.url, text && JSON.parse(text));
  response.writeHead(result === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(result ?? { message: 'Not found' }));
});

const commands = {
  get_config: () => core,
  'auth/current_user': () => ({ id: 'u', name: 'Owner', is_owner: true, is_admin: true }),
  'config/entity_registry/list': () => [...entities(), ...foreign],
  'config/entity_registry/get_entries': ({ entity_ids: ids }) =>
    Object.fromEntries(ids.map((id) => [id, entityBy(id)])),
  'config/entity_registry/update': ({ entity_id: id, labels: present }) => {
    if (present) labelsOf.set(id, present);
    return { entity_entry: entityBy(id) };
  },
  'config/label_registry/list': () => labels,
  'config/label_registry/create': ({ name }) => {
    const label = { label_id: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'), name };
    labels.push(label);
    return label;
  },
  'repairs/list_issues': () => ({ issues: [] }),
  'automation/config': ({ entity_id: id }) => bodyOf(id) && { config: bodyOf(id) },
  'config_entries/subscribe': () => null,
  supported_features: () => null,
  unsubscribe_events: () => null,
};

new WebSocketServer({ server, path: '/api/websocket' }).on('connection', (socket) => {
  const send = (message) => socket.send(JSON.stringify(message));
  const own = new Set();
  send({ type: 'auth_required', ha_version: VERSION });
  socket.on('close', () => own.forEach((each) => subscribers.delete(each)));
  socket.on('message', (text) => {
    const batch = JSON.parse(text);
    for (const message of Array.isArray(batch) ? batch : [batch]) {
      const { id, type } = message;
      if (type === 'auth') send({ type: 'auth_ok', ha_version: VERSION });
      else if (type === 'ping') send({ id, type: 'pong' });
      else if (type === 'subscribe_events' || type === 'subscribe_trigger') {
        counts.commands += 1;
        const subscriber = {
          events: message.event_type,
          triggers: message.trigger,
          send: (event) => send({ id, type: 'event', event }),
        };
        own.add(subscriber);
        subscribers.add(subscriber);
        send({ id, type: 'result', success: true, result: null });
      } else {
        counts.commands += 1;
        const result = wrong?.test(type) ? WRONG_ANSWER : commands[type]?.(message);
        send(
          result === undefined
            ? { id, type: 'result', success: false, error: { code: 'not_found', message: 'Unknown' } }
            : { id, type: 'result', success: true, result },
        );
      }
    }
  });
});

const { STATE_FILE } = process.env;
if (STATE_FILE) {
  if (existsSync(STATE_FILE)) {
    const state = JSON.parse(readFileSync(STATE_FILE, 'utf8'));
    for (const [id, body] of state.automations) automations.set(id, body);
    for (const id of automations.keys()) idByEntityId.set(entityOf(id).entity_id, id);
    for (const [id, present] of state.labelsOf) labelsOf.set(id, present);
    labels.push(...state.labels);
  }
  process.on('SIGTERM', () => {
    const state = { automations: [...automations], labelsOf: [...labelsOf], labels };
    writeFileSync(STATE_FILE, JSON.stringify(state));
    process.exit();
  });
}

server.listen(Number(process.env.SETUP_PORT), '127.0.0.1');

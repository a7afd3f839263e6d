import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../operator/base/clock';
import { FormRejected } from '../operator/client/entries/config-flows';
import type { FlowStep, FormField, FormStep } from '../operator/client/connection/flow-step';
import type { HubClient } from '../operator/client/hub-client';
import { messageOf } from '../operator/base/errors';
import type { Answer, Value } from '../operator/client/entries/forms/answer';
import { FlowNavigator, type FlowProblem } from '../operator/sync/integration/flow/navigator';
import { formProblem, withUploads } from '../operator/sync/integration/flow/run';
import { problemText } from '../operator/sync/integration/flow/problem-text';
import { HubBench } from './hub-bench';

/**
 * `make flows`: writes a page of docs/reference that lists every config flow of the installed hub that needs
 * no network and no device.
 */

const CALENDAR_TEXT = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Example//Example//EN
BEGIN:VEVENT
UID:1
DTSTAMP:20260101T000000Z
DTSTART:20260101T060000Z
SUMMARY:Example
END:VEVENT
END:VCALENDAR
`;
/** An answer for the calendar import, the only flow without a device that asks for a file. */
const CALENDAR: Value = {
  type: 'file',
  content: Buffer.from(CALENDAR_TEXT.replaceAll('\n', '\r\n')),
  fileName: 'example.ics',
};

/** Placeholder for a folder that the hub may read and that contains this file. */
const FOLDER = '{folder}';
const FILE = `${FOLDER}/example.txt`;

/** Answers that cannot be guessed from the type of the field. */
const ANSWERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  collection_image: {
    media: '[{"media_content_id": "media-source://media_source", "media_content_type": ""}]',
  },
  compensation: { data_points: '["1.0, 2.0"]' },
  switch_as_x: { target_domain: 'light' },
  threshold: { upper: '5' },
  tod: { after_time: '06:00:00', before_time: '10:00:00' },
  workday: { country: 'DE' },
  holiday: { country: 'DE' },
  worldclock: { time_zone: 'Europe/Berlin' },
  downloader: { download_dir: FOLDER },
  file: { file_path: FILE },
  filesize: { file_path: FILE },
  folder: { folder: FOLDER },
  folder_watcher: { folder: FOLDER },
  generic_hygrostat: { device_class: 'humidifier' },
  history_stats: { start: '{{ today_at() }}', end: '{{ now() }}' },
  local_calendar: { import: 'import_ics_file' },
  local_file: { file_path: FILE },
  otp: { token: 'JBSWY3DPEHPK3PXP' },
  sql: { query: 'SELECT 1 AS value', column: 'value' },
  statistics: { sampling_size: '20' },
};

/** For each selector, a text that it accepts. */
const BY_SELECTOR: Readonly<Record<string, string>> = {
  boolean: 'false',
  text: 'Example',
  template: '{{ 1 }}',
  time: '06:00:00',
  date: '2026-01-01',
  datetime: '2026-01-01 06:00:00',
  duration: '00:05:00',
  country: 'DE',
  language: 'en',
  icon: 'mdi:home',
  number: '1',
};

/**
 * Integrations whose manifest says that they need nothing outside the hub. They are listed with any result.
 */
const CALCULATING: ReadonlySet<unknown> = new Set(['calculated', 'assumed_state']);

/**
 * Integrations that need neither network nor device, although their manifest or a field suggests it, or
 * although this hub cannot load their code.
 */
const INDEPENDENT: ReadonlySet<string> = new Set([
  'color_extractor',
  'folder_watcher',
  'holiday',
  'mcp_server',
  'sql',
]);

/** Parts of a manifest by which the hub finds devices in the network or beside it. */
const DISCOVERY = ['bluetooth', 'dhcp', 'homekit', 'mqtt', 'ssdp', 'usb', 'zeroconf'];

/** Names of fields that ask for a device, or for an account at a service. */
const OUTSIDE =
  /(^|_)(host|hosts|ip|address|addresses|url|port|device|devices|path_usb|username|password|token|pin|api_key|mac|irk)($|_)/;

/** Errors of a hub that cannot load the integration, or one that it depends on. */
const NOT_INSTALLED = /^(Invalid handler specified|Failed dependencies)/;

const MAX_STEPS = 10;

interface Row {
  readonly domain: string;
  /** Step ids. A menu is followed by the option that was chosen. */
  readonly steps: readonly string[];
  readonly result: string;
  /** Whether the flow asks for something outside the hub, or cannot run on this hub. */
  readonly isOutside: boolean;
}

interface Candidate {
  readonly domain: string;
  readonly isListed: boolean;
  /** Packages that the integration needs and that the sandbox does not install, as in `ephem==4.1.6`. */
  readonly missing: readonly string[];
}

async function writeFlowsPage(page: string): Promise<void> {
  const bench = await HubBench.start();
  const folder = await mkdtemp(join(tmpdir(), 'config-flows-'));
  try {
    await writeFile(join(folder, 'example.txt'), 'Example\n');
    const { client } = await bench.hub(`homeassistant:\n  allowlist_external_dirs: [${folder}]\nrecorder:\n`);
    const rows: Row[] = [];
    let left = 0;
    for (const { domain, isListed, missing } of await candidates(client)) {
      const found = (await rowsOf(client, domain, folder)).map((row) => withMissing(row, missing));
      for (const { steps, result } of found) console.log(domain, steps.join(', '), result);
      if (isListed || found.every(({ isOutside }) => !isOutside)) rows.push(...found);
      else left += 1;
    }
    await writeFile(page, pageOf(rows, left));
  } finally {
    await rm(folder, { recursive: true });
    await bench.stop();
  }
}

/** Adds to the row of an integration that does not work the packages that it lacks. */
function withMissing(row: Row, missing: readonly string[]): Row {
  if (row.result === 'works' || missing.length === 0) return row;
  return {
    ...row,
    result: `${row.result.replace(/[.:\s]*$/, '')}. This hub does not have ${missing.join(', ')}.`,
  };
}

/**
 * Returns helpers, integrations that calculate or assume their states, and those that use neither a cloud nor
 * discovered devices, all according to the hub. The forms of the last group show whether they need a device
 * after all.
 */
async function candidates({ rest, connection }: HubClient): Promise<readonly Candidate[]> {
  const flows = await rest.get<readonly string[]>('/api/config/config_entries/flow_handlers');
  const helpers = await rest.get<readonly string[]>('/api/config/config_entries/flow_handlers?type=helper');
  const manifests = await connection.command('manifest/list', {
    integrations: [...new Set([...flows, ...helpers])],
  });
  const installed = await readFile(join(__dirname, '..', 'sandbox', 'hub-requirements.txt'), 'utf8');
  return manifests
    .map((manifest) => {
      const { domain, iot_class: iotClass, requirements = [] } = manifest;
      const isListed = helpers.includes(domain) || CALCULATING.has(iotClass) || INDEPENDENT.has(domain);
      const isLocal = !String(iotClass).startsWith('cloud') && !DISCOVERY.some((key) => key in manifest);
      const missing = requirements.filter((name) => !installed.includes(`\n${name}\n`));
      return { domain, isListed, missing, isCandidate: isListed || isLocal };
    })
    .filter(({ isCandidate }) => isCandidate)
    .sort((a, b) => (a.domain < b.domain ? -1 : 1));
}

/** Returns one row for a flow, or one for each option of its first menu. */
async function rowsOf(client: HubClient, domain: string, folder: string): Promise<readonly Row[]> {
  const first = await run(client, domain, folder, []);
  if (!first.options) return [first.row];
  const rows: Row[] = [];
  for (const option of first.options) rows.push((await run(client, domain, folder, [option])).row);
  return rows;
}

// eslint-disable-next-line max-lines-per-function -- one walk: a branch for each type of step
async function run(
  client: HubClient,
  domain: string,
  folder: string,
  choices: readonly string[],
): Promise<{ row: Row; options?: readonly string[] }> {
  const steps: string[] = [];
  let asksForOutside = false;
  const row = (result: string) => ({
    row: { domain, steps, result, isOutside: asksForOutside || NOT_INSTALLED.test(result) },
  });
  let flowId: string | undefined;
  try {
    let step = await client.flows.start({ kind: 'config', domain });
    flowId = step.flow_id;
    const left = [...choices];
    for (let n = 0; n < MAX_STEPS; n++) {
      const ended = await endOf(client, domain, step);
      if (ended !== undefined) return row(ended);
      if (step.type === 'progress') {
        step = await stepAfterProgress(client, flowId);
        continue;
      }
      if (step.type === 'menu') {
        const options = optionsOf(step);
        const option = left.shift() ?? (choices.length > 0 ? options[0] : undefined);
        if (option === undefined) return { ...row('menu'), options };
        steps.push(`${step.step_id} → ${option}`);
        step = await client.flows.submit('config', flowId, { next_step_id: option });
        continue;
      }
      const form = step as FormStep;
      steps.push(form.step_id);
      asksForOutside ||= fieldsOf(form).some(({ name }) => OUTSIDE.test(name));
      const next = await answered(client, domain, flowId, form, folder);
      if (typeof next === 'string') return row(next);
      step = next;
    }
    return row(`no end after ${MAX_STEPS} steps`);
  } catch (error) {
    return row(messageOf(error));
  } finally {
    if (flowId !== undefined) await client.flows.abort('config', flowId);
  }
}

async function stepAfterProgress({ flows }: HubClient, flowId: string): Promise<FlowStep> {
  await systemClock.sleep(500);
  return flows.read('config', flowId);
}

/** Answers a form with examples. Returns the next step, or why there is none. */
async function answered(
  client: HubClient,
  domain: string,
  flowId: string,
  form: FormStep,
  folder: string,
): Promise<FlowStep | string> {
  const move = new FlowNavigator({ steps: [], fields: answersTo(domain, form, folder) }).next(form);
  if (move.type !== 'submit') return 'problem' in move ? reason(client, domain, move.problem) : move.type;
  try {
    const data = await withUploads(client.flows, move.data, move.uploads);
    return await client.flows.submit('config', flowId, data);
  } catch (error) {
    if (!(error instanceof FormRejected)) throw error;
    return reason(client, domain, formProblem(form, error));
  }
}

const optionsOf = ({ menu_options: options }: FlowStep & { readonly type: 'menu' }): readonly string[] =>
  Array.isArray(options) ? (options as readonly string[]) : Object.keys(options);

/**
 * Returns the outcome of a flow at this step, or undefined when the flow continues. An entry that the flow
 * created is removed.
 */
async function endOf(client: HubClient, domain: string, step: FlowStep): Promise<string | undefined> {
  const hasErrors = step.type === 'form' && Object.keys(step.errors ?? {}).length > 0;
  if (['menu', 'progress', 'progress_done', 'external_done'].includes(step.type)) return undefined;
  if (step.type === 'form' && !hasErrors) return undefined;
  const move = new FlowNavigator({ steps: [], fields: [] }).next(step);
  if (move.type === 'created') {
    const id = move.entry!.entry_id;
    const entry = (await client.configEntries.refreshed()).get(id);
    await client.configEntries.remove(id);
    return entry?.state === 'loaded'
      ? 'works'
      : `works; the entry is ${entry?.state}: ${entry?.reason ?? ''}`;
  }
  return 'problem' in move ? reason(client, domain, move.problem) : undefined;
}

const reason = (client: HubClient, domain: string, problem: FlowProblem): Promise<string> =>
  problemText(client, { kind: 'config', domain }, problem);

const fieldsOf = ({ data_schema: fields }: FormStep): readonly FormField[] =>
  Array.isArray(fields) ? (fields as readonly FormField[]) : [];

function answersTo(domain: string, form: FormStep, folder: string): readonly Answer[] {
  return fieldsOf(form).flatMap((field) => {
    const prepared = ANSWERS[domain]?.[field.name]?.replace(FOLDER, folder);
    const isOpen = field.required && field.default === undefined;
    const file = isOpen && field.selector && 'file' in field.selector ? CALENDAR : undefined;
    const text = prepared ?? (isOpen ? guess(field) : undefined);
    const answer = file ?? (text === undefined ? undefined : valueOf(text));
    return answer === undefined ? [] : [{ id: field.name, field: field.name, value: answer }];
  });
}

function valueOf(text: string): Value {
  return text.startsWith('[') ? { type: 'json', value: JSON.parse(text) as unknown } : { type: 'text', text };
}

function guess({ selector, type, options, name }: FormField): string | undefined {
  if (selector) {
    const [[kind, config] = ['', null]] = Object.entries(selector);
    if (kind === 'entity') return entityOf(config ?? {});
    if (kind === 'select') return firstOption((config?.['options'] as readonly unknown[] | undefined) ?? []);
    if (kind === 'number') return String((config?.['min'] as number | undefined) ?? 1);
    if (kind === 'constant' || kind === 'file') return undefined;
    return BY_SELECTOR[kind] ?? 'Example';
  }
  switch (type) {
    case 'boolean':
      return 'false';
    case 'integer':
    case 'float':
      return '1';
    case 'select':
      return firstOption((options as readonly unknown[] | undefined) ?? []);
    case 'string':
      return name.includes('url') ? 'http://127.0.0.1:9' : 'Example';
    default:
      return undefined;
  }
}

function entityOf({ domain, filter, multiple }: Readonly<Record<string, unknown>>): string {
  const filters = [filter].flat() as readonly ({ domain?: unknown } | undefined)[];
  const [first = 'sensor'] = [domain ?? filters[0]?.domain].flat() as readonly string[];
  const entity = `${first}.example`;
  return multiple ? `["${entity}"]` : entity;
}

function firstOption([first]: readonly unknown[]): string | undefined {
  const value: unknown =
    typeof first === 'object' && first !== null && 'value' in first ? first.value : [first].flat()[0];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** @param left number of integrations that need more than the hub */
function pageOf(rows: readonly Row[], left: number): string {
  const working = rows.filter(({ result }) => result.startsWith('works')).length;
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
  return [
    '<!-- Written by `make flows`. -->',
    '# Config flows that need no network and no device',
    'Config flows of a hub of version 2026.11.0 were started through the operator’s client and answered with examples. They ' +
      'belong to helpers, and to integrations whose manifest names no cloud and nothing by which the hub finds devices.',
    `Left out are ${left} integrations that ask for an address or an account, or that this hub had not installed.`,
    'Helpers are there all the same, and so are integrations that calculate their values, and some that only lack a package.',
    `${working} of ${rows.length} flows end with an entry, the others with the message that a HubIntegration shows. A flow with ` +
      'a menu has a row for each option.',
    '“Invalid handler specified” and “Failed dependencies” mean that this hub does not have a package or an integration that ' +
      'the flow needs.',
    ['| Domain | Steps | Result |', '| --- | --- | --- |']
      .concat(
        rows.map(
          ({ domain, steps, result }) =>
            `| \`${domain}\` | ${cell(steps.join(', ')) || '–'} | ${cell(result)} |`,
        ),
      )
      .join('\n'),
    '',
  ].join('\n\n');
}

writeFlowsPage(join(__dirname, '..', 'docs', 'reference', 'config-flows.md')).then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);

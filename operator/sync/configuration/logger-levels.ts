import { isMap, isScalar, type Node } from 'yaml';
import { dereference, entriesOf, type HubYaml, parseHubYaml } from './hub-yaml';
import { type Files, nameInConfig } from './sections';

/** The levels of the section `logger:`, by the name of the logger. */
export interface LoggerLevels {
  readonly default?: string;
  readonly logs: Readonly<Record<string, string>>;
}

/** Level of Home Assistant without `default:`. */
const STANDARD_LEVEL = 'warning';
/** A logger of this level has that of its parent. */
const INHERITED = 'notset';

export interface ServiceCall {
  readonly domain: string;
  readonly service: string;
  readonly data: Readonly<Record<string, string>>;
}

/** The calls that give the hub the levels of `after`, where `before` may have set others. */
export function loggerCalls(before: LoggerLevels, after: LoggerLevels): ServiceCall[] {
  const removed = Object.keys(before.logs).filter((name) => !Object.hasOwn(after.logs, name));
  const levels = { ...Object.fromEntries(removed.map((name) => [name, INHERITED])), ...after.logs };
  const calls: ServiceCall[] = [];
  if (before.default !== after.default) {
    const level = after.default ?? STANDARD_LEVEL;
    calls.push({ domain: 'logger', service: 'set_default_level', data: { level } });
  }
  if (Object.keys(levels).length > 0) calls.push({ domain: 'logger', service: 'set_level', data: levels });
  return calls;
}

/** The levels in `configuration.yaml`, also through an include of a known file. */
export function readLoggerLevels(files: Files): LoggerLevels {
  const main = parse(files, 'configuration.yaml');
  const logger = main && fieldsOf(files, main, main.root).get('logger');
  if (!logger) return { logs: {} };
  const fields = fieldsOf(files, logger.file, logger.node);
  const level = fields.get('default');
  const logs = fields.get('logs');
  const names = logs ? fieldsOf(files, logs.file, logs.node) : new Map<string, Place>();
  const text = ({ node, file }: Place): string => {
    const value = dereference(node, file.anchors);
    return isScalar(value) ? String(value.value).toLowerCase() : '';
  };
  return {
    ...(level && { default: text(level) }),
    logs: Object.fromEntries([...names].map(([name, place]) => [name, text(place)])),
  };
}

interface Place {
  readonly node: Node | null;
  readonly file: HubYaml;
}

function fieldsOf(files: Files, file: HubYaml, node: Node | null): Map<string, Place> {
  const target = dereference(node, file.anchors);
  if (isScalar(target) && target.tag === '!include') {
    const included = parse(files, nameInConfig(String(target.value)));
    return included ? fieldsOf(files, included, included.root) : new Map<string, Place>();
  }
  if (!isMap(target)) return new Map();
  return new Map([...entriesOf(target, file.anchors)].map(([key, value]) => [key, { node: value, file }]));
}

function parse(files: Files, name: string): HubYaml | undefined {
  const text = files[name];
  const parsed = text === undefined ? undefined : parseHubYaml(text);
  return parsed && 'document' in parsed ? parsed : undefined;
}

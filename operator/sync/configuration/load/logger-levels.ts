import { isScalar } from 'yaml';
import { ConfigFiles, type Files, type Place } from '../generate/config-files';

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

/** The levels in `configuration.yaml` and in its packages, which the hub merges, also through includes of known files. */
export function readLoggerLevels(given: Files): LoggerLevels {
  const files = new ConfigFiles(given);
  const { own, inPackages } = files.section('logger');
  const text = (place: Place): string => {
    const { node } = files.follow(place);
    return isScalar(node) ? String(node.value).toLowerCase() : '';
  };
  const read = (section: Place): LoggerLevels => {
    const fields = files.entries(section);
    const level = fields.get('default');
    const logs = fields.get('logs');
    const names = logs ? [...files.entries(logs)] : [];
    return {
      ...(level && { default: text(level) }),
      logs: Object.fromEntries(names.map(([name, place]) => [name, text(place)])),
    };
  };
  // The hub takes, of two values for one name, that of the section itself, or of the first package.
  const all = [...[...inPackages].reverse(), ...(own ? [own] : [])].map(read);
  return {
    ...(Object.assign({}, ...all) as LoggerLevels),
    logs: Object.assign({}, ...all.map(({ logs }) => logs)) as LoggerLevels['logs'],
  };
}

import { isScalar } from 'yaml';
import { ConfigFiles, type Files, type Place } from './config-files';
import { parseHubYaml } from './hub-yaml';

/** The levels of the section `logger:`, by the name of the logger. */
export interface LoggerLevels {
  readonly default?: string;
  readonly logs: Readonly<Record<string, string>>;
}

/**
 * The levels in `configuration.yaml` and in its packages, merged like in the hub. Includes of known files are
 * followed.
 */
export function readLoggerLevels(given: Files, parse = parseHubYaml): LoggerLevels {
  const files = new ConfigFiles(given, parse);
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
  // If a name has several values, the hub uses that of the section itself, or else of the first package.
  const all = [...[...inPackages].reverse(), ...(own ? [own] : [])].map(read);
  return {
    ...(Object.assign({}, ...all) as LoggerLevels),
    logs: Object.assign({}, ...all.map(({ logs }) => logs)) as LoggerLevels['logs'],
  };
}

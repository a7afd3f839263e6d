import { type Bounded, type BoundedTask, type BoundedTasks, runTwice } from '../../../base/bounded-task';
import { OperationalError } from '../../../base/errors';
import { SHORT_YAML } from '../../../base/plain-yaml';
import type { Files } from './config-files';
import { type ConfigurationSource, type Generated, generateConfiguration, problemOfSource } from './generate';
import { type HttpSection, readHttpSection } from './http-section';
import { NotPlain, parseHubYaml, parsePlainYaml } from './hub-yaml';
import { type LoggerLevels, readLoggerLevels } from './logger-levels';
import { secretUses } from './secret-uses';
import { readSections, type Sections } from './sections';

/** The result with {@link parsePlainYaml}; undefined: the texts are not plain. */
function plainly<Output>(work: (parse: typeof parseHubYaml) => Output): Output | undefined {
  try {
    return work(parsePlainYaml);
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/** Files that include each other cost more than their length. */
const isSingle = (files: Files): boolean => Object.keys(files).length <= 1;

/** Each file has its own time, as when the content was generated: one that was read then is also read again. */
function oneByOne(at: (part: string) => void): typeof parseHubYaml {
  let count = 0;
  return (text) => {
    at(`file ${++count}`);
    return parseHubYaml(text);
  };
}

function ofFiles<Output>(
  name: string,
  read: (files: Files, parse?: typeof parseHubYaml) => Output,
  mayBeInPlace = isSingle,
): BoundedTask<Files, Output> {
  return {
    name,
    run: (files, at) => read(files, oneByOne(at)),
    inPlace: (files) => (mayBeInPlace(files) ? plainly((parse) => read(files, parse)) : undefined),
  };
}

const isShort = (files: Files): boolean =>
  Object.values(files).reduce((sum, text) => sum + text.length, 0) <= SHORT_YAML;

export const generation: BoundedTask<ConfigurationSource, Generated> = {
  name: 'generateConfiguration',
  run: (source, at) => generateConfiguration(source, at),
  inPlace: (source) => {
    // Not passed on: 32 entries of one ConfigMap may be 32 MiB.
    const message = problemOfSource(source);
    if (message !== undefined) return { type: 'invalid', message };
    return Object.keys(source.files ?? {}).length === 0
      ? plainly((parse) => generateConfiguration(source, undefined, parse))
      : undefined;
  },
};
const sections = ofFiles('readSections', readSections);
export const httpSection = ofFiles('readHttpSection', readHttpSection);
const loggerLevels = ofFiles('readLoggerLevels', readLoggerLevels);
/** Includes are not followed. */
export const secretUsesTask = ofFiles('secretUses', secretUses, isShort);

export const configurationTasks = [generation, sections, httpSection, loggerLevels, secretUsesTask] as const;

/** A text that was read before has exceeded its bounds. It is read again with the next reconcile. */
class TextEnded extends OperationalError {
  override readonly name = 'TextEnded';
}

/** Reads the texts of one hub within bounds (rules.md, "Foreign texts"). */
export class ConfigurationTexts {
  /** @param turn the hub */
  constructor(
    private readonly tasks: BoundedTasks,
    private readonly turn: string,
  ) {}

  /** @param signal gives it up if its turn has not come */
  generate(source: ConfigurationSource, signal?: AbortSignal): Promise<Bounded<Generated>> {
    return this.tasks.run(generation, source, this.turn, signal);
  }

  sections(files: Files): Promise<Sections> {
    return this.read(sections, files);
  }

  httpSection(files: Files): Promise<HttpSection> {
    return this.read(httpSection, files);
  }

  loggerLevels(files: Files): Promise<LoggerLevels> {
    return this.read(loggerLevels, files);
  }

  secretUses(files: Files): Promise<ReadonlyMap<string, string>> {
    return this.read(secretUsesTask, files);
  }

  private async read<Output>(task: BoundedTask<Files, Output>, files: Files): Promise<Output> {
    const result = await runTwice(this.tasks, task, files, this.turn);
    if (result.type === 'done') return result.output;
    throw new TextEnded(
      `cannot read the files of the hub ${this.turn} again: ${task.name} took more ${result.exceeded} than allowed`,
    );
  }
}

export const textsOfHub = ({ texts }: { readonly texts: BoundedTasks }, namespace: string, hub: string) =>
  new ConfigurationTexts(texts, `${namespace}/${hub}`);

/** The problem of a text that was ended, and the way out, as sentences. */
export function endedMessage({ exceeded, part }: Extract<Bounded<unknown>, { type: 'ended' }>): string {
  // Also without any alias: three MiB of lists of words need more than the heap that all texts have.
  const cause = exceeded === 'memory' ? ': many short lines take more than a few long ones' : '';
  return `${part || 'spec.configuration'} takes more ${exceeded} to read than its length allows. Write its anchors (&), aliases (*) and merges (<<) out, indent all lines within brackets and quotes, or shorten it${cause}.`;
}

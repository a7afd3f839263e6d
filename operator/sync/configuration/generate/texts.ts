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

/**
 * Runs `work` with {@link parsePlainYaml}.
 *
 * @returns undefined when the texts are not plain
 */
function plainly<Output>(work: (parse: typeof parseHubYaml) => Output): Output | undefined {
  try {
    return work(parsePlainYaml);
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/**
 * Reports whether there is only one file. Several files can include each other, which costs more than their
 * length.
 */
const isSingle = (files: Files): boolean => Object.keys(files).length <= 1;

/**
 * A parser that gives each file its own time limit, as when the content was generated. A file that could be
 * read then can be read again.
 */
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
    // The task fails here, without being sent to a worker: 32 entries of one ConfigMap may be 32 MiB.
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
/** Finds uses of secrets. Includes are not followed, so short texts are read in place. */
export const secretUsesTask = ofFiles('secretUses', secretUses, isShort);

export const configurationTasks = [generation, sections, httpSection, loggerLevels, secretUsesTask] as const;

/** Reading a text that could be read before has exceeded its bounds. The next reconcile tries again. */
class TextEnded extends OperationalError {
  override readonly name = 'TextEnded';
}

/** Reads the texts of one hub within bounds (rules.md, "Foreign texts"). */
export class ConfigurationTexts {
  /** @param turn the hub, as key of the fair queue */
  constructor(
    private readonly tasks: BoundedTasks,
    private readonly turn: string,
  ) {}

  /** @param signal removes the task from the queue if it has not started */
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

/** Sentences about a text whose reading was aborted, with the remedy. */
export function endedMessage({ exceeded, part }: Extract<Bounded<unknown>, { type: 'ended' }>): string {
  // Memory can be exceeded even without aliases: 3 MiB of lists of words need more than the heap for texts.
  const cause = exceeded === 'memory' ? ': many short lines take more than a few long ones' : '';
  return `${part || 'spec.configuration'} takes more ${exceeded} to read than its length allows. Write its anchors (&), aliases (*) and merges (<<) out, indent all lines within brackets and quotes, or shorten it${cause}.`;
}

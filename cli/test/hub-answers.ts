import type { Answer, SilentTrigger } from './protocol';

/** A definition that the hub does not load. */
export interface Refused {
  readonly entity: string;
  readonly name: string;
  readonly message: string;
}

/** The versions of Home Assistant and of Python. */
export interface Versions {
  readonly hub: string;
  readonly python: string;
}

/** Collects those answers of the Python program that are about the hub itself and not about cases. */
export class HubAnswers {
  versions: Versions | undefined;
  readonly refused: Refused[] = [];
  readonly silentTriggers: SilentTrigger[] = [];
  private readonly domains = new Set<string>();

  /** Sections of the configuration that are not simulated, in alphabetical order. */
  get unsimulated(): readonly string[] {
    return [...this.domains].sort();
  }

  /** Takes an answer about the hub; others are ignored. */
  add(answer: Answer): void {
    if (answer.type === 'hub') this.versions = { hub: answer.version, python: answer.python };
    else if (answer.type === 'unsimulated') {
      answer.domains.forEach((each) => this.domains.add(each));
      this.silentTriggers.push(...(answer.triggers ?? []));
    } else if (answer.type === 'refused') this.refuse(answer);
  }

  /** Each case loads the home, so the hub refuses a definition repeatedly: it is added once. */
  private refuse({ entity, name, message }: Refused): void {
    if (!this.refused.some((each) => each.entity === entity && each.message === message))
      this.refused.push({ entity, name, message });
  }
}

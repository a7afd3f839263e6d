import type { Answer, SilentTrigger } from './protocol';

/** A definition that the hub does not load. */
export interface Refused {
  readonly entity: string;
  readonly name: string;
  readonly message: string;
}

/** The versions of the hub and of Python. */
export interface Versions {
  readonly hub: string;
  readonly python: string;
}

/** Collects the answers of the program in Python that are about the hub itself, beside those about cases. */
export class HubAnswers {
  versions: Versions | undefined;
  readonly refused: Refused[] = [];
  readonly silentTriggers: SilentTrigger[] = [];
  private readonly domains = new Set<string>();

  /** Sections of the configuration that are not simulated, by the alphabet. */
  get unsimulated(): readonly string[] {
    return [...this.domains].sort();
  }

  /** An answer about something else is left alone. */
  add(answer: Answer): void {
    if (answer.type === 'hub') this.versions = { hub: answer.version, python: answer.python };
    else if (answer.type === 'unsimulated') {
      answer.domains.forEach((each) => this.domains.add(each));
      this.silentTriggers.push(...(answer.triggers ?? []));
    } else if (answer.type === 'refused') this.refuse(answer);
  }

  /** Each case loads the home, and the hub refuses the same definition each time. */
  private refuse({ entity, name, message }: Refused): void {
    if (!this.refused.some((each) => each.entity === entity && each.message === message))
      this.refused.push({ entity, name, message });
  }
}

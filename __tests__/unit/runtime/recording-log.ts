import type { Logger } from '../../../operator/base/log';

type Level = 'debug' | 'info' | 'warn' | 'error';

interface LogLine {
  readonly level: Level;
  readonly message: string;
  readonly fields: object;
}

/** Records the lines of this log and its children. */
export class RecordingLog implements Logger {
  constructor(readonly lines: LogLine[] = []) {}

  debug = (fields: object, message: string) => this.note('debug', fields, message);
  info = (fields: object, message: string) => this.note('info', fields, message);
  warn = (fields: object, message: string) => this.note('warn', fields, message);
  error = (fields: object, message: string) => this.note('error', fields, message);
  child = () => new RecordingLog(this.lines);

  at(level: Level): string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message);
  }

  private note(level: Level, fields: object, message: string): void {
    this.lines.push({ level, fields, message });
  }
}

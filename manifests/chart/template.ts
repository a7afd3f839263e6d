import { Yaml } from 'cdk8s';

/**
 * Objects with tokens, which are written as Helm templates: where a token stands, the template has the action that the
 * token was made for. Tokens are plain words, so that they can stand in any string, and as a key or an item.
 */
export class Template {
  private readonly actions: ((indentation: string) => string)[] = [];

  /** A token for an action, such as `$.Values.replicas`, that stands for a value or a part of a text. */
  inline(action: string): string {
    return this.token('text', () => action);
  }

  /** Writes an action whose value is a text, also where that looks like a number. */
  string(action: string): string {
    return this.token('string', () => action);
  }

  /** An item or, with the value null, a key that stands for whole lines. */
  lines(text: (indentation: string) => string): string {
    return this.token('lines', text);
  }

  /** A key or an item that stands for the entries of a value, if it has any. */
  items(value: string): string {
    return this.lines((indentation) =>
      [`{{- with ${value} }}`, `{{- toYaml . | nindent ${indentation.length} }}`, '{{- end }}'].join('\n'),
    );
  }

  /** A key that stands for a field with a value, if that is not empty. */
  field(name: string, value: string): string {
    return this.lines((indentation) =>
      [
        `{{- with ${value} }}`,
        `${indentation}${name}:`,
        `${indentation}  {{- toYaml . | nindent ${indentation.length + 2} }}`,
        '{{- end }}',
      ].join('\n'),
    );
  }

  /** YAML with the actions in the places of the tokens. Braces that the objects have themselves are kept. */
  render(...objects: readonly object[]): string {
    const text = Yaml.stringify(...objects)
      .trimEnd()
      .replaceAll('{{', '{{ "{{" }}');
    return text
      .split('\n')
      .map((line) => {
        const whole = /^( *)(?:- )?helm-(\d+)-lines(?:: null)?$/.exec(line);
        if (whole) return this.actions[Number(whole[2])]!(whole[1]!);
        return line
          .replace(/(?<=(: |- ))helm-(\d+)-string$/, (_, _before, index: string) =>
            this.action(index, ' | quote'),
          )
          .replaceAll(/helm-(\d+)-(?:text|string)/g, (_, index: string) => this.action(index));
      })
      .join('\n');
  }

  private action(index: string, more = ''): string {
    return `{{ ${this.actions[Number(index)]!('')}${more} }}`;
  }

  private token(kind: 'text' | 'string' | 'lines', action: (indentation: string) => string): string {
    this.actions.push(action);
    return `helm-${this.actions.length - 1}-${kind}`;
  }
}

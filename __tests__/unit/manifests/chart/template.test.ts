import { Template } from '../../../../manifests/chart/template';

const render = (make: (template: Template) => object) => {
  const template = new Template();
  return template.render(make(template)).split('\n');
};

describe('Template', () => {
  test('an action stands for a value or for a part of a text', () => {
    expect(render((template) => ({ count: template.inline('.n') }))).toEqual(['count: {{ .n }}']);
    expect(render((template) => ({ host: `a.${template.string('.ns')}.svc` }))).toEqual([
      'host: a.{{ .ns }}.svc',
    ]);
  });

  test('an action that is a whole text is quoted, as a namespace may be called 123', () => {
    expect(
      render((template) => ({ namespace: template.string('.ns'), list: [template.string('.ns')] })),
    ).toEqual(['namespace: {{ .ns | quote }}', 'list:', '  - {{ .ns | quote }}']);
  });

  test('braces of the objects themselves are kept', () => {
    expect(render(() => ({ text: 'of {{ $labels.name }}' }))).toEqual([
      'text: of {{ "{{" }} $labels.name }}',
    ]);
  });

  test('a field is absent while its value is empty', () => {
    expect(render((template) => ({ pod: { [template.field('affinity', '.a')]: null } }))).toEqual([
      'pod:',
      '{{- with .a }}',
      '  affinity:',
      '    {{- toYaml . | nindent 4 }}',
      '{{- end }}',
    ]);
  });

  test('a value has further items', () => {
    expect(render((template) => ({ env: [{ name: 'A' }, template.items('.env')] }))).toEqual([
      'env:',
      '  - name: A',
      '{{- with .env }}',
      '{{- toYaml . | nindent 2 }}',
      '{{- end }}',
    ]);
  });
});

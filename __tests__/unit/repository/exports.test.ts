import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from './sources';

/** Functions that Jest calls because of its configuration. */
const LOADED_BY_JEST = /^__tests__\/(node-)?cluster\/(setup|teardown)\.ts: /;
/** The operator loads the bundle of the command line by its path. */
const LOADED_BY_PATH = 'cli/index.ts: main';
const ALL = '*';

interface Names {
  readonly exported: readonly string[];
  /** Imported names by the paths of the modules, without file extensions. */
  readonly imported: readonly (readonly [module: string, name: string])[];
}

function namesOf(file: string, text: string): Names {
  const exported: string[] = [];
  const imported: (readonly [string, string])[] = [];
  const use = (specifier: ts.Node | undefined, names: readonly string[]) => {
    if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    const module = normalize(join(dirname(file), specifier.text));
    for (const name of names) imported.push([module, name]);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const { name, namedBindings } = node.importClause ?? {};
      use(node.moduleSpecifier, [...(name ? ['default'] : []), ...elementsOf(namedBindings)]);
    } else if (ts.isExportDeclaration(node)) {
      use(node.moduleSpecifier, node.exportClause ? elementsOf(node.exportClause) : [ALL]);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      use(node.argument.literal, [ALL]);
    } else if (ts.isCallExpression(node)) {
      const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
      if (isImport || node.expression.getText() === 'require') use(node.arguments[0], [ALL]);
    } else if (isExported(node)) exported.push(...declaredBy(node));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return { exported, imported };
}

function elementsOf(names: ts.NamedImportBindings | ts.NamedExportBindings | undefined): string[] {
  if (!names) return [];
  if (!('elements' in names)) return [ALL];
  return names.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function isExported(node: ts.Node): boolean {
  const kinds = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []).map(({ kind }) => kind) : [];
  return kinds.includes(ts.SyntaxKind.ExportKeyword) && !kinds.includes(ts.SyntaxKind.DefaultKeyword);
}

function declaredBy(node: ts.Node): string[] {
  const declarations = ts.isVariableStatement(node) ? node.declarationList.declarations : [node];
  return declarations.flatMap((each) => {
    const name = ts.getNameOfDeclaration(each as ts.Declaration);
    return name && ts.isIdentifier(name) ? [name.text] : [];
  });
}

/** Returns `file: name` for each export that no other file imports. */
function unused(files: ReadonlyMap<string, string>): string[] {
  const names = [...files].map(([file, text]) => [file, namesOf(file, text)] as const);
  const used = new Set(names.flatMap(([, { imported }]) => imported.map((each) => each.join(': '))));
  return names.flatMap(([file, { exported }]) => {
    const module = file.replace(/\.ts$/, '');
    const modules = [module, module.replace(/\/index$/, ''), file];
    const isUsed = (name: string) =>
      modules.some((each) => used.has(`${each}: ${name}`) || used.has(`${each}: ${ALL}`));
    return exported.filter((name) => !isUsed(name)).map((name) => `${file}: ${name}`);
  });
}

test('a name is exported only where another file imports it', () => {
  const files = [...sourceFiles()].filter(([file]) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(500);
  const others = unused(new Map(files)).filter((each) => !LOADED_BY_JEST.test(each));
  expect(others).toEqual([LOADED_BY_PATH]);
});

test('exports that no file imports are found in each of their forms', () => {
  const files = {
    'a/index.ts': 'export const used = 1; export function left() {} export type Left = string;',
    'a/b.ts': "import { used as mine } from '.'; import * as all from '../c'; export { other } from './d';",
    'c.ts': 'export class Any {}',
    'a/d.ts': 'export const [other, another] = [1, 2]; export const other = 1; export enum Lost {}',
  };
  expect(unused(new Map(Object.entries(files)))).toEqual([
    'a/index.ts: left',
    'a/index.ts: Left',
    'a/d.ts: Lost',
  ]);
});

import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import { importX } from 'eslint-plugin-import-x';
import jest from 'eslint-plugin-jest';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import tseslint from 'typescript-eslint';

/** Files below `target` must not import files below any of `from`. */
const zone = (target, ...from) => from.map((source) => ({ target, from: source }));
/** Files of the operator below `target` may import from the operator only files below one of `allowed`. */
const ofOperator = (target, ...allowed) => ({
  target,
  from: 'operator',
  ...(allowed.length > 0 && { except: allowed.map((path) => `./${path}`) }),
});

/** Folders of `operator/sync` on which the kinds build. Each imports only those before it. */
const belowKinds = ['secrets-yaml', 'hub-connection', 'hub-pod', 'objects'];
const syncKinds = readdirSync(join(import.meta.dirname, 'operator', 'sync'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !belowKinds.includes(entry.name))
  .map(({ name }) => name);
const ofSync = (folder) => `operator/sync/${folder}`;
const syncZones = [
  // A kind imports no other kind.
  ...syncKinds.flatMap((kind) =>
    zone(ofSync(kind), ...syncKinds.filter((other) => other !== kind).map(ofSync)),
  ),
  ...belowKinds.flatMap((folder, index) =>
    zone(ofSync(folder), ...[...belowKinds.slice(index + 1), ...syncKinds].map(ofSync)),
  ),
];

const restrictedSyntax = [
  { selector: 'PrivateIdentifier', message: 'Declare a private member with the keyword `private`.' },
  {
    selector: 'VariableDeclarator > Identifier.id[name=/_MS$/]',
    message: 'Name a constant without its unit and state the unit in its comment.',
  },
];

/** A time limit ends tests that hang. With a shorter one than that of jest.config.mjs, a test fails on a busy machine. */
const shortTimeLimit = {
  selector:
    'CallExpression:matches([callee.name=/^(test|(before|after)(All|Each))$/], [callee.callee.object.name="test"]) > Literal[raw=/^[0-9_]{1,7}$/][value<1800000]',
  message: 'Leave out the time limit: that of jest.config.mjs ends tests that hang.',
};

/**
 * Rules of "How we write code" in CONTRIBUTING.md about errors and logs. A separate error class may have a
 * text for conditions.
 */
const errorText = 'Begin the text of an Error in lower case and end it without a full stop.';
const restrictedTexts = [
  {
    selector:
      'CallExpression[callee.property.name=/^(debug|info|warn|error)$/]:matches([callee.object.name=/^log/], [callee.object.property.name=/^log/]) > TemplateLiteral',
    message: 'Keep the message of a log line constant and put data into its fields.',
  },
  {
    selector: 'NewExpression[callee.name=/^(|Range|Type)Error$/] > Literal[value=/^[A-Z][a-z]* |\\.$/]',
    message: errorText,
  },
  {
    selector:
      'NewExpression[callee.name=/^(|Range|Type)Error$/] > TemplateLiteral > TemplateElement:first-child[value.raw=/^[A-Z][a-z]* /]',
    message: errorText,
  },
  {
    selector:
      'NewExpression[callee.name=/^(|Range|Type)Error$/] > TemplateLiteral > TemplateElement[tail=true][value.raw=/\\.$/]',
    message: errorText,
  },
];

export default tseslint.config(
  { ignores: ['build/', 'cli/kubectl-hub.cjs', 'dist/', 'imports/', '.sandbox/', 'coverage/', '**/*.mjs'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver()] },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      // The stop() of the framework returns void; ours resolves when everything is closed.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { inheritedMethods: false } }],
      // The reason of an abort signal is passed on unchanged.
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // __tests__/unit/repository/import-cycles.test.ts finds import cycles. It also follows types, and takes
      // no minutes.
      'no-restricted-syntax': ['error', ...restrictedSyntax],
      'no-restricted-properties': [
        'error',
        ...['any', 'timeout'].map((property) => ({
          object: 'AbortSignal',
          property,
          message: 'use operator/base/deadline.ts: Node collects a combined timeout before it fires',
        })),
      ],
      'import-x/no-extraneous-dependencies': [
        'error',
        { packageDir: ['.', 'cli', 'operator'].map((name) => join(import.meta.dirname, name)) },
      ],
      // The table in CONTRIBUTING.md says which folder may import which.
      'import-x/no-restricted-paths': [
        'error',
        {
          basePath: import.meta.dirname,
          zones: [
            ofOperator('operator/base', 'base'),
            ofOperator('operator/kinds', 'kinds'),
            ofOperator('operator/process', 'base', 'kinds', 'process', 'runtime'),
            ...zone(
              'operator/runtime',
              'operator/client',
              'operator/sync',
              'operator/webhook',
              'operator/offline',
            ),
            ...zone(
              'operator/client',
              'operator/kinds',
              'operator/process',
              'operator/runtime',
              'operator/sync',
              'operator/webhook',
              'operator/offline',
            ),
            ...zone('operator/sync', 'operator/webhook', 'operator/offline'),
            ...syncZones,
            ...zone('operator/webhook', 'operator/offline'),
            ...zone(
              'operator',
              'cli',
              'main.ts',
              'manifests',
              'deploy',
              'release',
              'sandbox',
              'bench',
              '__tests__',
            ),
            ...zone('cli', 'main.ts', 'manifests', 'deploy', 'release', 'sandbox', 'bench', '__tests__'),
            // Values of the chart and pages of the reference are generated from the settings and metrics.
            ofOperator(
              'manifests',
              'kinds',
              'process/settings.ts',
              'process/metrics.ts',
              'process/memory-metrics.ts',
              'process/resource-metrics.ts',
            ),
            ...zone('manifests', 'main.ts', 'deploy', 'release', 'sandbox', 'bench', '__tests__'),
            ofOperator('main.ts', 'kinds'),
            ...zone('main.ts', 'cli', 'deploy', 'release', 'sandbox', 'bench', '__tests__'),
            ofOperator('deploy', 'kinds'),
            ...zone('deploy', 'cli', 'main.ts', 'release', 'sandbox', 'bench', '__tests__'),
            ...zone(
              'sandbox',
              'cli',
              'main.ts',
              'operator/client',
              'operator/sync',
              'operator/webhook',
              'operator/offline',
            ),
            ...zone('sandbox', 'release', 'bench', '__tests__'),
            ofOperator('release'),
            ...zone('release', 'cli', 'main.ts', 'deploy', 'bench', '__tests__'),
          ],
        },
      ],
    },
  },
  {
    files: ['operator/**', 'cli/**', 'deploy/**', 'manifests/**', 'release/**', 'sandbox/image/**'],
    rules: { 'no-restricted-syntax': ['error', ...restrictedSyntax, ...restrictedTexts] },
  },
  {
    // A longer function does several things, whose names are missing. One that no seam divides, such as a table,
    // says so at its head: `eslint-disable-next-line max-lines-per-function -- reason`.
    ignores: ['__tests__/**'],
    rules: { 'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['__tests__/**', 'bench/**'],
    rules: {
      // Tests mock and spy on methods, and read values of any type.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/only-throw-error': 'off',
    },
  },
  {
    files: ['__tests__/**'],
    plugins: { jest },
    rules: {
      'no-restricted-syntax': ['error', ...restrictedSyntax, shortTimeLimit],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'fast-check', message: 'Import __tests__/fast-check.ts: it takes the seed of SEED.' },
          ],
        },
      ],
      'jest/consistent-test-it': ['error', { fn: 'test', withinDescribe: 'test' }],
      'jest/no-alias-methods': 'error',
      'jest/no-commented-out-tests': 'error',
      'jest/no-disabled-tests': 'error',
      'jest/no-duplicate-hooks': 'error',
      'jest/no-export': 'error',
      'jest/no-focused-tests': 'error',
      'jest/no-identical-title': 'error',
      'jest/no-test-prefixes': 'error',
      'jest/valid-describe-callback': 'error',
      'jest/valid-expect-in-promise': 'error',
      'jest/valid-title': ['error', { ignoreTypeOfDescribeName: true }],
      // Helpers of the tests that assert or wait for a state. Every test needs one, so that it can fail.
      'jest/expect-expect': [
        'error',
        {
          assertFunctionNames: [
            'expect*',
            '**.expect*',
            '**.ready',
            '**.shows*',
            'fc.assert',
            'until',
            'agree',
            'becomes',
            'condition',
            'failed',
            'heard',
            'isGone',
            'isType',
            'oneOfThree',
            'runs',
            'says',
          ],
        },
      ],
    },
  },
);

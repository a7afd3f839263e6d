import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// The site of these pages: `make docs`. Another version stands beside it in a folder of its own: VERSION=0.1.0 VERSIONS="0.2.0 0.1.0".

const docs = join(import.meta.dirname, '..');
const root = join(docs, '..');
/** Where the files are that a page links to and the site does not have, and where a page is edited. */
const repository = process.env.DOCS_REPOSITORY || 'https://repository.invalid/hub-operator';
const version = process.env.VERSION || '';
const versions = (process.env.VERSIONS || '').split(/[ ,]+/).filter(Boolean);

/** The how-to pages by what a reader is about to do. Each page of the folder is in one group (a page in none ends the build). */
const groups = {
  Start: ['install', 'first-hub', 'command-line', 'build-image'],
  'Move in': [
    'bring-a-hub',
    'bring-your-configuration',
    'external-hub',
    'move-from-haos',
    'automations-yaml',
    'instead-of-add-ons',
  ],
  Everyday: [
    'integrations',
    'popular-integrations',
    'floors-and-areas',
    'name-and-place-your-entities',
    'blueprints',
    'helpers',
    'secrets',
    'edit-in-the-browser',
    'community-repositories',
    'yaml-values',
    'editor',
    'validate',
  ],
  Test: ['first-test', 'test-in-ci', 'what-would-have-changed'],
  Operate: [
    'troubleshoot',
    'ready-and-it-does-nothing',
    'expose-a-hub',
    'radios-and-discovery',
    'keep-data',
    'backups-off-site',
    'update-home-assistant',
    'secret-stores',
    'upgrade',
    'monitoring',
    'limit-access',
    'webhook-certificate',
    'proxy',
    'uninstall',
  ],
  'Many hubs': ['gitops', 'many-hubs', 'delivery'],
  Develop: ['typescript'],
};

/** The pages of the other folders in the order in which most people look for them; the others follow by name. */
const first = {
  explanation: ['what-is-it-for', 'rules', 'security'],
  reference: ['kinds', 'conditions', 'commands'],
  contributing: [],
};

const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(join(docs, file), 'utf8'))[1];

const namesIn = (folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
    .sort();

const items = (folder, names) =>
  names.map((name) => ({ text: titleOf(`${folder}/${name}.md`), link: `/${folder}/${name}` }));

const pagesOf = (folder) => items(folder, [...new Set([...first[folder], ...namesIn(folder)])]);

const grouped = Object.values(groups).flat();
const ungrouped = namesIn('how-to').filter((name) => !grouped.includes(name));
if (ungrouped.length > 0)
  throw new Error(`docs/.vitepress/config.mjs has no group for ${ungrouped.join(', ')}`);

/** The anchor of a heading, as where the pages are read in the repository. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Links to files outside of `docs` lead to the repository. */
function outside(md) {
  md.core.ruler.push('outside', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      // A placeholder such as <hub> is no tag.
      if (token.type === 'html_inline') token.type = 'text';
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (!href || /^([a-z]+:|#)/.test(href)) continue;
      const [path, anchor] = href.split('#');
      const target = relative(root, join(dirname(env.path), path));
      if (target.startsWith('docs/')) continue;
      token.attrSet('href', `${repository}/blob/main/${target}${anchor ? `#${anchor}` : ''}`);
    }
  });
}

/** Each cell of a table has the name of its column, which tables.css shows where a row is a block. */
function columns(md) {
  md.core.ruler.push('columns', ({ tokens }) => {
    let names = [];
    let column = 0;
    tokens.forEach((token, index) => {
      const text = () => (tokens[index + 1]?.children ?? []).map(({ content }) => content).join('');
      if (token.type === 'table_open') names = [];
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'th_open') names.push(text());
      if (token.type === 'td_open') {
        const name = names[column++];
        // The first cell is what the row is about.
        if (name && column > 1) token.attrSet('data-column', name);
      }
    });
  });
}

export default {
  title: 'Hub Operator',
  description: 'Home Assistant on Kubernetes, and everything inside it, from custom resources',
  base: version ? `/${version}/` : '/',
  outDir: join(root, 'build', 'site', version),
  cacheDir: join(root, 'build', 'cache', 'vitepress'),
  cleanUrls: false,
  lastUpdated: false,
  // The nearest grammar that the highlighter has.
  markdown: {
    config: (md) => {
      outside(md);
      columns(md);
    },
    anchor: { slugify },
    languageAlias: { promql: 'sql', console: 'shellsession' },
  },
  themeConfig: {
    nav: [
      { text: 'First steps', link: '/tutorial' },
      { text: 'How to', link: '/how-to/install' },
      { text: 'Reference', link: '/reference/kinds' },
      ...(versions.length > 0
        ? [
            {
              text: version || 'main',
              items: ['main', ...versions].map((name) => ({
                text: name,
                // Of another build, which the router of this one does not know.
                link: `../${name === 'main' ? '' : `${name}/`}index.html`,
                target: '_self',
              })),
            },
          ]
        : []),
    ],
    sidebar: [
      ...Object.entries(groups).map(([text, names]) => ({
        text,
        collapsed: !['Start', 'Move in'].includes(text),
        items: [
          ...(text === 'Start' ? [{ text: titleOf('tutorial.md'), link: '/tutorial' }] : []),
          ...items('how-to', names),
          ...(text === 'Develop' ? pagesOf('contributing') : []),
        ],
      })),
      { text: 'Explanation', collapsed: true, items: pagesOf('explanation') },
      { text: 'Reference', collapsed: true, items: pagesOf('reference') },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
    socialLinks: [{ icon: 'github', link: repository }],
  },
};

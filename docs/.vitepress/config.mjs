import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// The site of these pages: `make docs`. Another version stands beside it in a folder of its own: VERSION=0.1.0 VERSIONS="0.2.0 0.1.0".

const docs = join(import.meta.dirname, '..');
const root = join(docs, '..');
/** Where the files are that a page links to and the site does not have, and where a page is edited. */
const repository = process.env.DOCS_REPOSITORY || 'https://repository.invalid/hub-operator';
const version = process.env.VERSION || '';
const versions = (process.env.VERSIONS || '').split(/[ ,]+/).filter(Boolean);

/** The pages of a folder in the order in which most people look for them; the others follow by name. */
const first = {
  'how-to': [
    'install',
    'integrations',
    'popular-integrations',
    'expose-a-hub',
    'radios-and-discovery',
    'instead-of-add-ons',
    'move-from-haos',
    'external-hub',
    'bring-a-hub',
    'edit-in-the-browser',
    'backups-off-site',
    'keep-data',
    'secrets',
    'troubleshoot',
  ],
  explanation: ['what-is-it-for', 'rules', 'security'],
  reference: ['kinds', 'conditions', 'commands'],
  contributing: [],
};

const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(join(docs, file), 'utf8'))[1];

function pagesOf(folder) {
  const names = readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
    .sort();
  return [...new Set([...first[folder], ...names])].map((name) => ({
    text: titleOf(`${folder}/${name}.md`),
    link: `/${folder}/${name}`,
  }));
}

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
    config: outside,
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
      { text: 'Start', items: [{ text: titleOf('tutorial.md'), link: '/tutorial' }] },
      ...[
        ['How to', 'how-to'],
        ['Explanation', 'explanation'],
        ['Reference', 'reference'],
        ['For contributors', 'contributing'],
      ].map(([text, folder]) => ({ text, collapsed: folder !== 'how-to', items: pagesOf(folder) })),
    ],
    outline: [2, 3],
    search: { provider: 'local' },
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
    socialLinks: [{ icon: 'github', link: repository }],
  },
};

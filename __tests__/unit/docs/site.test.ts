import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from '../../cluster/browser';
import { repository } from '../repository/sources';

/** The site that `make docs` builds, as a reader sees it. */

const BASE = '/9.9.9/';
const REPOSITORY = 'https://git.example.org/hub-operator';

let site: string;
/** Contents of the pages by path, such as `how-to/install.html`. */
let pages: ReadonlyMap<string, string>;

async function build(): Promise<void> {
  site = await mkdtemp(join(tmpdir(), 'site-'));
  await promisify(execFile)('node_modules/.bin/vitepress', ['build', 'docs', '--outDir', site], {
    cwd: repository,
    env: {
      ...process.env,
      DOCS_REPOSITORY: REPOSITORY,
      VERSION: '9.9.9',
      VERSIONS: '9.9.9 9.9.8',
    },
  });
  const names = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.html'),
  );
  pages = new Map(names.map((name) => [name, readFileSync(join(site, name), 'utf8')]));
}

const found = findBrowser();
const obstacle = 'obstacle' in found ? `: ${found.obstacle}` : '';
let server: Server;
let browser: Browser | undefined;
let page: Page;
let url: string;

async function open(executablePath: string): Promise<void> {
  const types: Readonly<Record<string, string>> = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
    json: 'application/json',
    png: 'image/png',
  };
  server = createServer(({ url: asked = '/' }, response) => {
    const path = join(site, posix.relative(BASE, new URL(asked, 'http://site').pathname) || 'index.html');
    if (!existsSync(path)) return void response.writeHead(404).end();
    const type = types[path.split('.').at(-1)!] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type }).end(readFileSync(path));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
  // Chromium's sandbox does not work for root.
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox'],
  });
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(120_000);
}

beforeAll(async () => {
  await build();
  if ('path' in found) await open(found.path);
});

afterAll(async () => {
  await browser?.close();
  server?.close();
  await rm(site, { recursive: true, force: true });
});

describe('the site of the documentation', () => {
  test('has each page of docs, and its menu leads to it', () => {
    const written = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.replace(/\.md$/, '.html'));
    expect(written.filter((name) => !pages.has(name))).toEqual([]);
    const menu = pages.get('index.html')!;
    expect(
      written.filter((name) => !menu.includes(`href="${BASE}${name}"`) && name !== 'index.html'),
    ).toEqual([]);
  });

  test('has no dead link', () => {
    const dead: string[] = [];
    let count = 0;
    for (const [page, html] of pages)
      for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        count++;
        if (!isAlive(page, decodeURI(href!.replaceAll('&amp;', '&')))) dead.push(`${page}: ${href}`);
      }
    expect(count).toBeGreaterThan(1_000);
    expect(dead).toEqual([]);
  });

  function isAlive(page: string, href: string): boolean {
    const inRepository = new RegExp(`^${REPOSITORY}/(?:blob|edit)/main/([^#]*)`).exec(href);
    if (inRepository) return existsSync(join(repository, inRepository[1]!));
    // Links to other sites, and to the other version, which is another build, are not followed.
    if (/^https?:/.test(href) || href.startsWith('../')) return true;
    const { pathname, hash } = new URL(href, `http://site${BASE}${page}`);
    const path = posix.relative(BASE, pathname) || 'index.html';
    const html = pages.get(path);
    return html !== undefined && (hash === '' || html.includes(`id="${decodeURIComponent(hash.slice(1))}"`));
  }
});

(obstacle === '' ? describe : describe.skip)(`the site in a browser${obstacle}`, () => {
  test('its search finds trusted proxies', async () => {
    await page.goto(url);
    await page.locator('.DocSearch-Button').first().click();
    await page.locator('#localsearch-input').fill('trusted proxies');
    const result = page.locator('.VPLocalSearchBox .result', { hasText: 'Expose a hub' }).first();
    await result.click();
    await page.waitForURL(/expose-a-hub\.html#trusted-proxies$/);
    expect(await page.locator('h2#trusted-proxies').textContent()).toContain('Trusted proxies');
  });

  test('it has a dark mode, other versions and a link to edit a page', async () => {
    await page.goto(`${url}tutorial.html`);
    await page.locator('.VPSwitchAppearance').first().click();
    await page.locator('html.dark').waitFor();
    expect(await page.getByRole('link', { name: 'Edit this page' }).getAttribute('href')).toBe(
      `${REPOSITORY}/edit/main/docs/tutorial.md`,
    );
    expect(await page.locator('.VPNavBar').textContent()).toContain('9.9.8');
  });

  test('its menu has the pages in groups, by the reader’s task', async () => {
    await page.goto(`${url}how-to/install.html`);
    const groups = await page.locator('.VPSidebar .level-0 > .item h2').allTextContents();
    expect(groups.join(', ')).toBe(
      'Start, Move in, Everyday, Test, Operate, Many hubs, Develop, Explanation, Reference',
    );
  });

  test.each([1280, 375])(
    'tables fit a window of %d pixels, and only code scrolls sideways',
    async (width) => {
      const window = await browser!.newPage({ viewport: { width, height: 700 } });
      const wide: string[] = [];
      for (const name of [
        'index',
        'tutorial',
        'explanation/what-is-it-for',
        'how-to/command-line',
        'how-to/expose-a-hub',
        'how-to/popular-integrations',
        'reference/conditions',
        'reference/kinds',
        'reference/settings',
      ]) {
        await window.goto(`${url}${name}.html`);
        if (Number(await window.evaluate('document.documentElement.scrollWidth')) > width) wide.push(name);
        const tables = await window.evaluate(
          "[...document.querySelectorAll('.vp-doc table')].filter((table) => table.scrollWidth > table.clientWidth + 1).length",
        );
        if (tables !== 0) wide.push(`${name}: ${String(tables)} tables`);
      }
      await window.close();
      expect(wide).toEqual([]);
    },
  );

  test('on a phone, each cell of a table except the first has the name of its column', async () => {
    const phone = await browser!.newPage({ viewport: { width: 375, height: 700 } });
    await phone.goto(`${url}how-to/radios-and-discovery.html`);
    const cell = phone.locator('.vp-doc td', { hasText: 'device plugin' }).first();
    expect(await cell.getAttribute('data-column')).toBe('Take');
    expect(await phone.locator('.vp-doc td').first().getAttribute('data-column')).toBeNull();
    await phone.close();
  });
});

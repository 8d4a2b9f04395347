/* The documentation site: VitePress over `docs/` as it is. The sidebar comes from the folders and the first headings. */
import { cpSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { defineConfig, type MarkdownOptions } from 'vitepress';

const site = resolve(import.meta.dirname, '..');
const docs = resolve(site, '../docs');
const { description } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8'));

const folders = {
  start: 'Start',
  guides: 'Guides',
  concepts: 'Concepts',
  reference: 'Reference',
  decisions: 'Decisions',
};

const read = (path: string): string => readFileSync(join(docs, path), 'utf8');

/** The pages of a folder in the order in which its index.md links them; the others follow by heading. */
function pagesOf(folder: string) {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md'));
  const index = names.includes('index.md') ? read(`${folder}/index.md`) : '';
  const placeOf = (name: string): number => {
    const place = index.indexOf(`](${name})`);
    return name === 'index.md' ? -1 : place < 0 ? index.length : place;
  };
  return names
    .map((name) => ({ name, text: titleOf(`${folder}/${name}`), link: `/${folder}/${name.slice(0, -3)}` }))
    .sort((one, other) => placeOf(one.name) - placeOf(other.name) || one.text.localeCompare(other.text, 'en'))
    .map(({ text, link }) => ({ text, link }));
}

function titleOf(path: string): string {
  const [, title] = /^# (.+)$/m.exec(read(path)) ?? [];
  if (title === undefined) throw new Error(`docs/${path} has no first heading. Begin the page with \`# …\`.`);
  return title.replaceAll('`', '');
}

/** Ids of headings, as the repository's host makes them: a link with an anchor works in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const markdown: MarkdownOptions = {
  anchor: { slugify },
  languageAlias: { cedar: 'rust' },
  // High contrast, because the comments of the default themes are too pale to read.
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  config(md) {
    // Pictures in HTML: Vue bundles a file only if its path begins with `./`.
    const html = md.renderer.rules.html_block;
    md.renderer.rules.html_block = (tokens, at, ...rest) =>
      (html?.(tokens, at, ...rest) ?? tokens[at]?.content ?? '').replaceAll(/(<img src=")(?=\w+\/)/g, '$1./');
    // README.md is the home page. Other files outside of docs/ are not on the site: their names stay, without a link.
    md.core.ruler.push('links-out-of-docs', ({ tokens }) => {
      for (const { children } of tokens)
        for (const token of children ?? []) {
          const href = token.attrGet('href');
          if (!href?.startsWith('../../')) continue;
          if (href.startsWith('../../README.md'))
            token.attrSet('href', href.replace('../../README', '/index'));
          else token.attrs = [];
        }
    });
  },
};

/** Addresses in the built pages that lead to no file or no id of the site: VitePress itself checks pages only. */
function deadLinks(out: string): readonly string[] {
  const files = new Set(globSync('**/*.*', { cwd: out }));
  const pages = [...files].filter((path) => path.endsWith('.html') && path !== '404.html');
  const htmlOf = new Map(pages.map((path) => [path, readFileSync(join(out, path), 'utf8')]));
  return [...htmlOf].flatMap(([page, html]) =>
    [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].flatMap(([, link = '']) => {
      if (/^(?:\w+:|\/\/)/.test(link)) return [];
      const url = new URL(link, `file:///${page}`);
      const path = url.pathname.slice(1).replace(/^$|\/$/, '$&index.html');
      const id = decodeURIComponent(url.hash.slice(1));
      const isThere = files.has(path) && (id === '' || htmlOf.get(path)?.includes(` id="${id}"`));
      return isThere ? [] : [`${page}: ${link}`];
    }),
  );
}

/** Pages outside of this folder find no package: on the server, Vue is the one that is installed here. */
const vueOfSite = {
  name: 'vue-of-site',
  enforce: 'pre',
  resolveId: (id: string, _from: string | undefined, { ssr }: { readonly ssr?: boolean | undefined }) =>
    ssr && /^vue(?:\/server-renderer)?$/.test(id) ? { id, external: true } : null,
} as const;

/** Roles of the search as screen readers expect them: a dialog with a list of options, which are the links. */
const searchRoles = {
  name: 'search-roles',
  enforce: 'pre',
  transform(code: string, id: string) {
    if (!id.endsWith('/VPLocalSearchBox.vue')) return null;
    const [, option = ''] = /<li\s+v-for.*?(:id="'localsearch-item-.*?role="option")/s.exec(code) ?? [];
    if (option === '') throw new Error('VitePress changed its search box. Adapt `searchRoles` to it.');
    return code
      .replace(
        /role="button"(\s+:aria-owns=.*\s+)aria-expanded="true"\s+aria-haspopup="listbox"/,
        'role="dialog"$1',
      )
      .replaceAll('<kbd :aria-label', '<kbd role="img" :aria-label')
      .replace(option, 'role="none"')
      .replace(/:aria-label="\[\.\.\.p\.titles.*"/, option);
  },
} as const;

export default defineConfig({
  lang: 'en',
  title: 'writ',
  description,
  srcDir: relative(site, docs),
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  markdown,
  vite: { plugins: [vueOfSite, searchRoles], build: { target: 'es2022', chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    nav: Object.entries(folders).map(([folder, text]) => ({
      text,
      link: pagesOf(folder)[0]?.link ?? '/',
      activeMatch: `^/${folder}/`,
    })),
    // Each folder has its own, without groups that fold: their two nested buttons confuse screen readers.
    sidebar: Object.fromEntries(
      Object.entries(folders).map(([folder, text]) => [
        folder === 'start' ? '/' : `/${folder}/`,
        [{ text, items: pagesOf(folder) }],
      ]),
    ),
    outline: [2, 3],
    // The index is a file of the site, and the search runs in the page.
    search: { provider: 'local' },
  },
  buildEnd({ outDir, site: { base } }) {
    cpSync(join(docs, 'schemas'), join(outDir, 'schemas'), { recursive: true });
    const dead = base === '/' ? deadLinks(outDir) : [];
    if (dead.length > 0) throw new Error(`Links of the site lead nowhere. Correct them.\n${dead.join('\n')}`);
  },
});

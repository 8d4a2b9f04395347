import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const pages = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((path) => `docs/${path}`),
].filter((path) => path.endsWith('.md'));

t.test('links between pages lead to files and headings that exist', async (t) => {
  const dead = pages.flatMap((page) =>
    linksOf(textOf(page)).flatMap((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : relative(root, join(root, dirname(page), path));
      if (!existsSync(join(root, target))) return [`${page}: ${link}`];
      if (anchor === undefined || !target.endsWith('.md')) return [];
      return anchorsOf(textOf(target)).has(anchor) ? [] : [`${page}: ${link}`];
    }),
  );
  t.strictSame(dead, []);
});

function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
}

/** Targets of links and pictures, without web addresses. */
function linksOf(text: string): readonly string[] {
  const found = text.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g);
  return [...found].map(([, link, other]) => link ?? other ?? '').filter((link) => !/^\w+:/.test(link));
}

/** Ids of headings, as GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const ids = new Map<string, number>();
  for (const [, heading = ''] of text.matchAll(/^#+ (.+)$/gm)) {
    const id = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    ids.set(id, (ids.get(id) ?? 0) + 1);
  }
  return new Set([...ids].flatMap(([id, count]) => [id, ...(count > 1 ? [`${id}-1`] : [])]));
}

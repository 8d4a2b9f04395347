import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** The files that a page shows: each a fenced block below a line that is its name and a colon. */
export function blocksOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(root, page), 'utf8');
  const found = text.matchAll(/^`([\w./-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm);
  return new Map([...found].map(([, path = '', block = '']) => [path, block]));
}

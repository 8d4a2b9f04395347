import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { digestDirectory } from '../../../workspace/git/directory-digest.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const node = createHash('sha256')
  .update(readFileSync(realpathSync(process.execPath)))
  .digest('hex');

/** A directory of a tool, and the table that pins it. */
export interface PinnedTool {
  readonly place: string;
  readonly table: string;
}

/**
 * Copies a tool of `fixtures/scanners` into a directory of its own, with packages of this project, and pins it. `TOOL`
 * in an argument is that directory; `more` are further lines of the table.
 */
export async function pinnedTool(
  t: Test,
  name: string,
  argv: readonly string[],
  more = '',
  packages: readonly string[] = [],
): Promise<PinnedTool> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'scanner-')));
  t.teardown(() => rmSync(place, { recursive: true, force: true }));
  cpSync(join(root, 'fixtures/scanners', name), place, { recursive: true });
  install(packages, place);
  const digest = await digestDirectory(place, { within: place, maxEntries: 50_000, maxBytes: 1e9 });
  if ('fault' in digest) throw new Error(digest.fault);
  const words = ['node', ...argv.map((one) => one.replaceAll('TOOL', place))];
  const table = `[scanner.${name}]
argv = ${JSON.stringify(words)}
sha256 = "${node}"
format = "sarif"
stage = "fast"
${more}
[[scanner.${name}.read_only]]
path = "${place}"
sha256 = "${digest.sha256}"
`;
  return { place, table };
}

/** Copies packages, and all that they depend on, as npm has laid them. */
function install(names: readonly string[], target: string): void {
  const seen = new Set<string>();
  const add = (name: string, from: string): void => {
    const places = [from, ...parentsOf(from)].map((one) => join(one, 'node_modules', name));
    const place = places.find(existsSync);
    if (place === undefined || seen.has(place)) return;
    seen.add(place);
    cpSync(place, join(target, relative(root, place)), { recursive: true, dereference: true });
    const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const one of Object.keys(dependencies)) add(one, place);
  };
  for (const name of names) add(name, root);
}

function parentsOf(path: string): readonly string[] {
  return path === root ? [] : [dirname(path), ...parentsOf(dirname(path))];
}

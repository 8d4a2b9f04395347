import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { askGit, runGit } from './git.ts';
import { hasNoRefsBelow } from './ref-files.ts';
import { isObjectId, type Repository } from './repository.ts';

/** What makes a person's plain git show other objects than those that ids name, and that we read. */
export interface Replacements {
  /** Ids that plain git reads something else for (`refs/replace`). */
  readonly objects: ReadonlySet<string>;
  /** Parents that plain git shows for a commit instead of its own (`info/grafts`). */
  readonly grafts: ReadonlyMap<string, readonly string[]>;
}

const prefix = 'refs/replace/';

/**
 * The replacements that git follows here: none where `core.useReplaceRefs` is off. A shallow clone is none: what it
 * leaves out is absent, and nothing stands in its place.
 */
export async function readReplacements(repository: Repository): Promise<Replacements> {
  const [objects, grafts] = await Promise.all([readObjects(repository), readGrafts(repository)]);
  return { objects, grafts };
}

async function readObjects(repository: Repository): Promise<ReadonlySet<string>> {
  if (await hasNoRefsBelow(repository, 'refs/replace')) return new Set();
  const listed = await runGit(repository, ['for-each-ref', '--format=%(refname)', prefix]);
  const ids = listed
    .toString('utf8')
    .split('\n')
    // As git reads them: the last part of the name, in upper or lower case.
    .map((ref) => ref.slice(ref.lastIndexOf('/') + 1).toLowerCase())
    .filter(isObjectId);
  return new Set(ids.length > 0 && (await followsReplaceRefs(repository)) ? ids : []);
}

async function followsReplaceRefs(repository: Repository): Promise<boolean> {
  const { stdout } = await askGit(repository, ['config', '--type=bool', '--get', 'core.useReplaceRefs']);
  return stdout.toString('utf8').trim() !== 'false';
}

/**
 * A line is a commit and its parents, in upper or lower case, one white space between them, up to a NUL; the first line
 * of a commit counts. git leaves out what it cannot read, and so do we.
 */
async function readGrafts({ commonDir }: Repository): Promise<Replacements['grafts']> {
  const grafts = new Map<string, readonly string[]>();
  for (const line of (await readText(join(commonDir, 'info', 'grafts'))).split('\n')) {
    const [said = ''] = withoutEnd(line).split('\0', 1);
    const [commit = '', ...parents] = said.toLowerCase().split(/[ \t\r]/);
    const isRead = [commit, ...parents].every((id) => isObjectId(id) && id.length === commit.length);
    if (isRead && !grafts.has(commit)) grafts.set(commit, parents);
  }
  return grafts;
}

/** Without the white space at its end that git knows: `trimEnd` knows more. */
function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}

async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path)).toString('latin1');
  } catch (fault) {
    if (['ENOENT', 'ENOTDIR'].includes((fault as NodeJS.ErrnoException).code ?? '')) return '';
    throw fault;
  }
}

/**
 * Where plain git shows something else than what `commit` is: `target` by which it was named, the commit, its tree and
 * what is in it, its parents and theirs. Each in a few words, the first twenty; empty where no replacement has an
 * effect on them.
 */
export async function effectsOn(
  repository: Repository,
  { objects, grafts }: Replacements,
  { target, commit, raw }: { readonly target: string; readonly commit: string; readonly raw: Uint8Array },
): Promise<readonly string[]> {
  const parents = parentsOf(raw);
  const effects: string[] = [];
  const grafted = grafts.get(commit);
  if (grafted !== undefined && grafted.join(' ') !== parents.join(' '))
    effects.push(`parents of ${commit} (info/grafts)`);
  if (objects.size === 0) return effects;
  for (const tag of await tagsOf(repository, target))
    if (objects.has(tag)) effects.push(`tag ${tag} (refs/replace)`);
  for (const one of [commit, ...parents]) {
    if (objects.has(one)) effects.push(`commit ${one} (refs/replace)`);
    for (const { id, path } of await entriesOf(repository, one))
      if (objects.has(id)) effects.push(`${path} ${id} (refs/replace)`);
  }
  return [...new Set(effects)].slice(0, 20);
}

function parentsOf(raw: Uint8Array): readonly string[] {
  const head = Buffer.from(raw).toString('latin1').split('\n\n', 1)[0] ?? '';
  return [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].flatMap(([, id]) => id ?? []);
}

/** Tag objects on the way from a name to its commit. */
async function tagsOf(repository: Repository, target: string): Promise<readonly string[]> {
  const tags: string[] = [];
  let name = target;
  for (let depth = 0; depth < 16; depth += 1) {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{tag}`];
    const { code, stdout } = await askGit(repository, args);
    const id = stdout.toString('utf8').trim();
    if (code !== 0 || !isObjectId(id)) return tags;
    tags.push(id);
    const tag = await runGit(repository, ['cat-file', 'tag', id]);
    const next = /^object ([0-9a-f]+)\ntype tag\n/.exec(tag.toString('latin1', 0, 200))?.[1];
    if (next === undefined) return tags;
    name = next;
  }
  return tags;
}

/** The tree of a commit and everything below it; nothing of a commit that is not here. */
async function entriesOf(
  repository: Repository,
  commit: string,
): Promise<readonly { readonly id: string; readonly path: string }[]> {
  const root = await askGit(repository, ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`]);
  const tree = root.stdout.toString('utf8').trim();
  if (root.code !== 0 || !isObjectId(tree)) return [];
  const listed = await runGit(repository, ['ls-tree', '-r', '-t', '-z', '--full-tree', tree], {
    maxBytes: 1024 * 1024 * 1024,
  });
  const entries = listed
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const [, id, path] = /^\d+ \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return id === undefined || path === undefined ? [] : [{ id, path: `\`${path}\`` }];
    });
  return [{ id: tree, path: 'tree' }, ...entries];
}

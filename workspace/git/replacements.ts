/* Finds replace refs and grafts, which make plain git show other objects than writ reads. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitFields, runGit, tryGit } from './git.ts';
import { parseCommit } from './git-object.ts';
import { hasNoRefsBelow } from './ref-files.ts';
import { matchRefs } from './refs.ts';
import { isObjectId, type Repository, resolveId } from './repository.ts';

export interface Replacements {
  /** Ids for which plain git reads another object (`refs/replace`). */
  readonly objects: ReadonlySet<string>;
  /** Parents that plain git shows for a commit (`info/grafts`). */
  readonly grafts: ReadonlyMap<string, readonly string[]>;
}

const prefix = 'refs/replace/';

/** The replacements that git follows here; none if `core.useReplaceRefs` is off. */
export async function readReplacements(repository: Repository): Promise<Replacements> {
  const [objects, grafts] = await Promise.all([readObjects(repository), readGrafts(repository)]);
  return { objects, grafts };
}

async function readObjects(repository: Repository): Promise<ReadonlySet<string>> {
  if (hasNoRefsBelow(repository, 'refs/replace')) return new Set();
  // As git reads them: the last part of the name, in upper or lower case.
  const ids = (await matchRefs(repository, [prefix]))
    .map(({ ref }) => ref.slice(ref.lastIndexOf('/') + 1).toLowerCase())
    .filter(isObjectId);
  return new Set(ids.length > 0 && (await followsReplaceRefs(repository)) ? ids : []);
}

async function followsReplaceRefs(repository: Repository): Promise<boolean> {
  return (await tryGit(repository, ['config', '--type=bool', '--get', 'core.useReplaceRefs'])) !== 'false';
}

/**
 * A line is a commit and its parents, in upper or lower case, separated by one white space, up to a NUL; the first
 * line of a commit counts. git skips what it cannot read.
 */
async function readGrafts({ commonDir }: Repository): Promise<Replacements['grafts']> {
  const grafts = new Map<string, readonly string[]>();
  for (const line of readText(join(commonDir, 'info', 'grafts')).split('\n')) {
    const [said = ''] = withoutEnd(line).split('\0', 1);
    const [commit = '', ...parents] = said.toLowerCase().split(/[ \t\r]/);
    const isRead = [commit, ...parents].every((id) => isObjectId(id) && id.length === commit.length);
    if (isRead && !grafts.has(commit)) grafts.set(commit, parents);
  }
  return grafts;
}

/** Trims only what git regards as white space. */
function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (fault) {
    if (['ENOENT', 'ENOTDIR'].includes((fault as NodeJS.ErrnoException).code ?? '')) return '';
    throw fault;
  }
}

/**
 * What plain git shows differently for `commit`: the tags that name it (`target`), the commit, its tree and
 * everything in it, its parents and theirs. At most twenty short texts.
 */
export async function effectsOn(
  repository: Repository,
  { objects, grafts }: Replacements,
  { target, commit, raw }: { readonly target: string; readonly commit: string; readonly raw: Uint8Array },
): Promise<readonly string[]> {
  const parents = parseCommit(raw)?.parents ?? [];
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

/** Tag objects between a name and its commit. */
async function tagsOf(repository: Repository, target: string): Promise<readonly string[]> {
  const tags: string[] = [];
  let name = target;
  for (let depth = 0; depth < 16; depth += 1) {
    const id = await resolveId(repository, `${name}^{tag}`);
    if (id === undefined) return tags;
    tags.push(id);
    const tag = await runGit(repository, ['cat-file', 'tag', id]);
    const next = /^object ([0-9a-f]+)\ntype tag\n/.exec(tag.toString('latin1', 0, 200))?.[1];
    if (next === undefined) return tags;
    name = next;
  }
  return tags;
}

/** The tree of a commit and everything below it; empty if the commit is not in this clone. */
async function entriesOf(
  repository: Repository,
  commit: string,
): Promise<readonly { readonly id: string; readonly path: string }[]> {
  const tree = await resolveId(repository, `${commit}^{tree}`);
  if (tree === undefined) return [];
  const listed = await gitFields(repository, ['ls-tree', '-r', '-t', '-z', '--full-tree', tree]);
  const entries = listed.flatMap((line) => {
    const [, id, path] = /^\d+ \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return id === undefined || path === undefined ? [] : [{ id, path: `\`${path}\`` }];
  });
  return [{ id: tree, path: 'tree' }, ...entries];
}

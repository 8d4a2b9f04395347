import type { Found } from '../../store/problem.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { RefFiles } from './check-record.ts';
import type { StoredRef } from './stored-ref.ts';

interface ReadRef {
  readonly ref: StoredRef;
  readonly files: RefFiles;
}

type FoundAt = Found & { readonly refs: readonly string[] };

const planPath = /^((?:plans\/\d+\/)?)plan\.json$/;
const digestName = /(?:^|\/)([0-9a-f]{64})$/;

/** Files that retrieval kept under their SHA-256. */
export function checkDigestNames(refs: readonly ReadRef[]): readonly FoundAt[] {
  const found: FoundAt[] = [];
  for (const { ref, files } of refs) {
    for (const [path, { sha256 }] of files) {
      const expected = digestName.exec(path)?.[1];
      if (expected === undefined || expected === sha256) continue;
      found.push({
        code: 'digest-mismatch',
        where: `${ref.ref}:${path}`,
        what: `expected ${expected} (its name), found ${sha256}`,
        refs: [ref.ref],
      });
    }
  }
  return found;
}

/**
 * A plan's ref is written with the decision of a run and repeats what its record holds: it must equal the record of one
 * decided run file by file. All files of these refs could be read. A plan that no such record holds is not compared.
 */
export function checkPlans(plans: readonly ReadRef[], runs: readonly ReadRef[]): readonly FoundAt[] {
  const copies = new Map<string, { readonly run: string; readonly files: ReadonlyMap<string, string> }[]>();
  for (const { ref, files } of runs) {
    if (!files.has('decision.json')) continue;
    for (const [path, { object }] of files) {
      const folder = planPath.exec(path)?.[1];
      if (folder === undefined || object === undefined) continue;
      const name = `${ref.prefix}/plans/${encodeId(object.id)}`;
      copies.set(name, [...(copies.get(name) ?? []), { run: ref.ref, files: planFiles(files, folder) }]);
    }
  }
  const found: FoundAt[] = [];
  for (const { ref, files } of plans) {
    const held = planFiles(files, '');
    const different = (copies.get(ref.ref) ?? []).map(({ run, files: copy }) => ({
      run,
      paths: [...new Set([...copy.keys(), ...held.keys()])].filter(
        (path) => copy.get(path) !== held.get(path),
      ),
    }));
    const [first] = different;
    if (first === undefined || different.some(({ paths }) => paths.length === 0)) continue;
    for (const path of first.paths)
      found.push({
        code: held.has(path) ? 'digest-mismatch' : 'reference-missing',
        where: `${ref.ref}:${path}`,
        what: `it differs from the record of its run, \`${first.run}\``,
        refs: [ref.ref, first.run],
      });
  }
  return found;
}

/** SHA-256 of the files of one plan by their path in its ref. */
function planFiles(files: RefFiles, folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [path, { sha256 }] of files) {
    const inside = path.startsWith(folder) ? path.slice(folder.length) : '';
    if (inside === 'plan.json' || inside.startsWith('tasks/')) found.set(inside, sha256);
  }
  return found;
}

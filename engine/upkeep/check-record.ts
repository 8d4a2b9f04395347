import type { Found, ProblemCode } from '../../store/problem.ts';
import { maskedPath } from '../../store/record/masked-record.ts';
import { sealPaths } from '../../store/record/seal-paths.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { waitingPath } from '../record/stored-approvals.ts';
import type { FileFacts, ObjectFacts } from './object-facts.ts';
import type { StoredRef } from './stored-ref.ts';

/** A ref's files by path, as far as they could be read. */
export type RefFiles = ReadonlyMap<string, FileFacts>;

const always = ['run.json', 'spec.json', 'effective.json', 'intent.json'];
const whenDecided = ['gate-report.json', 'decision-input.json', 'decision-record.json'];
const whileWaiting = [waitingPath, 'waiting/decision.json', 'gate-report.json', 'journal.jsonl'];
/** What only a run has that waits, or once did. */
const ofWaiting = /^waiting(?:\.json$|\/)/;

const referred: Readonly<Record<string, ObjectFacts['type']>> = {
  run: 'run',
  attempt_of: 'run',
  patchset: 'patchset',
  plan: 'plan',
  task: 'task',
  tasks: 'task',
  depends_on: 'task',
  intent: 'intent',
  evidence: 'evidence',
  snapshot: 'context_snapshot',
};

/**
 * Verifies that a run's record is consistent: objects refer to each other and every digest matches. `missing` paths
 * are in the tree but unreadable, so they are not reported as absent.
 */
export function checkRecord(run: StoredRef, files: RefFiles, missing: readonly string[]): readonly Found[] {
  const found: Found[] = [];
  const report = (code: ProblemCode, path: string, what: string): void => {
    found.push({ code, where: `${run.ref}:${path}`, what });
  };
  const objects = new Map<string, Set<string>>();
  // A committed change must be kept complete, never masked.
  if (files.has(maskedPath) && files.get('decision.json')?.object?.decision === 'commit')
    report('digest-mismatch', maskedPath, 'a committed change is kept masked');
  for (const { object } of files.values()) {
    if (!object) continue;
    const ids = objects.get(object.type) ?? new Set();
    objects.set(object.type, ids.add(object.id));
  }
  const top = files.get('run.json')?.object;
  if (top && encodeId(top.id) !== run.id) report('reference-missing', 'run.json', `it is run \`${top.id}\``);
  const isWaiting = [...files.keys()].some((path) => ofWaiting.test(path));
  const isCommitted = files.get('decision.json')?.object?.decision === 'commit';
  for (const needed of [
    ...always,
    ...(isCommitted && !files.has(sealPaths.rollback) ? (files.get('effective.json')?.seals ?? []) : []),
    ...(files.has('decision.json') ? whenDecided : isWaiting ? whileWaiting : []),
  ])
    if (!files.has(needed) && !missing.includes(needed))
      report('reference-missing', needed, 'the record has none');
  for (const [path, { object }] of files) {
    for (const [field, id] of object?.names ?? []) {
      const type = referred[field];
      if (type === undefined || missing.length > 0 || objects.get(type)?.has(id)) continue;
      report('reference-missing', path, `\`${field}\` names \`${id}\`, which the record does not hold`);
    }
  }
  for (const folder of foldersOf(files)) checkDigests(files, folder, report);
  const reported = new Set(found.map(({ where }) => where));
  for (const [path, digest] of files.get(sealPaths.manifest)?.listed ?? []) {
    const facts = files.get(path);
    if (reported.has(`${run.ref}:${path}`) || facts?.problem !== undefined || missing.length > 0) continue;
    if (facts === undefined)
      report('reference-missing', path, `\`${sealPaths.manifest}\` lists it, and the record has none`);
    else if (facts.sha256 !== digest)
      report(
        'digest-mismatch',
        path,
        `expected ${digest} (\`${sealPaths.manifest}\`), found ${facts.sha256}`,
      );
  }
  return found;
}

/** '' and the folders of attempts. */
function foldersOf(files: RefFiles): ReadonlySet<string> {
  const inputs = [...files.keys()].filter((path) => path.endsWith('/decision-input.json'));
  return new Set(['', ...inputs.map((path) => path.slice(0, -'decision-input.json'.length))]);
}

function checkDigests(
  files: RefFiles,
  folder: string,
  report: (code: ProblemCode, path: string, what: string) => void,
): void {
  const at = (name: string): string => `${folder}${name}`;
  const compare = (claimer: string, field: string, path: string, digest: string | undefined): void => {
    const claim = files.get(claimer)?.claims?.[field];
    if (claim === undefined || digest === undefined || claim === digest) return;
    report('digest-mismatch', path, `expected ${claim} (\`${field}\` of \`${claimer}\`), found ${digest}`);
  };
  const canonical = (path: string): string | undefined => files.get(path)?.canonical;
  const input = at('decision-input.json');
  const record = at('decision-record.json');
  compare(input, 'specDigest', 'spec.json', canonical('spec.json'));
  if (folder === '') {
    compare(waitingPath, 'specDigest', 'spec.json', canonical('spec.json'));
    compare(waitingPath, 'gateReportDigest', 'gate-report.json', files.get('gate-report.json')?.verdict);
    compare(waitingPath, 'patchDigest', 'patchset.json', files.get('patchset.json')?.claims?.digest);
    compare('intent.json', 'intentspec_digest', 'spec.json', canonical('spec.json'));
    compare(input, 'gateReportDigest', 'gate-report.json', canonical('gate-report.json'));
    compare(maskedPath, 'originalSha256', 'patchset.json', files.get('patchset.json')?.claims?.digest);
    compare('rollback.json', 'input_digest', input, canonical(input));
    compare('rollback.json', 'decision_digest', record, canonical(record));
  }
  compare(record, 'inputDigest', input, canonical(input));
  compare(at('decision.json'), 'input_digest', input, canonical(input));
  compare(at('decision.json'), 'decision_digest', record, canonical(record));
  compare(input, 'patchDigest', at('patchset.json'), files.get(at('patchset.json'))?.claims?.digest);
}

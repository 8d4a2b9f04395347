/* Verifies what records state about themselves and about content, intents and plans. */
import { isWritError } from '../../core/base/errors.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import { contentMarker } from '../../store/object-shapes.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { maskedPath } from '../../store/record/summaries.ts';
import type { Found, FoundAt, ProblemCode } from '../../store/stored-object.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { historyHeadPath, intentEventPath } from '../intent/intent-history.ts';
import { waitingPath } from '../record/stored-approvals.ts';
import { readExpiries } from './expire-content.ts';
import { type FileFacts, referred } from './object-facts.ts';
import { ownerKey, type StoredRef } from './stored-ref.ts';

/** The readable files of a ref, by path. */
export type RefFiles = ReadonlyMap<string, FileFacts>;

const always = ['run.json', 'spec.json', 'effective.json', 'intent.json'];
const whenDecided = ['gate-report.json', 'decision-input.json', 'decision-record.json'];
const whileWaiting = [waitingPath, 'waiting/decision.json', 'gate-report.json', 'journal.jsonl'];
/** Files that only a run has that waits, or once did. */
const ofWaiting = /^waiting(?:\.json$|\/)/;

/**
 * Verifies a run's record: its objects name each other, and every digest matches. Nothing is reported as absent
 * because of `missing` paths, which exist but could not be read.
 */
export function checkRecord(run: StoredRef, files: RefFiles, missing: readonly string[]): readonly Found[] {
  const found: Found[] = [];
  const report = (code: ProblemCode, path: string, what: string): void => {
    found.push({ code, where: `${run.ref}:${path}`, what });
  };
  const objects = new Map<string, Set<string>>();
  // A sealed change is never masked.
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

/**
 * Verifies the chain of an intent's events: one event per number, each naming the one before it. The digest of the
 * spec must be the one in `intent.json` and in an event.
 */
export function checkIntent(
  { ref }: StoredRef,
  files: RefFiles,
  missing: readonly string[],
): readonly Found[] {
  if (missing.length > 0) return [];
  const found: Found[] = [];
  const report = (code: Found['code'], path: string, what: string): void => {
    found.push({ code, where: `${ref}:${path}`, what });
  };
  for (const needed of ['intent.json', 'spec.json'])
    if (!files.has(needed)) report('reference-missing', needed, 'the intent has none');
  const events = [...files.keys()].filter((path) => path.startsWith('events/')).length;
  let head: string | undefined;
  const stated = new Set<string>();
  for (let number = 1; number <= events; number += 1) {
    const path = intentEventPath(number);
    const event = files.get(path);
    if (!event) {
      report('reference-missing', path, `expected one of ${events} events`);
      return found;
    }
    if (event.claims?.previous !== head)
      report('digest-mismatch', path, 'it does not follow the event before it');
    head = event.sha256;
    if (event.claims?.intentspec_digest !== undefined) stated.add(event.claims.intentspec_digest);
  }
  if (files.get(historyHeadPath)?.claims?.sha256 !== head)
    report('digest-mismatch', historyHeadPath, 'the last event is not the one that it names');
  const spec = files.get('spec.json')?.canonical;
  const expected = files.get('intent.json')?.claims?.intentspec_digest;
  if (spec !== undefined && expected !== undefined && spec !== expected)
    report(
      'digest-mismatch',
      'spec.json',
      `expected ${expected} (\`intentspec_digest\` of \`intent.json\`), found ${spec}`,
    );
  else if (expected !== undefined && stated.size > 0 && !stated.has(expected))
    report('digest-mismatch', 'intent.json', 'no event of the intent names the digest of its spec');
  return found;
}

interface ReadRef {
  readonly ref: StoredRef;
  readonly files: RefFiles;
}

const planPath = /^((?:plans\/\d+\/)?)plan\.json$/;
const digestName = /(?:^|\/)([0-9a-f]{64})$/;

/** Verifies files that are named by their SHA-256. */
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
 * Compares each plan's ref, which repeats a part of a run's record, with the records of decided runs: one must be
 * equal file by file. All files of these refs could be read. A plan without such a record is skipped.
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

/** SHA-256 of the files of one plan, by path. */
function planFiles(files: RefFiles, folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [path, { sha256 }] of files) {
    const inside = path.startsWith(folder) ? path.slice(folder.length) : '';
    if (inside === 'plan.json' || inside.startsWith('tasks/')) found.set(inside, sha256);
  }
  return found;
}

interface Report {
  readonly run: StoredRef;
  /** The path in the record that names the content. */
  readonly path: string;
  readonly contentRef: string;
  readonly contentPath: string;
  readonly sha256: string;
}

/** Compares artifact content with the digests in the evidence; absent content must have expired. */
export async function checkContent(
  repository: Repository,
  refs: readonly StoredRef[],
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
  filesOf: (ref: StoredRef) => RefFiles,
  damaged: ReadonlySet<string>,
  nowMs: number,
): Promise<readonly FoundAt[]> {
  const byName = new Map(refs.map((ref) => [ref.ref, ref]));
  const found: FoundAt[] = [];
  const absent: Report[] = [];
  for (const { ref, files } of runs) {
    for (const report of reportsOf(ref, files)) {
      const content = byName.get(report.contentRef);
      // Reported already, with the broken object.
      if (content && damaged.has(content.object)) continue;
      const files = content && filesOf(content);
      const facts = files?.get(report.contentPath);
      if (!files || !facts) absent.push(report);
      else if ((files.has(contentMarker) ? facts.refersTo : facts.sha256) !== report.sha256) {
        found.push({
          code: 'digest-mismatch',
          where: `${report.contentRef}:${report.contentPath}`,
          what: `expected ${report.sha256} (\`${report.path}\`), found ${facts.refersTo ?? facts.sha256}`,
          refs: [ref.ref],
        });
      }
    }
  }
  const expiries = await readExpiries(repository, [...new Set(absent.map(({ run }) => run))]);
  for (const { run, path, contentRef, contentPath } of absent) {
    const expiry = expiries.get(run.ref);
    if (expiry && nowMs >= expiry.expiresAtMs(contentPath)) continue;
    found.push({
      code: 'content-missing',
      where: `${contentRef}:${contentPath}`,
      what: `\`${path}\` says that it is kept, and its time is not over`,
      refs: [run.ref],
    });
  }
  return found;
}

/** Compares what content refs refer to with the store that has it. */
export async function checkOutside(
  repository: Repository,
  { content: outside }: Pick<ObjectStore, 'content'>,
  refs: readonly StoredRef[],
  filesOf: (ref: StoredRef) => RefFiles,
  how: { readonly nowMs: number; readonly reads: boolean },
): Promise<readonly FoundAt[]> {
  const referring = refs.filter((ref) => ref.kind === 'content' && filesOf(ref).has(contentMarker));
  const found: (FoundAt & { readonly run: StoredRef | undefined; readonly path: string })[] = [];
  for (const ref of outside ? referring : []) {
    const run = refs.find((one) => one.kind === 'run' && ownerKey(one) === ownerKey(ref));
    const named = { refs: [run?.ref ?? ref.ref], run };
    try {
      for (const { path, isThere, what } of (await outside?.audit(ref.ref, how.reads)) ?? []) {
        const code = isThere ? 'digest-mismatch' : 'content-missing';
        found.push({ code, where: `${ref.ref}:${path}`, what, path, ...named });
      }
    } catch (fault) {
      if (!isWritError(fault)) throw fault;
      const what = `its content could not be compared: ${fault.message}`;
      found.push({ code: 'content-unread', where: ref.ref, what, path: '', ...named });
      // The other refs lead to the same store.
      if (fault.code !== 'OBJECT_CORRUPT') break;
    }
  }
  const gone = found.flatMap(({ code, run }) => (code === 'content-missing' && run ? [run] : []));
  const expiries = await readExpiries(repository, [...new Set(gone)]);
  return found.flatMap(({ run, path, ...problem }) => {
    const expiry = run && problem.code === 'content-missing' ? expiries.get(run.ref) : undefined;
    return expiry && how.nowMs >= expiry.expiresAtMs(path) ? [] : [problem];
  });
}

function* reportsOf(run: StoredRef, files: RefFiles): Generator<Report> {
  for (const [path, { object, claims }] of files) {
    for (const { key, sha256 } of object?.reports ?? []) {
      const at = key.indexOf(':');
      yield { run, path, contentRef: key.slice(0, at), contentPath: key.slice(at + 1), sha256 };
    }
    if (path === 'patchset.json' && claims?.digest !== undefined && files.has('decision.json')) {
      const contentRef = `${run.prefix}/content/${run.id}`;
      // Content that was refused for a secret is masked and has its own digest.
      const sha256 = files.get(maskedPath)?.claims?.storedSha256 ?? claims.digest;
      yield { run, path, contentRef, contentPath: 'patchset.diff', sha256 };
    }
  }
}

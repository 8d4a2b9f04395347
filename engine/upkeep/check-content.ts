import type { Found } from '../../store/problem.ts';
import { maskedPath } from '../../store/record/masked-record.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { RefFiles } from './check-record.ts';
import { readExpiries } from './content-expiry.ts';
import type { StoredRef } from './stored-ref.ts';

interface Report {
  readonly run: StoredRef;
  /** Where in the record it is named. */
  readonly path: string;
  readonly contentRef: string;
  readonly contentPath: string;
  readonly sha256: string;
}

/**
 * Artifact content against the digests in the evidence: what is there is what was recorded, and what is not there has
 * expired.
 */
export async function checkContent(
  repository: Repository,
  refs: readonly StoredRef[],
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
  filesOf: (ref: StoredRef) => RefFiles,
  damaged: ReadonlySet<string>,
  nowMs: number,
): Promise<readonly (Found & { readonly refs: readonly string[] })[]> {
  const byName = new Map(refs.map((ref) => [ref.ref, ref]));
  const found: (Found & { readonly refs: readonly string[] })[] = [];
  const absent: Report[] = [];
  for (const { ref, files } of runs) {
    for (const report of reportsOf(ref, files)) {
      const content = byName.get(report.contentRef);
      // Already reported with the broken object.
      if (content && damaged.has(content.object)) continue;
      const facts = content && filesOf(content).get(report.contentPath);
      if (!facts) absent.push(report);
      else if (facts.sha256 !== report.sha256) {
        found.push({
          code: 'digest-mismatch',
          where: `${report.contentRef}:${report.contentPath}`,
          what: `expected ${report.sha256} (\`${report.path}\`), found ${facts.sha256}`,
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

function* reportsOf(run: StoredRef, files: RefFiles): Generator<Report> {
  for (const [path, { object, claims }] of files) {
    for (const { key, sha256 } of object?.reports ?? []) {
      const at = key.indexOf(':');
      yield { run, path, contentRef: key.slice(0, at), contentPath: key.slice(at + 1), sha256 };
    }
    if (path === 'patchset.json' && claims?.digest !== undefined && files.has('decision.json')) {
      const contentRef = `${run.prefix}/content/${run.id}`;
      // A patch with a secret is kept masked: compare the masked patch's own digest, which is stored next to the
      // original's.
      const sha256 = files.get(maskedPath)?.claims?.storedSha256 ?? claims.digest;
      yield { run, path, contentRef, contentPath: 'patchset.diff', sha256 };
    }
  }
}

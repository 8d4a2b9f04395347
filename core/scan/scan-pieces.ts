import type { Finding } from '../contract/finding.ts';
import type { PatchSet } from '../contract/patch-set.ts';
import type { FileSides, Rule, RuleInput } from '../contract/rule.ts';
import { judgeRule } from '../rules.ts';
import type { WorkerPool } from '../worker/pool.ts';
import type { DiffPiece } from './diff-piece.ts';
import { scanSpec } from './scan-spec.ts';
import type { ScannedFinding } from './scanned-finding.ts';
import { showAround } from './show-around.ts';

export interface ScanRequest {
  readonly rules: readonly Rule[];
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly pool: WorkerPool;
  readonly signal: AbortSignal;
  /** Whole files that a rule may read, where the scan knows them. */
  readonly filesFor?: (piece: DiffPiece, rule: Rule) => Promise<Readonly<Record<string, FileSides>>>;
  readonly onPiece?: (done: ScanTotals) => void;
}

export interface ScanTotals {
  readonly files: number;
  /** Added lines. */
  readonly lines: number;
  readonly bytes: number;
}

export interface ScanResult extends ScanTotals {
  /** In the order of the diff, then of the rules. */
  readonly findings: readonly ScannedFinding[];
}

/** More findings than anybody reads; what follows is counted by one finding of its own. */
const maxFindings = 10_000;

/** Asks the rules about pieces of a diff, as many side by side as the pool has threads; no more pieces are held than that. */
export async function scanPieces(
  pieces: AsyncIterable<DiffPiece>,
  request: ScanRequest,
): Promise<ScanResult> {
  const { pool, signal, onPiece } = request;
  const spec = scanSpec();
  const results: (readonly ScannedFinding[])[] = [];
  const running = new Set<Promise<void>>();
  const paths = new Set<string>();
  const totals = { lines: 0, bytes: 0 };
  let kept = 0;
  let dropped = 0;
  let index = 0;
  for await (const piece of pieces) {
    signal.throwIfAborted();
    const at = index++;
    const judged = judgePiece(piece, spec, request).then(({ findings, lines }) => {
      const room = Math.max(0, maxFindings - kept);
      results[at] = findings.slice(0, room);
      kept += Math.min(room, findings.length);
      dropped += findings.length - Math.min(room, findings.length);
      for (const { path } of piece.files) paths.add(path);
      totals.lines += lines;
      totals.bytes += piece.diff.length;
      onPiece?.({ files: paths.size, ...totals });
    });
    const tracked = judged.finally(() => running.delete(tracked));
    running.add(tracked);
    // Awaited below in any case; an early fault must not be an unhandled one.
    tracked.catch(() => {});
    if (running.size > pool.threads) await Promise.race(running);
  }
  await Promise.all(running);
  const findings: ScannedFinding[] = results.flat();
  if (dropped > 0) findings.push(tooMany(dropped));
  return { findings, files: paths.size, ...totals };
}

const nowhere = {
  digest: '',
  baseCommit: undefined,
  baseTree: '',
  candidateTree: '',
  format: 'GitDiff',
} as const;

async function judgePiece(
  piece: DiffPiece,
  spec: RuleInput['spec'],
  { rules, ruleOptions, pool, signal, filesFor }: ScanRequest,
): Promise<{ findings: readonly ScannedFinding[]; lines: number }> {
  // A piece that is a whole PatchSet keeps its trees.
  const patch: PatchSet = { ...nowhere, ...piece };
  const input = {
    spec,
    patch,
    scope: { write: [], forbidden: [], wholeRepository: true },
    artifacts: [],
    args: [],
  };
  const ask = async (rule: Rule): Promise<readonly Finding[]> => {
    const files = (await filesFor?.(piece, rule)) ?? {};
    return judgeRule(rule, { ...input, files, options: ruleOptions[rule.id] ?? {} }, pool, signal);
  };
  const [counted, ...answers] = await Promise.all([
    pool.run('count-added', piece, { timeoutMs: 60_000, signal }),
    ...rules.map(ask),
  ]);
  const findings: readonly Finding[] = answers.flat();
  return {
    findings: showAround(findings, piece.diff, piece.files),
    lines: counted.ok ? counted.value : 0,
  };
}

function tooMany(dropped: number): Finding {
  return {
    rule: 'scan',
    severity: 'error',
    message: `${dropped} more findings are not listed: the scan keeps ${maxFindings}`,
  };
}

/* Evaluates the reports of a scanner at base and candidate. */
import { isUtf8 } from 'node:buffer';
import { endOfDay } from '../../core/base/clock.ts';
import { compileGlob } from '../../core/base/glob.ts';
import type { CheckContext, CheckOutcome, ScanContext } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { type ScanIgnore, type ScanOutcome, scanLevels } from '../../core/interfaces/scanner.ts';
import { plainLine } from '../reports/test-report.ts';
import { markSarif, markVdr, matchScans, type PlacedResult, placeResult } from '../scanner/match-scans.ts';
import { formats, type ReadScan, readScan, type ScanResult } from '../scanner/read-scan.ts';
import { evaluateExit } from './judge-exit.ts';

const rule = 'scanner';
const maxFindings = 200;
type Ran = Awaited<ReturnType<CheckContext['runCommand']>>;

/** A report that can be read, or why there is none. */
type Report = (ReadScan & { readonly bytes: Uint8Array }) | { readonly fault: string };

/**
 * Evaluates a check that is a scanner: it runs in the candidate and at the base, and what the base does not have is
 * new. Whatever the tool could not inspect in the candidate is an error. Results of a base that could not be scanned
 * are unknown, so that everything is new then.
 */
export async function evaluateScan(context: CheckContext, scan: ScanContext): Promise<CheckOutcome> {
  const ran = await context.runCommand();
  const { result, reports } = ran;
  const candidate = readRun(scan, context.check, ran);
  const { name, format } = scan.rules;
  const { contentType, extension, supplies } = formats[format];
  const outcome = { reports, ...(result ? { result } : {}) };
  const shape = { contentType, extension };
  if ('fault' in candidate) {
    const findings = [fail(scan, 'SCAN_FAILED', candidate.fault), ...(ran.denied ? [ran.denied] : [])];
    return { ...outcome, findings, scan: { ...shape, results: noResults } };
  }
  const base = await scanBase(scan, context.check);
  const known = base === undefined || 'fault' in base ? undefined : base;
  const renamed = new Map(
    context.ruleInput.patch.files.flatMap(({ path, oldPath, changeType }: PatchFile) =>
      changeType === 'rename' && oldPath !== undefined ? [[oldPath, path] as const] : [],
    ),
  );
  const was = (await placeAll(scan, 'base', known?.results ?? [])).map((one) =>
    one.path === undefined ? one : { ...one, path: renamed.get(one.path) ?? one.path },
  );
  const is = await placeAll(scan, 'candidate', candidate.results);
  const { fresh, absent } = matchScans(was, is);
  const ignoreOf = ignoring(scan);
  const ignored = new Map<number, ScanIgnore>();
  const findings: Finding[] = [
    ...versionFault(scan, candidate),
    ...candidate.unfinished.map((reason) => fail(scan, 'SCAN_UNFINISHED', reason)),
    ...(base !== undefined && 'fault' in base ? [unknownBase(name, base.fault)] : []),
  ];
  let listed = 0;
  let unlisted = 0;
  const worst = new Set(scanLevels.slice(0, scanLevels.indexOf(scan.rules.failOn) + 1) as readonly string[]);
  for (const [index, one] of is.entries()) {
    const entry = ignoreOf(one);
    if (entry?.isInForce) ignored.set(index, entry.ignore);
    if (!fresh.has(index) || one.level === 'none') continue;
    const isError = worst.has(one.level) && !entry?.isInForce;
    if (listed >= maxFindings) unlisted += isError ? 1 : 0;
    else findings.push(toFinding(name, one, isError, entry));
    listed += 1;
  }
  if (unlisted > 0) findings.push(fail(scan, 'SCAN_MORE_RESULTS', `${unlisted} further new results`));
  const counts = {
    new: [...fresh].filter((index) => is[index]?.level !== 'none').length,
    unchanged: is.length - fresh.size,
    absent: absent.size,
    ignored: ignored.size,
  };
  const marked =
    format === 'sarif'
      ? markSarif(candidate.document, { fresh, ignored, absent, base: known?.document })
      : format === 'cyclonedx-vdr'
        ? markVdr(candidate.document, fresh)
        : candidate.bytes;
  const { tool, version } = candidate;
  const added: ScanOutcome = {
    ...shape,
    ...(tool === undefined ? {} : { tool: plainLine(tool, 100) }),
    ...(version === undefined ? {} : { version: plainLine(version, 100) }),
    results: counts,
    candidate: marked,
    ...(known ? { base: known.bytes } : {}),
    supplies,
  };
  return { ...outcome, findings, scan: added };
}

const noResults = { new: 0, unchanged: 0, absent: 0, ignored: 0 };

/** The report at the base, kept from an earlier run or made now; `undefined` without a base commit. */
async function scanBase(scan: ScanContext, check: CheckContext['check']): Promise<Report | undefined> {
  const kept = await scan.keptAtBase();
  const read = kept && readScan(scan.rules.format, kept);
  if (kept && read && !('found' in read)) return { ...read, bytes: kept };
  const ran = await scan.runAtBase();
  if (ran === undefined) return undefined;
  const report = readRun(scan, check, ran);
  if (!('fault' in report) && isUtf8(report.bytes)) await scan.keepAtBase(report.bytes);
  return report;
}

/** What a run of the scanner left: it finished as it reports by its exit code, and its report can be read whole. */
function readRun({ rules }: ScanContext, check: CheckContext['check'], ran: Ran): Report {
  const { result, reports } = ran;
  const { exitCode = -1 } = result ?? {};
  const isExpected = rules.exitCodes.includes(exitCode);
  const [ended] = evaluateExit(
    { ...check, expectedExitCode: isExpected ? exitCode : (rules.exitCodes[0] ?? 0) },
    ran,
  );
  if (ended) return { fault: ended.message };
  const bytes = rules.report === 'stdout' ? wholeOutput(result) : fileNamed(rules.report, reports);
  if (!(bytes instanceof Uint8Array)) return bytes;
  const read = readScan(rules.format, bytes);
  if ('found' in read) return { fault: `expected ${formats[rules.format].name}, found ${read.found}` };
  return { ...read, bytes };
}

function wholeOutput(result: Ran['result']): Uint8Array | { readonly fault: string } {
  const { bytes, totalBytes, truncated } = result?.stdout ?? { bytes: Buffer.alloc(0), totalBytes: 0 };
  if (!truncated) return bytes;
  return {
    fault: `its report of ${totalBytes} bytes is cut off on stdout: let it write a file in \`$REPORTS_DIR\``,
  };
}

function fileNamed(name: string, reports: Ran['reports']): Uint8Array | { readonly fault: string } {
  const file = reports.find((one) => one.name === name && !one.isStale);
  return file?.bytes ?? { fault: `it left no report \`${name}\` in \`$REPORTS_DIR\`` };
}

/** Reads each file once. */
async function placeAll(
  scan: ScanContext,
  side: 'base' | 'candidate',
  results: readonly ScanResult[],
): Promise<readonly PlacedResult[]> {
  const files = new Map<string, readonly string[] | undefined>();
  for (const { path, line } of results) {
    if (path === undefined || line === undefined || files.has(path)) continue;
    const bytes = await scan.read(side, path);
    files.set(
      path,
      bytes &&
        Buffer.from(bytes)
          .toString('utf8')
          .split(/\r\n|[\n\r]/),
    );
  }
  return results.map((one) => placeResult(one, one.path === undefined ? undefined : files.get(one.path)));
}

interface Ignored {
  readonly ignore: ScanIgnore;
  readonly isInForce: boolean;
}

/** Which entry of the configuration is about a result: of several, the one that holds longest. */
function ignoring({ rules, nowMs }: ScanContext): (result: ScanResult) => Ignored | undefined {
  const longestFirst = [...rules.ignore].sort((a, b) => (a.until < b.until ? 1 : -1));
  const byRule = Map.groupBy(
    longestFirst.map((ignore) => ({
      ignore,
      isInForce: nowMs < endOfDay(ignore.until),
      glob: ignore.path === undefined ? undefined : compileGlob(ignore.path),
    })),
    ({ ignore }) => ignore.rule,
  );
  return ({ rule: id, path = '' }) => byRule.get(id)?.find(({ glob }) => glob?.matches(path) ?? true);
}

function toFinding(
  name: string,
  { rule: id, level, message, path, line }: ScanResult,
  isError: boolean,
  entry: Ignored | undefined,
): Finding {
  const { owner = '', until = '' } = entry?.ignore ?? {};
  const state =
    entry === undefined
      ? ''
      : entry.isInForce
        ? ` (ignored by ${owner} until ${until})`
        : ` (was ignored by ${owner} until ${until}, which is past)`;
  return {
    rule,
    severity: isError ? 'error' : entry?.isInForce ? 'note' : 'warning',
    message: `${name} reports a new \`${plainLine(id, 100)}\`: ${plainLine(message, 300)}${plainLine(state, 200)}`,
    ...(path === undefined ? {} : { path: plainLine(path, 500) }),
    ...(line === undefined ? {} : { line }),
    detail: {
      scanner: name,
      id: plainLine(id, 200),
      level,
      ...(entry?.isInForce
        ? { suppressed: true, reason: 'config', until, owner: plainLine(owner, 200) }
        : {}),
    },
  };
}

function fail({ rules: { name } }: ScanContext, code: string, reason: string): Finding {
  const words: Readonly<Record<string, string>> = {
    SCAN_FAILED: 'gave no result',
    SCAN_UNFINISHED: 'did not inspect everything',
    SCAN_VERSION: 'is not what is pinned',
    SCAN_MORE_RESULTS: 'reports more than is listed',
  };
  const message = `scanner \`${name}\` ${words[code]}: ${plainLine(reason, 400)}`;
  return { rule, severity: 'error', message, detail: { code, scanner: name } };
}

function versionFault(scan: ScanContext, { version }: ReadScan): readonly Finding[] {
  const { version: expected } = scan.rules;
  if (expected === undefined || version === expected) return [];
  return [
    fail(scan, 'SCAN_VERSION', `expected version ${expected}, found ${version ?? 'none in its report'}`),
  ];
}

function unknownBase(name: string, fault: string): Finding {
  const message = `scanner \`${name}\` gave no result at the base, so that all results are new: ${plainLine(fault, 400)}`;
  return { rule, severity: 'warning', message, detail: { code: 'SCAN_BASE_FAILED', scanner: name } };
}

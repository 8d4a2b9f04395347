/* The `writ scan`, `writ redact` and `writ sca import` commands. */
import { resolve } from 'node:path';
import { readVersion } from '../../api/build.ts';
import { toEnvelope } from '../../api/envelope.ts';
import { readInput } from '../../api/read-input.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { nearestName } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { type SensitiveClass, sensitiveClasses } from '../../core/interfaces/privacy.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { describeRules, reportedIds } from '../../core/kernel/rules.ts';
import { waiveFindings } from '../../engine/config/waivers.ts';
import type { Unscanned } from '../../gates/scan/cut-diff.ts';
import {
  type ScannedFinding,
  type ScanResult,
  scanPieces,
  withLineText,
} from '../../gates/scan/scan-pieces.ts';
import { importAdvisories } from '../../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import { buildSarif } from '../../readers/documents/sarif/build-sarif.ts';
import { redact } from '../../readers/sensitive/redact.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { scanSpec } from '../../spec/secret-words.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import {
  type CommandContext,
  type CommandResult,
  loadLean,
  refused,
  succeeded,
} from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import {
  changesIn,
  noteKnownIn,
  openScanSource,
  readScanOptions,
  repositoryAround,
  trackedDirectories,
} from '../command-parts/scan-sources.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { printScan } from '../report/scan.ts';
import { styled } from '../terminal/print.ts';

/**
 * `writ scan`: the rules about a change, alone. Exit 1 where one finds an error, or where something could not be
 * scanned.
 */
export async function scanCommand(context: CommandContext): Promise<CommandResult> {
  return context.options.flag('watch')
    ? watchChange(context)
    : scanIn(context, await repositoryAround(context));
}

/** `writ scan` in a repository that is open, or outside of one. */
export async function scanIn(
  context: CommandContext,
  repository: Repository | undefined,
): Promise<CommandResult> {
  await using engine = await openEngine(context);
  const scanned = await scanSource(context, engine, repository, (tell) =>
    openScanSource(context, tell, repository),
  );
  const { untracked } = scanned;
  if (scanned.files === 0)
    throw new WritError('PATCH_EMPTY', {
      message: 'there is no change to scan',
      ...(untracked === undefined
        ? {}
        : {
            hints: [`git does not track \`${untracked}\`: run \`git add\` on it, or pass it as an argument`],
          }),
    });
  return toResult(scanned, await writeSarif(context, scanned));
}

/** Refused where the scan found an error. */
function toResult(scanned: Scanned, paths: readonly string[]): CommandResult {
  const data = toData(scanned, paths);
  const human = (printer: CommandContext['print']): void => printScan(printer, scanned, paths);
  const errors = scanned.findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return succeeded(data, human);
  const [first] = errors;
  return refused(
    new WritError('SCAN_FOUND', {
      message: `${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, the first by rule \`${first?.rule}\``,
      detail: { errors: errors.length, rule: first?.rule, path: first?.path, line: first?.line },
    }),
    data,
    human,
  );
}

/**
 * `writ scan --watch`: scans what is not committed yet after each change, and prints a result where it differs from
 * the one before. Ends with the reader of its output, or by RUN_INTERRUPTED.
 */
async function watchChange(context: CommandContext): Promise<CommandResult> {
  const { args, options, print, signal, json } = context;
  const other = ['patch', 'range', 'sarif'].find((name) => options.value(name) !== undefined);
  if (other !== undefined || args.length > 0)
    throw new WritError('USAGE', {
      message: `\`--watch\` scans what is not committed yet: it cannot be combined with ${other === undefined ? 'files' : `\`--${other}\``}`,
    });
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  let printed: string | undefined;
  print.note(`watching ${repository.root}, Ctrl+C ends it`);
  for await (const _ of changesIn(() => trackedDirectories(repository), signal)) {
    const result = await scanSource(context, engine, repository, (tell) =>
      openScanSource(context, tell, repository),
    ).then((scanned) => toResult(scanned, []), faultResult(signal));
    const error = 'error' in result ? result.error : undefined;
    const found = JSON.stringify([error?.code, error?.message, result.data?.findings]);
    if (found === printed) continue;
    if (json) print.raw(toEnvelope('scan', { data: result.data, error }, true));
    else {
      if (printed !== undefined) print.line();
      result.human(print);
    }
    printed = found;
    if (!(await print.taken())) break;
  }
  return succeeded({}, () => {});
}

/** A fault of one scan, such as a configuration that is not valid, is its result: the next change may mend it. */
function faultResult(signal: AbortSignal): (thrown: unknown) => CommandResult {
  return (thrown) => {
    signal.throwIfAborted();
    if (!isWritError(thrown) || thrown.exitCode === 129) throw thrown;
    const { code, message } = thrown;
    return refused(thrown, {}, (printer) => printer.line(styled('red', code), `  ${message}`));
  };
}

/** What a scan found, and what it could not scan. */
export interface Scanned extends ScanResult {
  readonly rules: readonly Rule[];
  /** Everything was scanned. */
  readonly isComplete: boolean;
  readonly commit?: string;
  /** A path that was left out, where there was nothing else to scan. */
  readonly untracked?: string;
}

type ScanContext = Parameters<typeof openScanSource>[0] & Pick<CommandContext, 'progress'>;

/** Scans one source by the rules that the options name. CONFIG_INVALID, BASELINE_INVALID, USAGE. */
export async function scanSource(
  context: ScanContext,
  engine: WritEngine,
  repository: Repository | undefined,
  open: (tell: (unscanned: Unscanned) => void) => ReturnType<typeof openScanSource>,
): Promise<Scanned> {
  const unscanned: Unscanned[] = [];
  await using readers = keepObjectReaders();
  if (repository !== undefined) readers.keep(repository);
  const named = namedRules(context);
  const all = engine.rules.ids.flatMap((id) => engine.rules.get(id) ?? []);
  const rules = pickRules(all, named);
  const { rules: ruleOptions, waivers } = await readScanOptions(context, engine.rules, repository);
  await using source = await open((one) => unscanned.push(one));
  const asked = rules.filter(({ scan }) => source.isWhole || scan?.needsBothSides !== true);
  const result = await loadLean(() =>
    scanPieces(source.pieces, {
      spec: scanSpec(),
      rules: asked,
      ruleOptions,
      pool: engine.pool,
      signal: context.signal,
      ...(source.filesFor === undefined ? {} : { filesFor: source.filesFor }),
      onPiece: ({ files, bytes }) => context.progress.update(`${files} files, ${Math.round(bytes / 1e6)} MB`),
    }),
  );
  context.progress.clear();
  const untracked = result.files === 0 ? await source.untracked?.() : undefined;
  const warning = asked.filter(
    ({ id, scan }) => scan?.severity === 'warning' && named?.includes(id) !== true,
  );
  const known = await noteKnownIn(context, asked, result.findings, repository);
  const findings = [
    ...waiveFindings(known, waivers, systemClock.now()).map((finding) => soften(finding, warning)),
    ...unscanned.map(toFinding),
    ...notCompared(rules.filter((rule) => !asked.includes(rule))),
  ];
  return {
    ...result,
    findings,
    rules: asked,
    isComplete: unscanned.length === 0,
    ...(source.commit === undefined ? {} : { commit: source.commit }),
    ...(untracked === undefined ? {} : { untracked }),
  };
}

function namedRules({ options }: Pick<CommandContext, 'options'>): readonly string[] | undefined {
  const given = options.values('rules').flatMap((list) => list.split(',').map((id) => id.trim()));
  return given.length === 0 ? undefined : given.filter((id) => id !== '');
}

function pickRules(all: readonly Rule[], named: readonly string[] | undefined): readonly Rule[] {
  const usable = all.filter(({ point, judgesChange }) => point === 'patch' || judgesChange === true);
  for (const id of named ?? []) {
    if (usable.some((rule) => rule.id === id)) continue;
    const ids = usable.map((rule) => rule.id).join(', ');
    throw new WritError('USAGE', { message: `expected rules among ${ids}, found \`${id}\`` });
  }
  return usable.filter(({ id, scan }) => (named ? named.includes(id) : scan?.asked !== 'where-named'));
}

/** Errors of these rules are warnings. */
function soften(finding: ScannedFinding, warning: readonly Rule[]): ScannedFinding {
  return finding.severity === 'error' && warning.some(({ id }) => id === finding.rule)
    ? { ...finding, severity: 'warning' }
    : finding;
}

function toFinding({ path, line, reason }: Unscanned): ScannedFinding {
  const place = line === undefined ? {} : { line };
  return { rule: 'scan', severity: 'error', message: `it was not scanned: ${reason}`, path, ...place };
}

function notCompared(rules: readonly Rule[]): readonly ScannedFinding[] {
  if (rules.length === 0) return [];
  const ids = rules.map(({ id }) => id).join(', ');
  const message = `not asked: ${ids}; they compare whole files, which \`--range A..B\` has`;
  return [{ rule: 'scan', severity: 'note', message }];
}

async function writeSarif(
  context: CommandContext,
  { rules, findings, isComplete, commit }: Scanned,
): Promise<readonly string[]> {
  const path = context.options.value('sarif');
  if (path === undefined) return [];
  const sarif = buildSarif({
    findings: withLineText(findings),
    ruleIds: await reportedIds(rules),
    described: await describeRules(rules),
    version: readVersion(),
    complete: isComplete,
    ...(commit === undefined ? {} : { commit }),
  });
  return [writeOutput(context.cwd, path, `${JSON.stringify(sarif, undefined, 2)}\n`)];
}

function toData({ files, lines, findings, rules }: Scanned, paths: readonly string[]): JsonData {
  return {
    findings: findings.map(listed),
    files,
    lines,
    rules: rules.map(({ id }) => id),
    ...(paths.length === 0 ? {} : { paths }),
  };
}

function listed({ around, ...finding }: ScannedFinding): Finding {
  return finding;
}

/** As many bytes as a run reads of one check's reports. */
const maxBytes = 64 * 1024 * 1024;

/**
 * `writ redact [FILE|-]`: the redaction pipeline alone; the receipt goes to stderr, under `--json` content and receipt
 * into the document.
 */
export async function redactCommand(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  const classes = parseClasses(context.options.values('classes'));
  const bytes = await readInput(context, path, { maxBytes });
  // Keyed digests identify equal values only within this receipt.
  const redacted = redact(bytes, { key: randomOctets(32), classes, words: {}, path });
  const { redactions, unscanned } = redacted;
  const content = Buffer.from(redacted.bytes.buffer, redacted.bytes.byteOffset, redacted.bytes.byteLength);
  const isText = content.equals(Buffer.from(content.toString('utf8')));
  const data = {
    path,
    classes: [...classes],
    count: redactions.reduce((sum, { count }) => sum + count, 0),
    redactions,
    ...(unscanned === undefined ? {} : { unscanned }),
    ...(isText ? { content: content.toString('utf8') } : { content_base64: content.toString('base64') }),
  };
  return succeeded(data, (printer) => {
    printer.raw(redacted.bytes);
    if (unscanned !== undefined) printer.complain(`not looked into: ${unscanned} content; it is as it was`);
    if (redactions.length === 0) printer.note('nothing was redacted');
    for (const { rule, class: dataClass, count, digests } of redactions)
      printer.note(
        `${dataClass} ${rule}: ${count} (${digests.map((digest) => digest.slice(0, 12)).join(', ')})`,
      );
  });
}

function parseClasses(values: readonly string[]): ReadonlySet<SensitiveClass> {
  const named = values.flatMap((value) => value.split(',')).map((value) => value.trim());
  if (named.length === 0) return new Set(sensitiveClasses);
  return new Set(
    named.map((name) => {
      const found = sensitiveClasses.find((one) => one === name);
      if (found !== undefined) return found;
      const meant = nearestName(name, sensitiveClasses);
      throw new WritError('USAGE', {
        message: `expected \`--classes\` to name ${sensitiveClasses.join(', ')}, found \`${name}\``,
        detail: { option: 'classes', found: name },
        ...(meant === undefined ? {} : { hints: [`did you mean \`${meant}\`?`] }),
      });
    }),
  );
}

/** `writ sca import F`: advisories in OSV form, kept for this user; lookups then need no network. */
export async function scaImportCommand({ args, cwd, env, signal }: CommandContext): Promise<CommandResult> {
  const root = advisoryDir(env);
  const path = resolve(cwd, args[0] ?? '');
  const done = await importAdvisories({ root, path, clock: systemClock, signal });
  const data = {
    advisories: done.advisories,
    records: done.records,
    stored: done.stored,
    withdrawn: done.withdrawn,
    older: done.older,
    skipped: done.skipped,
    ecosystems: done.ecosystems,
    other_ecosystems: done.otherEcosystems.map(({ name, records }) => ({ name, records })),
    digest: `sha256:${done.digest}`,
    imported_at: done.importedAt,
    newest: done.newest,
    directory: root,
  };
  return succeeded(data, (printer) => {
    printer.line(`${done.advisories} advisories are kept in ${root}`);
    const parts = [
      `${done.stored} stored`,
      `${done.withdrawn} withdrawn`,
      `${done.older} older than what is kept`,
      `${done.skipped} of other ecosystems`,
    ];
    printer.line(`${done.records} records read: ${parts.join(', ')}`);
    for (const { name, records } of done.otherEcosystems.slice(0, 10))
      printer.line(`  not looked up: ${name} (${records})`);
    printer.line(`newest ${done.newest}, sha256:${done.digest}`);
  });
}

/* Reads the configuration tables `[checks]` and `[scanner]`. */
import { availableParallelism } from 'node:os';
import { endOfDay } from '../../core/base/clock.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import { type ScanIgnore, type ScanRules, scanFormats, scanLevels } from '../../core/interfaces/scanner.ts';
import { type StageName, stageNames } from '../../core/interfaces/stage.ts';
import type { TableReader } from './table-reader.ts';
import { repositoryPathFault } from './workspace-section.ts';

/** `[checks]`: how checks run, what one may hold of the machine's memory, and where the report of one comes from. */
export interface ChecksConfig {
  readonly maxParallel: number;
  readonly maxMemoryMb: number;
  /** By check id: `stdout`, or a glob over the names at the top of `$REPORTS_DIR`. */
  readonly reports: ReadonlyMap<string, string>;
  /** `[[checks.always]]`: checks required for every change, in addition to those of its spec. */
  readonly always: readonly ConfiguredCheck[];
}

const maxChecks = 256;
const maxAlways = 64;
const maxIdLength = 128;

/**
 * Reads `[checks]`, `[[checks.always]]` and `[checks.<id>]`; a table under any other key is that of the check with that
 * id.
 */
export function readChecksSection(reader: TableReader): ChecksConfig {
  const maxParallel = reader.integer('max_parallel', Math.min(64, availableParallelism()), 1, 64);
  // Less than 128 MiB holds no runtime that tests run under.
  const maxMemoryMb = reader.integer('max_memory_mb', 4096, 128, 1_048_576);
  const always = reader.tables('always', maxAlways).map((table) => readConfiguredCheck(table, true));
  refuseRepeatedIds(reader, 'always', always);
  const ids = reader.otherTables();
  if (ids.length > maxChecks)
    reader.refuse(reader.path, `expected at most ${maxChecks} checks, found ${ids.length}`);
  const reports = new Map<string, string>();
  for (const id of ids.slice(0, maxChecks)) {
    const table = reader.table(id);
    if (id.length === 0 || id.length > maxIdLength)
      table.refuse(table.path, `expected the id of a check, 1 to ${maxIdLength} characters`);
    if (table.has('report')) reports.set(id, readReport(table));
    table.end();
  }
  reader.end();
  return { maxParallel, maxMemoryMb, reports, always };
}

function readReport(table: TableReader): string {
  const report = table.text('report', 'stdout');
  if (report === 'metrics.json')
    table.refuse(table.at('report'), '`metrics.json` holds metrics and is no test report');
  if (report.includes('/') || report === '.' || report === '..') {
    table.refuse(
      table.at('report'),
      `expected \`stdout\` or the name of a file at the top of \`$REPORTS_DIR\` (\`*\` is allowed), found the path \`${report.slice(0, 200)}\``,
    );
  }
  return report;
}

/** A check that the configuration adds to a spec, and the stage that runs it. */
export interface ConfiguredCheck {
  readonly stage: StageName;
  readonly check: EffectiveCheck & { readonly command: string };
}

const kinds = ['command', 'testSuite', 'policy'] as const;

/**
 * Reads the table of one check, with the same bounds as a check of a spec. A `mandatory` check has no key `required`,
 * because it is always required.
 */
export function readConfiguredCheck(reader: TableReader, mandatory = false): ConfiguredCheck {
  const check = {
    id: bounded(reader, 'id', 128),
    kind: oneOf(reader, 'kind', kinds, 'command'),
    command: bounded(reader, 'command', 2000),
    timeoutSeconds: reader.integer('timeout_seconds', 900, 1, 86_400),
    expectedExitCode: reader.integer('expected_exit_code', 0, 0, 255),
    required: mandatory || reader.flag('required', true),
    artifactsProduced: reader.texts('artifacts_produced', []),
  };
  const stage = readStage(reader);
  reader.end();
  return { stage, check };
}

/** The key `stage`; without a fallback it has to be there. */
export function readStage(reader: TableReader, fallback?: StageName): StageName {
  return oneOf(reader, 'stage', stageNames, fallback);
}

function bounded(reader: TableReader, key: string, max: number): string {
  const given = reader.has(key);
  const value = reader.text(key, '');
  if (!given) reader.refuse(reader.at(key), 'expected a value');
  else if (value.length > max) {
    reader.refuse(reader.at(key), `expected at most ${max} characters, found ${value.length}`);
  }
  return value;
}

/** A key that holds one of these words; without a fallback it has to be there. */
function oneOf<const T extends string>(
  reader: TableReader,
  key: string,
  words: readonly [T, ...T[]],
  fallback?: T,
): T {
  const found = reader.text(key, fallback ?? '');
  const word = words.find((one) => one === found);
  if (word !== undefined) return word;
  const listed = words.map((one) => `\`${one}\``).join(', ');
  reader.refuse(reader.at(key), `expected one of ${listed}${found === '' ? '' : `, found \`${found}\``}`);
  return words[0];
}

/** Refuses two checks of one id in a list. */
export function refuseRepeatedIds(
  reader: TableReader,
  key: string,
  checks: readonly ConfiguredCheck[],
): void {
  const ids = checks.map(({ check }) => check.id).filter((id) => id !== '');
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) reader.refuse(reader.at(key), `the id \`${twice}\` is given twice`);
}

/** `[scanner.NAME]`: a third-party scanner, what pins it, and how its report is evaluated. */
export interface ScannerConfig extends ScanRules {
  readonly argv: readonly string[];
  /** Of the program; absent if a read-only directory holds it. */
  readonly sha256?: string;
  readonly stage: StageName;
  readonly timeoutSeconds: number;
  /** Directories of this machine that the scanner sees at the same path, read-only. */
  readonly readOnly: readonly { readonly path: string; readonly sha256: string }[];
  /** Files and directories of the repository that it sees as the policy commit has them. */
  readonly ruleFiles: readonly string[];
}

const maxScanners = 16;
const maxDirectories = 16;
const maxIgnored = 500;
const hex = /^[0-9a-f]{64}$/;

/** Reads `[scanner]`, by scanner name. */
export function readScannerSection(reader: TableReader): ReadonlyMap<string, ScannerConfig> {
  const names = reader.keys();
  if (names.length > maxScanners)
    reader.refuse(reader.path, `expected at most ${maxScanners} scanners, found ${names.length}`);
  return new Map(names.slice(0, maxScanners).map((name) => [name, readScanner(reader.table(name), name)]));
}

function readScanner(reader: TableReader, name: string): ScannerConfig {
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(name))
    reader.refuse(reader.path, 'expected a name of lower-case letters, digits and `-`');
  const argv = reader.texts('argv', []);
  const [program = ''] = argv;
  if (program === '')
    reader.refuse(reader.at('argv'), 'expected the program and its arguments as a list of strings');
  const readOnly = reader.tables('read_only', maxDirectories).map(readDirectory);
  const isInside = readOnly.some(({ path }) => program.startsWith(`${path}/`));
  if (program.includes('/') && !isInside)
    reader.refuse(
      reader.at('argv'),
      `\`${program}\` is a path; expected a bare name found on PATH, or a path in a \`read_only\` directory`,
    );
  const sha256 = isInside && !reader.has('sha256') ? undefined : readDigest(reader);
  const format = oneOf(reader, 'format', scanFormats);
  const report = reader.text('report', 'stdout');
  if (report.includes('/') || report === '.' || report === '..')
    reader.refuse(reader.at('report'), 'expected `stdout` or the name of a file in `$REPORTS_DIR`');
  const ruleFiles = reader.texts('rules', []);
  for (const [index, path] of ruleFiles.entries()) {
    const fault = repositoryPathFault(path);
    if (fault !== undefined) reader.refuse(`${reader.at('rules')}[${index}]`, fault);
  }
  const version = reader.text('version', '');
  const config = {
    name,
    argv,
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(version === '' ? {} : { version }),
    format,
    report,
    readOnly,
    ruleFiles,
    stage: readStage(reader, 'security'),
    failOn: oneOf(reader, 'fail_on', scanLevels, 'warning'),
    exitCodes: reader.integers('exit_codes', [0, 1], 0, 255),
    timeoutSeconds: reader.integer('timeout_seconds', 900, 1, 86_400),
    ignore: reader.tables('ignore', maxIgnored).map(readIgnore),
  };
  reader.end();
  return config;
}

function readDigest(reader: TableReader): string {
  const digest = reader.text('sha256', '');
  if (!hex.test(digest)) reader.refuse(reader.at('sha256'), 'expected a SHA-256 of 64 lower-case hex digits');
  return digest;
}

function readDirectory(reader: TableReader): ScannerConfig['readOnly'][number] {
  const path = reader.text('path', '');
  const sha256 = readDigest(reader);
  if (!/^(?:\/[^/]+)+$/.test(path) || path.split('/').some((part) => part === '.' || part === '..'))
    reader.refuse(reader.at('path'), 'expected the absolute path of a directory');
  reader.end();
  return { path, sha256 };
}

function readIgnore(reader: TableReader): ScanIgnore {
  const text = (key: string): string => {
    const found = reader.text(key, '');
    if (found === '') reader.refuse(reader.at(key), 'expected a value');
    return found;
  };
  const path = reader.text('path', '');
  const entry = {
    rule: text('rule'),
    ...(path === '' ? {} : { path }),
    owner: text('owner'),
    until: text('until'),
    reason: text('reason'),
  };
  if (entry.until !== '' && Number.isNaN(endOfDay(entry.until)))
    reader.refuse(reader.at('until'), 'expected a day in the form "YYYY-MM-DD"');
  reader.end();
  return entry;
}

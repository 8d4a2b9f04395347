import { endOfDay } from '../../core/base/clock.ts';
import { type ScanIgnore, type ScanRules, scanFormats, scanLevels } from '../../core/contract/scanner.ts';
import type { StageName } from '../../core/contract/stage.ts';
import { oneOf, readStage } from './configured-check.ts';
import { repositoryPathFault } from './repository-path.ts';
import type { TableReader } from './table-reader.ts';

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

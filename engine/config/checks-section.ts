import { availableParallelism } from 'node:os';
import { type ConfiguredCheck, readConfiguredCheck, refuseRepeatedIds } from './configured-check.ts';
import type { TableReader } from './table-reader.ts';

/** `[checks]`: how checks run, what one may hold of the machine's memory, and where the report of one comes from. */
export interface ChecksConfig {
  readonly maxParallel: number;
  readonly maxMemoryMb: number;
  /** By check id: `stdout`, or a glob over the names at the top of `$REPORTS_DIR`. */
  readonly reports: ReadonlyMap<string, string>;
  /** `[[checks.always]]`: required of every change, whatever its contract asks. */
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
      `expected \`stdout\` or the name of a file at the top of \`$REPORTS_DIR\` (\`*\` may stand in it), found the path \`${report.slice(0, 200)}\``,
    );
  }
  return report;
}

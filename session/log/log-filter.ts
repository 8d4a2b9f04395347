/** From the least told to the most. */
const logLevels = ['off', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What is written down, by the beginnings of targets; the longest one that fits counts. */
export interface LogFilter {
  /** Whether a line of this target and level is written. */
  tells(target: string, level: Exclude<LogLevel, 'off'>): boolean;
}

const maxDirectives = 64;

/**
 * Reads a filter as `RUST_LOG` writes it: `level`, or `target=level` between commas (`writ::http=trace`). What is no
 * such directive is for other programs, and left out.
 */
export function parseLogFilter(text: string): LogFilter {
  const rows = text
    .split(',', maxDirectives)
    .map(readDirective)
    .filter((row) => row !== undefined)
    .sort((left, right) => right.target.length - left.target.length);
  return {
    tells(target, level) {
      const row = rows.find((one) => isWithin(one.target, target));
      return row !== undefined && logLevels.indexOf(level) <= logLevels.indexOf(row.level);
    },
  };
}

function readDirective(text: string): { readonly target: string; readonly level: LogLevel } | undefined {
  const [, target, given] = /^\s*(?:([A-Za-z0-9_:-]{1,100})=)?([A-Za-z0-9_:-]{1,100})\s*$/.exec(text) ?? [];
  if (given === undefined) return undefined;
  const level = logLevels.find((one) => one === given.toLowerCase());
  if (level !== undefined) return { target: target ?? '', level };
  // A target alone means all of it.
  return target === undefined ? { target: given, level: 'trace' } : undefined;
}

function isWithin(above: string, target: string): boolean {
  return above === '' || target === above || target.startsWith(`${above}::`);
}

import { readFileSync } from 'node:fs';

type Tree = Readonly<Record<string, string>>;

/** A labelled change of what a check runs. */
export interface Change {
  readonly name: string;
  readonly command: string;
  readonly base: Tree;
  /** Files of the candidate; `null` for one that goes. */
  readonly change: Readonly<Record<string, string | null>>;
  /** Files of the base that are symbolic links: their text is the target. */
  readonly links?: readonly string[];
  /** Paths that are found. */
  readonly found: readonly string[];
}

/** Changes under the commands of checks: attacks first, ordinary work behind them. */
export const changes = JSON.parse(
  readFileSync(new URL('../../../fixtures/scan/judge-changed.json', import.meta.url), 'utf8'),
) as readonly Change[];

/** A `package.json`. */
export const scripts = (entries: Tree, more: object = {}): string =>
  JSON.stringify({ name: 'a', ...more, scripts: entries });

/** A change under one command. */
export const one = (
  name: string,
  command: string,
  base: Tree,
  change: Change['change'],
  found: readonly string[],
): Change => ({ name, command, base, change, found });

/** A package with tests. */
export const npm = { 'package.json': scripts({ test: 'node --test', start: 'node .', lint: 'eslint .' }) };

/** Names under which scripts of a package usually judge, each once. */
export const usualScripts: readonly string[] = [
  ...['test', 'lint', 'check', 'verify', 'validate', 'typecheck', 'type-check', 'ci', 'audit', 'coverage'],
  ...['e2e', 'unit', 'integration', 'build', 'pretest', 'posttest', 'test:a', 'test.a', 'test-a'],
];

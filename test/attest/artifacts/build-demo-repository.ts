import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `fixtures/demo`. */
export const demoFixture = fileURLToPath(new URL('../../../fixtures/demo', import.meta.url));

/** Runs git with nobody's configuration and a fixed identity and time; answers its output without the last newline. */
export function git(cwd: string, ...args: string[]): string {
  const identity = { NAME: 'Demo', EMAIL: 'demo@example.com', DATE: '2025-03-01T12:00:00Z' };
  const people = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(identity).map(([field, value]) => [`GIT_${role}_${field}`, value]),
  );
  const env = {
    PATH: process.env.PATH,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(people),
  };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).replace(
    /\n$/,
    '',
  );
}

/** Lays a fixture overlay into a directory; a segment `dot.x` stands for `.x`. */
export function layFiles(overlay: string, directory: string): void {
  for (const entry of readdirSync(overlay, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(directory, from.slice(overlay.length).replaceAll('/dot.', '/.'));
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to);
  }
}

/** The demo's repository as the demo makes it: branch `main`, two commits, clean. */
export function buildDemoRepository(directory: string): void {
  mkdirSync(directory, { recursive: true });
  git(directory, 'init', '-q', '-b', 'main');
  for (const [overlay, subject] of [
    ['base', 'Take orders from shops'],
    ['second', 'Limit requests, compare secrets in constant time'],
  ] as const) {
    layFiles(join(demoFixture, overlay), directory);
    git(directory, 'add', '-A');
    git(directory, 'commit', '-q', '-m', subject);
  }
}

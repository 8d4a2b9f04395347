/*
 * `node scripts/test-tools.ts NAME…`: installs tools that only long tests and measurements need. Each has a lockfile in
 * `test/tools/NAME/`, and no part in the project's own `npm ci`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/**
 * The directory that holds `node_modules` of a tool. It lies in the user's cache, so that clones share it and nothing
 * that walks `test/` finds it, and it is named by its lockfile, so that a changed lockfile is installed again.
 */
export function testToolPlace(name: string): string {
  const digest = createHash('sha256').update(
    readFileSync(join(root, 'test/tools', name, 'package-lock.json')),
  );
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(cache, 'writ', 'test-tools', `${name}-${digest.digest('hex').slice(0, 12)}`);
}

/** The packages that `test/tools/NAME/package.json` pins, by name. */
export function testToolVersions(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(root, 'test/tools', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly dependencies: Record<string, string> }).dependencies;
}

/**
 * Installs a tool unless it is there; no install script runs. `mustHold` is a pattern of files below the place: npm
 * succeeds without an optional package that it could not fetch. Returns the reason if the tool is missing afterwards.
 */
export function installTestTool(name: string, mustHold = 'node_modules'): string | undefined {
  const place = testToolPlace(name);
  if (existsSync(place)) return undefined;
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  const box = mkdtempSync(`${place}-`);
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(root, 'test/tools', name, file), join(box, file));
    process.stderr.write(`installing for the tests: ${Object.keys(testToolVersions(name)).join(', ')}\n`);
    const { status } = spawnSync(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--silent'],
      { cwd: box, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    if (status !== 0) return '`npm ci` failed';
    if (globSync(mustHold, { cwd: box }).length === 0) return `npm delivered no \`${mustHold}\``;
    try {
      renameSync(box, place);
    } catch (fault) {
      // Another process installed it first.
      if (!existsSync(place)) throw fault;
    }
    return undefined;
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const known = readdirSync(join(root, 'test/tools'));
  for (const name of process.argv.slice(2)) {
    const missing = known.includes(name)
      ? installTestTool(name)
      : `no such tool; test/tools/ has ${known.join(', ')}`;
    if (missing !== undefined) process.stderr.write(`missing: ${name}: ${missing}\n`);
  }
}

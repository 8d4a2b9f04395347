import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import { openDirtyMarks } from '../../../service/dirty-marks.ts';
import { acquireServiceLock, type ServicePlace } from '../../../service/find-service.ts';
import type { KillPlace } from './instance.ts';

const { Database }: typeof import('node-sqlite3-wasm') = createRequire(import.meta.url)('node-sqlite3-wasm');
const pageSize = 10_000;

/** What a service may keep while it runs. */
const ofRunning = [
  '.gitignore',
  'service.json',
  'service-token',
  'engine-token',
  'service.lock',
  'service.db',
  'service.db-wal',
  'service.db.lock',
];
/** What it may keep when it has stopped. */
const ofStopped = ['.gitignore', 'service.db'];
/** What a killed one may leave besides: drafts and claims, which the next one takes away. */
const ofKilled = /^(?:tmp_writ_[0-9a-f]{16}|service\.lock\.[^/]+|service\.db\.new(?:-wal|-journal|\.lock)?)$/;
const maxLeft = 6;

/** The marks as the service itself lists them. */
export async function askMarks(url: string, token: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (;;) {
    const after = encodeURIComponent(found.at(-1) ?? '');
    const answer = await fetch(`${url}/api/service/dirty?after=${after}`, {
      headers: { 'x-svc-service-token': token },
      signal: AbortSignal.timeout(20_000),
    });
    const { marks } = (await answer.json()) as { readonly marks: readonly { readonly path: string }[] };
    found.push(...marks.map(({ path }) => path));
    if (marks.length < pageSize) return found;
  }
}

/** The marks as the next owner of the database finds them, and what SQLite says of the whole file. */
export async function lookAtMarks(place: ServicePlace) {
  const lock = await acquireServiceLock(place, 0);
  try {
    const marks = await openDirtyMarks(place.database, systemClock);
    const found = marks.list({ limit: 10_000_000 }).map(({ path }) => path);
    marks.close();
    const database = new Database(place.database, { fileMustExist: true });
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      return { found, integrity: String(database.get('PRAGMA integrity_check')?.integrity_check) };
    } finally {
      database.close();
    }
  } finally {
    await lock.release();
  }
}

/** Complaints about what lies in the service's directory, and about what git sees of it. */
export function lookForLitter(
  { repo, directory, env }: KillPlace,
  state: 'running' | 'stopped' | 'killed',
): readonly string[] {
  const allowed = state === 'stopped' ? ofStopped : ofRunning;
  const more = readdirSync(directory).filter((name) => !allowed.includes(name));
  const odd = state === 'killed' ? more.filter((name) => !ofKilled.test(name)) : more;
  const complaints = odd.map((name) => `lies about (${state}): ${name}`);
  if (more.length > maxLeft) complaints.push(`litter grows: ${more.join(', ')}`);
  if (state !== 'running') return complaints;
  if (readFileSync(join(directory, '.gitignore'), 'utf8') !== '*\n')
    complaints.push('`.gitignore` is not whole');
  const seen = execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], {
    cwd: repo,
    env,
    encoding: 'utf8',
  });
  if (seen !== '') complaints.push(`git sees ${seen}`);
  return complaints;
}

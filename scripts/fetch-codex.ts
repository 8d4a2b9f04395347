/* Brings the program that provider `codex` is tested with into the user's cache; no package of the project needs it. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codexPlace } from './codex-place.ts';

/** Puts it there where it is not; why it is not there, in words. */
export function fetchCodex(): string | undefined {
  const place = codexPlace();
  if (place === undefined) return `no package is known for ${process.platform}-${process.arch}`;
  if (existsSync(place.program)) return undefined;
  mkdirSync(dirname(place.directory), { recursive: true, mode: 0o700 });
  const box = mkdtempSync(`${place.directory}-`);
  try {
    process.stderr.write(`fetching for the tests: ${place.spec} (167 MB)\n`);
    const packed = spawnSync('npm', ['pack', place.spec, '--silent', '--pack-destination', box], {
      cwd: box,
    });
    const [archive] = readdirSync(box);
    if (packed.status !== 0 || archive === undefined) return 'npm did not deliver it';
    const found = createHash('sha512')
      .update(readFileSync(join(box, archive)))
      .digest('base64');
    if (found !== place.sha512) return `npm delivered something else: sha512-${found}`;
    const unpacked = spawnSync('tar', ['-xzf', archive, '--exclude=*/voice/*'], { cwd: box });
    if (unpacked.status !== 0) return 'tar could not unpack it';
    rmSync(join(box, archive));
    try {
      renameSync(box, place.directory);
    } catch {
      // Somebody else was first.
    }
    return existsSync(place.program) ? undefined : 'it holds no program for this platform';
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

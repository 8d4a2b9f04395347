import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { renameInState } from '../../test/compatibility/old-state.ts';

/**
 * Packs a state: names sorted, one time, one owner. Throws where a file or a git object holds one of the words, which
 * name the maker's machine.
 */
export function packState(root: string, words: readonly string[]): Buffer {
  for (const path of ['tmp', 'home/.cache', 'repo/.git/COMMIT_EDITMSG', 'repo/.git/logs'])
    rmSync(join(root, path), { recursive: true, force: true });
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  renameInState(root, boot, '00000000-0000-4000-8000-000000000000');
  const found = [...leaksInFiles(root, words), ...leaksInObjects(root, words)];
  if (found.length > 0) throw new Error(`the state names the machine that made it: ${found.join('; ')}`);
  const order = [
    '--sort=name',
    '--format=gnu',
    '--mtime=@1767225600',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
  ];
  const { status, stdout, stderr } = spawnSync(
    'tar',
    ['-c', ...order, '-C', root, ...readdirSync(root).sort()],
    {
      maxBuffer: 1024 * 1024 * 1024,
    },
  );
  if (status !== 0) throw new Error(`\`tar\` ended with ${status}: ${stderr}`);
  return gzipSync(stdout, { level: 9 });
}

function leaksInFiles(root: string, words: readonly string[]): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const text = entry.isFile() ? `${entry.name}\n${readFileSync(path, 'latin1')}` : entry.name;
    return words.filter((word) => text.includes(word)).map((word) => `${path}: ${word}`);
  });
}

/** Objects are compressed, so git has to print them. */
function leaksInObjects(root: string, words: readonly string[]): readonly string[] {
  if (!existsSync(join(root, 'repo', '.git'))) return [];
  const { stdout } = spawnSync('git', ['cat-file', '--batch', '--batch-all-objects'], {
    cwd: join(root, 'repo'),
    maxBuffer: 1024 * 1024 * 1024,
  });
  const text = stdout.toString('latin1');
  return words
    .filter((word) => text.includes(word))
    .map(
      (word) => `an object: ${text.slice(Math.max(0, text.indexOf(word) - 100), text.indexOf(word) + 100)}`,
    );
}

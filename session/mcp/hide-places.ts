import { homedir, tmpdir } from 'node:os';

/**
 * A text as it may leave for a client: paths in the working directory are relative to it, the rest of this machine has
 * no place in it.
 */
export function hidePlaces(text: string, cwd: string): string {
  const inside = text.replaceAll(`${cwd}/`, '').replaceAll(cwd, '.');
  return inside
    .replaceAll(tmpdir(), '<tmp>')
    .replaceAll(homedir(), '~')
    .replaceAll(/(?<![\w.~<>/:-])\/(?:[^\s/`'":,;()<>]+\/)+([^\s/`'":,;()<>]*)/g, '<path>/$1');
}

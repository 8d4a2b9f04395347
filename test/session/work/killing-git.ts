import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sample } from '../../engine/sample.ts';
import { outputOf } from '../../starter/run-program.ts';

/** When a git kills: before its so-and-so-many-th start with these words among its arguments. */
export interface Kill {
  readonly starts: number;
  readonly words?: string;
}

/** A git that kills whoever works with it. */
export function killingGit({ home, env }: Pick<Sample, 'home' | 'env'>) {
  const [tools, armed, killed] = [join(home, 'tools'), join(home, 'armed'), join(home, 'killed')];
  const git = outputOf('sh', ['-c', 'command -v git'], { cwd: home, env }).toString().trim();
  mkdirSync(tools, { recursive: true });
  const shim = [
    '#!/bin/sh',
    `if read -r pid left words 2>/dev/null < '${armed}'; then`,
    '  case "$*" in',
    '  *"$words"*)',
    `    if [ "$left" -gt 1 ]; then echo "$pid $((left - 1)) $words" > '${armed}'`,
    `    else rm '${armed}'; echo "$*" > '${killed}'; kill -9 "$pid"; exit 1`,
    '    fi ;;',
    '  esac',
    'fi',
    `exec '${git}' "$@"`,
  ];
  writeFileSync(join(tools, 'git'), `${shim.join('\n')}\n`);
  chmodSync(join(tools, 'git'), 0o755);
  return {
    path: `${tools}:${env.PATH}`,
    arm: (pid: number, { starts, words = '' }: Kill) => writeFileSync(armed, `${pid} ${starts} ${words}\n`),
    /** What it was started for when it killed; absent: it has not. */
    killedAt: () => (existsSync(killed) ? readFileSync(killed, 'utf8').trim() : undefined),
  };
}

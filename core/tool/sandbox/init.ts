import type { SandboxRequest } from '../../contract/sandbox.ts';
import { openWayScript } from '../egress/inside.ts';

/**
 * Process 1 of a sandbox: says on descriptor 3 that the set-up succeeded and waits for an answer, sets what limits cost nothing, runs the command
 * and reaps orphans. When it exits the kernel ends everything else in the namespace before anybody is told.
 *
 * Limited: core files (none), one file's size (16 GiB), processes (4096 per sandbox for an ordinary user on Linux 5.14 or
 * newer; not for root, whom RLIMIT_NPROC never binds), and the kernel's out-of-memory killer takes these processes first.
 * Not limited: total memory, CPU share, disk space of the workspace.
 */
const initScript = [
  // Whoever asked for this may have been killed before the wish to die with it was in place: the dead do not answer.
  'echo >&3 && read -r answer <&3 || exit 1',
  'exec 3>&-',
  'ulimit -c 0',
  'ulimit -f 33554432',
  // dash and busybox name it -p, bash -u; in bash -p is the (unchangeable) pipe size.
  '{ ulimit -u 4096 || ulimit -p 4096; } 2>/dev/null',
  '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null',
  '"$@"',
  // Not the last command, so that no shell replaces itself by it: process 1 must stay a reaper.
  'exit $?',
].join('\n');

/** The words that start process 1; with a way out that is opened first, because without it the set-up has failed. */
export function initWords(network: SandboxRequest['network'], argv: readonly string[]): readonly string[] {
  const script = typeof network === 'object' ? openWayScript + initScript : initScript;
  return ['/bin/sh', '-c', script, 'sh', ...argv];
}

import type { SandboxRequest } from '../../core/contract/sandbox.ts';
import { openWayScript } from '../../engine/tool/egress/inside.ts';
import { profile } from './profile.ts';

const { core, fileBlocks, openFiles, processes } = profile.limits;

/**
 * Process 1 of a sandbox: says on descriptor 3 that the set-up succeeded and waits for an answer, sets limits, runs the
 * command and reaps orphans. When it exits the kernel ends everything else in the namespace before anybody is told.
 *
 * Limited here: core files, one file's size, open files, processes (per sandbox for an ordinary user on Linux 5.14 or
 * newer; root, whom RLIMIT_NPROC never binds, is counted from outside as memory is). Not limited: CPU share, disk space
 * of the workspace.
 */
const initScript = [
  // Whoever asked for this may have been killed before the wish to die with it was in place: the dead do not answer.
  'echo >&3 && read -r answer <&3 || exit 1',
  'exec 3>&-',
  `ulimit -c ${core}`,
  `ulimit -f ${fileBlocks}`,
  // Where the host allows fewer, those hold.
  `{ ulimit -Sn 4096 && ulimit -Hn ${openFiles}; } 2>/dev/null`,
  // dash and busybox name it -p, bash -u; in bash -p is the (unchangeable) pipe size.
  `{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`,
  '"$@"',
  // Not the last command, so that no shell replaces itself by it: process 1 must stay a reaper.
  'exit $?',
].join('\n');

/**
 * The device that we gave it is the host's own, and root may change the mode of what is open; this one is read-only.
 */
const ownInput = 'exec </dev/null\n';

/**
 * The words that start process 1: `last` of the set-up, then with a way out that is opened, because without it the
 * set-up has failed.
 */
export function initWords(
  { network, argv, stdin, talk }: Pick<SandboxRequest, 'network' | 'argv' | 'stdin' | 'talk'>,
  last = '',
): readonly string[] {
  const way = typeof network === 'object' ? openWayScript : '';
  const script = last + way + (stdin === undefined && talk === undefined ? ownInput : '') + initScript;
  return ['/bin/sh', '-c', script, 'sh', ...argv];
}

import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { messageOf, WritError } from '../../../../core/base/errors.ts';
import type { SandboxBind } from '../../../../core/contract/sandbox.ts';
import type { FoundAgent } from '../../../tool/find-agent.ts';

/** Programs that may be run and not be read, and where the sandbox shows them. */
export interface UnreadablePrograms extends AsyncDisposable {
  readonly binds: readonly SandboxBind[];
  /** Inside: the Node that runs us. */
  readonly relay: string;
}

const relayInside = '/agent-relay';
const runAlone = 0o111;

/**
 * Copies of an agent's program, of what stands beside it in its package, and of the Node that runs us. The kernel keeps
 * memory and descriptors of a process whose program its user cannot read from that user's other processes (ptrace(2),
 * `PR_SET_DUMPABLE`), so that a command that the agent runs finds no token there, and takes no connection over.
 */
export async function copyUnreadable(
  { program, bind }: FoundAgent,
  into: string,
): Promise<UnreadablePrograms> {
  const root = await mkdtemp(join(into, 'agent-port-'));
  const drop = (): Promise<void> => rm(root, { recursive: true, force: true });
  const copy = async (file: string, directory: string, name: string): Promise<void> => {
    const target = join(root, directory, name);
    await copyFile(file, target, constants.COPYFILE_FICLONE);
    await chmod(target, runAlone);
  };
  try {
    for (const directory of ['program', 'relay']) await mkdir(join(root, directory), { mode: 0o755 });
    const beside = dirname(join(bind.source, posix.relative(bind.target, program)));
    if (bind.target === program) await copy(bind.source, 'program', posix.basename(program));
    else
      for (const name of await readdir(beside))
        if ((await stat(join(beside, name))).isFile()) await copy(join(beside, name), 'program', name);
    await copy(await realpath(process.execPath), 'relay', 'node');
  } catch (cause) {
    await drop();
    throw new WritError('AGENT_PORT_UNUSABLE', {
      message: `of what serves a port a copy is made that nobody can read, and that failed: ${messageOf(cause)}`,
      detail: { reason: 'no-copy' },
      cause,
    });
  }
  const over = (name: string, target: string): SandboxBind => ({
    source: join(root, name),
    target,
    writable: false,
  });
  return {
    binds: [
      ...(bind.target === program ? [] : [bind]),
      over('program', posix.dirname(program)),
      over('relay', relayInside),
    ],
    relay: posix.join(relayInside, 'node'),
    [Symbol.asyncDispose]: drop,
  };
}

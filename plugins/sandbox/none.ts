import { lstatSync, readlinkSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { SandboxBackend, SandboxBind } from '../../core/contract/sandbox.ts';
import { endMarked } from './end-marked.ts';
import { sandboxEnvironment } from './environment.ts';
import { currentHostFacts, type HostFacts, viewBeside, viewOfHost, viewWithTools } from './host-view.ts';
import { processesFrom } from './process-tree.ts';
import { spawnWatched } from './spawn-watched.ts';

const markName = 'WRIT_PROCESS_MARK';

/**
 * No sandbox: an explicit choice that enforces nothing but the environment, a private HOME and TMPDIR, output bounds
 * and time-outs, and memory of what does not leave the tree of its processes. Binds become symlinks, so `writable:
 * false` is not held. A request for a network of its own is refused (SANDBOX_NONE_REFUSED). Descendants are found by
 * group and, on Linux, by a mark in their environment; one that clears its environment and leaves its group outlives
 * the run.
 */
export function noSandbox(facts: HostFacts = currentHostFacts()): SandboxBackend {
  return {
    name: 'none',
    unconfined: true,
    pathsInside: ({ workspace, reports }) => ({ workspace, reports }),
    probe: async () => ({ works: true, enforced: [] }),
    async run(request) {
      // Whoever is talked with is somebody else's code.
      if (request.network !== 'host' || request.talk) throw new WritError('SANDBOX_NONE_REFUSED');
      const workspace = await realpath(request.workspace);
      for (const bind of request.binds) linkBind(bind);
      const view = viewBeside(viewWithTools(viewOfHost(facts), request.tools), workspace);
      const scratch = await mkdtemp(path.join(await realpath(tmpdir()), 'writ-home-'));
      const mark = randomOctets(16).toString('hex');
      try {
        const own = {
          // The programs themselves stay where they are: only who asks for them by name gets what stands for them.
          path: [...(request.withheld ? [request.withheld.stubs] : []), ...view.searchPath].join(':'),
          home: path.join(scratch, 'home'),
          temporary: path.join(scratch, 'tmp'),
        };
        await mkdir(own.home);
        await mkdir(own.temporary);
        const env = sandboxEnvironment({ ...request.env, [markName]: mark }, own);
        const spawn = {
          argv: request.argv,
          cwd: workspace,
          env,
          maxOutputBytes: request.maxOutputBytes,
          timeoutMs: request.timeoutMs,
          processGroup: true,
          ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
          ...(request.heard === undefined ? {} : { heard: request.heard }),
          ...(request.signal === undefined ? {} : { signal: request.signal }),
        };
        const { announced: _, ...result } = await spawnWatched(request, spawn, (started) => ({
          first: started,
          processes: () => processesFrom(started).map((pid) => `/proc/${pid}`),
          directories: [],
        }));
        return result;
      } finally {
        await endMarked(`${markName}=${mark}`);
        await rm(scratch, { recursive: true, force: true });
      }
    },
  };
}

/** Left in place: the workspace is thrown away, and another check may be using the same link. */
function linkBind({ source, target }: SandboxBind): void {
  if (source === target) return;
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined) symlinkSync(source, target);
  else if (!there.isSymbolicLink() || readlinkSync(target) !== source) {
    throw new WritError('SANDBOX_UNSAFE', {
      message: `\`${target}\` is in the way of a bind`,
      detail: { target },
    });
  }
}

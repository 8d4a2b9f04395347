import { closeSync } from 'node:fs';
import type { SandboxRequest, SandboxResult } from '../../core/contract/sandbox.ts';
import { environmentOf, sandboxEnvironment } from './environment.ts';
import type { HostView } from './host-view.ts';
import { homeInside } from './mounts.ts';
import { openLauncher } from './open-launcher.ts';
import { runOuter } from './run-outer.ts';

/** Runs a request by words that set a view up first, with the environment that goes with the view. */
export async function runInView(
  words: readonly string[],
  view: HostView,
  request: SandboxRequest,
): Promise<SandboxResult> {
  const env = sandboxEnvironment(environmentOf(request), {
    path: view.searchPath.join(':'),
    home: homeInside,
    temporary: '/tmp',
  });
  const launcher = openLauncher(request.untraced);
  try {
    // The process has its own copy as soon as the call returns, long before the promise settles.
    return runOuter(words, env, request, [launcher]);
  } finally {
    closeSync(launcher);
  }
}

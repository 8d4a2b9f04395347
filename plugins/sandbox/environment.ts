import { WritError } from '../../core/base/errors.ts';
import type { SandboxRequest } from '../../core/contract/sandbox.ts';
import { proxyVariables } from '../../engine/tool/egress/inside.ts';

/** Names that steer the loader or a shell before the command starts, and those that the back end owns. */
const refused =
  /^(?:LD_.*|DYLD_.*|GLIBC_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS4|IFS|PATH|HOME|TMPDIR)$/;
const wellFormed = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The whole environment of a sandboxed process. A name that could act on the sandbox itself is refused
 * (SANDBOX_UNSAFE).
 */
export function sandboxEnvironment(
  env: Readonly<Record<string, string>>,
  own: { readonly path: string; readonly home: string; readonly temporary: string },
): Record<string, string> {
  for (const [name, value] of Object.entries(env)) {
    if (!wellFormed.test(name) || refused.test(name) || value.includes('\0')) {
      throw new WritError('SANDBOX_UNSAFE', {
        message: `the environment variable \`${name}\` cannot be passed on`,
        detail: { name },
      });
    }
  }
  return { ...env, PATH: own.path, HOME: own.home, TMPDIR: own.temporary };
}

/** The request's environment; with a way out also what tells programs of it, which the request cannot change. */
export function environmentOf({ env, network }: SandboxRequest): Readonly<Record<string, string>> {
  return typeof network === 'object' ? { ...env, ...proxyVariables } : env;
}

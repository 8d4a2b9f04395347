/* Version control programs in the sandbox, and the choice of the sandbox. */
import { WritError } from '../../core/base/errors.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';

/**
 * Programs of version control, each with whatever is named after it (`git-lfs`). A model has them through a tool of its
 * own, hardened: as commands they run what hooks, filters and settings of a repository name.
 */
export const versionControlPrograms: readonly string[] = [
  ...[
    'git',
    'gitk',
    'gix',
    'ein',
    'got',
    'tig',
    'lazygit',
    'gitui',
    'hub',
    'gh',
    'glab',
    'tea',
    'scalar',
    'repo',
    'gitoxide',
  ],
  ...[
    'hg',
    'chg',
    'rhg',
    'svn',
    'svnadmin',
    'svnsync',
    'svnlook',
    'svnserve',
    'svnversion',
    'svnmucc',
    'svnrdump',
    'svndumpfilter',
  ],
  ...[
    'jj',
    'sl',
    'bzr',
    'brz',
    'cvs',
    'fossil',
    'darcs',
    'pijul',
    'p4',
    'mtn',
    'tla',
    'cm',
    'cg',
    'stg',
    'yadm',
    'etckeeper',
    'rcs',
  ],
];

const known: ReadonlySet<string> = new Set(versionControlPrograms);

/** Whether a program of this name is one of version control. */
export function isVersionControl(name: string): boolean {
  if (known.has(name)) return true;
  const dash = name.indexOf('-');
  return dash > 0 && known.has(name.slice(0, dash));
}

/** Replaces such a program in the sandbox. */
export const versionControlStub = `#!/bin/sh
echo "\${0##*/}: version control is not for commands here: what the files hold is the change" >&2
exit 127
`;

/** What a pick is made from: the `sandbox` slot, best back end first. */
export interface SandboxChoice {
  readonly names: readonly string[];
  pick(name: string): Promise<SandboxBackend>;
}

/**
 * Returns the back end with that name, or with `auto` the first that works. A back end without confinement is never
 * picked automatically. SANDBOX_UNAVAILABLE, with the reason for each back end, if the probe of its behaviour fails;
 * SLOT_UNKNOWN for an unknown name. `passOver` is called for each back end that is installed but was skipped because
 * it does not work.
 */
export async function pickSandbox(
  name: string,
  choice: SandboxChoice,
  passOver: (name: string, reason: string) => void = () => {},
): Promise<SandboxBackend> {
  const isAsked = name !== 'auto';
  const reasons: Record<string, string> = {};
  const toTell: [name: string, reason: string][] = [];
  for (const one of isAsked ? [name] : choice.names) {
    const backend = await choice.pick(one);
    if (backend.unconfined && !isAsked) continue;
    const { works, reason = 'it does not hold what it must', absent } = await backend.probe();
    if (works) {
      for (const [passed, why] of toTell) passOver(passed, why);
      return backend;
    }
    reasons[one] = reason;
    if (absent === undefined) toTell.push([one, reason]);
  }
  const found = Object.entries(reasons).map(([one, reason]) => `\`${one}\`: ${reason}`);
  throw new WritError('SANDBOX_UNAVAILABLE', {
    message: `no sandbox works here: ${found.join('; ')}`,
    detail: { reasons },
  });
}

/**
 * Starts the probe of the back end early. A later pick gets the same result, which is computed once per process.
 * Disposal waits until the probe has ended.
 */
export function beginProbe(name: string, choice: SandboxChoice): AsyncDisposable {
  const probed = pickSandbox(name, choice).then(
    () => {},
    () => {},
  );
  return { [Symbol.asyncDispose]: () => probed };
}

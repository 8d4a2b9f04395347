/* Recognises in a check's output that a dependency or a submodule is missing. */
import type { Finding } from '../../core/interfaces/finding.ts';

/** Submodules that are looked at; a repository with more gets no notice for the others. */
const maxSubmodules = 100;

/** Paths in a `.gitmodules` file (gitmodules(5)): relative, without `..`, each once. */
export function submodulePaths(gitmodules: Uint8Array | undefined): readonly string[] {
  const text = Buffer.from(gitmodules ?? []).toString('utf8');
  const paths = [...text.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?([^"\n\r]{1,400})/gm)].map(([, path = '']) =>
    path.trim().replace(/\/+$/, ''),
  );
  const isPlain = (path: string): boolean =>
    path.split('/').every((part) => !['', '.', '..', '.git'].includes(part));
  return [...new Set(paths.filter(isPlain))].slice(0, maxSubmodules);
}

/** The notice for a submodule. Runs export the tree of one repository, and a submodule is another one. */
export function submoduleNotice(path: string): string {
  return `\`${path}\` is a submodule: its directory is empty in the workspace of checks and of the worker. If they need its files, track them in this repository (\`git subtree\`), or install them with \`[[workspace.prepare]]\``;
}

/** The path of the submodule that a notice is about. */
function submoduleOf(notice: string): string | undefined {
  return /^`([^`]+)` is a submodule: /.exec(notice)?.[1];
}

const pythonModule = /No module named ['"]?([\w.-]{1,200})/g;

/** What tools print when a package or a program is not there; group 1 is its name. Each is linear. */
const signs: readonly RegExp[] = [
  /Cannot find (?:module|package) ['"]([^'"\x00-\x1f\x7f]{1,200})['"]/g,
  pythonModule,
  // webpack, esbuild, vite
  /(?:Can't|Could not) resolve ['"]([^'"\x00-\x1f\x7f]{1,200})['"]/g,
  /Failed to resolve (?:import|entry for package) ['"]([^'"\x00-\x1f\x7f]{1,200})['"]/g,
  /^(?:# )?(?:[\w./-]{0,40}sh|env): (?:line )?(?:\d{1,6}: )?['"\u2018]?([\w@.+-]{1,100})['"\u2019]?: (?:command )?not found/gm,
  /^(?:# )?env: ['"\u2018]?([\w@.+-]{1,100})['"\u2019]?: No such file or directory/gm,
  // A program of a directory that was not shared.
  /^(?:# )?[\w./-]{0,40}sh: (?:line )?(?:\d{1,6}: )?((?:\.venv|venv|node_modules)\/[\w./+-]{1,200}): (?:not found|No such file)/gm,
  /^make(?:\[\d{1,3}\])?: ([\w.+-]{1,100}): (?:No such file or directory|Command not found)/gm,
  // npm, npx
  /npx canceled due to missing packages and no YES option: \[?['"]?([^'"\x00-\x20\]]{1,200})/g,
  /^npm (?:error|ERR!) request to https?:\/\/[^\s/]{1,200}\/([^\s?]{1,200}) failed/gm,
  // pnpm, yarn, pdm
  /^.{0,80}Command ['"]([^'"\x00-\x1f]{1,100})['"] (?:is )?not found/gm,
  /(node_modules) missing, did you mean to install/g,
  /^.{0,20}ERR_PNPM_NO_OFFLINE_(?:META|TARBALL) {1,4}Failed to resolve ([^\s]{1,200})/gm,
  /^.{0,20}[Cc]ommand not found: ([\w@./+-]{1,100})/gm,
  /Couldn't find a script named ['"]([^'"\x00-\x1f]{1,100})['"]/g,
  /Couldn't find the (node_modules) state file/g,
  /Usage Error: (The project) in [^\n]{1,1000} doesn't seem to have been installed/g,
  // uv
  /Failed to spawn: `([^`\x00-\x1f]{1,100})`/g,
  /Failed to fetch: `https?:\/\/[^`\s/]{1,200}\/simple\/([^`\s/]{1,200})\/?`/g,
  // A locked version is fetched by its URL. Long lines are broken, with `│` before the rest.
  /Failed to (?:download(?: and build)?|fetch wheel:)[\s\u2502]{1,20}`?([\w.-]{1,200})(?:==| @ )/g,
  /Failed to fetch:[\s\u2502]{1,20}`https?:\/\/[^`\s]{1,400}\/([\w.-]{1,200}?)-\d[^`\s/]{0,200}\.(?:whl(?:\.metadata)?|tar\.gz|zip)`/g,
  /Because ([\w.-]{1,200}) was not found in the (?:cache|package registry|provided package locations)/g,
  // pip, and what calls it: tox, nox, hatch
  /^.{0,40}ERROR: No matching distribution found for ([\w.-]{1,200})/gm,
  /^.{0,40}ERROR: Could not find a version that satisfies the requirement ([\w.-]{1,200})/gm,
  /^.{0,80}could not find executable ['"]?([\w.+-]{1,100})/gm,
  /^nox > Program ([\w.+-]{1,100}) not found/gm,
  // poetry, pipenv
  /^.{0,20}Installing ([\w.-]{1,200}) \([^)\n]{1,100}\): Failed/gm,
  /Max retries exceeded with url: \/(?:simple|pypi)\/([\w.-]{1,200})\//g,
  /^.{0,40}the command ['"]?([\w.+-]{1,100})['"]? (?:\([^)\n]{1,100}\) )?could not be found within PATH/gm,
  // Maven, whose Java finds the home by the user's entry in `passwd`
  /Could not create local repository at \/[^\s>]{0,300}\/(\.m2)\/repository/g,
  /(?:Could not transfer|in offline mode and the) artifact ([\w.-]{1,200}:[\w.-]{1,200}):/g,
  // cargo
  /no matching package named `([\w-]{1,200})` found/g,
  /failed to (?:get|download) `([\w-]{1,200})[^`\n]{0,200}`/g,
  /no such command: `(\+?[\w.-]{1,100})`/g,
  /^error: rustup could not choose a version of (\w{1,40}) to run/gm,
  /can't find crate for `([\w-]{1,200})`/g,
  // go
  /no required module provides package ([\w.~/-]{1,200})/g,
  /missing go\.sum entry for module providing package ([\w.~/-]{1,200})/g,
  /cannot find (?:package "|module providing package )([\w.~/-]{1,200})/g,
  /^(?:go: |[^\s:]{1,200}:\d{1,6}:\d{1,6}: )([\w.~/-]{1,200})@[\w.+-]{1,100}: (?:Get "|module lookup disabled)/gm,
];

/**
 * Explains a failed check if its output suggests that an untracked dependency is missing, or names a file of a
 * submodule among the `skipped` directories. Returns `undefined` otherwise, and for files of the repository itself
 * (relative or absolute specifiers). The hint is a note and changes no outcome.
 */
export function dependenciesMissingHint(
  output: Uint8Array | string,
  skipped: readonly string[] = [],
): Finding | undefined {
  const text = typeof output === 'string' ? output : Buffer.from(output).toString('utf8');
  const submodule = skipped
    .flatMap((notice) => submoduleOf(notice) ?? [])
    .find((path) => text.includes(`${path}/`));
  if (submodule !== undefined)
    return {
      rule: 'check-outcome',
      severity: 'note',
      message: submoduleNotice(submodule),
      detail: { code: 'WORKSPACE_DEPENDENCIES_MISSING', name: submodule, submodule: true },
    };
  for (const sign of signs) {
    const name = firstForeignName(text, sign);
    if (name === undefined) continue;
    const shares = skipped.filter((notice) => submoduleOf(notice) === undefined);
    const remedy =
      shares.length > 0
        ? shares.join('; ')
        : `set \`[workspace] prepare\` or \`[workspace] share\` in \`.writ/config.toml\` at the policy commit${
            sign === pythonModule ? '; what is in a `.venv` is found by `.venv/bin/python`' : ''
          }`;
    return {
      rule: 'check-outcome',
      severity: 'note',
      message: `\`${name}\` was not found, which git may not track: ${remedy}`,
      detail: { code: 'WORKSPACE_DEPENDENCIES_MISSING', name },
    };
  }
  return undefined;
}

function firstForeignName(text: string, sign: RegExp): string | undefined {
  for (const [, name] of text.matchAll(sign)) {
    if (name === 'The project') return 'node_modules or .pnp.cjs';
    if (name !== undefined && !/^(?:\.{0,2}\/|\.{1,2}$|#|node:|file:|[A-Za-z]:\\)/.test(name)) return name;
  }
  return undefined;
}

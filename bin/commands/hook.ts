/* The `writ hook` commands: git hooks that scan what is staged, said or pushed. */
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ownFile } from '../../api/build.ts';
import { readInput } from '../../api/read-input.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { ownSecretsIn } from '../../spec/secrets-in-text.ts';
import { type GitSetting, gitLine, runGit, tryGit } from '../../workspace/git/git.ts';
import { hookMark, hooksDirectory, keptEnding, maxHookBytes } from '../../workspace/git/hooks.ts';
import { presentCommits } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { maxPatchBytes, plainDiffFlags } from '../../workspace/patch/normalise.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { gitOutput } from '../command-parts/scan-sources.ts';
import { scanIn } from './scan.ts';

const hooks = ['pre-commit', 'commit-msg', 'pre-push'] as const;
type Hook = (typeof hooks)[number];

/** `writ hook install NAME`: a hook that was there is kept, and called first. `--dry-run` writes nothing. */
export async function installCommand(context: CommandContext): Promise<CommandResult> {
  const { path, name } = await place(context);
  const isDry = context.options.flag('dry-run');
  const found = stateOf(path);
  const text = script(name);
  const keeps = found === 'other';
  if (keeps && existsSync(`${path}${keptEnding}`))
    throw new WritError('OUTPUT_EXISTS', {
      message: `\`${path}\` is a hook that writ did not install, and \`${path}${keptEnding}\` exists too`,
      hints: ['remove one of the two files, then install again'],
    });
  if (!isDry) {
    mkdirSync(join(path, '..'), { recursive: true });
    if (keeps) renameSync(path, `${path}${keptEnding}`);
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o755, flag: 'wx' });
    chmodSync(path, 0o755);
  }
  const data = { hook: name, path, kept: keeps ? `${path}${keptEnding}` : null, dry_run: isDry };
  return succeeded(data, (printer) => {
    printer.line(`${isDry ? 'would write' : 'wrote'} ${path}`);
    if (keeps) printer.line(`  the hook that was there ${isDry ? 'would be' : 'is'} kept, and called first`);
    if (isDry) printer.text(text);
  });
}

/** `writ hook uninstall NAME`: the hook that was there before comes back. */
export async function uninstallCommand(context: CommandContext): Promise<CommandResult> {
  const { path, name } = await place(context);
  if (stateOf(path) !== 'ours')
    throw new WritError('USAGE', {
      message: `\`${path}\` is not a hook of writ`,
      detail: { hook: name, path },
    });
  const kept = `${path}${keptEnding}`;
  const isKept = existsSync(kept);
  if (isKept) renameSync(kept, path);
  else rmSync(path);
  return succeeded({ hook: name, path, restored: isKept }, (printer) =>
    printer.line(isKept ? `${path} is again what it was` : `removed ${path}`),
  );
}

function stateOf(path: string): 'none' | 'ours' | 'other' {
  try {
    lstatSync(path);
  } catch {
    return 'none';
  }
  return readPlain(path, maxHookBytes).bytes?.includes(hookMark) ? 'ours' : 'other';
}

async function place(context: CommandContext): Promise<{ readonly path: string; readonly name: Hook }> {
  const name = hooks.find((one) => one === context.args[0]);
  if (name === undefined)
    throw new WritError('USAGE', {
      message: `expected ${hooks.join(', ')}, found \`${context.args[0] ?? ''}\``,
      detail: { expected: hooks },
    });
  const repository = await openRepository(context.repoPath ?? context.cwd);
  return { path: join(await hooksDirectory(repository), name), name };
}

/** A hook before ours gets the same arguments and standard input, and can refuse. */
function script(name: Hook): string {
  const quoted = inShellQuotes(fileURLToPath(ownFile('bin/writ.js')));
  return `#!/bin/sh
${hookMark} ${name}; \`writ hook uninstall ${name}\` removes it
kept="$0${keptEnding}"
writ=${quoted}
[ -f "$writ" ] || writ=writ
input=${name === 'pre-push' ? '$(cat)' : "''"}
if [ -x "$kept" ]; then
  printf '%s\\n' "$input" | "$kept" "$@" || exit $?
fi
printf '%s\\n' "$input" | "$writ" --quiet hook run ${name} "$@"
`;
}

/** `writ hook run NAME`, called by git: exit 1 stops the commit or the push. */
export async function runHookCommand(context: CommandContext): Promise<CommandResult> {
  const [name, file = ''] = context.args;
  const repository = await openRepository(context.repoPath ?? context.cwd);
  if (name === 'commit-msg') return await checkMessage(context, repository, file);
  if (name === 'pre-commit') return await scanStaged(context, repository);
  if (name === 'pre-push') return await scanPushed(context, repository, file);
  throw new WritError('USAGE', { message: `expected ${hooks.join(', ')}, found \`${name ?? ''}\`` });
}

async function scanStaged(context: CommandContext, repository: Repository): Promise<CommandResult> {
  // `git commit -a` and `git commit FILE` make the commit from an index of its own, which git names to the hook. git
  // resolves a relative name at the root of the working tree.
  const index = context.env.GIT_INDEX_FILE;
  const args = ['diff', '--cached', '--binary', '--full-index', ...plainDiffFlags];
  const diff = await runGit(repository, args, {
    maxBytes: maxPatchBytes,
    ...(index ? { env: { GIT_INDEX_FILE: resolve(repository.root, index) } } : {}),
  });
  return (await scan(context, repository, { patch: '-' }, Readable.from([diff]))) ?? scanned(0);
}

async function checkMessage(
  context: CommandContext,
  repository: Repository,
  file: string,
): Promise<CommandResult> {
  const written = (await readInput(context, file, { maxBytes: maxHookBytes })).toString();
  // git sets it to `:` for the hook if it starts no editor (builtin/commit.c).
  const isEdited = context.env.GIT_EDITOR !== ':';
  const text = isEdited ? await keptMessage(repository, written) : written;
  if (ownSecretsIn(text).length === 0) return scanned(1);
  const error = new WritError('SCAN_FOUND', {
    message: 'the commit message contains a token or a private key: remove it, and revoke the secret',
  });
  return refused(error, { scanned: 1 }, () => {});
}

/**
 * What git keeps of a message that a person wrote in an editor, by `commit.cleanup`: nothing from the line on below
 * which `git commit --verbose` shows the diff, and, unless the mode keeps them, no comment lines. `--cleanup` on the
 * command line is not known to a hook.
 */
async function keptMessage(repository: Repository, written: string): Promise<string> {
  const [cleanup, listed] = await Promise.all([
    tryGit(repository, ['config', '--get', 'commit.cleanup']),
    tryGit(repository, ['config', '--get-regexp', '^core\\.comment(char|string)$']),
  ]);
  const set = /^\S+ (.+)$/.exec(listed?.split('\n').at(-1) ?? '')?.[1];
  const lines = written.split('\n');
  const comment = set === 'auto' ? chosenComment(lines) : (set ?? '#');
  if (comment === undefined) return written;
  const cut = lines.indexOf(`${comment} ${'-'.repeat(24)} >8 ${'-'.repeat(24)}`);
  const kept = cut === -1 ? lines : lines.slice(0, cut);
  const keepsComments = ['scissors', 'whitespace', 'verbatim'].includes(cleanup ?? '');
  return kept.filter((line) => keepsComments || !line.startsWith(comment)).join('\n');
}

/** `core.commentChar = auto`: git chooses one of these that begins no line of the message; its comments come last. */
function chosenComment(lines: readonly string[]): string | undefined {
  const scissors = lines.find((line) => /^[#;@!$%^&|:] -{24} >8 -{24}$/.test(line));
  return /^[#;@!$%^&|:]/.exec(scissors ?? lines.findLast((line) => line.trim() !== '') ?? '')?.[0];
}

const maxRefs = 1000;
const maxKnown = 1000;
const objectId = /^(?!0+$)[0-9a-f]{40,64}$/;

/**
 * What a push sends to the remote `name`: each of its commits is scanned for secrets, because the remote keeps all of
 * them; and what each ref changes is scanned by every rule, where the remote has something to compare it with. Each
 * line of the input is `LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID` (githooks(5)).
 */
async function scanPushed(
  context: CommandContext,
  repository: Repository,
  name: string,
): Promise<CommandResult> {
  const lines = (await readInput(context, '-', { maxBytes: maxHookBytes })).toString().split('\n');
  const pairs = lines.slice(0, maxRefs).map((line) => {
    const [, local = '', , remote = ''] = line.trim().split(' ');
    return { local, remote };
  });
  const ids = pairs.flatMap(({ local, remote }) => [local, remote]).filter((id) => objectId.test(id));
  // An annotated tag counts as its commit.
  const here = await presentCommits(repository, ids.map(toCommit));
  const refs = pairs
    .filter(({ local }) => here.has(toCommit(local)))
    .map(({ local, remote }) => ({ local, remote: here.has(toCommit(remote)) ? remote : undefined }));
  if (refs.length === 0) return scanned(0);
  const known = ['--not', ...refs.flatMap(({ remote }) => remote ?? []), `--remotes=${name}`];
  const sent = [...refs.map(({ local }) => local), ...known];
  const commits = Number(await gitLine(repository, ['rev-list', '--count', ...sent]));
  if (commits === 0) return scanned(0);
  // What resolving a merge brought is known from git 2.35 on.
  const resolved = await tryGit(repository, ['log', '--max-count=0', '--remerge-diff']);
  const merges = resolved === undefined ? '--no-merges' : '--remerge-diff';
  const log = ['log', '--patch', merges, '--format=', ...plainDiffFlags, ...sent];
  const showsRoot: GitSetting = ['log.showRoot', 'true'];
  const place = { ...repository, settings: [...repository.settings, showsRoot] };
  const patches = Readable.from(gitOutput(place, log, context.signal));
  const found = await scan(context, repository, { patch: '-', rules: 'secrets' }, patches);
  if (found !== undefined && found.exitCode !== 0) return found;
  for (const { local } of refs) {
    const refusal = await scanAgainst(
      context,
      repository,
      await newestKnown(repository, local, known),
      local,
    );
    if (refusal !== undefined) return refusal;
  }
  return scanned(commits);
}

/** Scans the change from each of these commits to `local`: what the change itself brings is in all of them. */
async function scanAgainst(
  context: CommandContext,
  repository: Repository,
  bases: readonly string[],
  local: string,
): Promise<CommandResult | undefined> {
  let refusal: CommandResult | undefined;
  for (const base of bases) {
    refusal = await scan(context, repository, { range: `${base}..${local}` });
    if (refusal === undefined || refusal.exitCode === 0) return undefined;
  }
  return refusal;
}

function toCommit(id: string): string {
  return `${id}^{commit}`;
}

/** The newest commits below `local` that the remote has: several after a merge. */
async function newestKnown(
  repository: Repository,
  local: string,
  known: readonly string[],
): Promise<readonly string[]> {
  const listed = (await tryGit(repository, ['rev-list', '--boundary', local, ...known])) ?? '';
  const found = [...listed.matchAll(/^-([0-9a-f]+)$/gm)].map(([, id = '']) => id).slice(0, maxKnown);
  if (found.length < 2) return found;
  return (await runGit(repository, ['merge-base', '--independent', ...found]))
    .toString()
    .split('\n', 8)
    .filter(Boolean);
}

function scanned(count: number): CommandResult {
  return succeeded({ scanned: count }, () => {});
}

/** `writ scan` with these options; `undefined` where there is nothing to scan. */
async function scan(
  context: CommandContext,
  repository: Repository,
  given: Readonly<Record<string, string>>,
  stdin: CommandContext['stdin'] = context.stdin,
): Promise<CommandResult | undefined> {
  const options: CommandContext['options'] = {
    value: (name) => given[name],
    values: (name) => (name in given ? [given[name] ?? ''] : []),
    flag: () => false,
  };
  try {
    return await scanIn({ ...context, args: [], options, stdin }, repository);
  } catch (fault) {
    if (isWritError(fault, 'PATCH_EMPTY')) return undefined;
    throw fault;
  }
}

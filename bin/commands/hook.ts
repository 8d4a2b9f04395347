/* The `writ hook` commands: git hooks that scan what is staged, said or pushed. */
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ownFile } from '../../api/build.ts';
import { readInput } from '../../api/read-input.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { ownSecretsIn } from '../../spec/secrets-in-text.ts';
import { askGit, runGit, scopedSettings, tryGit } from '../../workspace/git/git.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { maxPatchBytes, plainDiffFlags } from '../../workspace/patch/normalise.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { scanCommand } from './scan.ts';

const hooks = ['pre-commit', 'commit-msg', 'pre-push'] as const;
type Hook = (typeof hooks)[number];

const mark = '# made by `writ hook install`';
const maxHookBytes = 1024 * 1024;
/** Where a hook that was there before is kept. */
const keptEnding = '.before-writ';

/** `writ hook install NAME`: a hook that was there is kept, and called first. `--dry-run` writes nothing. */
export async function installCommand(context: CommandContext): Promise<CommandResult> {
  const { path, name } = await place(context);
  const isDry = context.options.flag('dry-run');
  const found = stateOf(path);
  const text = script(name);
  const keeps = found === 'other';
  if (keeps && existsSync(`${path}${keptEnding}`))
    throw new WritError('OUTPUT_EXISTS', {
      message: `\`${path}\` is not of writ, and \`${path}${keptEnding}\` exists`,
      hints: ['decide which of the two is to be kept, and remove the other'],
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
  return readPlain(path, maxHookBytes).bytes?.includes(mark) ? 'ours' : 'other';
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

/** `core.hooksPath`, relative to the working tree; else that of the repository, shared by its working trees. */
async function hooksDirectory(repository: Repository): Promise<string> {
  const args = ['config', '-z', '--show-scope', '--type=path', '--get-all', 'core.hooksPath'];
  const { stdout } = await askGit(repository, args);
  const path = scopedSettings(stdout).at(-1)?.entry;
  return path ? resolve(repository.root, path) : join(repository.commonDir, 'hooks');
}

/** A hook before ours gets the same arguments and standard input, and can refuse. */
function script(name: Hook): string {
  const quoted = `'${fileURLToPath(ownFile('bin/writ.js')).replaceAll("'", "'\\''")}'`;
  return `#!/bin/sh
${mark} ${name}; \`writ hook uninstall ${name}\` removes it
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
  if (name === 'commit-msg') return await checkMessage(context, file);
  if (name === 'pre-commit') return await scanStaged(context, repository);
  if (name === 'pre-push') return await scanPushed(context, repository);
  throw new WritError('USAGE', { message: `expected ${hooks.join(', ')}, found \`${name ?? ''}\`` });
}

const nothing = succeeded({ scanned: 0 }, () => {});

async function scanStaged(context: CommandContext, repository: Repository): Promise<CommandResult> {
  const args = ['diff', '--cached', '--binary', '--full-index', ...plainDiffFlags];
  const diff = await runGit(repository, args, { maxBytes: maxPatchBytes });
  if (diff.length === 0) return nothing;
  return scanCommand({ ...context, args: [], options: only('patch', '-'), stdin: Readable.from([diff]) });
}

async function checkMessage(context: CommandContext, file: string): Promise<CommandResult> {
  const text = (await readInput(context, file, { maxBytes: maxHookBytes })).toString();
  if (ownSecretsIn(text).length === 0) return succeeded({ scanned: 1 }, () => {});
  const error = new WritError('SCAN_FOUND', { message: 'the message holds a token or a private key' });
  return refused(error, { scanned: 1 }, () => {});
}

const maxRefs = 1000;
const none = /^0+$/;

/** Each line of the input is `LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID` (githooks(5)). */
async function scanPushed(context: CommandContext, repository: Repository): Promise<CommandResult> {
  const lines = (await readInput(context, '-', { maxBytes: maxHookBytes })).toString().split('\n');
  let scanned = 0;
  for (const line of lines.slice(0, maxRefs)) {
    const [, local = '', , remote = ''] = line.trim().split(' ');
    if (local === '' || none.test(local)) continue;
    const from = (await knownBase(repository, local, remote)) ?? remote;
    if (from === local || none.test(from)) continue;
    const result = await scanCommand({ ...context, args: [], options: only('range', `${from}..${local}`) });
    scanned += 1;
    if (result.exitCode !== 0) return result;
  }
  return succeeded({ scanned }, () => {});
}

/** The newest commit of a branch that a remote has. */
async function knownBase(repository: Repository, local: string, remote: string): Promise<string | undefined> {
  if (
    !none.test(remote) &&
    (await tryGit(repository, ['cat-file', '-e', `${remote}^{commit}`])) !== undefined
  )
    return remote;
  const args = ['rev-list', '--boundary', '--max-count=10000', local, '--not', '--remotes'];
  const listed = (await tryGit(repository, args)) ?? '';
  return /^-([0-9a-f]+)$/m.exec(listed)?.[1];
}

/** Options of a scan with one of them given. */
function only(given: string, value: string): CommandContext['options'] {
  return {
    value: (name) => (name === given ? value : undefined),
    values: (name) => (name === given ? [value] : []),
    flag: () => false,
  };
}

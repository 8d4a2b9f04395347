/* Runs git against a remote: address, environment, listing, and a view of refs for one transfer. */
import { appendFile, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { nearestName, printable } from '../../core/base/printable.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import {
  askGit,
  type GitAnswer,
  type GitCall,
  type GitDirectory,
  type GitSetting,
  gitLine,
  maxListBytes,
} from '../../workspace/git/git.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { parseRefLines, type StoredRef } from './stored-ref.ts';

/** `address` for git, `shown` for people (without a password). */
export interface Remote {
  readonly address: string;
  readonly shown: string;
}

/** Variables that a network command may use, in addition to those of every git call. */
const passedOn = [
  'SSH_AUTH_SOCK',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
] as const;

/** The protocols of git itself; `ext::` and other helpers run programs that an address names. */
const protocols = 'file:git:http:https:ssh';

/**
 * A repository for the git calls of `writ push` and `writ fetch`. They are the user's own network commands, so they
 * use the credential helper and the ssh command of the user's and the machine's config. The repository's config may
 * name neither, because an attacker who can write files here can change it. No hook runs, and git prompts for no
 * password.
 */
export async function networkPlace(repository: Repository): Promise<GitDirectory> {
  const skipsSystem = ['1', 'true', 'yes', 'on'].includes(process.env.GIT_CONFIG_NOSYSTEM ?? '');
  const own = [
    ...(skipsSystem ? [] : await userSettings(repository, '--system')),
    ...(await userSettings(repository, '--global')),
  ];
  const env: Record<string, string> = { ...repository.env, GIT_ALLOW_PROTOCOL: protocols };
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return {
    ...repository,
    env,
    settings: [
      ...repository.settings,
      // Without a terminal ssh would wait for an answer forever.
      ['core.sshCommand', 'ssh -o BatchMode=yes'],
      ['fetch.bundleURI', ''],
      ['push.pushOption', ''],
      ...own,
    ],
  };
}

/** A name, else an address (URL or path); default `origin`, else the only remote. REMOTE_UNKNOWN. */
export async function pickRemote(
  repository: Repository,
  wanted: string | undefined,
  cwd: string,
): Promise<Remote> {
  const names = (await gitLine(repository, ['remote'])).split('\n').filter((name) => name !== '');
  if (wanted === undefined) {
    const name = names.includes('origin') ? 'origin' : names[0];
    if (name !== undefined && (names.length === 1 || name === 'origin'))
      return { address: name, shown: name };
    throw unknown(
      names.length === 0
        ? 'this repository has no remote'
        : 'this repository has several remotes, none of them `origin`',
      names,
      names.length === 0 ? ['name one: `git remote add origin URL`'] : ['say which: `writ push REMOTE`'],
    );
  }
  if (names.includes(wanted)) return { address: wanted, shown: wanted };
  if (!/[/:\\]/.test(wanted) || wanted.startsWith('-')) {
    const near = nearestName(wanted, names);
    throw unknown(
      `no remote \`${printable(wanted)}\` here`,
      names,
      near === undefined ? ['list them: `git remote`'] : [`did you mean \`${near}\`?`],
    );
  }
  const isPath = !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(wanted) && !/^[^/]+:/.test(wanted);
  const address = isPath && !isAbsolute(wanted) ? resolve(cwd, wanted) : wanted;
  return { address, shown: withoutPassword(printable(address)) };
}

/** Runs git against a remote; returns for any exit code. */
export async function askRemote(
  place: GitDirectory,
  args: readonly string[],
  call: GitCall = {},
): Promise<GitAnswer> {
  const answer = await askGit(place, args, call);
  return { ...answer, stderr: withoutPassword(answer.stderr) };
}

/** REMOTE_FAILED, with the reason that git printed. */
export function remoteFailed(remote: Remote, { code, stderr }: GitAnswer): WritError {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said =
    lines.find((line) => /^(?:fatal|error|remote): /.test(line)) ?? lines.at(-1) ?? `exit code ${code}`;
  const needsCredentials =
    /terminal prompts disabled|could not read (?:Username|Password)|Permission denied/i.test(stderr);
  return new WritError('REMOTE_FAILED', {
    message: `\`${remote.shown}\`: ${printable(said.replace(/^(?:fatal|error): /, ''))}`,
    detail: { remote: remote.shown, exitCode: code, stderr },
    ...(needsCredentials
      ? {
          hints: [
            'writ does not prompt for a password here: set `credential.helper` in your own git config, or load your key into the ssh agent',
          ],
        }
      : {}),
  });
}

/** Removes user names and passwords from URLs. */
function withoutPassword(text: string): string {
  return text.replace(/([A-Za-z][A-Za-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,2000}@/g, '$1');
}

function unknown(message: string, remotes: readonly string[], hints: readonly string[]): WritError {
  return new WritError('REMOTE_UNKNOWN', { message, detail: { remotes }, hints });
}

async function userSettings(
  repository: Repository,
  scope: '--system' | '--global',
): Promise<readonly GitSetting[]> {
  const { code, stdout } = await askGit(repository, [
    'config',
    scope,
    '--includes',
    '-z',
    '--get-regexp',
    '^(credential\\..*|core\\.sshcommand|ssh\\.variant)$',
  ]);
  if (code !== 0) return [];
  return stdout
    .toString('utf8')
    .split('\0')
    .flatMap((entry): GitSetting[] => {
      const at = entry.indexOf('\n');
      return at < 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
    });
}

/** Our refs at a remote, without names that git would refuse. REMOTE_FAILED. */
export async function listRemoteRefs(
  place: GitDirectory,
  remote: Remote,
  signal: AbortSignal,
): Promise<readonly StoredRef[]> {
  const patterns = ['refs/ai/*', 'refs/x-*'];
  return parseRefLines(await listRemote(place, remote, ['--refs'], patterns, signal), '\t');
}

/** Any one ref at a remote; `null` if it has none of that name. REMOTE_FAILED. */
export async function readRemoteRef(
  place: GitDirectory,
  remote: Remote,
  ref: string,
  signal: AbortSignal,
): Promise<string | null> {
  const listed = await listRemote(place, remote, [], [ref], signal);
  // git also lists refs that end with the name.
  const line = listed.split('\n').find((one) => one.endsWith(`\t${ref}`));
  return line?.split('\t')[0] ?? null;
}

/** Lines of `git ls-remote`. */
async function listRemote(
  place: GitDirectory,
  remote: Remote,
  options: readonly string[],
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const args = ['ls-remote', '--quiet', ...options, '--upload-pack=git-upload-pack', '--end-of-options'];
  const call = { signal, maxBytes: maxListBytes };
  const answer = await askRemote(place, [...args, remote.address, ...patterns], call);
  if (answer.code !== 0) throw remoteFailed(remote, answer);
  return answer.stdout.toString('utf8');
}

/** A git directory of our own over the repository's objects, with exactly the refs of one transfer. */
interface RefView extends AsyncDisposable {
  readonly place: Scratch;
  setRefs(refs: readonly { readonly ref: string; readonly object: string }[]): Promise<void>;
}

/**
 * Opens a view to push from or fetch into. git compares each ref that is given by name with all refs of the remote:
 * 10,000 names cost minutes, while the pattern `refs/*` over a view costs seconds. What arrives is separate until it
 * was checked. The remotes and connection settings of the repository's config apply.
 */
export async function openRefView(network: GitDirectory, repository: Repository): Promise<RefView> {
  const dir = await makeTemporary(repository);
  const scratch = await createScratch(dir, repository);
  const config = join(dir, 'config');
  // Included first, so that our own lines override it.
  const own = await readFile(config, 'utf8');
  await writeFile(config, `[include]\n\tpath = ${quoted(join(repository.commonDir, 'config'))}\n`);
  await appendFile(config, own);
  // Without it, each side assumes that the history behind the cut of a shallow clone is here.
  await copyFile(join(repository.commonDir, 'shallow'), join(dir, 'shallow')).catch(absent);
  const { GIT_WORK_TREE: _, ...env } = network.env;
  const place: Scratch = {
    ...scratch,
    cwd: network.cwd,
    env: { ...env, GIT_DIR: dir },
    settings: [...network.settings, ...scratch.settings, ['fetch.unpackLimit', '100']],
  };
  return {
    place,
    async setRefs(refs) {
      const lines = [...refs]
        .sort((a, b) => (a.ref < b.ref ? -1 : 1))
        .map(({ ref, object }) => `${object} ${ref}\n`);
      await writeFile(join(dir, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`);
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** A value in quotes in git's config. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * The result for one ref. `behind`: the other side has more; `ahead` (fetch): we have more; `expired`: retention has
 * ended, so it is not sent; `changed` (fetch): the remote has another record of a run with a journal here, which is
 * kept beside ours; `held` (push): its run was refused or abandoned; `renumbered` (fetch): our approval had a number
 * that the remote uses; `diverged`: each side has what the other lacks; `unfetched`: the version of the other side is
 * not here; `moved`: it was moved meanwhile; `rejected`: git or the remote refused.
 */
export type MoveStatus =
  | 'created'
  | 'updated'
  | 'replaced'
  | 'renumbered'
  | 'deleted'
  | 'current'
  | 'ahead'
  | 'behind'
  | 'expired'
  | 'held'
  | 'changed'
  | 'diverged'
  | 'unfetched'
  | 'moved'
  | 'rejected';

/** Versions at the side that is written to. `null`: the ref does not exist there. Both are equal if nothing moved. */
export interface MovedRef {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly status: MoveStatus;
  /** The reason that git or the remote gave. */
  readonly reason?: string;
}

const refusals: readonly MoveStatus[] = ['diverged', 'unfetched', 'moved', 'rejected'];

/** True for a ref that should have moved and did not. */
export function isRefused({ status }: MovedRef): boolean {
  return refusals.includes(status);
}

/** True for two records that are both here: a person has to choose one. */
export function awaitsChoice({ status, reason }: MovedRef): boolean {
  return status === 'diverged' && reason !== undefined;
}

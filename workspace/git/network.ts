/* Runs git against a remote with the user's own credentials, and names the remote. */
import { isAbsolute, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { nearestName, printable } from '../../core/base/printable.ts';
import { askGit, type GitAnswer, type GitCall, type GitDirectory, type GitSetting, gitLine } from './git.ts';

/** `address` for git, `shown` for people (without a password). */
export interface Remote {
  readonly address: string;
  readonly shown: string;
  /** Absent for a remote that is an address. */
  readonly name?: string;
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
export async function networkPlace<Place extends GitDirectory>(repository: Place): Promise<Place> {
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
  repository: GitDirectory,
  wanted: string | undefined,
  cwd: string,
): Promise<Remote> {
  const names = (await gitLine(repository, ['remote'])).split('\n').filter((name) => name !== '');
  if (wanted === undefined) {
    const name = names.includes('origin') ? 'origin' : names[0];
    if (name !== undefined && (names.length === 1 || name === 'origin'))
      return { address: name, shown: name, name };
    throw unknown(
      names.length === 0
        ? 'this repository has no remote'
        : 'this repository has several remotes, none of them `origin`',
      names,
      names.length === 0 ? ['name one: `git remote add origin URL`'] : ['say which: `writ push REMOTE`'],
    );
  }
  if (names.includes(wanted)) return { address: wanted, shown: wanted, name: wanted };
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
  repository: GitDirectory,
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

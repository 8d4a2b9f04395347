/* Lets git sign a commit, as the user's git is configured to. */
import { WritError } from '../../core/base/errors.ts';
import { type CommitRequest, rawDate } from './create-commit.ts';
import { askGit, type GitSetting, runGit, scopedSettings } from './git.ts';
import type { Repository } from './repository.ts';

/** The settings of git that a signature is made with. */
export interface CommitSigning {
  readonly settings: readonly GitSetting[];
}

/** Programs that git starts to sign, and what it starts without a setting. */
const programs: readonly GitSetting[] = [
  ['gpg.program', 'gpg'],
  ['gpg.openpgp.program', 'gpg'],
  ['gpg.x509.program', 'gpgsm'],
  ['gpg.ssh.program', 'ssh-keygen'],
  ['gpg.ssh.defaultkeycommand', ''],
];

/** Where a signing program finds its keys and its agent. */
const passedOn = [
  'GNUPGHOME',
  'GPG_TTY',
  'SSH_AUTH_SOCK',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
] as const;

/**
 * How git signs the commits of this repository; `undefined` if it does not. `wanted` replaces `commit.gpgsign`. Keys
 * and format may be set anywhere, a program only by the user or the machine: a repository may come from elsewhere.
 */
export async function commitSigning(
  repo: Repository,
  wanted: boolean | undefined,
): Promise<CommitSigning | undefined> {
  if (wanted === false || (wanted === undefined && repo.hasSigning === false)) return undefined;
  const found = new Map<string, string>();
  const keys = '^(commit\\.gpgsign|gpg\\..*)$';
  const args = ['config', '-z', '--show-scope', '--includes', '--get-regexp', keys];
  for (const { scope, key, value } of scopedSettings(await runGit(repo, args))) {
    const isOwn = scope === 'system' || scope === 'global';
    const isProgram = programs.some(([name]) => name === key);
    if (isOwn || !isProgram) found.set(key, value);
  }
  if (wanted === undefined && !/^(?:true|yes|on|[1-9]\d*)$/i.test(found.get('commit.gpgsign') ?? ''))
    return undefined;
  const openpgp = found.get('gpg.openpgp.program') ?? found.get('gpg.program');
  if (openpgp !== undefined) found.set('gpg.program', openpgp).set('gpg.openpgp.program', openpgp);
  return { settings: programs.map(([key, usual]) => [key, found.get(key) ?? usual]) };
}

/** Writes a signed commit; moves no ref. Returns its id. COMMIT_NOT_SIGNED, with what git says. */
export async function createSignedCommit(
  repo: Repository,
  request: CommitRequest,
  { settings }: CommitSigning,
): Promise<string> {
  const { tree, parents, message, author, committer, authoredAtMs, authorZone, committedAtMs } = request;
  const place: Repository = {
    ...repo,
    settings: [...repo.settings, ...settings, ['core.fsync', 'committed,loose-object']],
    env: {
      ...repo.env,
      ...Object.fromEntries(
        passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
      ),
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: `@${rawDate(authoredAtMs, authorZone)}`,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: `@${rawDate(committedAtMs)}`,
    },
  };
  const onto = [...new Set(parents)].flatMap((parent) => ['-p', parent]);
  const { code, stdout, stderr } = await askGit(place, ['commit-tree', '-S', ...onto, '-F', '-', tree], {
    input: Buffer.from(message),
  });
  const id = stdout.toString('utf8').trim();
  if (code === 0 && id !== '') return id;
  const [said = 'no reason given'] = stderr.split('\n').filter((line) => line.trim() !== '');
  throw new WritError('COMMIT_NOT_SIGNED', {
    message: `git could not sign the commit: ${said.trim().slice(0, 300)}`,
    detail: { stderr: stderr.slice(0, 2000) },
  });
}

/* The parts of GitHub's REST API that a CI job needs: pull requests, one comment, one commit status. */

import { WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { requestHttp } from '../../core/base/net.ts';
import { printable } from '../../core/base/printable.ts';
import { commentMark } from './summary.ts';

/** A pull request, as the API and the payload of an event describe it. */
export interface Pull {
  readonly number: number;
  readonly title: string;
  /** Full id of its last commit. */
  readonly head: string;
  /** Name of the branch that receives it. */
  readonly onto: string;
  /** Its commits are in another repository. */
  readonly isFork: boolean;
  readonly isOpen: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

export interface GitHub {
  pull(number: number): Promise<Pull>;
  /** The one open pull request of this repository whose last commit is this one. */
  pullOf(commit: string): Promise<Pull | undefined>;
  /** Sets the status `writ` of a commit. */
  setStatus(commit: string, state: 'pending' | 'success' | 'failure', description: string): Promise<void>;
  /** Writes our comment of a pull request, or replaces its text. */
  comment(pull: number, body: string): Promise<void>;
  close(pull: number): Promise<void>;
}

const withinMs = 30_000;
const maxBytes = 16 * 1024 * 1024;
const perPage = 50;
const maxPages = 20;
const maxDescription = 140;

/** Opens the API of the repository that the environment names. USAGE without a repository or token in it. */
export function openGitHub(env: Env, signal: AbortSignal): GitHub {
  const {
    GITHUB_API_URL: api = 'https://api.github.com',
    GITHUB_REPOSITORY: repository = '',
    GITHUB_TOKEN,
  } = env;
  const token = GITHUB_TOKEN ?? '';
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || !/^[\x21-\x7e]+$/.test(token))
    throw new WritError('USAGE', {
      message:
        '`GITHUB_REPOSITORY` and `GITHUB_TOKEN` say which repository is reported to, and as whom: one is missing',
      hints: ['in a workflow: `env: { GITHUB_TOKEN: $' + '{{ github.token }} }`'],
    });
  const ask = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> => {
    const answer = await requestHttp({
      url: `${api}/repos/${repository}/${path}`,
      method,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'user-agent': 'writ',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      withinMs,
      maxBytes,
      signal,
    });
    const value = parseJson(answer.body);
    if (answer.status >= 200 && answer.status < 300) return value;
    throw refusedBy(answer.status, method, path, value);
  };
  const run = env.GITHUB_RUN_ID ?? '';
  const target = /^\d+$/.test(run)
    ? { target_url: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${repository}/actions/runs/${run}` }
    : {};
  return {
    async pull(number) {
      const pull = readPull(await ask('GET', `pulls/${number}`), repository);
      if (pull === undefined) throw noPull(`pull request ${number}`);
      return pull;
    },
    async pullOf(commit) {
      const found = await ask('GET', `commits/${commit}/pulls`);
      const open = (Array.isArray(found) ? found : [])
        .filter((one) => isRecord(one) && one.state === 'open')
        .flatMap((one) => readPull(one, repository) ?? [])
        .filter(({ head }) => head === commit);
      return open.length === 1 ? open[0] : undefined;
    },
    async setStatus(commit, state, description) {
      const words = description.slice(0, maxDescription);
      await ask('POST', `statuses/${commit}`, { state, context: 'writ', description: words, ...target });
    },
    async comment(pull, body) {
      for (let page = 1; page <= maxPages; page += 1) {
        const listed = await ask('GET', `issues/${pull}/comments?per_page=${perPage}&page=${page}`);
        const comments = Array.isArray(listed) ? listed : [];
        const ours = comments.find(isOurs);
        if (ours !== undefined) return void (await ask('PATCH', `issues/comments/${ours.id}`, { body }));
        if (comments.length < perPage) break;
      }
      await ask('POST', `issues/${pull}/comments`, { body });
    },
    async close(pull) {
      await ask('PATCH', `pulls/${pull}`, { state: 'closed' });
    },
  };
}

/** Anyone can begin a comment with our mark, and change its text later; only a program's is replaced. */
function isOurs(comment: unknown): comment is { readonly id: number } {
  if (!isRecord(comment) || !isRecord(comment.user)) return false;
  const { id, body, user } = comment;
  return (
    Number.isSafeInteger(id) &&
    typeof body === 'string' &&
    body.startsWith(commentMark) &&
    user.type === 'Bot'
  );
}

/** `undefined` for what is no JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const permissions: readonly (readonly [path: RegExp, permission: string])[] = [
  [/^statuses\//, 'statuses: write'],
  [/^(?:issues|pulls)\//, 'pull-requests: write'],
];

function refusedBy(status: number, method: string, path: string, value: unknown): WritError {
  const said =
    isRecord(value) && typeof value.message === 'string' ? `: ${printable(value.message.slice(0, 200))}` : '';
  const permission = permissions.find(([form]) => form.test(path))?.[1];
  return new WritError('NETWORK_FAILED', {
    message: `GitHub answered ${status} to ${method} ${path}${said}`,
    detail: { status, method, path },
    ...(status === 403 && permission !== undefined
      ? { hints: [`give the job the permission: \`permissions: ${permission}\``] }
      : {}),
  });
}

export function noPull(found: string): WritError {
  return new WritError('INPUT_UNREADABLE', { message: `${found} is not described as GitHub describes one` });
}

/** Reads a pull request; `undefined` if a part is missing, or if it is one of another repository. */
export function readPull(value: unknown, repository: string): Pull | undefined {
  if (!isRecord(value) || !isRecord(value.head) || !isRecord(value.base)) return undefined;
  const { number, title, head, base } = value;
  const from = isRecord(head.repo) ? head.repo.full_name : undefined;
  const isComplete =
    typeof number === 'number' &&
    Number.isSafeInteger(number) &&
    number > 0 &&
    typeof title === 'string' &&
    typeof head.sha === 'string' &&
    /^[0-9a-f]{40,64}$/.test(head.sha) &&
    typeof base.ref === 'string' &&
    isRecord(base.repo) &&
    base.repo.full_name === repository;
  if (!isComplete) return undefined;
  return {
    number,
    title,
    head: head.sha as string,
    onto: base.ref as string,
    isFork: from !== repository,
    isOpen: value.state === 'open',
  };
}

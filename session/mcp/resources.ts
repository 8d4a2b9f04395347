/** The MCP resources: runs, evidence and threads. */
import { compact } from '../../api/envelope.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { listThreads } from '../thread/check-threads.ts';
import { threadDirectory } from '../thread/open-thread.ts';
import { readThread } from '../thread/read-thread.ts';
import { fitData, type McpGround, type McpThreads, ToolRefusal } from './tool.ts';

const json = 'application/json';
const maxListed = 50;
const maxBytes = 256 * 1024;

export const resourceTemplates = [
  { uriTemplate: 'writ://runs/{run}', name: 'run', title: 'A run in full', mimeType: json },
  {
    uriTemplate: 'writ://runs/{run}/evidence/{sha256}',
    name: 'evidence',
    title: 'What a check of a run left behind: a log, a report',
    mimeType: 'text/plain',
  },
  {
    uriTemplate: 'writ://threads/{thread}',
    name: 'thread',
    title: 'A thread of the session',
    mimeType: json,
  },
] as const;

/** Runs and threads, newest first, and the lists themselves. */
export async function listResources(ground: McpGround, signal: AbortSignal) {
  // The error is reported when the resource is read.
  const nothing = (): readonly JsonData[] => [];
  const [runs, threads] = await Promise.all([
    runsOf(ground, signal).catch(nothing),
    threadItems(ground).catch(nothing),
  ]);
  return {
    resources: [
      { uri: 'writ://runs', name: 'runs', title: 'Runs of this repository', mimeType: json },
      { uri: 'writ://threads', name: 'threads', title: 'Threads of this repository', mimeType: json },
      ...runs.slice(0, maxListed).map(({ run_id: id, summary }) => ({
        uri: `writ://runs/${encodeURIComponent(String(id))}`,
        name: String(id),
        title: String(summary).slice(0, 200),
        mimeType: json,
      })),
      ...threads.slice(0, maxListed).map(({ id, title }) => ({
        uri: `writ://threads/${encodeURIComponent(String(id))}`,
        name: String(id),
        title: String(title ?? id).slice(0, 200),
        mimeType: json,
      })),
    ],
  };
}

interface Contents {
  readonly text: string;
  readonly mimeType: string;
}

const plainId = /^[0-9A-Za-z][\w.-]{0,127}$/;

/** Reads one resource. NOT_FOUND. */
export async function readResource(ground: McpGround, uri: string, signal: AbortSignal): Promise<Contents> {
  const [kind, id, part, digest, ...more] = uri.startsWith('writ://')
    ? uri.slice('writ://'.length).split('/')
    : [];
  const isPlain = id === undefined || plainId.test(id);
  if (isPlain && kind === 'runs' && part === undefined)
    return asJson(
      id === undefined ? { runs: await runsOf(ground, signal) } : await runOf(ground, id, signal),
    );
  if (
    isPlain &&
    kind === 'runs' &&
    id !== undefined &&
    part === 'evidence' &&
    more.length === 0 &&
    digest !== undefined
  )
    return evidenceOf(ground, id, digest, signal);
  if (isPlain && kind === 'threads' && part === undefined) {
    if (id === undefined) return asJson({ items: await threadItems(ground) });
    const thread = await ground.threads?.read(id);
    if (thread !== undefined) return asJson(thread);
  }
  throw new WritError('NOT_FOUND', {
    message: 'there is no such resource',
    detail: { expected: 'writ://runs, writ://threads, or what they list', found: uri.slice(0, 200) },
  });
}

async function runsOf(ground: McpGround, signal: AbortSignal): Promise<readonly JsonData[]> {
  const { runs } = (await dataOf(ground, ['runs'], signal)) as { readonly runs: readonly JsonData[] };
  return runs;
}

async function threadItems({ threads }: McpGround): Promise<readonly JsonData[]> {
  return threads === undefined ? [] : threads.list();
}

async function runOf(ground: McpGround, id: string, signal: AbortSignal): Promise<JsonData> {
  return dataOf(ground, ['show', '--', id], signal);
}

interface Artifact {
  readonly path: string;
  readonly sha256: string;
  readonly content_type: string;
}

/** One artifact of a run, found by its digest in the run's list. No other file of the repository is read. */
async function evidenceOf(
  ground: McpGround,
  id: string,
  digest: string,
  signal: AbortSignal,
): Promise<Contents> {
  const { artifacts, content_ref: ref } = (await runOf(ground, id, signal)) as {
    readonly artifacts: readonly Artifact[];
    readonly content_ref?: string;
  };
  const found = artifacts.find(({ sha256 }) => sha256 === digest);
  const bytes =
    found === undefined || ref === undefined
      ? undefined
      : await readBlob(await openRepository(ground.cwd), ref, found.path, 64 * 1024 * 1024);
  if (found === undefined || bytes === undefined)
    throw new WritError('NOT_FOUND', { message: 'the run has no such evidence, or it has expired' });
  const isText = !bytes.includes(0);
  const cut = bytes.length > maxBytes ? `\n[cut: ${bytes.length} bytes in all]` : '';
  const text = isText ? bytes.toString('utf8', 0, maxBytes) + cut : `[binary, ${bytes.length} bytes]`;
  return { text, mimeType: isText && cut === '' ? found.content_type : 'text/plain' };
}

async function dataOf(ground: McpGround, words: readonly string[], signal: AbortSignal): Promise<JsonData> {
  const { data, error } = await ground.ask(words, signal);
  if (error !== undefined) throw new ToolRefusal(error);
  return data ?? {};
}

function asJson(data: JsonData): Contents {
  return { text: JSON.stringify(fitData(data, maxBytes)), mimeType: json };
}

const mostThreads = 50;

/**
 * The threads of a repository as resources: the list, and the messages of one thread with whether its journal is
 * authentic.
 */
export function threadsOf(
  repository: Pick<Repository, 'commonDir'>,
  witness: Pick<JournalWitness, 'look'>,
): McpThreads {
  return {
    list: async () =>
      (await listThreads(repository, { limit: mostThreads, offset: 0 })).items.map((item) => ({ ...item })),
    async read(id) {
      const { transcript, earlier, proven } = await readThread(threadDirectory(repository, id), id, witness);
      const said = transcript.map(({ createdAtMs, kind, title, content }) => ({
        kind,
        ...compact({ title, content }),
        createdAt: toRfc3339(createdAtMs),
      }));
      return { id, proven: proven !== undefined, earlier, transcript: said };
    },
  };
}

/* Results of workers: what is signed of a command, and the bytes beside it. */
import {
  type ListedWorker,
  maxEnvelopeBytes,
  openJobResult,
  signJobResult,
} from '../../attest/statement/job-result.ts';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { count, flag, list, object, oneOf, type TypeOf, text } from '../../core/base/schema.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { CapturedOutput, SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { commitFiles, readFiles } from './content.ts';
import { type Job, readShape, refused, sha256Text } from './job.ts';

const maxReports = 256;
const maxReportBytes = 64 * 1024 * 1024;
const streams = ['stdout', 'stderr', 'combined'] as const;

const output = object('to be an output', { sha256: sha256Text, totalBytes: count(0), truncated: flag });
const written = object('to be a path', { path: text(4096), was: oneOf('added', 'changed') });

const predicateShape = object(
  'to be a result',
  {
    /** The dispatch that it answers. */
    fence: count(1),
    timedOut: flag,
    durationMs: count(0),
    stdout: output,
    stderr: output,
    combined: output,
    reports: list(
      object('to be a report', { name: text(255), sha256: sha256Text }, { isStale: flag }),
      maxReports,
    ),
    /** Names of entries beside the reports that are no files. */
    unread: list(text(1024), maxReports),
    /** What the command left written in the workspace: `added` beside the tree, `changed` in it. */
    written: list(written, 10_000),
    /** Not all that was written is listed. */
    isCut: flag,
  },
  {
    exitCode: count(0, 255),
    signal: text(32),
    exceeded: object('to be a limit', {
      what: oneOf('memory', 'processes'),
      limit: count(0),
      found: count(0),
    }),
    /** Whose verdict others may reuse (docs/decisions/0042-reused-verdicts.md). */
    verdict: object('to be a verdict', {
      conditions: sha256Text,
      /** Of all paths that the command observed, by their content. */
      observed: sha256Text,
      run: text(64),
      signedAtMs: count(0),
    }),
    /** Why no one may. */
    unverifiable: text(1000),
    /** Digest of the document of secrets that the command was given (`sealSecrets`). */
    secrets: sha256Text,
    /** The reports were above a limit: what is said of that. */
    excess: object('to be a finding', { message: text(4096), limit: count(0), unit: text(32) }),
  },
);
type Predicate = TypeOf<typeof predicateShape>;

/** What a command came to, wherever it ran. */
export interface JobResult {
  readonly result: SandboxResult;
  readonly reports: readonly ReportFile[];
  readonly unread: readonly string[];
  readonly excess?: { readonly message: string; readonly limit: number; readonly unit: string };
  readonly written: Predicate['written'];
  readonly isCut: boolean;
  readonly verdict?: Predicate['verdict'];
  readonly unverifiable?: string;
  readonly secrets?: string;
  /** The paths of the verdict (`observed.json`), as the observer wrote them. */
  readonly observed?: Uint8Array;
}

/** A result that counts, and who signed it. */
export interface SignedResult extends JobResult {
  readonly worker: ListedWorker;
  /** Where its files are, if it was fetched. */
  readonly commit?: string;
  readonly fence: number;
  /** The envelope, as it is kept with the run. */
  readonly envelope: Buffer;
}

/** Writes a signed result as a commit; its parents are none, so the same result has the same id. */
export async function commitResult(
  place: Scratch,
  about: { readonly action: string; readonly fence: number },
  ran: JobResult,
  signer: Signer,
): Promise<string> {
  return commitFiles(place, await signResult(about, ran, signer), 'writ result\n');
}

/** The files of a signed result. */
export async function signResult(
  { action, fence }: { readonly action: string; readonly fence: number },
  ran: JobResult,
  signer: Signer,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const { exitCode, signal, timedOut, exceeded, durationMs } = ran.result;
  const described = (of: CapturedOutput): TypeOf<typeof output> => ({
    sha256: sha256Hex(of.bytes),
    totalBytes: of.totalBytes,
    truncated: of.truncated,
  });
  const predicate: Predicate = {
    fence,
    timedOut,
    durationMs: Math.max(0, Math.round(durationMs)),
    stdout: described(ran.result.stdout),
    stderr: described(ran.result.stderr),
    combined: described(ran.result.combined),
    reports: ran.reports.map(({ name, bytes, isStale }) => ({
      name,
      sha256: sha256Hex(bytes),
      ...(isStale ? { isStale } : {}),
    })),
    unread: ran.unread,
    written: ran.written,
    isCut: ran.isCut,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(exceeded === undefined ? {} : { exceeded }),
    ...(ran.excess === undefined ? {} : { excess: ran.excess }),
    ...(ran.verdict === undefined ? {} : { verdict: ran.verdict }),
    ...(ran.unverifiable === undefined ? {} : { unverifiable: ran.unverifiable }),
    ...(ran.secrets === undefined ? {} : { secrets: ran.secrets }),
  };
  const envelope = await signJobResult(action, predicate, signer);
  const files = new Map<string, Uint8Array>([['envelope.json', envelope]]);
  for (const name of streams) files.set(name, ran.result[name].bytes);
  for (const [at, { bytes }] of ran.reports.entries()) files.set(`reports/${at}`, bytes);
  if (ran.observed !== undefined) files.set('observed.json', ran.observed);
  return files;
}

/** Reads files of a signed result by path; absent ones are left out. */
export type ReadFiles = (
  paths: readonly string[],
  maxBytes: number,
) => Promise<ReadonlyMap<string, Uint8Array>>;

/**
 * Reads a result that was fetched, as `openResult`. It answers this dispatch, and its command was given the secrets
 * with this digest; else JOB_REFUSED.
 */
export async function readResult(
  place: Scratch,
  commit: string,
  {
    action,
    fence,
    job,
    secrets,
  }: {
    readonly action: string;
    readonly fence: number;
    readonly job: Job;
    readonly secrets?: string | undefined;
  },
  workers: readonly ListedWorker[],
): Promise<SignedResult> {
  const read: ReadFiles = (paths, maxBytes) => readFiles(place, commit, paths, maxBytes);
  const about = { action, fence, maxOutputBytes: job.limits.maxOutputBytes };
  const found = await openResult(read, about, workers);
  if (found.secrets !== secrets) throw refused('result', 'its command was given other secrets');
  return { ...found, commit };
}

/**
 * Opens a result. It counts if a listed key signed it for this action, it keeps the limits, and every byte beside it
 * has the digest that was signed; else JOB_REFUSED.
 */
export async function openResult(
  read: ReadFiles,
  about: { readonly action: string; readonly fence?: number; readonly maxOutputBytes: number },
  workers: readonly ListedWorker[],
): Promise<SignedResult> {
  const first = await read(['envelope.json'], maxEnvelopeBytes);
  const envelope = Buffer.from(first.get('envelope.json') ?? []);
  const { worker, predicate } = openSigned(envelope, about.action, workers);
  const { fence } = predicate;
  if (fence !== (about.fence ?? fence))
    throw refused('result', `it answers dispatch ${fence}, and the last one is ${about.fence}`);
  const names = [...streams, ...predicate.reports.map((_, at) => `reports/${at}`)];
  const files = await read(
    predicate.verdict === undefined ? names : [...names, 'observed.json'],
    maxReportBytes,
  );
  const bytesOf = (path: string, sha256: string, maxBytes: number): Buffer => {
    const bytes = Buffer.from(files.get(path) ?? []);
    if (sha256Hex(bytes) !== sha256)
      throw refused('result', `\`${path}\` has another digest than was signed`);
    if (bytes.length > maxBytes) throw refused('result', `\`${path}\` has more than ${maxBytes} bytes`);
    return bytes;
  };
  let left = maxReportBytes;
  const reports = predicate.reports.map(({ name, sha256, isStale }, at): ReportFile => {
    if (name.includes('/') || name === '.' || name === '..')
      throw refused('result', 'a report has no plain name');
    const bytes = bytesOf(`reports/${at}`, sha256, left);
    left -= bytes.length;
    return { name, bytes, ...(isStale ? { isStale } : {}) };
  });
  const outputOf = (name: (typeof streams)[number]): CapturedOutput => {
    const { sha256, totalBytes, truncated } = predicate[name];
    // The middle of a long output is replaced by a line that says so.
    return { bytes: bytesOf(name, sha256, 2 * about.maxOutputBytes + 1024), totalBytes, truncated };
  };
  const {
    exitCode,
    signal,
    timedOut,
    exceeded,
    durationMs,
    unread,
    written: paths,
    isCut,
    excess,
    verdict,
    unverifiable,
    secrets,
  } = predicate;
  const observed = files.get('observed.json');
  return {
    worker,
    fence,
    envelope,
    result: {
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(exceeded === undefined ? {} : { exceeded }),
      timedOut,
      aborted: false,
      durationMs,
      stdout: outputOf('stdout'),
      stderr: outputOf('stderr'),
      combined: outputOf('combined'),
    },
    reports,
    unread,
    written: paths,
    isCut,
    ...(excess === undefined ? {} : { excess }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(unverifiable === undefined ? {} : { unverifiable }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(verdict === undefined || observed === undefined ? {} : { observed }),
  };
}

/** What one of the listed keys signed of this job; every fault of the envelope is JOB_REFUSED. */
function openSigned(
  envelope: Uint8Array,
  action: string,
  workers: readonly ListedWorker[],
): { readonly worker: ListedWorker; readonly predicate: Predicate } {
  try {
    const { worker, predicate } = openJobResult(envelope, action, workers);
    return { worker, predicate: readShape(predicateShape, Buffer.from(canonicalize(predicate)), 'result') };
  } catch (fault) {
    if (!isWritError(fault) || fault.code === 'JOB_REFUSED') throw fault;
    throw refused('result', fault.message, fault);
  }
}

/* A check's command as a job: everything that the command can observe, in one document under one digest. */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { decryptText, encryptText, isForOthers } from '../../attest/keys/age.ts';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import {
  count,
  list,
  mapOf,
  object,
  oneOf,
  parse,
  type Schema,
  type TypeOf,
  text,
  where,
} from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { hashOpenFile } from '../../workspace/git/directory-digest.ts';
import { findProgram } from '../../workspace/process/find-program.ts';

export const sha256Text = where(text(64), 'to be a SHA-256 in hex', (found) => /^[0-9a-f]{64}$/.test(found));
const gitId = where(text(64), 'to be a git object id', (found) =>
  /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(found),
);
/** Relative, without `.`, `..`, `.git` and empty segments. */
const plainPath = where(text(4096), 'to be a plain relative path', (found) =>
  found
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git'),
);
const maxArguments = 64;

const jobMembers = {
  schema: oneOf('urn:writ:job:v1'),
  /** What the command is run for. `turn` counts equal commands of one check from 1: each is a job of its own. */
  for: object('to say what it is for', {
    repository: text(4096),
    run: text(64),
    attempt: text(256),
    stage: text(64),
    check: text(256),
    turn: count(1, 10_000),
  }),
  /** Git trees of the workspace and of the policy commit. */
  candidate: gitId,
  policy: gitId,
  /** Digest of `.writ` at the policy commit. */
  rules: sha256Text,
  /** Commits that `.git` of the workspace holds, the first one its HEAD. */
  history: list(object('to be a commit', { commit: gitId, tree: gitId }), 10_000),
  /** Directories that are shown in the workspace: digest of their listing, git tree, directories without a file. */
  given: list(
    object('to be a directory', {
      directory: plainPath,
      sha256: sha256Text,
      tree: gitId,
      empty: list(plainPath, 100_000),
    }),
    64,
  ),
  argv: list(text(1024 * 1024, 0), maxArguments),
  env: mapOf('to be an environment', text(1024 * 1024, 0)),
  /** Programs that the command and the scripts below it name, by content. */
  tools: list(object('to be a program', { name: text(256), sha256: sha256Text }), 256),
  /** Operating system, processor, and the digest of `/etc/os-release`. */
  platform: list(text(256), 3),
  sandbox: object('to be a sandbox', { name: text(64), enforced: list(text(256), 256) }),
  limits: object('to be limits', {
    timeoutMs: count(1),
    maxOutputBytes: count(1),
    maxMemoryBytes: count(1),
  }),
};
const jobShape = object('to be a job', jobMembers, {
  /** The command is traced, and what it observed is signed, if it ends with this code. */
  expects: count(0, 255),
  /** Variables whose values come encrypted beside the document: no digest of a value is in it. */
  secrets: list(text(128), 256),
});

/** What a check's command can observe. It names no path, user or host of the machine that asks. */
export type Job = TypeOf<typeof jobShape>;

export const maxJobBytes = 16 * 1024 * 1024;

/** The document of a job, and its action digest: SHA-256 over exactly these bytes (RFC 8785). */
export function writeJob(job: Job): { readonly bytes: Buffer; readonly action: string } {
  const bytes = Buffer.from(canonicalize(job));
  return { bytes, action: sha256Hex(bytes) };
}

/** Reads a document that has this action digest; JOB_REFUSED for any other. */
export function readJob(bytes: Uint8Array, action: string): Job {
  if (sha256Hex(bytes) !== action) throw refused('job', 'its document has another digest');
  return readShape(jobShape, bytes, 'job');
}

export const maxSecretsBytes = 1024 * 1024;
const secretsShape = object('to be secrets', {
  schema: oneOf('urn:writ:job-secrets:v1'),
  action: sha256Text,
  fence: count(1),
  /** Random: no one can guess a value by the digest of this document. */
  salt: sha256Text,
  env: mapOf('to be an environment', text(1024 * 1024, 0)),
});

/** Secrets of one dispatch: by variable, and the digest of the document that holds them. */
export interface JobSecrets {
  readonly env: Readonly<Record<string, string>>;
  readonly sha256: string;
}

/** A dispatch of a job. */
interface Dispatched {
  readonly action: string;
  readonly fence: number;
}

/** Encrypts secrets for the recipients, and binds them to one dispatch of one job. */
export async function sealSecrets(
  { action, fence }: Dispatched,
  env: JobSecrets['env'],
  recipients: readonly string[],
): Promise<{ readonly sealed: Buffer; readonly sha256: string }> {
  const salt = randomOctets(32).toString('hex');
  const document = canonicalize({ schema: 'urn:writ:job-secrets:v1', action, fence, salt, env });
  return { sealed: Buffer.from(await encryptText(document, recipients)), sha256: sha256Hex(document) };
}

/**
 * Opens the secrets of a job; `undefined` if they are for other workers. JOB_REFUSED if they belong to another job or
 * dispatch, if their names are not those of the job, or if the result could be reused: no condition names a value.
 */
export async function openSecrets(
  { action, fence, job, sealed }: Dispatched & { readonly job: Job; readonly sealed?: Buffer },
  identity: string,
): Promise<JobSecrets | undefined> {
  const names = job.secrets ?? [];
  if (job.expects !== undefined) throw refused('job', 'a result under secrets is for one run');
  let document: Uint8Array;
  try {
    document = await decryptText(`${sealed ?? ''}`, identity);
  } catch (fault) {
    if (isForOthers(fault)) return undefined;
    throw refused('job', 'its secrets are damaged or missing', fault);
  }
  const found = openedOf(document);
  if (found?.action !== action || found.fence !== fence)
    throw refused('job', 'its secrets are those of another job or dispatch');
  if (Object.keys(found.env).sort().join() !== [...names].sort().join())
    throw refused('job', 'its secrets have other names');
  return { env: found.env, sha256: sha256Hex(document) };
}

/** No fault of a parser is passed on: it may quote a value. */
function openedOf(document: Uint8Array): TypeOf<typeof secretsShape> | undefined {
  try {
    return readShape(secretsShape, document, 'job');
  } catch {
    return undefined;
  }
}

/** Reads strict JSON of a shape; JOB_REFUSED names `what`. */
export function readShape<T>(shape: Schema<T>, bytes: Uint8Array, what: string): T {
  const { value } = parseStrictJson(bytes, { code: 'JOB_REFUSED', maxBytes: maxJobBytes });
  try {
    return parse(shape, value);
  } catch (cause) {
    throw refused(what, 'it has another form', cause);
  }
}

/** JOB_REFUSED: a job or a result that does not count, and why. */
export function refused(what: string, why: string, cause?: unknown): WritError {
  return new WritError('JOB_REFUSED', {
    message: `a ${what} of a remote worker is not accepted: ${why}`,
    detail: { what, why },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** This machine, as far as a job names it. */
export async function describePlatform(): Promise<readonly string[]> {
  const release = await readFile('/etc/os-release').catch(() => Buffer.alloc(0));
  return [process.platform, process.arch, sha256Hex(release)];
}

const digests = new Map<string, { readonly state: string; readonly sha256: string }>();

/**
 * SHA-256 of an installed program, as commands find it by name on `searchPath`; `undefined` if there is none. A program
 * is read again when its inode, size or change time is another.
 */
export async function digestProgram(name: string, searchPath: string): Promise<string | undefined> {
  if (!/^[\w.+-]{1,256}$/.test(name)) return undefined;
  const found = findProgram(name, searchPath);
  return found === undefined ? undefined : digestFile(found);
}

/** SHA-256 of a file of this machine; `undefined` if it is none that can be read. */
export async function digestFile(name: string): Promise<string | undefined> {
  let path: string;
  let status: ReturnType<typeof statOf>;
  try {
    path = realpathSync(name);
    status = statOf(path);
  } catch {
    return undefined;
  }
  if (!status.isFile()) return undefined;
  const { ino, size, ctimeNs } = status;
  const state = `${ino} ${size} ${ctimeNs}`;
  const known = digests.get(path);
  if (known?.state === state) return known.sha256;
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const sha256 = await hashOpenFile(file, createHash('sha256'), Buffer.allocUnsafe(1024 * 1024));
    digests.set(path, { state, sha256 });
    return sha256;
  } finally {
    await file.close();
  }
}

const statOf = (path: string) => statSync(path, { bigint: true });

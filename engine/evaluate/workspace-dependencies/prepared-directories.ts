/* Runs `[[workspace.prepare]]` steps and keeps their results. */
import { access, chmod, lstat, mkdir, readdir, realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { messageOf, WritError } from '../../../core/base/errors.ts';
import { readPlain } from '../../../core/base/files.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import type { SandboxBackend, SandboxBind, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import type { NetworkUse } from '../../../core/interfaces/scanner.ts';
import type { Voucher } from '../../../store/journal-witness.ts';
import { managerVariables, openEgress, withoutNetwork } from '../../../workspace/egress/open-egress.ts';
import type { Outside } from '../../../workspace/egress/outside.ts';
import { type DirectoryDigestOptions, digestDirectory } from '../../../workspace/git/directory-digest.ts';
import { removeTree } from '../../../workspace/git/torn-paths.ts';
import type { PrepareStep } from '../../config/config.ts';
import type { CheckFootprint } from '../observe/footprint-key.ts';
import type { TracedCommand } from '../observe/under-tracer.ts';
import { copyTree, directoryLimits } from './shared-directory.ts';

export interface PrepareRequest {
  readonly step: PrepareStep;
  /** The exported candidate: inputs are read from it, and it is never written. */
  readonly workspace: string;
  readonly cacheDir: string;
  readonly sandbox: SandboxBackend;
  /** The network that the egress proxy connects to; absent: the real one. */
  readonly outside?: Outside | undefined;
  /** What the command may hold; `undefined`: what every sandbox may. */
  readonly maxMemoryBytes: number | undefined;
  /** Authenticates cache entries; entries of another voucher are not trusted. */
  readonly voucher: Voucher;
  /** Directories that earlier steps and `share` provide, by repository-relative path. */
  readonly provided: readonly {
    readonly directory: string;
    readonly source: string;
    readonly sha256: string;
  }[];
  readonly observer?: PrepareObserver;
  readonly signal?: AbortSignal;
}

/** Shows what steps do with files. */
export interface PrepareObserver {
  /** Whether a step with a cached result must run again if no footprint of it is stored. */
  isNeeded(step: PrepareStep): boolean;
  /** What is kept of a step. */
  find(step: PrepareStep): Promise<ObservedStep | undefined>;
  /** Runs a step in `stage` under the tracer, if there is one, and keeps its footprint. */
  trace(
    step: PrepareStep,
    stage: string,
    run: (traced: TracedCommand, signal: AbortSignal) => Promise<SandboxResult>,
  ): Promise<{ readonly result?: SandboxResult; readonly observed: ObservedStep }>;
  /** A step that failed under the tracer works without it. */
  giveUp(step: PrepareStep): Promise<void>;
}

/** What a step did with files, or why that is not known. */
export type ObservedStep = { readonly footprint: CheckFootprint } | { readonly reason: string };

export interface PrepareOutcome {
  /** SHA-256 of everything that decides the result: command, inputs, provided directories, platform. */
  readonly key: string;
  readonly cached: boolean;
  /** True if an existing entry had no valid MAC, or had changed, and was built again. */
  readonly distrusted: boolean;
  readonly directories: readonly PreparedDirectory[];
  /** Absent if no observer was passed. */
  readonly observed?: ObservedStep;
}

const maxOutputBytes = 256 * 1024;
const maxReportedCharacters = 4000;

/**
 * Runs one `[[workspace.prepare]]` in the sandbox with only its declared inputs, or uses the result of an earlier run
 * with the same inputs. The cache is filled by rename. An entry that the voucher does not know, or that has changed,
 * is built again. A successful run under the tracer counts like any other. Throws WORKSPACE_PREPARE_FAILED.
 */
export async function prepareDirectories(request: PrepareRequest): Promise<PrepareOutcome> {
  const { step, cacheDir } = request;
  await openPrepareCache(cacheDir, request.voucher);
  const scratch = join(cacheDir, `tmp-${uuidV7(systemClock.now())}`);
  const [stage, reports] = [join(scratch, 'stage'), join(scratch, 'reports')];
  await mkdir(reports, { recursive: true, mode: 0o700 });
  try {
    await copyInputs(request, stage);
    const inputs = await digestDirectory(stage, { within: stage, ...limits(request) });
    if ('fault' in inputs) throw failed(step, `an input cannot be used: ${inputs.fault}`);
    const key = sha256Hex(
      JSON.stringify([
        'writ-workspace-prepare-v2',
        // An unconfined command can read its result from anywhere.
        request.sandbox.unconfined === true,
        step.argv,
        step.hosts.length === 0 ? 'none' : step.hosts,
        step.outputs,
        inputs.sha256,
        request.provided.map(({ directory, sha256 }) => [directory, sha256]),
        process.platform,
        process.arch,
        process.version,
      ]),
    );
    const path = join(cacheDir, entryName(key, request.voucher));
    const entry = { path, key, outputs: step.outputs, voucher: request.voucher };
    const found = await openEntry(entry, limits(request));
    const { result, ...seen } = await observe(request, stage, reports, found !== undefined);
    const hasFailed = result !== undefined && result.exitCode !== 0;
    if (found !== undefined) {
      if (hasFailed) await request.observer?.giveUp(step);
      return { key, cached: true, distrusted: false, directories: found, ...seen };
    }
    const distrusted = (await readdir(cacheDir)).some((name) => name.startsWith(key));
    await removeTree(path);
    if (hasFailed) await copyInputs(request, stage);
    if (hasFailed || result === undefined) await runCommand(request, stage, reports);
    if (hasFailed) await request.observer?.giveUp(step);
    return { key, cached: false, distrusted, directories: await fillEntry(request, scratch, entry), ...seen };
  } finally {
    await removeTree(scratch);
  }
}

/** What is known of a step, or shown by a run of it in `stage`, with what that came to. */
async function observe(
  request: PrepareRequest,
  stage: string,
  reports: string,
  isCached: boolean,
): Promise<{ readonly observed?: ObservedStep; readonly result?: SandboxResult }> {
  const { step, observer } = request;
  if (observer === undefined || (isCached && !observer.isNeeded(step))) return {};
  const observed = await observer.find(step);
  if (observed !== undefined) return { observed };
  return observer.trace(step, stage, (traced, signal) =>
    startCommand({ ...request, signal }, stage, reports, traced),
  );
}

/** An empty stage with the inputs in it. */
async function copyInputs({ step, workspace }: PrepareRequest, stage: string): Promise<void> {
  await removeTree(stage);
  await mkdir(stage);
  try {
    if (!(await copyTree(workspace, stage, step.lockfile)))
      throw new Error(`\`${step.lockfile}\` is not in the candidate`);
    for (const input of step.inputs) await copyTree(workspace, stage, input);
  } catch (cause) {
    throw failed(step, messageOf(cause), {}, cause);
  }
}

async function runCommand(request: PrepareRequest, stage: string, reports: string): Promise<void> {
  const { step, signal } = request;
  const result = await startCommand(request, stage, reports);
  signal?.throwIfAborted();
  if (result.exitCode === 0) return;
  const outcome = { ...outcomeOf(result), network: result.uses };
  const unreached = hostsOf(result.uses, 'failed');
  // A host that does not answer is no verdict on the change.
  if (unreached !== '')
    throw new WritError('ENVIRONMENT_BROKEN', {
      message: `the \`[workspace] prepare\` command \`${step.argv.join(' ')}\` could not connect to ${unreached}`,
      detail: outcome,
      hints: [
        'when the host answers, go on with `writ resume RUN`; the change is neither accepted nor refused yet',
      ],
    });
  const refused = hostsOf(result.uses, 'refused');
  const closed = refused === '' ? '' : `; the proxy refused ${refused}`;
  throw failed(step, howItEnded(result, step) + closed + lastLines(outcome.output), outcome);
}

function hostsOf(uses: readonly NetworkUse[], wanted: NetworkUse['outcome']): string {
  const found = uses.filter(({ outcome }) => outcome === wanted);
  return [...new Set(found.map(({ host, port, why }) => `\`${host}:${port}\` (${why})`))].join(', ');
}

/** The command's result, with every connection that it made or was refused. */
async function startCommand(
  { step, sandbox, provided, signal, maxMemoryBytes, outside }: PrepareRequest,
  stage: string,
  reports: string,
  traced?: TracedCommand,
): Promise<SandboxResult & { readonly uses: readonly NetworkUse[] }> {
  const egress =
    sandbox.unconfined || step.hosts.length === 0
      ? undefined
      : await openEgress(dirname(stage), {
          policy: { all: false, openings: [[{ hosts: step.hosts, reason: '`[[workspace.prepare]]`' }]] },
          ...(outside === undefined ? {} : { outside }),
        });
  let uses: readonly NetworkUse[] = [];
  const inside = sandbox.pathsInside({ workspace: stage, reports }).workspace;
  const binds = provided.map(({ directory, source }): SandboxBind => {
    return { source, target: `${inside}/${directory}`, writable: false, scratch: true };
  });
  const run = sandbox.run({
    argv: step.argv,
    workspace: stage,
    reports,
    binds: [...binds, ...(traced?.binds ?? [])],
    env: { ...traced?.env, CI: 'true', ...(egress === undefined ? withoutNetwork : managerVariables) },
    network: sandbox.unconfined ? 'host' : (egress?.network ?? 'none'),
    timeoutMs: step.timeoutSeconds * 1000,
    maxOutputBytes,
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
    ...(signal === undefined ? {} : { signal }),
    ...(traced === undefined ? {} : { traceTo: traced.traceTo }),
  });
  const result = await run.finally(async () => {
    uses = (await egress?.close()) ?? [];
  });
  return { ...result, uses };
}

/**
 * Moves the outputs out of the stage and publishes them under their key. If another process wins the race, its entry
 * is used.
 */
async function fillEntry(
  request: PrepareRequest,
  scratch: string,
  entry: PreparedEntry,
): Promise<readonly PreparedDirectory[]> {
  const { step } = request;
  const tree = join(scratch, 'entry', 'tree');
  for (const output of step.outputs) {
    const made = join(scratch, 'stage', output);
    const status = await lstat(made).catch(() => undefined);
    if (!status?.isDirectory()) throw failed(step, `it ended well but made no directory \`${output}\``);
    const digest = await digestDirectory(made, { within: join(scratch, 'stage'), ...limits(request) });
    if ('fault' in digest) throw failed(step, `\`${output}\` cannot be used: ${digest.fault}`);
    await mkdir(dirname(join(tree, output)), { recursive: true });
    await chmod(made, status.mode | 0o700);
    await rename(made, join(tree, output));
    await vouchForOutput({ ...entry, path: join(scratch, 'entry') }, output, digest.sha256);
  }
  await rename(join(scratch, 'entry'), entry.path).catch(async (cause: unknown) => {
    if (!(await exists(entry.path))) throw cause;
  });
  const directories = await openEntry(entry, limits(request));
  if (directories === undefined) throw failed(step, 'the result changed while it was stored');
  return directories;
}

function limits({ signal }: PrepareRequest): { maxEntries: number; maxBytes: number; signal?: AbortSignal } {
  return { ...directoryLimits, ...(signal === undefined ? {} : { signal }) };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function howItEnded(result: SandboxResult, step: PrepareStep): string {
  if (result.timedOut) return `it took longer than ${step.timeoutSeconds} seconds`;
  if (result.exceeded) return `it held too much of the machine's ${result.exceeded.what}`;
  return result.exitCode === undefined
    ? `it was ended by ${result.signal}`
    : `it exited with ${result.exitCode}`;
}

/** The end of what a command printed, for a message of one line. */
function lastLines(output: string): string {
  const lines = output.split('\n').flatMap((line) => line.trim() || []);
  return lines.length === 0 ? '' : `. It printed: ${lines.slice(-5).join(' | ').slice(-600)}`;
}

function outcomeOf(result: SandboxResult) {
  const { exitCode, signal, timedOut, combined } = result;
  const text = combined.bytes.toString('utf8').replace(/[^\P{C}\n\t]/gu, '\ufffd');
  return { exitCode, signal, timedOut, output: text.slice(-maxReportedCharacters) };
}

function failed(
  step: PrepareStep,
  reason: string,
  detail: Record<string, unknown> = {},
  cause?: unknown,
): WritError {
  return new WritError('WORKSPACE_PREPARE_FAILED', {
    message: `the \`[workspace] prepare\` command \`${step.argv.join(' ')}\` failed: ${reason}`,
    detail: { argv: step.argv, ...detail },
    ...(cause === undefined ? {} : { cause }),
  });
}

const abandonedAfterMs = 24 * 60 * 60 * 1000;

/**
 * Makes the cache writable only by this user. Removes leftovers of killed processes, and entries that this voucher
 * does not know, after one day. If a link leads to the cache, it may hold other files, so no file is removed.
 */
async function openPrepareCache(cacheDir: string, voucher: Voucher): Promise<void> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  for (const part of [cacheDir, dirname(cacheDir), dirname(dirname(cacheDir))])
    if (!(await lstat(part)).isDirectory()) return;
  if (((await lstat(cacheDir)).mode & 0o022) !== 0) await chmod(cacheDir, 0o700);
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name);
    const status = isForeign(name, voucher) ? await lstat(path).catch(() => undefined) : undefined;
    if (status !== undefined && systemClock.now() - status.mtimeMs > abandonedAfterMs) await removeTree(path);
  }
}

/** A name in another format does not count as foreign, so it is kept. */
function isForeign(name: string, voucher: Voucher): boolean {
  const key = /^([0-9a-f]{64})(?:-[0-9a-f]{32})?$/.exec(name)?.[1];
  return name.startsWith('tmp-') || (key !== undefined && name !== entryName(key, voucher));
}

interface PreparedDirectory {
  readonly directory: string;
  readonly source: string;
  readonly sha256: string;
}

/** One result of a prepare step as the cache keeps it: `tree/<output>`, and beside it the word for each output. */
interface PreparedEntry {
  readonly path: string;
  readonly key: string;
  readonly outputs: readonly string[];
  readonly voucher: Voucher;
}

const maxWordBytes = 256;

/**
 * Returns the name of an entry in its cache. It depends on the voucher, so that users who do not trust each other do
 * not remove each other's entries.
 */
function entryName(key: string, voucher: Voucher): string {
  return `${key}-${voucher.vouch(key).slice(0, 32)}`;
}

/** Writes the digest of one output, with the voucher's MAC, into an entry that is being filled. */
export async function vouchForOutput(
  { path, key, voucher }: Omit<PreparedEntry, 'outputs'>,
  output: string,
  sha256: string,
): Promise<void> {
  await writeFile(wordFile(path, output), `${sha256} ${voucher.vouch(said(key, output, sha256))}\n`);
}

/**
 * Returns the directories of an entry if all match their authenticated digests, or else `undefined`. An attacker with
 * write access to the cache can replace a tree and the files beside it, but cannot forge the MAC.
 */
async function openEntry(
  entry: PreparedEntry,
  limits: Omit<DirectoryDigestOptions, 'within'>,
): Promise<readonly PreparedDirectory[] | undefined> {
  const directories: PreparedDirectory[] = [];
  for (const directory of entry.outputs) {
    const source = join(entry.path, 'tree', directory);
    const recorded = await readWord(entry, directory);
    if (recorded === undefined || !(await isPlain(entry.path, source))) return undefined;
    // Its links were checked when the entry was built; beside `tree` they have no target.
    const digest = await digestDirectory(source, { within: '/', ...limits });
    if ('fault' in digest || digest.sha256 !== recorded) return undefined;
    directories.push({ directory, source, sha256: digest.sha256 });
  }
  return directories;
}

async function readWord({ path, key, voucher }: PreparedEntry, output: string): Promise<string | undefined> {
  const { bytes } = readPlain(wordFile(path, output), maxWordBytes);
  const [, sha256 = '', mac = ''] = /^([0-9a-f]{64}) ([0-9a-f]{64})\n$/.exec(String(bytes)) ?? [];
  return voucher.vouched(said(key, output, sha256), mac) ? sha256 : undefined;
}

/** Reached through directories alone: what a link leads to may change after it was looked at. */
async function isPlain(entry: string, source: string): Promise<boolean> {
  const [above, real] = await Promise.all([realpath(join(entry, '..')), realpath(source)]).catch(() => []);
  return above !== undefined && real === join(above, source.slice(join(entry, '..').length));
}

function wordFile(entry: string, output: string): string {
  return join(entry, `${sha256Hex(output)}.sha256`);
}

function said(key: string, output: string, sha256: string): string {
  return [key, sha256, output].join(' ');
}

/* Tests the promises of a transparency log. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inTotoPayloadType, signEnvelope } from '../../attest/encoding/dsse.ts';
import { parsePublicKey } from '../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../attest/keys/key-signer.ts';
import { parseCheckpoint, verifyCheckpoint } from '../../attest/log/checkpoint.ts';
import { noMemory } from '../../attest/log/checkpoint-memory.ts';
import { createInternalLedger, type InternalLedger } from '../../attest/log/internal-ledger.ts';
import {
  buildLogEntry,
  parseLogEntry,
  parsePromisedEntry,
  requireSameClaim,
} from '../../attest/log/log-entry.ts';
import { isConsistent, leafHash, rootFromInclusion, type TreeHead } from '../../attest/log/merkle.ts';
import { parseVkey } from '../../attest/log/note.ts';
import { systemClock } from '../../core/base/clock.ts';
import type {
  LogForm,
  LogProof,
  LogSource,
  SealingPlace,
  TransparencyLog,
} from '../../core/interfaces/sealing.ts';
import { parseConfig } from '../../engine/config/config.ts';
import type { SignerForms } from '../../engine/config/sections.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type ServedModel, serveModel } from './provider-tester.ts';
import { type CaseRunner, type Promises, runCases } from './run-cases.ts';

/** A log to be tested. */
export interface LogSubject extends Omit<SealingSubject, 'logMode' | 'logs'> {
  /** The name in the slot: the log mode in a spec. */
  readonly name: string;
  readonly source: LogSource;
  /** Present for a mode that keeps no log, and never proves anything. */
  readonly keepsNone?: true;
}

/** A log over a private place, with a way to build entries. */
interface LogBench {
  readonly log: TransparencyLog;
  /** Opens the same place again. */
  readonly again: () => Promise<TransparencyLog>;
  /** Builds the entry of a seal with this content. */
  readonly entry: (said: string) => Promise<Buffer>;
}

/**
 * Runs a log through what every log promises; rejects with an AssertionError that names the promise that is not kept.
 */
export async function logTester(runner: CaseRunner | undefined, subject: LogSubject): Promise<void> {
  await runCases(runner, 'log', subject.name, subject.keepsNone ? noneOf(subject) : promisesOf(subject));
}

function noneOf(subject: LogSubject): Promises {
  return {
    'there is no log, however often it is opened': async () => {
      const { open } = await placeOf(subject);
      assert.equal(await open(), undefined);
      assert.equal(await open(), undefined);
    },
  };
}

function promisesOf(subject: LogSubject): Promises {
  const bench = async (): Promise<LogBench> => {
    const { open, entry } = await placeOf(subject);
    const again = async () => {
      const log = await open();
      assert.ok(log, 'there is no log');
      return log;
    };
    return { log: await again(), again, entry };
  };
  return {
    'a new log is empty and bears its name': async () => {
      const { log } = await bench();
      assert.equal(log.mode, subject.name);
      assert.equal(await log.size(), 0);
    },
    'a verifier has one thing to pin: a key or a trusted root': async () => {
      const { log } = await bench();
      assert.equal((await log.vkey()) === undefined, log.trustedRoot !== undefined);
    },
    'an entry is proven to be in the log, and no other is': async () => {
      const { log, entry } = await bench();
      for (const said of ['1', '2', '3']) requireProof(await log.append(await entry(said)));
    },
    'a checkpoint that verifies says what the proof says': async () => {
      const { log, entry } = await bench();
      for (const said of ['1', '2']) await requireCheckpoint(log, await log.append(await entry(said)));
    },
    'the entry that is proven is about what was handed in': async () => {
      const { log, entry } = await bench();
      for (const said of ['1', '2']) {
        const body = await entry(said);
        const proof = await log.append(body);
        const found = proof.promise ? parsePromisedEntry(proof.body) : parseLogEntry(proof.body);
        requireSameClaim(found, parseLogEntry(body));
      }
    },
    'entries follow one another, and stay when the log is opened again': async () => {
      const { log, again, entry } = await bench();
      const [first, second] = [await log.append(await entry('1')), await log.append(await entry('2'))];
      const later = await again();
      await requireSize(later, second);
      const third = await later.append(await entry('3'));
      await requireCheckpoint(later, third);
      assert.ok(first.logIndex < second.logIndex && second.logIndex < third.logIndex, 'the order is another');
      assert.ok(
        first.treeSize < second.treeSize && second.treeSize < third.treeSize,
        'the tree does not grow',
      );
      assert.deepEqual([second.origin, third.origin], [first.origin, first.origin]);
    },
    'entries that come at once are each there': async () => {
      const { log, entry } = await bench();
      const bodies = await Promise.all(['1', '2', '3', '4'].map(entry));
      const proofs = await Promise.all(bodies.map((body) => log.append(body)));
      for (const proof of proofs) requireProof(proof);
      assert.equal(
        new Set(proofs.map(({ logIndex }) => logIndex)).size,
        bodies.length,
        'one place is of two',
      );
    },
    'a log that proves how it grew proves it of any two sizes, and of no other tree': async () => {
      const { log, again, entry } = await bench();
      if (log.consistency === undefined) return;
      const heads: TreeHead[] = [];
      for (const said of ['1', '2', '3', '4', '5']) {
        const { treeSize: size, rootHash: root } = await log.append(await entry(said));
        heads.push({ size, root });
      }
      const later = await again();
      for (const from of heads)
        for (const to of heads.filter(({ size }) => size > from.size)) {
          const proof = (await later.consistency?.(from.size, to.size))?.hashes ?? [];
          const what = `of ${from.size} and ${to.size} entries`;
          assert.ok(
            isConsistent(from, to, proof),
            `the proof ${what} does not lead from one root to the other`,
          );
          const other = { ...from, root: Buffer.alloc(32, 7) };
          assert.ok(!isConsistent(other, to, proof), `the proof ${what} leads from any root`);
        }
      const [{ size } = { size: 0 }] = heads.slice(-1);
      await assert.rejects(
        async () => later.consistency?.(1, size + 1000),
        'it proves something of entries that it has not',
      );
    },
    'an entry that may have been appended before is there once': async () => {
      const { log, again, entry } = await bench();
      const behind = await log.size();
      const body = await entry('1');
      const first = await log.append(body, { behind });
      // writ never queries the size of a public log, so it cannot find an earlier entry there.
      if ((await log.vkey()) === undefined) return;
      await log.append(await entry('2'));
      const later = await again();
      const size = await later.size();
      const repeated = await later.append(body, { behind });
      requireProof(repeated);
      assert.equal(repeated.logIndex, first.logIndex, 'it was appended twice');
      assert.equal(await later.size(), size, 'the log grew');
    },
  };
}

async function placeOf(subject: LogSubject) {
  const signer = toSigner(generateKey('ecdsa-p256-sha256'), false);
  const place: SealingPlace = await openSealingPlace(
    { ...subject, logMode: subject.name, logs: { [subject.name]: subject.source } },
    { signers: new Map() },
  );
  const key = parsePublicKey(signer.publicKeyPem);
  return {
    open: () => subject.source.open(place, signer),
    entry: async (said: string) => {
      const payload = Buffer.from(JSON.stringify({ said }));
      return buildLogEntry(await signEnvelope(inTotoPayloadType, payload, signer), key);
    },
  };
}

function requireProof({ body, logIndex, treeSize, hashes, rootHash }: LogProof): void {
  const rootOf = (bytes: Uint8Array) => rootFromInclusion(logIndex, treeSize, leafHash(bytes), hashes);
  assert.ok(rootOf(body)?.equals(rootHash), 'the path does not lead from the entry to the root');
  assert.ok(!rootOf(Buffer.from('other'))?.equals(rootHash), 'the path leads from any entry to the root');
}

async function requireCheckpoint(log: TransparencyLog, proof: LogProof): Promise<void> {
  const vkey = await log.vkey();
  const { checkpoint } = proof;
  const { origin, size, root } =
    vkey === undefined
      ? parseCheckpoint(checkpoint, () => true)
      : verifyCheckpoint(checkpoint, [parseVkey(vkey)]);
  assert.equal(origin, proof.origin, 'the checkpoint is of another log');
  assert.equal(size, proof.treeSize, 'the checkpoint is of another size');
  assert.ok(root.equals(proof.rootHash), 'the checkpoint is of another root');
}

/** A private log reports its size; a public log is not queried. */
async function requireSize(log: TransparencyLog, { treeSize }: LogProof): Promise<void> {
  assert.equal(
    await log.size(),
    (await log.vkey()) === undefined ? 0 : treeSize,
    'what was appended is gone',
  );
}

/**
 * The wire format of a log, as data. Placeholders in an answer: `$index`, `$size`, `$root`, `$path`, `$checkpoint`,
 * with hashes in base64. `$rootHex` and `$pathHex` are the same in hexadecimal.
 */
export interface LogWire {
  /** `field` of a JSON body holds the entry in base64; absent: the body is the entry. */
  readonly append: { readonly path: string; readonly field?: string; readonly json: unknown };
  readonly size: { readonly path: string; readonly json: unknown };
  /** `$from` and `$to` in the path are placeholders for the sizes. */
  readonly consistency?: { readonly path: string; readonly json: unknown };
}

/** A log of one's own over HTTP, on the loopback. */
interface ServedLog extends AsyncDisposable {
  readonly port: number;
  readonly vkey: string;
}

/** Serves a real log, in files below `root`, the way that a plugin expects it. */
export async function serveLog(root: string, wire: LogWire): Promise<ServedLog> {
  const signer = toSigner(generateKey('ed25519'), false);
  const ledger = createInternalLedger({
    directory: join(root, 'log'),
    signer: async () => signer,
    memory: noMemory,
    clock: systemClock,
  });
  // Serialized, because lookup and append of an entry are two separate steps.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act);
    last = next.catch(() => {});
    return next;
  };
  const server: ServedModel = await serveModel(async (response, { path, body, bytes }) => {
    const sizes = sizesOf(wire, path);
    const asked =
      [wire.append, wire.size].find((question) => question.path === path) ?? (sizes && wire.consistency);
    if (asked === undefined) {
      response.writeHead(404).end();
      return;
    }
    const values = await inTurn(async () => {
      if (asked === wire.append) return append(ledger, entryOf(wire, body, bytes));
      return asked === wire.size || sizes === undefined
        ? { size: await ledger.size() }
        : grown(ledger, ...sizes);
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(filled(asked.json, values)));
  });
  return {
    port: server.port,
    vkey: await ledger.vkey(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The two sizes of a request for a consistency proof; `undefined` for any other request. */
function sizesOf({ consistency }: LogWire, path: string): readonly [number, number] | undefined {
  if (consistency === undefined) return undefined;
  const form = consistency.path
    .replace(/[.*+?^{}()|[\]\\]/g, '\\$&')
    .replace('$from', '(?<from>[0-9]{1,15})')
    .replace('$to', '(?<to>[0-9]{1,15})');
  const { from, to } = new RegExp(`^${form}$`).exec(path)?.groups ?? {};
  return from === undefined || to === undefined ? undefined : [Number(from), Number(to)];
}

async function grown(ledger: InternalLedger, from: number, to: number) {
  return hashed('path', (await ledger.consistency(from, to)).hashes);
}

/** Hashes under a name, and in hexadecimal under the name and `Hex`. */
function hashed(name: string, hashes: readonly Uint8Array[]) {
  const as = (encoding: 'base64' | 'hex') => hashes.map((hash) => Buffer.from(hash).toString(encoding));
  return { [name]: as('base64'), [`${name}Hex`]: as('hex') };
}

/** Appends an entry. The same bytes are stored once, however often they are submitted. */
async function append(ledger: InternalLedger, entry: Uint8Array) {
  const proof = await ledger.append(entry, { behind: 0 });
  const { logIndex: index, treeSize: size, checkpoint } = proof;
  const root = Buffer.from(proof.rootHash);
  return {
    index,
    size,
    checkpoint,
    root: root.toString('base64'),
    rootHex: root.toString('hex'),
    ...hashed('path', proof.hashes),
  };
}

function entryOf({ append: { field } }: LogWire, body: unknown, bytes: Uint8Array): Uint8Array {
  if (field === undefined) return bytes;
  return Buffer.from(String(Object(body)[field] ?? ''), 'base64');
}

/** The template with its names replaced. */
function filled(template: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') return template.startsWith('$') ? values[template.slice(1)] : template;
  if (Array.isArray(template)) return template.map((one) => filled(one, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, one]) => [key, filled(one, values)]));
}

/** What the parties of a seal are opened over. */
export interface SealingSubject {
  /** Makes an empty git repository with a work tree; answers its path. Called once per case. */
  readonly repository: () => Promise<string> | string;
  /** Lines of `[log]` in `.writ/config.toml`. */
  readonly log?: string;
  /** Who reads them, by the name of the log. A log that is tested reads them itself. */
  readonly logs?: Readonly<Record<string, LogForm>>;
  /** `provenance.transparencyLog.mode`; default `internal-ledger`. */
  readonly logMode?: string;
  /** Logs of plugins, by name. */
  readonly outsideLog?: NonNullable<SealingPlace['outsideLog']>;
  /** Further files of the policy commit, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** The configuration of a key. */
interface AskedKey {
  readonly signers: SignerForms;
  /** Lines of `[signer]`. */
  readonly signer?: string;
}

/** Parses `[signer]` and `[log]` into the form that a run passes on. Throws CONFIG_INVALID. */
export function readParties(
  { signers, signer = '' }: AskedKey,
  { log = '', logs = {} }: Pick<SealingSubject, 'log' | 'logs'> = {},
): SealingPlace['config'] {
  const bytes = Buffer.from(`[signer]\n${signer}\n[log]\n${log}\n`);
  const read = parseConfig(bytes, { signers, logs: new Map(Object.entries(logs)) });
  return { signer: read.signer, log: read.log };
}

/** Opens a sealing place over a private repository. */
export async function openSealingPlace(subject: SealingSubject, asked: AskedKey): Promise<SealingPlace> {
  const repository = await openRepository(await subject.repository());
  const files = new Map(Object.entries(subject.files ?? {}));
  return {
    repository,
    commonDir: repository.commonDir,
    logMode: subject.logMode ?? 'internal-ledger',
    config: readParties(asked, subject),
    ...(subject.outsideLog === undefined ? {} : { outsideLog: subject.outsideLog }),
    readPolicy: async (path) => {
      const found = files.get(path);
      return found === undefined ? undefined : Buffer.from(found);
    },
  };
}

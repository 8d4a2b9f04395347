/* Speaks to a shared ledger over HTTP: reads its static files, and appends with the token of a repository. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { HttpClient } from '../../core/base/net.ts';
import type { OutsideLog } from '../../core/interfaces/sealing.ts';
import type { Environment } from '../keys/user-config-dir.ts';
import { parseCheckpoint, parseTlogProof, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { parseVkey } from './note.ts';
import {
  cutTile,
  type LedgerFileReader,
  maxBundleBytes,
  proveConsistency,
  readSubtrees,
  tileWidth,
} from './tiles.ts';
import { type TlogPolicy, verifyByPolicy } from './witness-policy.ts';

/** By which a repository appends; in the environment or the vault, never in a tracked file. */
const tokenVariable = 'WRIT_LEDGER_TOKEN';

/** Finds the token in the environment, else by `vault`. LEDGER_TOKEN. */
export async function findToken(
  url: string,
  env: Environment,
  vault: (name: string) => Promise<string | undefined> | undefined,
): Promise<string> {
  const found = env[tokenVariable] || (await vault(tokenVariable));
  if (found) return found;
  throw new WritError('LEDGER_TOKEN', {
    message: `there is no token for \`${url}\`: \`${tokenVariable}\` is neither in the environment nor in the vault`,
  });
}

/** A checkpoint may need several rounds with the witnesses. */
const appendWithinMs = 120_000;
const readWithinMs = 30_000;
/** Before the second and later attempts. */
const pausesMs = [500, 2_000, 8_000];
/** As often as the server may say when to come back. */
const maxWaits = 60;
const maxProofBytes = 256 * 1024;
const maxMessage = 300;

/**
 * Reads the files of a log below a URL. A partial tile that is gone is cut from the full one (C2SP tlog-tiles).
 * NETWORK_FAILED for every answer but the file or 404.
 */
export function readFromUrl(url: string, http: HttpClient): LedgerFileReader {
  const read: LedgerFileReader = async (path) => {
    const { status, body } = await http({
      url: `${url.replace(/\/+$/, '')}/${path}`,
      method: 'GET',
      withinMs: readWithinMs,
      maxBytes: maxBundleBytes,
    });
    if (status === 200) return body;
    if (status === 404 || status === 410) return undefined;
    throw new WritError('NETWORK_FAILED', {
      message: `\`${new URL(url).host}\` answered ${status} for \`${path}\``,
      detail: { path, status },
    });
  };
  return async (path) => {
    const found = await read(path);
    const [, full = '', width] = /^(tile\/[^.]+)\.p\/([0-9]{1,3})$/.exec(path) ?? [];
    if (found !== undefined || width === undefined || Number(width) >= tileWidth) return found;
    const wider = await read(full);
    return wider && cutTile(wider, full.startsWith('tile/entries/'), Number(width));
  };
}

interface SharedLogOptions {
  readonly url: string;
  readonly vkey: string;
  readonly http: HttpClient;
  readonly token: () => Promise<string>;
  readonly clock: Clock;
  /** Witnesses whose quorum each checkpoint needs. */
  readonly policy?: TlogPolicy | undefined;
}

/** A shared ledger as a log of others: each answer is verified against its key. */
export function sharedLog({ url, vkey, http, token, clock, policy }: SharedLogOptions): Required<OutsideLog> {
  const read = readFromUrl(url, http);
  const key = parseVkey(vkey);

  async function head(): Promise<SignedCheckpoint | undefined> {
    const bytes = await read('checkpoint');
    return bytes && verifyCheckpoint(Buffer.from(bytes).toString('utf8'), [key]);
  }

  async function send(body: Uint8Array, behind: number): Promise<Buffer> {
    for (let attempt = 0, waits = 0; ; ) {
      try {
        return await sendOnce(body, behind);
      } catch (fault) {
        // The log knows an entry that it has: a second attempt cannot append it twice.
        if (!isPassing(fault)) throw fault;
        const waitMs = (isWritError(fault) && Number(fault.detail.retry_after) * 1000) || 0;
        if (waitMs === 0 ? attempt === pausesMs.length : waits++ === maxWaits) throw fault;
        await clock.sleep(waitMs || (pausesMs[attempt++] ?? 0));
      }
    }
  }

  async function sendOnce(body: Uint8Array, behind: number): Promise<Buffer> {
    const {
      status,
      headers,
      body: answer,
    } = await http({
      url: `${url.replace(/\/+$/, '')}/add?behind=${Math.max(0, behind)}`,
      method: 'POST',
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/octet-stream' },
      body,
      withinMs: appendWithinMs,
      maxBytes: maxProofBytes,
    });
    if (status !== 200) throw refusal(status, answer, headers['retry-after']);
    return answer;
  }

  return {
    async append(body, behind) {
      const answer = await send(body, behind);
      const { index, hashes, checkpoint } = parseTlogProof(answer);
      if (policy) verifyByPolicy(checkpoint, policy, [key]);
      const { size, root } = parseCheckpoint(checkpoint);
      return { logIndex: index, treeSize: size, rootHash: root, hashes, checkpoint };
    },
    size: async () => (await head())?.size ?? 0,
    async consistency(from, to) {
      const current = await head();
      if (current === undefined || current.size < to)
        throw new RangeError(`it shows ${current?.size ?? 0} entries, expected ${to}`);
      // Nodes of the larger tree are nodes of every tree that continues it.
      const subtree = readSubtrees(read, current.size);
      return { hashes: await proveConsistency(from, { size: to, root: current.root }, subtree) };
    },
  };
}

/** The server's own words, bounded: they are data of a third party. */
function refusal(status: number, answer: Buffer, retryAfter = ''): WritError {
  let said: { code?: unknown; message?: unknown } = {};
  try {
    said = Object(JSON.parse(answer.toString('utf8'))).error ?? {};
  } catch {
    // A proxy answers with a page of its own.
  }
  const code = typeof said.code === 'string' ? said.code.slice(0, 64) : 'no code';
  const text = typeof said.message === 'string' ? said.message : 'no reason given';
  return new WritError(status === 401 ? 'LEDGER_TOKEN' : 'LOG_FAILED', {
    message: `it answered ${status} (${code}): ${text.replace(/[^ -~]/g, '?').slice(0, maxMessage)}`,
    detail: {
      status,
      answered: code,
      ...(status === 429 && /^[1-9][0-9]?$/.test(retryAfter) && { retry_after: Number(retryAfter) }),
    },
  });
}

/** True for an answer that a later attempt may change: nothing was refused for good. */
function isPassing(fault: unknown): boolean {
  if (isWritError(fault, 'NETWORK_FAILED')) return true;
  return isWritError(fault, 'LOG_FAILED') && [429, 502, 503, 504, 507].includes(Number(fault.detail.status));
}

import { isWritError } from '../../core/base/errors.ts';
import { expectArray, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { cutFromWider } from '../log/cut-tile.ts';
import type { ProveGrowth } from '../log/hold-to-seen.ts';
import { proveConsistency } from '../log/ledger-proofs.ts';
import { emptyRoot } from '../log/merkle/hash.ts';
import { type LedgerFileReader, readSubtrees } from '../log/tile-reader.ts';
import { askLog, logFailed, type Patience } from './ask-log.ts';

/** 256 hashes. */
const maxTileBytes = 8192;
const maxProofBytes = 64 * 1024;
const maxNodes = 64;

/**
 * Consistency proofs of a Rekor v2 log, made here from its tiles (C2SP tlog-tiles below `/api/v2`): a partial tile that
 * is gone is cut from the full one. LOG_FAILED where a tile is not there.
 */
export function proveByTiles(url: string, patience: Patience, withinMs: number): ProveGrowth {
  const read: LedgerFileReader = async (path) => {
    const place = `${url}/api/v2/${path}`;
    const question = { url: place, method: 'GET', withinMs, maxBytes: maxTileBytes } as const;
    const { status, body } = await askLog(question, patience);
    if (status === 404) return undefined;
    if (status !== 200) throw logFailed(`it answered ${status} for a tile`, place);
    return body;
  };
  const nothingListed = async (): Promise<readonly string[]> => [];
  return async (from, to) => {
    const tiles: LedgerFileReader = async (path) =>
      (await read(path)) ?? (await cutFromWider(path, read, nothingListed));
    try {
      // Whether they lead to the root is for whoever asked; the size alone says which they are.
      return { hashes: await proveConsistency(from, { size: to, root: emptyRoot }, readSubtrees(tiles, to)) };
    } catch (cause) {
      if (!isWritError(cause, 'LEDGER_CORRUPT')) throw cause;
      throw logFailed(`\`${cause.detail.path}\` is no tile of ${to} entries`, url, cause);
    }
  };
}

/** Consistency proofs of a Rekor v1 log, which makes them; `origin` names the tree. LOG_FAILED. */
export function proveByRekorV1(
  url: string,
  origin: string | undefined,
  patience: Patience,
  withinMs: number,
): ProveGrowth {
  const tree = / - ([0-9]{1,20})$/.exec(origin ?? '')?.[1];
  return async (from, to) => {
    const asked = `firstSize=${from}&lastSize=${to}${tree === undefined ? '' : `&treeID=${tree}`}`;
    const place = `${url}/api/v1/log/proof?${asked}`;
    const headers = { accept: 'application/json' };
    const question = { url: place, method: 'GET', headers, withinMs, maxBytes: maxProofBytes } as const;
    const { status, body } = await askLog(question, patience);
    if (status !== 200) throw logFailed(`it answered ${status} for a consistency proof`, place);
    const nodes = expectArray(parseJsonObject(body, maxProofBytes).hashes ?? [], '/hashes', maxNodes);
    return {
      hashes: nodes.map((node, n) => Buffer.from(expectText(node, `/hashes/${n}`, /^[0-9a-f]{64}$/), 'hex')),
    };
  };
}

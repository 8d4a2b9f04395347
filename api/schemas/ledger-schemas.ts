import type { JsonData } from '../json-data.ts';
import { count, list, record, sha256, text } from './shape.ts';

/** Shapes of `data` of the `ledger` commands. */
export const ledgerShapes: Readonly<Record<string, JsonData>> = {
  'ledger show': record({
    origin: text,
    vkey: text,
    size: count,
    root_hash: sha256,
    checkpoint: text,
    signatures: list(record({ name: text, key_hint: { type: 'string', pattern: '^[0-9a-f]{8}$' } })),
    directory: text,
  }),
  'ledger prove': record(
    {
      origin: text,
      index: count,
      size: count,
      root_hash: sha256,
      hashes: list(sha256),
      entry_sha256: sha256,
      entry_bytes: count,
      proof: text,
    },
    { path: text },
  ),
  'ledger consistency': record({
    origin: text,
    from: count,
    to: count,
    from_root: sha256,
    to_root: sha256,
    hashes: list(sha256),
    size: count,
    remembered: list(count),
  }),
  'ledger audit': record({
    origin: text,
    vkey: text,
    entries: count,
    root_hash: sha256,
    cosigned_by: list(text),
    continues_from: { anyOf: [count, { type: 'null' }] },
    directory: text,
  }),
  'ledger export-trusted-root': record(
    { origin: text, log_id: sha256, trusted_root: { type: 'object' } },
    { path: text },
  ),
  'ledger serve': record({ origin: text, url: text, directory: text, requests: count }),
};

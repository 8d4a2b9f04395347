import type { JsonData } from '../json-data.ts';
import { count, flag, integer, list, moment, oneOf, record, sha256, text } from './shape.ts';

const subjects = list(record({ name: text, digest: { type: 'object', additionalProperties: text } }));
const name = { type: ['string', 'null'] } as const;

const kind = oneOf('certificate-authority', 'certificate-log', 'transparency-log', 'time-stamp-authority');

/** Shapes of `data` of the `attest` and `trust` commands. */
export const attestShapes: Readonly<Record<string, JsonData>> = {
  'trust update': record({
    path: text,
    before: { anyOf: [sha256, { type: 'null' }] },
    after: sha256,
    written: flag,
    newest: {
      anyOf: [record({ kind, name: text, sha256, valid_from: moment, age_days: integer }), { type: 'null' }],
    },
    services: list(
      record(
        {
          change: oneOf('added', 'removed', 'ended', 'extended', 'changed', 'kept'),
          kind,
          name: text,
          sha256,
          valid_from: moment,
        },
        {
          chain_sha256: sha256,
          valid_until: moment,
          before: record({ valid_from: moment }, { chain_sha256: sha256, valid_until: moment }),
        },
      ),
    ),
    ended: list(kind),
  }),
  'attest sign': record(
    { key_id: sha256, predicate_type: text, subjects },
    { bundle: { type: 'object' }, path: text },
  ),
  'attest show': record({
    path: text,
    verified: { const: false },
    attestations: list(
      record(
        { kind: { enum: ['evidence', 'attestation', 'log-proof'] }, sha256 },
        {
          line: { type: 'integer', minimum: 1 },
          file: text,
          media_type: text,
          signer: { anyOf: [record({ key_id: text }), record({ identity: name, issuer: name })] },
          logged: list(
            record({ index: { type: ['integer', 'null'] } }, { kind: text, origin: text, size: count }),
          ),
          payload_type: text,
          predicate_type: text,
          subjects,
          predicate: { type: 'object' },
          signed_digest: text,
          run_id: text,
          commit_sha: text,
          files: count,
          content_files: count,
          problem: text,
        },
      ),
    ),
  }),
};

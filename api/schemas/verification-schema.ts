/* The JSON Schema of the result of `writ verify`. */
import { sensitiveClasses } from '../../core/interfaces/privacy.ts';
import { type Admitted, anything, count, flag, list, oneOf, record, sha256, text } from './shape.ts';

/** A plugin of others as a provenance lists it. */
export const attestedPlugin = record({
  name: text,
  uri: text,
  sha256,
  brings: list(text),
  given: list(text),
});

/** Calls of a model as a provenance names them. */
export const modelWork = record(
  {
    provider: text,
    model: text,
    endpoint: text,
    agent: text,
    tools: list(text),
    instructions: list(record({ path: text, sha256 }, { cut: flag })),
    data_classes: list(oneOf('public', ...sensitiveClasses)),
    form: oneOf('http', 'turn'),
    exchanges: list(record({ question: sha256 }, { answer: sha256 })),
  },
  {
    profile: record({ name: text, tier: oneOf('project', 'user', 'embedded'), sha256 }),
    program: record({ name: text, sha256, recipe: text }, { version: text }),
    replayed: flag,
    claimed: flag,
    logs: list(sha256),
    omitted: count,
  },
);

const claimStatus = oneOf('passed', 'failed', 'missing', 'expired', 'unverified');
const claim = record({ id: text, status: claimStatus }, { code: text, detail: anything, target: text });

/** A claim and what it rests on (`--explain`). */
const explained = record(
  {
    claim: text,
    status: claimStatus,
    says: text,
    evidence: list(record({ name: text, sha256 })),
    rule: text,
  },
  {
    code: text,
    signer: {
      anyOf: [
        record({ key_id: sha256, anchor: oneOf('given', 'pinned', 'own') }),
        record({ identity: text, issuer: text }),
      ],
    },
    log: record({ origin: text, index: count, size: count }),
  },
);

/** What was verified, as JSON. */
export const verificationSchema = record(
  {
    verified: flag,
    checks: list(claim),
    expected: count,
    ran: count,
    targets: list(
      record(
        { target: text, kind: oneOf('run', 'evidence', 'attestation', 'log-proof'), verified: flag },
        { run_id: text, commit_sha: text, plugins: list(attestedPlugin), models: list(modelWork) },
      ),
    ),
  },
  {
    explain: list(record({ target: text, claims: list(explained) })),
    ranges: list(record({ range: text, commits: count, verified_commits: count, verified: flag })),
    skipped: list(record({ target: text, code: oneOf('wrong-subject', 'wrong-type'), found: list(text) })),
    warnings: list(record({ target: text, code: text, message: text })),
  },
);
export type VerificationData = Admitted<typeof verificationSchema>;

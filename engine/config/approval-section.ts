import type { TableReader } from './table-reader.ts';

/** `[approval]`: how an answer to a question of a session is remembered. */
export interface ApprovalConfig {
  /** How long a granted approval is used again for the same command; 0: never. */
  readonly ttlSeconds: number;
}

/** A day: whoever wants more asks for the whole session. */
export const maxApprovalTtlSeconds = 86_400;

/** Reads `[approval]` (document 2, Options: `--approval-ttl`). */
export function readApprovalSection(reader: TableReader): ApprovalConfig {
  const ttlSeconds = reader.integer('ttl_seconds', 300, 0, maxApprovalTtlSeconds);
  reader.end();
  return { ttlSeconds };
}

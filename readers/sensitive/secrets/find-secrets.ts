import type { Attempt, ReachLetter } from './attempts.ts';
import { isCutAt, joinedRows } from './cut-literals.ts';
import { passwordsByName } from './passwords-by-name.ts';
import type { SecretMatch } from './secret-match.ts';
import { maxSecretBytes } from './secret-patterns.ts';
import { findSecretHeads } from './secret-places.ts';
import { attemptsOf, rowAt, rowOf } from './secret-rows.ts';
import { startLine } from './secret-tables.gen.ts';

const certainty = { assigned: 0, context: 1, token: 2 };

/** Short anchors that need something before them are tried where a text begins, too. */
let madeAtStart: readonly Attempt[] | undefined;

/**
 * Every known token, private key and assigned secret in bytes, in order of start; matches may overlap. Linear: each
 * form is tried only where its anchor stands and reads at most `maxSecretBytes`. Tokens and keys are found behind one
 * layer of an encoding, and tokens that are cut over literals that stand next to each other. The path of a file may say
 * that it holds passwords (`.netrc`).
 */
export function findSecrets(bytes: Uint8Array, text = latin1Of(bytes), path = ''): readonly SecretMatch[] {
  const places: number[] = [];
  findSecretHeads(bytes, 0, bytes.length, (at) => {
    places.push(at);
    return false;
  });
  return secretsAt(text, places, path);
}

/** The same where it is known at which places one of `secretHeads` is. */
export function secretsAt(text: string, places: readonly number[], path = ''): readonly SecretMatch[] {
  const found = [...passwordsByName(path, text)];
  found.push(...atStart().flatMap((attempt) => attempt(text, 0) ?? []));
  let hasJoint = false;
  for (const at of places) {
    const row = rowAt(text, at);
    if (row === undefined) continue;
    hasJoint ||= row.isJoint;
    for (const attempt of row.attempts) {
      const match = attempt(text, at);
      if (match) found.push(match);
    }
  }
  if (hasJoint) found.push(...cutSecrets(text));
  return found.sort((a, b) => a.start - b.start || b.end - a.end || certainty[b.kind] - certainty[a.kind]);
}

function atStart(): readonly Attempt[] {
  madeAtStart ??= attemptsOf(startLine);
  return madeAtStart;
}

/** Whether a secret may begin at an anchor; looks at a few kilobytes of text at most. */
export function isSecretAt(text: string, at: number): boolean {
  const row = rowAt(text, at);
  if (row === undefined) return false;
  if (succeeds(row.starting, text, at) || succeeds(row.attempts, text, at)) return true;
  return row.isJoint && isCutAt(text, at);
}

function succeeds(attempts: readonly Attempt[], text: string, at: number): boolean {
  for (const attempt of attempts) if (attempt(text, at) !== undefined) return true;
  return false;
}

/** How far around an anchor `isSecretAt` reads, at most; characters. */
export interface Reach {
  readonly before: number;
  readonly behind: number;
}

const reaches: Readonly<Record<ReachLetter, Reach>> = {
  // A name with its value, and the pieces that meet at a joint.
  n: { before: 128, behind: 1024 },
  f: { before: 2048, behind: 8 * 1024 },
  l: { before: 2048, behind: maxSecretBytes },
};

/** The reach of an anchor whose first four bytes make that number, little end first. */
export function reachOf(head: number): Reach {
  return reaches[rowOf(head)?.reach ?? 'f'];
}

/** Tokens that reach over a joint of literals. */
function cutSecrets(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  for (const row of joinedRows(text)) {
    if (row.text.length < 20) continue;
    const { text: joined, joints } = row;
    for (let at = 0; at + 4 <= joined.length; at += 1) {
      for (const attempt of rowAt(joined, at)?.attempts ?? []) {
        const match = attempt(joined, at);
        if (match?.kind !== 'token' || match.wrapped) continue;
        if (!joints.some((joint) => joint > match.start && joint < match.end)) continue;
        const value = joined.slice(match.start, match.end);
        found.push({ ...match, start: row.at(match.start), end: row.at(match.end), value, wrapped: 'cut' });
      }
    }
    for (const attempt of atStart()) {
      const match = attempt(joined, 0);
      if (match?.kind !== 'token' || !joints.some((joint) => joint < match.end)) continue;
      const value = joined.slice(match.start, match.end);
      found.push({ ...match, start: row.at(match.start), end: row.at(match.end), value, wrapped: 'cut' });
    }
  }
  return found;
}

function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

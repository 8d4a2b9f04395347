import { anything, fields, mapOf, oneOf, sha256Text, text, time, wholeNumber } from './shape.ts';

/** Where artifact content is kept (architecture, Data): `key` is `<ref>:<path>` in store `git-native`. */
export const artifactRef = fields(
  { store: text, key: text, sha256: sha256Text, sizeBytes: wholeNumber, contentType: text },
  { expiresAt: time },
);

/** One thing that a check or a rule found. */
export const finding = fields(
  { rule: text, severity: oneOf('error', 'warning', 'note'), message: text },
  { path: text, line: wholeNumber, column: wholeNumber, detail: mapOf(anything) },
);

/** `evidence.trustTiers` of document 1, and how far its text may be believed. */
export const trustTier = oneOf('repo', 'vendor-doc', 'standards', 'web', 'user-provided');
export const trust = oneOf('trusted', 'untrusted');

import { type HouseRule, perFile } from './rule-kinds.ts';

/** Where tokens come in that somebody sends. */
const doors = /^(?:http|service|session\/(?:api|audit|mcp|state))\//;
/** A token, or what it is known by, held against something that is neither absence nor a word of ours. */
const compared =
  /[tT]oken(?:Digest)?\s*[!=]==?(?!=|\s*(?:undefined\b|'))|[!=]==?\s+[\w.?]*[tT]oken(?:Digest)?\b/;

/** Files that compare what they made themselves, and why nobody learns anything of it. */
const own: Readonly<Record<string, string>> = {
  'session/api/write-door.ts':
    'tokens that were made here, and the lease of a write that was admitted already',
  'session/api/event-streams.ts': 'the lease of one state with that of the next',
};

/** How long a comparison takes says nothing of a token (resolutions, Controllers). */
export const tokenRule: HouseRule = perFile(
  'tokens are compared in constant time',
  (path) => doors.test(path) && own[path] === undefined,
  ({ code }) => (compared.test(code) ? ['compares a token itself: `matchesToken`, `equalSecret`'] : []),
);

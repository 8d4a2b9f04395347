/* Secrets and security words in the text of a spec, and the spec of a scan. */
import { compileGlob } from '../core/base/glob.ts';
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import { applyDefaults } from './document-schema.ts';
import { draftFromProfile } from './profile.ts';

/** The spec that applies to a scan without one: high risk, a bugfix, the whole repository in scope. */
export function scanSpec(): EffectiveIntentSpec {
  const draft = draftFromProfile({
    risk: 'high',
    id: 'writ-scan',
    createdAt: '1970-01-01T00:00:00Z',
    createdBy: { type: 'system', id: 'writ-scan' },
    repo: { type: 'local', locator: '/' },
    baseRef: 'HEAD',
    summary: 'A scan without a contract',
    changeType: 'bugfix',
  });
  const { verificationPlan } = draft.acceptance;
  return applyDefaults({
    ...draft,
    intent: { ...draft.intent, inScope: ['the whole repository'] },
    // A scan runs no checks: it evaluates only the text.
    acceptance: { ...draft.acceptance, verificationPlan: { ...verificationPlan, fastChecks: [] } },
  });
}

/** Words that mark security code in paths, names and prose. A trailing `*` matches any ending. */
export const securityWords: readonly string[] = [
  'secur*',
  'insecur*',
  'auth',
  'authn',
  'authz',
  'authenticat*',
  'authori*',
  'oauth*',
  'oidc',
  'saml',
  'sso',
  'mfa',
  'totp',
  'login*',
  'signin',
  'password*',
  'passwd',
  'passphrase*',
  'credential*',
  'secret*',
  'token*',
  'jwt*',
  'session*',
  'cookie*',
  'crypto*',
  'cipher*',
  'encrypt*',
  'decrypt*',
  'hmac',
  'tls',
  'ssl',
  'certificate*',
  'keystore*',
  'keyring*',
  'vault*',
  'acl',
  'acls',
  'rbac',
  'permission*',
  'privilege*',
  'sandbox*',
  'sanitiz*',
  'sanitis*',
  'csrf',
  'xss',
  'cors',
  'injection*',
  'vulnerab*',
  'signature*',
];

/** The first security word of a path, a name or a sentence; `camelCase` and `snake_case` count as words apart. */
export function findSecurityWord(text: string, words: readonly string[]): string | undefined {
  const exact = new Set(words.filter((word) => !word.endsWith('*')));
  const stems = words.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1));
  const spoken =
    text
      .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return spoken.find((word) => exact.has(word) || stems.some((stem) => word.startsWith(stem)));
}

/** What a repository counts as security code: globs over paths, and words of `findSecurityWord`. */
export interface SecurityCode {
  readonly paths: readonly string[];
  readonly words: readonly string[];
}

/** Paths of prose. */
export const prosePaths = /\.(?:md|rst|adoc)$/i;

/** The first of these paths that is security code: by a glob, or by a word in it unless it is prose. */
export function findSecurityPath(
  paths: readonly string[],
  { paths: patterns, words }: SecurityCode,
): string | undefined {
  const globs = patterns.map((pattern) => compileGlob(pattern));
  return paths.find(
    (path) =>
      globs.some((glob) => glob.matches(path)) ||
      (!prosePaths.test(path) && findSecurityWord(path, words) !== undefined),
  );
}

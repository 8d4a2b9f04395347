/* Semantic rules on versions, names, text and repository. */
import { appendPointer } from '../../core/base/json-pointer.ts';
import { quoted } from '../../core/base/printable.ts';
import { error, type Issue, warning } from '../../core/interfaces/finding.ts';
import type { IntentSpec, TargetRepo } from '../../core/interfaces/intentspec.gen.ts';
import { spdxIdText } from '../../core/interfaces/spdx-ids.gen.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../facts.ts';
import { templateWords as template } from '../profile.ts';

/** The version of the schema in this release. */
const known = [1, 0, 0] as const;

/**
 * Warns of a document with a newer schema version: it may hold content that this engine does not know. Unknown
 * properties are refused anyway.
 */
export function schemaVersion(spec: Partly<IntentSpec>): readonly Issue[] {
  const text = spec.lifecycle?.schemaVersion;
  const version = text
    ?.match(/^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/)
    ?.slice(1)
    .map(Number);
  if (!version) return [];
  const differing = version.findIndex((part, at) => part !== known[at]);
  if (differing === -1 || (version[differing] ?? 0) < (known[differing] ?? 0)) return [];
  return [
    warning(
      'SEMANTIC_SCHEMA_VERSION',
      '/lifecycle/schemaVersion',
      `expected at most \`${known.join('.')}\`, found \`${text}\`; it is read as \`${known.join('.')}\``,
    ),
  ];
}

const vendorKey = /^[A-Za-z0-9][A-Za-z0-9.-]*\/[^/]+$/;

/** Extension keys should be of the form `<vendor>/<key>`. */
export function extensionKeys(spec: Partly<IntentSpec>): readonly Issue[] {
  return Object.keys(spec.extensions ?? {})
    .filter((key) => !vendorKey.test(key))
    .map((key) =>
      warning(
        'SEMANTIC_EXTENSION_KEY',
        appendPointer('/extensions', key),
        `expected a key of the form \`<vendor>/<key>\`, found ${quoted(key)}`,
      ),
    );
}

const control = /[\p{Cc}\u2028\u2029]/u;

/**
 * Ids, names, labels and the summary end up in titles, refs, prompts and terminals: they hold no control characters or
 * line breaks.
 */
export function controlCharacters(spec: Partly<IntentSpec>): readonly Issue[] {
  const { createdBy, target } = spec.metadata ?? {};
  const named: readonly (readonly [string, string | undefined])[] = [
    ['/metadata/id', spec.metadata?.id],
    ['/metadata/createdBy/id', createdBy?.id],
    ['/metadata/target/workspaceId', target?.workspaceId],
    ...Object.entries(target?.labels ?? {}).map(
      ([key, value]) => [appendPointer('/metadata/target/labels', key), `${key} ${value}`] as const,
    ),
    ['/intent/summary', spec.intent?.summary],
    ...checksOf(spec).map(({ path, check }) => [`${path}/id`, check.id] as const),
  ];
  return named
    .filter(([, text]) => text !== undefined && control.test(text))
    .map(([path]) =>
      error('SEMANTIC_CONTROL_CHARACTER', path, 'expected one line of text, found a control character'),
    );
}

/**
 * Finds placeholder texts of `writ spec new` where only a person knows the right words. In a draft they are a
 * warning. In any other status they are an error, because no one can have agreed to them.
 */
export function templateWords(spec: Partly<IntentSpec>): readonly Issue[] {
  const { intent, acceptance, risk, lifecycle } = spec;
  const places: readonly (readonly [path: string, said: unknown, words: string])[] = [
    ['/intent/summary', intent?.summary, template.summary],
    ['/intent/problemStatement', intent?.problemStatement, template.problemStatement],
    ...each('/intent/objectives', intent?.objectives, template.objective),
    ...each('/intent/inScope', intent?.inScope, template.inScope),
    ...each('/acceptance/successCriteria', acceptance?.successCriteria, template.successCriterion),
    ['/risk/rationale', risk?.rationale, template.rationale],
  ];
  const toIssue = lifecycle?.status === 'draft' ? warning : error;
  return places
    .filter(([, said, words]) => said === words)
    .map(([path]) =>
      toIssue('SEMANTIC_TEMPLATE_WORDS', path, 'expected words of your own, found those of the template'),
    );
}

function each(
  path: string,
  said: readonly unknown[] | undefined,
  words: string,
): readonly (readonly [path: string, said: unknown, words: string])[] {
  return (said ?? []).map((one, index) => [`${path}/${index}`, one, words] as const);
}

/** A custom license (SPDX 2.3, annex D). It is on no list but is unambiguous, so it is accepted as written. */
const licenseRef = /^LicenseRef-[A-Za-z0-9.-]+$/i;

/**
 * Every SPDX id is on the SPDX list, deprecated ones included, or is a `LicenseRef-`. Ids compare without case (SPDX
 * 2.3, annex D.2).
 */
export function spdxIds(spec: Partly<IntentSpec>): readonly Issue[] {
  const allowed = spec.constraints?.licensing?.allowedSpdx ?? [];
  if (allowed.length === 0) return [];
  const known = new Set(spdxIdText.toLowerCase().split(' '));
  return allowed.flatMap((id, index) => {
    if (id === undefined || known.has(id.toLowerCase()) || licenseRef.test(id)) return [];
    return [
      error(
        'SEMANTIC_SPDX_ID',
        `/constraints/licensing/allowedSpdx/${index}`,
        `expected an SPDX license identifier, found ${quoted(id)}`,
      ),
    ];
  });
}

const form = /^refs\/(?:ai|x-[A-Za-z0-9][A-Za-z0-9-]{0,62})\/(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\/){0,8}$/;

/** aiRefPrefix is below `refs/ai/` or `refs/x-…/` and ends in `/`, so it never overlaps branches or tags. */
export function aiRefPrefix(spec: Partly<IntentSpec>): readonly Issue[] {
  const prefix = spec.objmodel?.objectStore?.aiRefPrefix;
  if (prefix === undefined || form.test(prefix)) return [];
  return [
    error(
      'SEMANTIC_AI_REF_PREFIX',
      '/objmodel/objectStore/aiRefPrefix',
      `expected \`refs/ai/\` or \`refs/x-…/\`, or a folder under them ending in \`/\`, found ${quoted(prefix)}`,
    ),
  ];
}

const schemes: ReadonlySet<string> = new Set([
  'https:',
  'http:',
  'ssh:',
  'git:',
  'git+ssh:',
  'git+https:',
  'file:',
]);
const scpForm = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!\/\/)[^\s:][^\s]*$/;
const unprintable = /[\p{Cc}\u2028\u2029]/u;

const forms: Readonly<
  Record<TargetRepo['type'], { readonly expected: string; readonly holds: (locator: string) => boolean }>
> = {
  git: { expected: 'a remote URL without a password', holds: isRemoteUrl },
  monorepo: { expected: 'a path of the form `//path/to/pkg`', holds: isMonorepoPath },
  local: { expected: 'an absolute path', holds: isAbsolutePath },
};

/** The locator has the form that its repo type requires. */
export function locatorForm(spec: Partly<IntentSpec>): readonly Issue[] {
  const { type, locator } = spec.metadata?.target?.repo ?? {};
  if (type === undefined || locator === undefined) return [];
  const { expected, holds } = forms[type];
  if (holds(locator) && !unprintable.test(locator)) return [];
  // A URL that failed may hold a password: it is not repeated.
  const found = type === 'git' ? 'something else' : quoted(locator);
  return [
    error(
      'SEMANTIC_LOCATOR_FORM',
      '/metadata/target/repo/locator',
      `expected ${expected} for a ${type} repository, found ${found}`,
    ),
  ];
}

function isRemoteUrl(locator: string): boolean {
  if (!URL.canParse(locator)) return scpForm.test(locator);
  const url = new URL(locator);
  if (!schemes.has(url.protocol)) return scpForm.test(locator);
  return (
    url.password === '' &&
    url.pathname.length > 1 &&
    (url.protocol === 'file:' || url.hostname !== '') &&
    !/\s/.test(locator)
  );
}

function isMonorepoPath(locator: string): boolean {
  const segments = locator.slice(2).split('/');
  if (segments.at(-1) === '' && segments.length > 1) segments.pop();
  return (
    locator.startsWith('//') &&
    !locator.includes('\\') &&
    segments.every((segment) => !['', '.', '..'].includes(segment))
  );
}

function isAbsolutePath(locator: string): boolean {
  const segments = locator.split(/[/\\]/);
  const rooted = (locator.startsWith('/') && !locator.startsWith('//')) || /^[A-Za-z]:[/\\]/.test(locator);
  return rooted && !segments.includes('..');
}

const forbidden = /[\p{Cc}\s~^:?*[\\\u2028\u2029]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|^[-/.]|[/.]$|^@$/u;

/**
 * baseRef is a branch, tag or full commit SHA: a name that `git check-ref-format` accepts, never an option or
 * expression.
 */
export function baseRefForm(spec: Partly<IntentSpec>): readonly Issue[] {
  const baseRef = spec.metadata?.target?.baseRef;
  if (baseRef === undefined || !forbidden.test(baseRef)) return [];
  return [
    error(
      'SEMANTIC_BASE_REF',
      '/metadata/target/baseRef',
      `expected a branch, a tag or a full commit SHA, found ${quoted(baseRef)}`,
    ),
  ];
}

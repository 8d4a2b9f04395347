import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec, TargetRepo } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

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

/** The locator has the form that its repo type demands (document 1, Metadata). */
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

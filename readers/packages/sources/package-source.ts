/* One setting that selects a package source, in comparable form. */
import { sha256Hex } from '../../../core/base/canonical.ts';
import { numberedLines } from '../content.ts';
import { cleanUrl } from '../locked-package.ts';

/** One setting of a file that selects a package source, or a check of the packages from it. */
export interface PackageSource {
  /** Which choice: `registry`, `@scope:registry`, `extra-index-url`. Equal keys may come more than once. */
  readonly key: string;
  /** What is chosen, free of credentials; equal for equal choices. */
  readonly value: string;
  readonly line?: number;
  readonly isDefault?: boolean;
  /** `added`: only its coming counts, since it loosens. `lost`: only its going, since it guards. Absent: both. */
  readonly counts?: 'added' | 'lost';
}

const maxShown = 300;

/**
 * A place as it may be shown and compared: no credentials, query or fragment, one form for addresses that are equal.
 */
export function shownPlace(text: string): string {
  const bare = text.trim();
  const isAddress = /^[a-z][\w+.-]*:/i.test(bare) || /^[\w.-]+@[\w.-]+:/.test(bare);
  const url =
    isAddress && /:\/\/|^(?:git@|github:|gitlab:|bitbucket:|gist:)/i.test(bare) ? cleanUrl(bare) : '';
  const masked = url === '' ? withoutSecrets(bare) : url;
  return masked.replace(/\/+$/, '').slice(0, maxShown);
}

/** For text that is not a single address, removes everything in the position of credentials. */
function withoutSecrets(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\/\/[^/\s'"]*@/g, '//')
    .replace(/(:\/\/[^\s'"?#]*)[?#][^\s'"]*/g, '$1');
}

const defaults: ReadonlySet<string> = new Set(
  [
    'registry.npmjs.org',
    'registry.yarnpkg.com',
    'pypi.org/simple',
    'pypi.python.org/simple',
    'repo1.maven.org/maven2',
    'repo.maven.apache.org/maven2',
    'rubygems.org',
    'repo.packagist.org',
    'packagist.org',
    'index.crates.io',
    'github.com/rust-lang/crates.io-index',
    'services.gradle.org/distributions',
  ].map((place) => `https://${place}`),
);
const defaultNames: ReadonlySet<string> = new Set(['mavenCentral()', 'gradlePluginPortal()', 'rubygems']);

export function isDefaultPlace(value: string): boolean {
  return defaults.has(value) || defaultNames.has(value);
}

/**
 * Short digest of code that declares a source in a form that is not parsed: equal for equal code, ignoring white
 * space.
 */
export function digestOf(code: string): string {
  return sha256Hex(code.replace(/\s+/g, '')).slice(0, 12);
}

/** One `key = value` of an ini file, with continuation lines joined by spaces. */
interface IniEntry {
  readonly section: string;
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/**
 * Returns the entries of an ini file, in order. `python` parses as configparser does: `:` also separates, indented
 * lines continue, and quotes are characters. `npm` parses as npm does: quotes are removed, a key alone is `true`, and
 * `[]` makes lists. In both, a single carriage return ends a line.
 */
export function iniEntries(text: string, dialect: 'python' | 'npm'): readonly IniEntry[] {
  const entries: { section: string; key: string; value: string; line: number }[] = [];
  let section = '';
  for (const [number, raw] of numberedLines(text, /\r\n|\r|\n/)) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const last = entries.at(-1);
    if (dialect === 'python' && /^\s/.test(raw) && last) {
      // A longer value is not a list of sources.
      if (last.value.length < 65_536) last.value = `${last.value}\n${line}`;
      continue;
    }
    const head = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (head !== undefined) {
      section = head.trim().toLowerCase();
      continue;
    }
    const at = line.search(dialect === 'python' ? /[=:]/ : /=/);
    const [key, value] = at === -1 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)];
    if (dialect === 'python') entries.push({ section, key: fold(key), value: value.trim(), line: number });
    else
      entries.push({
        section,
        key: fold(unquoted(key).replace(/\[\]$/, '')),
        value: unquoted(value),
        line: number,
      });
  }
  return entries;
}

/** Keys are compared as pip and npm's own variables are: without case, with dashes. */
function fold(key: string): string {
  return key.trim().toLowerCase().replace(/^--/, '').replace(/_/g, '-');
}

function unquoted(text: string): string {
  const bare = text.trim();
  const quote = bare[0];
  if (bare.length > 1 && (quote === '"' || quote === "'") && bare.endsWith(quote))
    return bare.slice(1, -1).trim();
  return bare.replace(/(?<!\\)[;#].*$/, '').trim();
}

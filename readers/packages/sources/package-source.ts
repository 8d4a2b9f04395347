import { sha256Hex } from '../../../core/base/digest.ts';
import { isTable, tableOf } from '../content.ts';
import { cleanUrl } from '../origin.ts';
import type { ReadingBuilder } from '../reading.ts';

/** One choice of a file about where packages are taken from, or about a check of what is taken. */
export interface PackageSource {
  /** Which choice: `registry`, `@scope:registry`, `extra-index-url`. Equal keys may come more than once. */
  readonly key: string;
  /** What is chosen, free of credentials; equal for equal choices. */
  readonly value: string;
  readonly line?: number;
  /** The place that the tool takes by itself. */
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

/** What cannot be parsed as one address loses everything that stands where credentials stand. */
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

/** True for a public registry that a tool takes packages from where it is told nothing. */
export function isDefaultPlace(value: string): boolean {
  return defaults.has(value) || defaultNames.has(value);
}

/** Values of a switch that turn a check off, and that turn one on which is off by default. */
export interface CheckFlag {
  readonly loose?: readonly string[];
  readonly strict?: readonly string[];
}

/** Guards where it is on, loosens where it is off. */
export const eitherWay: CheckFlag = {
  loose: ['false', 'no', 'off', '0', 'null'],
  strict: ['true', 'yes', 'on', '1'],
};
export const onByDefault: CheckFlag = { loose: eitherWay.loose ?? [] };
export const offByDefault: CheckFlag = { strict: eitherWay.strict ?? [] };
/** Harmless unless turned on. */
export const looseWhenOn: CheckFlag = { loose: ['true', 'yes', 'on', '1', 'all'] };

/** States a switch where it loosens or guards; a value that is a variable may be either, so it always counts. */
export function stateFlag(
  reading: ReadingBuilder,
  key: string,
  value: unknown,
  { loose = [], strict = [] }: CheckFlag,
  line?: number,
): void {
  if (value === undefined || value === null || typeof value === 'object') return;
  const text = String(value).trim().toLowerCase();
  if (loose.includes(text)) reading.source(key, text, { line, counts: 'added' });
  else if (strict.includes(text)) reading.source(key, text, { line, counts: 'lost' });
  else if (text.includes('$')) reading.source(key, text, { line });
}

/** Short digest of code that says a place in a way that is not read: equal for equal code however it is spaced. */
export function digestOf(code: string): string {
  return sha256Hex(code.replace(/\s+/g, '')).slice(0, 12);
}

/** `place` always counts, `added` if it comes, `lost` if it goes; a switch counts where it loosens or guards. */
export type Setting = 'place' | 'added' | 'lost' | CheckFlag;

/**
 * States settings of a parsed document by their path, `a.b.c`. `*` is every key of a table, or every item of a list (or
 * a value alone), which shares the key of the list. A table in place of a value counts by its `url` or `path`.
 */
export function readSettings(
  reading: ReadingBuilder,
  root: unknown,
  settings: Readonly<Record<string, Setting>>,
  prefix = '',
): void {
  for (const [path, setting] of Object.entries(settings))
    readSetting(reading, root, path.split('.'), prefix, setting);
}

function readSetting(
  reading: ReadingBuilder,
  value: unknown,
  [step, ...rest]: readonly string[],
  key: string,
  setting: Setting,
): void {
  const below = (name: string): string => (key === '' ? name : `${key}.${name}`);
  if (step === undefined) {
    if (typeof setting === 'object') stateFlag(reading, key, value, setting);
    else
      reading.source(key, isTable(value) ? (value.url ?? value.path) : value, {
        counts: setting === 'place' ? undefined : setting,
      });
  } else if (step !== '*') readSetting(reading, tableOf(value)[step], rest, below(step), setting);
  else if (isTable(value))
    for (const [name, inner] of Object.entries(value))
      readSetting(reading, inner, rest, below(name), setting);
  else
    for (const item of Array.isArray(value) ? value : [value]) readSetting(reading, item, rest, key, setting);
}

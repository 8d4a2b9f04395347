import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ProviderCase } from '../../plugins/testers/provider-tester.ts';

/** How a provider is opened for the cases in its folder: `fixtures/providers/<folder>/provider.json`. */
export interface CaseSetting {
  readonly provider: string;
  readonly model: string;
  readonly key?: string;
  /** Whether the address of the server counts as another base than the vendor's. */
  readonly isOtherBase: boolean;
  readonly flags?: Readonly<Record<string, string>>;
}

/** Parts of a body by JSON pointer, with nothing more and nothing less in them; `null` for what must not be there. */
export type Exactly = Readonly<Record<string, unknown>>;

/** One recorded answer and what has to come of it; its name is that of its file. */
export interface WireCase extends Omit<ProviderCase, 'wire' | 'expect'> {
  readonly says: string;
  readonly flags?: Readonly<Record<string, string>>;
  /** Path, headers and body that the question must have, as far as they are named. */
  readonly wire?: ProviderCase['wire'] & {
    readonly headers?: Readonly<Record<string, string>>;
    /** Top-level fields that the body must not have. */
    readonly without?: readonly string[];
    readonly exactly?: Exactly;
  };
  /** What the next question must hold: this reply, its tool results, its state as it came. */
  readonly next?: unknown;
  readonly nextExactly?: Exactly;
  /** The same where the reply was given to another model. */
  readonly nextElsewhere?: unknown;
  readonly nextElsewhereExactly?: Exactly;
  readonly expect: ProviderCase['expect'] & {
    readonly notices?: number;
    /** It is refused before anything is asked (PROVIDER_OPTION), in words that hold these. */
    readonly option?: readonly string[];
  };
}

/** Cases that every folder has. Cut, stalled and broken connections are made out of `text`. */
export const neededCases = [
  'text',
  'parallel-calls',
  'reasoning',
  'empty',
  'refusal',
  'key-refused',
  'no-credit',
  'forbidden',
  'unknown-model',
  'too-large',
  'rate-limited',
  'rate-limited-with-wait',
  'server-error',
  'error-in-the-middle',
];

const fixtures = resolve(import.meta.dirname, '../../fixtures/providers');

/** Folders of cases. */
export const caseFolders = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export function readSetting(folder: string): CaseSetting {
  return JSON.parse(readFileSync(join(fixtures, folder, 'provider.json'), 'utf8')) as CaseSetting;
}

export function readCases(folder: string): readonly WireCase[] {
  return readdirSync(join(fixtures, folder))
    .filter((file) => file.endsWith('.json') && file !== 'provider.json')
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(fixtures, folder, file), 'utf8')) as Omit<WireCase, 'name'>),
      name: file.slice(0, -'.json'.length),
    }));
}

import type { HouseFile } from './house.ts';
import { isWritten, roomOf } from './rooms.ts';
import type { HouseRule } from './rule-kinds.ts';

/** Rooms that pick from slots and name no tenant of any. */
const nameless = ['core', 'spec', 'workspace', 'store', 'engine'];
/** Where tenants are brought in. */
const added = /\bslots?(?:\.[a-z]+)?\s*\.add(?:Lazy)?\(\s*'([^']+)'/g;
/** Picked by a name that stands in the code, or asked by its name what it is. */
const byLiteral = /\.pick\(\s*'|\bsandbox(?:\.name)?\s*[!=]==\s*'/;

/** Names of tenants that are said all the same: below `within` they are more than that. */
export interface SaidNames {
  readonly names: readonly string[];
  /** Beginning of the path. */
  readonly within: string;
  readonly why: string;
}

/** Why a name is no choice where it is said. None whose name is gone may stay. */
export const saidNames: readonly SaidNames[] = [
  {
    names: ['none'],
    within: '',
    why: 'networks, levels of regression, log modes and protocols of git are called so, too; a sandbox is asked whether it confines',
  },
  {
    names: ['patchset', 'sbom', 'sca-report', 'release-notes', 'git-native', 'external-local', 'external-s3'],
    within: 'spec/',
    why: 'values of the contract, by its own rows and rules',
  },
  {
    names: ['repo-first', 'pinned-official', 'open-web'],
    within: 'spec/',
    why: 'values of the contract, by its rows',
  },
  { names: ['internal-ledger', 'public-log'], within: 'spec/', why: 'values of the contract as well' },
  {
    names: ['patchset'],
    within: 'engine/',
    why: 'an artifact that the contract names and the engine makes itself, and a type of object',
  },
  {
    names: ['patchset', 'internal-ledger', 'git-native', 'external-s3'],
    within: 'engine/upkeep/',
    why: 'what a record of a run says of itself: types of objects, its log, where its artifacts lie',
  },
];

/** Which implementation fills a slot is for configuration and contract to say (architecture, Extension). */
export const slotNamesRule: HouseRule = {
  name: 'core and engine name no tenant of a slot',
  check({ files }) {
    const names = tenantsOf(files);
    const readers = files.filter(({ path }) => nameless.includes(roomOf(path)) && isWritten(path));
    return {
      matched: names.length,
      violations: readers.flatMap((file) => [
        ...namesIn(file, names).map((name) => `${file.path} says \`${name}\``),
        ...(byLiteral.test(file.text) ? [`${file.path} picks by a name in the code`] : []),
      ]),
    };
  },
};

/** Names under which implementations are brought in. */
export function tenantsOf(files: readonly HouseFile[]): readonly string[] {
  const bringing = files.filter(({ path }) => ['plugins', 'gates', 'attest'].includes(roomOf(path)));
  return [...new Set(bringing.flatMap(({ text }) => [...text.matchAll(added)].map(([, name = '']) => name)))];
}

/** Names that no exception covers; comments say names in backticks. */
function namesIn({ path, text }: HouseFile, names: readonly string[]): readonly string[] {
  return names.filter(
    (name) => text.includes(`'${name}'`) && !saidNames.some((one) => covers(one, path, name)),
  );
}

function covers({ names, within }: SaidNames, path: string, name: string): boolean {
  return names.includes(name) && path.startsWith(within);
}

/** Exceptions that cover nothing any more. */
export function staleNames(files: readonly HouseFile[]): readonly string[] {
  return saidNames.flatMap(({ names, within }) =>
    names
      .filter((name) => {
        const below = files.filter(({ path }) => nameless.includes(roomOf(path)) && path.startsWith(within));
        return !below.some(({ text }) => text.includes(`'${name}'`));
      })
      .map((name) => `${within}: \`${name}\``),
  );
}

import { type Guard, within } from './guard.ts';

const vault = 'test/bin/commands/vault.test.ts';
const keys = 'test/coder/vault-keys.test.ts';
const scoped = 'test/engine/run/scoped-secrets.test.ts';
const refused = 'a scope that gives nothing';
const evidence = 'a check is given the secrets of the allowed scopes';
const hostile = 'a vault that cannot be trusted is refused';

/** Secrets: who may read them, what is believed of a vault, and where their values never stand. */
export const guards: readonly Guard[] = [
  ...within('api/vault/vault.ts', vault, [
    ['no link to a vault', 'guarded(place, findDirectory) === undefined', 'place === undefined', hostile],
    ['only its owner reads it', 'readGuarded(place.file, true)', 'readGuarded(place.file, false)', hostile],
    ['an old vault has its old identity', 'if (identity === undefined) throw', 'if (false) throw', hostile],
    ['one writer at a time', "'vault.lock'", 'String(process.pid)', 'of processes that set secrets at once'],
    ['git sees nothing of it', "'*\\n'", "''", 'a secret is set, listed'],
    ['no more than can be read again', 'Buffer.byteLength(text) > maxVaultBytes', 'false', 'what is no name'],
  ]),
  ...within('api/vault/vault-text.ts', vault, [
    ['names in a vault are names', '!isSecretName(name)', 'false', hostile],
    [
      'values in a vault are values',
      "typeof value !== 'string' || whyNoSecret(value) !== undefined",
      "typeof value !== 'string'",
      hostile,
    ],
  ]),
  ...within('api/vault/vault-identity.ts', vault, [
    ['only its owner reads the identity', 'readGuarded(path, true)', 'readGuarded(path, false)', hostile],
  ]),
  ...within('api/vault/secret-name.ts', vault, [
    ['no name of every object', '!(name in {})', 'true', 'what is no name'],
  ]),
  ...within('providers/key-places.ts', keys, [
    [
      'the order of places',
      "'env-file', 'repo-vault', 'global-vault'",
      "'global-vault', 'repo-vault', 'env-file'",
      'a key is that of',
    ],
  ]),
  ...within('engine/run/record/mask-values.ts', keys, [
    [
      'coded forms of a value',
      '.slice(1, -1), ...codedForms(Buffer.from(value))]',
      '.slice(1, -1)]',
      'no prompt and no recording',
    ],
  ]),
  ...within('bin/command-parts/reach-provider.ts', keys, [
    ['values of vaults are known', '    ...(await vaults.values()),\n', '', 'no prompt and no recording'],
    ['addresses are no secrets', 'isSetting(name) ? [] : [value]', '[value]', 'no prompt and no recording'],
  ]),
  ...within('engine/run/state/run-secrets.ts', scoped, [
    ['nothing under deny-all', "if (secrets.policy === 'deny-all')", 'if (false)', 'under deny-all'],
    ['a scope gives something', 'if (found.size === 0)', 'if (false)', refused],
    ['no secret is called PATH', 'if (isOwnVariable(name))', 'if (false)', refused],
    ['a secret can be masked', 'if (value.length < leastLength)', 'if (false)', refused],
    ['known values are secrets', "'secrets' as const", '', evidence],
    ['what checks are not given is masked too', ', ...((await source?.known()) ?? [])', '', evidence],
  ]),
  ...within('engine/run/state/attempt-policy.ts', scoped, [
    ['what a run knows is masked', '...secrets.values,', '', evidence],
  ]),
];

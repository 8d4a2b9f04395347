/* Reads the settings files of npm, pnpm, yarn and Bun. */
import { entriesOf, listOf, type Table, tableOf } from '../content.ts';
import type { ReadingBuilder } from '../reading.ts';
import {
  eitherWay,
  looseWhenOn,
  offByDefault,
  onByDefault,
  readSettings,
  type Setting,
  stateSetting,
} from '../reading.ts';
import { iniEntries } from '../sources/package-source.ts';
import { readOverrides, readPnpmSettings } from './package-json.ts';
import { wordsOf } from './yarn-lock.ts';

/** Settings of npm, pnpm and yarn 1 that name a place or a program, in npm's spelling. */
const places =
  'registry ca cafile proxy http-proxy https-proxy git script-shell node-options globalconfig userconfig onload-script ' +
  'pnpmfile global-pnpmfile node-mirror use-node-version replace-registry-host yarn-path yarn-offline-mirror';
const settings: ReadonlyMap<string, Setting> = new Map(
  (
    [
      [places, 'place'],
      ['strict-ssl package-lock shrinkwrap lockfile verify-store-integrity', onByDefault],
      ['ignore-scripts ignore-pnpmfile', offByDefault],
      ['dangerously-allow-all-builds unsafe-disable-integrity-migration', looseWhenOn],
      ['frozen-lockfile strict-dep-builds block-exotic-subdeps', eitherWay],
      ['minimum-release-age min-release-age before', 'lost'],
    ] as const
  ).flatMap(([keys, setting]) => keys.split(' ').map((key) => [key, setting])),
);

function readSetting(reading: ReadingBuilder, key: string, value: string, line: number | undefined): void {
  const setting = /^@[^/]+:registry$/.test(key) ? 'place' : settings.get(key);
  if (setting !== undefined) stateSetting(reading, key, value, setting, line);
}

/**
 * .npmrc: registries of scopes and the default one, and switches that turn checks off. Of equal keys the last counts.
 */
export function readNpmrc(text: string, reading: ReadingBuilder): void {
  const last = new Map<string, { readonly value: string; readonly line: number }>();
  for (const { section, key, value, line } of iniEntries(text, 'npm'))
    if (section === '') last.set(key, { value, line });
  for (const [key, { value, line }] of last) readSetting(reading, key, value, line);
}

/** .yarnrc of yarn 1: a key and a value, quoted or not; `--command.option` sets an option of one command. */
export function readYarnrc(text: string, reading: ReadingBuilder): void {
  for (const [at, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const words = wordsOf(line.replace(/^("[^"]*"|\S+?):\s+/, '$1 '));
    const [key = '', value = 'true'] = words?.list ?? [];
    if (words === undefined) reading.problem(`line ${at + 1} cannot be understood`);
    else readSetting(reading, key.toLowerCase().replace(/^--(?:[\w*]+\.)?/, ''), value, at + 1);
  }
}

export function readYarnrcYml(root: Table, reading: ReadingBuilder): void {
  readSettings(reading, root, {
    npmRegistryServer: 'place',
    yarnPath: 'place',
    httpProxy: 'place',
    httpsProxy: 'place',
    httpsCaFilePath: 'place',
    caFilePath: 'place',
    lockfileFilename: 'place',
    pnpDataPath: 'place',
    checksumBehavior: { loose: ['ignore', 'update', 'reset'] },
    enableStrictSsl: onByDefault,
    enableImmutableInstalls: eitherWay,
    enableHardenedMode: eitherWay,
    enableScripts: { strict: ['false'] },
    'npmScopes.*.npmRegistryServer': 'place',
    'networkSettings.*.httpProxy': 'place',
    'networkSettings.*.httpsProxy': 'place',
    'networkSettings.*.httpsCaFilePath': 'place',
    'networkSettings.*.caFilePath': 'place',
    'unsafeHttpWhitelist.*': 'added',
    'npmPreapprovedPackages.*': 'added',
    npmMinimalAgeGate: 'lost',
    'packageExtensions.*.dependencies.*': 'place',
  });
  for (const plugin of listOf(root.plugins)) {
    const { path, spec } = tableOf(plugin);
    const named = [path, spec].filter((part) => typeof part === 'string').join(' ');
    reading.source('plugins', typeof plugin === 'string' ? plugin : named);
  }
}

export function readBunfig(root: Table, reading: ReadingBuilder): void {
  const { scopes, ...install } = tableOf(root.install);
  const bare = entriesOf(scopes).map(([scope, value]) => [scope.replace(/^@/, ''), value] as const);
  readSettings(
    reading,
    { ...install, scopes: Object.fromEntries(bare) },
    {
      registry: 'place',
      'scopes.*': 'place',
      ca: 'place',
      cafile: 'place',
      'lockfile.save': onByDefault,
      frozenLockfile: offByDefault,
      ignoreScripts: offByDefault,
      minimumReleaseAge: 'lost',
      'security.scanner': 'place',
    },
    'install',
  );
}

/** pnpm-workspace.yaml: what it replaces (overrides, catalogues), patches, builds, and pnpm's settings. */
export function readPnpmWorkspace(root: Table, reading: ReadingBuilder): void {
  const lines = reading.lines();
  readOverrides(root.overrides, 'overrides', reading, lines);
  readOverrides(root.catalog, 'catalog', reading, lines);
  for (const [name, value] of entriesOf(root.catalogs))
    readOverrides(value, `catalogs.${name}`, reading, lines);
  for (const [scope, value] of entriesOf(root.registries))
    reading.source(scope === 'default' ? 'registry' : `${scope}:registry`, value);
  readSettings(reading, root, { 'namedRegistries.*': 'place' });
  readPnpmSettings(root, '', reading);
  for (const [key, value] of Object.entries(root))
    if (typeof value === 'string')
      readSetting(
        reading,
        key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
        value,
        undefined,
      );
}

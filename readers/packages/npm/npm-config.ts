import { entriesOf, isTable, listOf, type Table, tableOf, tomlContent } from '../content.ts';
import { LineFinder } from '../line-finder.ts';
import type { ReadingBuilder } from '../reading.ts';
import { type CheckFlag, looseWhenOn, offByDefault, onByDefault, stateFlag } from '../sources/check-flag.ts';
import { iniEntries } from '../sources/ini.ts';
import { yamlContent } from '../yaml.ts';
import { readExtensions, readList, readPnpmSettings } from './npm-settings.ts';
import { readOverrides } from './package-json.ts';
import { wordsOf } from './yarn-lock.ts';

/** Settings of npm, pnpm and yarn 1 that name a place or a program, in npm's spelling. */
const places: ReadonlySet<string> = new Set([
  'registry',
  'ca',
  'cafile',
  'proxy',
  'http-proxy',
  'https-proxy',
  'git',
  'script-shell',
  'node-options',
  'globalconfig',
  'userconfig',
  'onload-script',
  'pnpmfile',
  'global-pnpmfile',
  'node-mirror',
  'use-node-version',
  'replace-registry-host',
  'yarn-path',
  'yarn-offline-mirror',
]);
const flags: Readonly<Record<string, CheckFlag>> = {
  'strict-ssl': onByDefault,
  'package-lock': onByDefault,
  shrinkwrap: onByDefault,
  lockfile: onByDefault,
  'verify-store-integrity': onByDefault,
  'ignore-scripts': offByDefault,
  'ignore-pnpmfile': offByDefault,
  'engine-strict': {},
  'dangerously-allow-all-builds': looseWhenOn,
  'unsafe-disable-integrity-migration': looseWhenOn,
  'frozen-lockfile': { ...onByDefault, ...offByDefault },
  'strict-dep-builds': { ...onByDefault, ...offByDefault },
  'block-exotic-subdeps': { ...onByDefault, ...offByDefault },
};

function readSetting(reading: ReadingBuilder, key: string, value: string, line: number | undefined): void {
  const flag = Object.hasOwn(flags, key) ? flags[key] : undefined;
  if (flag) stateFlag(reading, key, value, flag, line);
  else if (places.has(key) || /^@[^/]+:registry$/.test(key)) reading.source(key, value, { line });
  else if (key === 'minimum-release-age' || key === 'min-release-age' || key === 'before')
    reading.source(key, value, { line, counts: 'lost' });
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
  let number = 0;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    number += 1;
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const words = wordsOf(line.replace(/^("[^"]*"|\S+?):\s+/, '$1 '));
    const [key = '', value = 'true'] = words?.list ?? [];
    if (words === undefined) reading.problem(`line ${number} cannot be understood`);
    else readSetting(reading, key.toLowerCase().replace(/^--(?:[\w*]+\.)?/, ''), value, number);
  }
}

const berryPlaces = [
  'npmRegistryServer',
  'yarnPath',
  'httpProxy',
  'httpsProxy',
  'httpsCaFilePath',
  'caFilePath',
  'lockfileFilename',
  'pnpDataPath',
] as const;
const berryFlags: Readonly<Record<string, CheckFlag>> = {
  checksumBehavior: { loose: ['ignore', 'update', 'reset'] },
  enableStrictSsl: onByDefault,
  enableImmutableInstalls: { ...onByDefault, ...offByDefault },
  enableHardenedMode: { ...onByDefault, ...offByDefault },
  enableScripts: { strict: ['false'] },
};

/** .yarnrc.yml of yarn 2 and later. */
export function readYarnrcYml(text: string, reading: ReadingBuilder): void {
  const root = yamlRoot(text, reading);
  if (root === undefined) return;
  for (const key of berryPlaces) reading.source(key, root[key]);
  for (const [key, flag] of Object.entries(berryFlags)) stateFlag(reading, key, root[key], flag);
  for (const [scope, value] of entriesOf(root.npmScopes))
    reading.source(`npmScopes.${scope}.npmRegistryServer`, tableOf(value).npmRegistryServer);
  for (const plugin of listOf(root.plugins)) {
    const { path, spec } = tableOf(plugin);
    reading.source('plugins', typeof plugin === 'string' ? plugin : [path, spec].filter(isText).join(' '));
  }
  for (const [host, value] of entriesOf(root.networkSettings))
    for (const key of ['httpProxy', 'httpsProxy', 'httpsCaFilePath', 'caFilePath'])
      reading.source(`networkSettings.${host}.${key}`, tableOf(value)[key]);
  readList(reading, root, 'unsafeHttpWhitelist');
  readList(reading, root, 'npmPreapprovedPackages');
  reading.source('npmMinimalAgeGate', root.npmMinimalAgeGate, { counts: 'lost' });
  readExtensions(reading, root.packageExtensions, 'packageExtensions');
}

/** bunfig.toml. */
export function readBunfig(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const install = tableOf(content.value.install);
  const place = (value: unknown): unknown => (isTable(value) ? value.url : value);
  reading.source('install.registry', place(install.registry));
  for (const [scope, value] of entriesOf(install.scopes))
    reading.source(`install.scopes.${scope.replace(/^@/, '')}`, place(value));
  for (const key of ['ca', 'cafile']) reading.source(`install.${key}`, install[key]);
  stateFlag(reading, 'install.lockfile.save', tableOf(install.lockfile).save, onByDefault);
  stateFlag(reading, 'install.frozenLockfile', install.frozenLockfile, offByDefault);
  stateFlag(reading, 'install.ignoreScripts', install.ignoreScripts, offByDefault);
  reading.source('install.minimumReleaseAge', install.minimumReleaseAge, { counts: 'lost' });
  reading.source('install.security.scanner', tableOf(install.security).scanner);
}

/** pnpm-workspace.yaml: what it replaces (overrides, catalogues), patches, builds, and pnpm's settings. */
export function readPnpmWorkspace(text: string, reading: ReadingBuilder): void {
  const root = yamlRoot(text, reading);
  if (root === undefined) return;
  const lines = new LineFinder(text);
  readOverrides(root.overrides, 'overrides', undefined, reading, lines, 0);
  readOverrides(root.catalog, 'catalog', undefined, reading, lines, 0);
  for (const [name, value] of entriesOf(root.catalogs))
    readOverrides(value, `catalogs.${name}`, undefined, reading, lines, 0);
  for (const [scope, value] of entriesOf(root.registries))
    reading.source(scope === 'default' ? 'registry' : `${scope}:registry`, value);
  for (const [name, value] of entriesOf(root.namedRegistries))
    reading.source(`namedRegistries.${name}`, value);
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

function yamlRoot(text: string, reading: ReadingBuilder): Table | undefined {
  if (!/^[^#\s-]/m.test(text)) return undefined;
  const content = yamlContent(text);
  if (!('reason' in content)) return content.value;
  reading.problem(content.reason);
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

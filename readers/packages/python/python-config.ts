/* Reads Python settings files, `setup.cfg` and conda environments. */
import { entriesOf, isTable, listOf, type Table, tableOf, textOf } from '../content.ts';
import type { ReadingBuilder } from '../reading.ts';
import { looseWhenOn, offByDefault, onByDefault, readSettings, stateSetting } from '../reading.ts';
import { iniEntries } from '../sources/package-source.ts';
import { indexOptions, parseRequirement, pythonName, readRequirements } from './requirements.ts';

/** pip.conf and pip.ini. Sections do not matter: `[install]` overrides `[global]`, and either is used. */
export function readPipConf(text: string, reading: ReadingBuilder): void {
  for (const { key, value, line } of iniEntries(text, 'python')) {
    if (indexOptions.has(key) || /^(?:proxy|cert|constraint|pypi-url)$/.test(key))
      placesIn(reading, key === 'pypi-url' ? 'index-url' : key, value, line);
    else if (key === 'require-hashes') stateSetting(reading, key, value, offByDefault, line);
  }
}

/** Each place of a list apart by white space. */
function placesIn(reading: ReadingBuilder, key: string, value: string, line: number): void {
  for (const place of value.split(/\s+/)) if (place !== '') reading.source(key, place, { line });
}

/**
 * Reads uv.toml, or `[tool.uv]` of pyproject.toml with the same fields: indexes, sources of packages, overrides and
 * switches.
 */
export function readUvSettings(uv: Table, reading: ReadingBuilder): void {
  for (const table of listOf(uv.index).map(tableOf)) indexSource(reading, 'index', table);
  for (const settings of [uv, tableOf(uv.pip)]) {
    reading.source('index-url', settings['default-index']);
    reading.source('no-index', settings['no-index'] || undefined);
    readSettings(reading, settings, {
      'index-url': 'place',
      'extra-index-url.*': 'place',
      'find-links.*': 'place',
      'require-hashes': offByDefault,
      'verify-hashes': onByDefault,
      'index-strategy': 'place',
      'exclude-newer': 'lost',
    });
    for (const host of listOf(settings['allow-insecure-host'])) reading.source('trusted-host', host);
  }
  readSettings(reading, uv, { 'python-install-mirror': 'place', 'pypy-install-mirror': 'place' });
  for (const item of listOf(uv['override-dependencies'])) {
    const requirement = parseRequirement(textOf(item));
    if (requirement === undefined)
      reading.problem('an entry of `override-dependencies` cannot be understood');
    else if (requirement.source !== 'registry')
      reading.declare({
        ...requirement,
        scope: 'unknown',
        field: 'override-dependencies',
        isOverride: true,
        needNotBeLocked: true,
      });
  }
  for (const [name, value] of entriesOf(uv.sources))
    for (const one of (Array.isArray(value) ? value.slice(0, 50) : [value]).map(tableOf)) {
      const path = /^(?:\.\.|\/|~|[A-Za-z]:)/.test(textOf(one.path)) ? one.path : undefined;
      reading.source(`sources.${pythonName(name)}`, one.index ?? one.git ?? one.url ?? path);
    }
}

/** One table of an index with its name, which other tables refer to. */
export function indexSource(reading: ReadingBuilder, key: string, table: Table): void {
  const url = textOf(table.url);
  if (url === '') return;
  const name = textOf(table.name);
  const priority = table.default === true || table.priority === 'primary' ? '' : textOf(table.priority);
  const marks = `${priority}${table.explicit === true ? ' explicit' : ''}`.trim();
  reading.source(name === '' ? key : `${key} ${name}`, url);
  if (marks !== '' && name !== '') reading.source(`${key} ${name} priority`, marks);
  stateSetting(reading, `${key} ${name} verify_ssl`, table.verify_ssl, onByDefault);
}

const setupFields: ReadonlySet<string> = new Set(['install-requires', 'setup-requires', 'tests-require']);

/** setup.cfg: requirements of setuptools, `dependency_links`, and the indexes of easy_install. */
export function readSetupCfg(text: string, reading: ReadingBuilder): void {
  for (const { section, key, value, line } of iniEntries(text, 'python')) {
    const isList = value.includes('\n');
    const isRequirements =
      (section === 'options' && setupFields.has(key)) || section === 'options.extras_require';
    if (isRequirements) {
      const file = /^file:(.*)$/s.exec(value.trim())?.[1];
      if (file !== undefined) reading.includes.push(...file.split(/[\s,]+/).filter((name) => name !== ''));
      // On one line, `;` separates them, the character that also starts a marker; on several lines, each has its own.
      else
        for (const [at, one] of value.split(isList ? '\n' : ';').entries())
          if (one.trim() !== '') declareSetup(one, key, isList ? line + at : line, reading);
    } else if (
      (section === 'options' && key === 'dependency-links') ||
      (/^easy[-_]install$/.test(section) && indexOptions.has(key))
    )
      placesIn(reading, key, value, line);
  }
}

export function declareSetup(text: string, field: string, line: number, reading: ReadingBuilder): void {
  const requirement = parseRequirement(text);
  if (requirement === undefined)
    reading.problem(`line ${line} names a requirement that cannot be understood`);
  else
    reading.declare({
      ...requirement,
      scope:
        field === 'install-requires' ? 'runtime' : field === 'extras-require' ? 'optional' : 'development',
      field,
      line,
      needNotBeLocked: true,
    });
}

/**
 * Reads environment.yml of conda: its channels, its packages, which no lockfile here covers, and the PyPI
 * requirements in its `pip` part.
 */
export function readCondaEnvironment(root: Table, reading: ReadingBuilder): void {
  for (const channel of listOf(root.channels)) reading.source('channels', channel);
  for (const item of listOf(root.dependencies)) {
    if (isTable(item)) {
      readRequirements(listOf(item.pip).map(textOf).join('\n'), reading, false);
      continue;
    }
    const [, channel, name] = /^(?:([^\s:]+)::)?([\w.-]+)/.exec(textOf(item)) ?? [];
    if (name === undefined) reading.problem('an entry of `dependencies` cannot be understood');
    else {
      reading.source('dependencies', name.toLowerCase(), { counts: 'added' });
      reading.source(`channel of ${name.toLowerCase()}`, channel);
    }
  }
}

/** Reads `[[tool.poetry.source]]`, `[[tool.pdm.source]]`, and the sources that pyproject.toml sets for other tools. */
export function readProjectSources(tool: Table, reading: ReadingBuilder): void {
  const pdm = tableOf(tool.pdm);
  for (const list of [tableOf(tool.poetry).source, pdm.source, tableOf(tool.rye).sources])
    for (const table of listOf(list).map(tableOf)) indexSource(reading, 'source', table);
  for (const [name, value] of entriesOf(tableOf(pdm.resolution).overrides))
    if (typeof value === 'string' && value.includes('://'))
      reading.source(`overrides.${pythonName(name)}`, value);
  readUvSettings(tableOf(tool.uv), reading);
  readSettings(reading, tool, { 'hatch.metadata.allow-direct-references': looseWhenOn });
}

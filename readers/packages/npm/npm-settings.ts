import { entriesOf, isTable, listOf, type Table, tableOf } from '../content.ts';
import type { ReadingBuilder } from '../reading.ts';
import { looseWhenOn, stateFlag } from '../sources/check-flag.ts';

/** What pnpm takes from `pnpm` in package.json as well as from its workspace file. */
export function readPnpmSettings(settings: Table, prefix: string, reading: ReadingBuilder): void {
  for (const [name, value] of entriesOf(settings.patchedDependencies))
    reading.source(`${prefix}patchedDependencies.${name}`, value);
  for (const [name, value] of entriesOf(settings.configDependencies))
    reading.source(
      `${prefix}configDependencies.${name}`,
      isTable(value) ? (value.tarball ?? 'registry') : 'registry',
    );
  for (const [name, value] of entriesOf(settings.allowBuilds))
    stateFlag(reading, `${prefix}allowBuilds.${name}`, value, looseWhenOn);
  readList(reading, settings, 'onlyBuiltDependencies', prefix);
  readExtensions(reading, settings.packageExtensions, `${prefix}packageExtensions`);
}

/** A list whose members may do more than others; a member that is gone may do less. */
export function readList(reading: ReadingBuilder, table: Table, key: string, prefix = ''): void {
  for (const item of listOf(table[key])) reading.source(`${prefix}${key}`, item, { counts: 'added' });
}

/** Dependencies that are added to packages of others. */
export function readExtensions(reading: ReadingBuilder, value: unknown, field: string): void {
  for (const [target, extension] of entriesOf(value))
    for (const [name, spec] of entriesOf(tableOf(extension).dependencies))
      reading.source(`${field}.${target}.${name}`, spec);
}

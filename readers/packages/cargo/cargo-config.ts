import { entriesOf, isTable, listOf, tableOf, tomlContent } from '../content.ts';
import type { ReadingBuilder } from '../reading.ts';
import { onByDefault, stateFlag } from '../sources/check-flag.ts';
import { declareTable } from './cargo.ts';

const placesOfSource = [
  'registry',
  'replace-with',
  'directory',
  'local-registry',
  'git',
  'branch',
  'tag',
  'rev',
];

/** `.cargo/config.toml` (and `config`): registries, source replacement, patches, path overrides, proxies. */
export function readCargoConfig(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const root = content.value;
  for (const key of ['default', 'index']) reading.source(`registry.${key}`, tableOf(root.registry)[key]);
  for (const [name, value] of entriesOf(root.registries))
    reading.source(`registries.${name}.index`, tableOf(value).index);
  for (const [name, value] of entriesOf(root.source))
    for (const key of placesOfSource) reading.source(`source.${name}.${key}`, tableOf(value)[key]);
  for (const [registry, table] of entriesOf(root.patch))
    declareTable(table, `patch.${registry}`, 'unknown', text, reading, true);
  for (const path of listOf(root.paths)) reading.source('paths', path);
  for (const item of Array.isArray(root.include) ? root.include : [root.include])
    reading.source('include', isTable(item) ? item.path : item);
  const http = tableOf(root.http);
  for (const key of ['proxy', 'cainfo']) reading.source(`http.${key}`, http[key]);
  stateFlag(reading, 'http.check-revoke', http['check-revoke'], onByDefault);
}

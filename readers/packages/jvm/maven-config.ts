import type { ReadingBuilder } from '../reading.ts';
import { openXml } from './open-xml.ts';

const maxDepth = 100;
const maxNodes = 100_000;

/** One element that holds no other, with the names of those around it. */
interface Leaf {
  readonly path: readonly string[];
  readonly value: string;
  readonly line: number;
  /** Counts the elements opened before its parent: equal for leaves of one parent. */
  readonly parent: number;
}

/** settings.xml: mirrors, repositories of profiles, proxies. A file of that name with another root says nothing. */
export function readMavenSettings(text: string, reading: ReadingBuilder): void {
  const leaves = leavesOf(text);
  if (typeof leaves === 'string') {
    if (/<settings[\s>]/.test(text)) reading.problem(leaves);
    return;
  }
  if (leaves[0]?.path[0] !== 'settings') return;
  const mirrored = new Map<number, string>();
  for (const { path, value, parent } of leaves) if (path.at(-1) === 'mirrorOf') mirrored.set(parent, value);
  for (const { path, value, line, parent } of leaves) {
    const above = path.at(-2);
    if (path.at(-1) === 'url' && above === 'mirror')
      reading.source(`mirror of ${mirrored.get(parent) ?? ''}`, value, { line });
    else if (path.at(-1) === 'url' && (above === 'repository' || above === 'pluginRepository'))
      reading.source(path.at(-3) ?? above, value, { line });
    else if (path.at(-1) === 'host' && above === 'proxy') reading.source('proxy', value, { line });
  }
}

/** `.mvn/extensions.xml`: programs that Maven loads before it builds. */
export function readMavenExtensions(text: string, reading: ReadingBuilder): void {
  const leaves = leavesOf(text);
  if (typeof leaves === 'string') {
    reading.problem(leaves);
    return;
  }
  const byParent = new Map<number, Map<string, Leaf>>();
  for (const leaf of leaves)
    if (leaf.path.at(-2) === 'extension')
      byParent.set(leaf.parent, (byParent.get(leaf.parent) ?? new Map()).set(leaf.path.at(-1) ?? '', leaf));
  for (const fields of byParent.values()) {
    const text = (key: string): string => fields.get(key)?.value ?? '';
    const name = `${text('groupId')}:${text('artifactId')}`;
    if (/^:|:$|\$/.test(name)) reading.problem('it names an extension whose coordinates it does not say');
    else
      reading.declare({
        key: name,
        name,
        requirement: text('version'),
        scope: 'development',
        field: 'extension',
        source: 'registry',
        needNotBeLocked: true,
        ...lineOf(fields.get('artifactId')?.line),
        ...(/^[\w.-]+$/.test(text('version')) ? { version: text('version') } : {}),
      });
  }
}

function lineOf(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

/** `.mvn/maven.config` and `.mvn/jvm.config`: options of every call that choose settings, repositories or checks. */
export function readMavenOptions(text: string, reading: ReadingBuilder): void {
  const words = text.split(/\s+/).map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
  for (const [at, word] of words.entries()) {
    const next = words[at + 1] ?? '';
    const property =
      /^-D((?:maven\.(?:repo|wagon|resolver|artifact)|aether|settings|https?\.proxy|javax\.net\.ssl)[\w.]*)=?(.*)$/s.exec(
        word,
      );
    const joined = /^(-s|-gs|--settings|--global-settings)=?(.*)$/s.exec(word);
    if (property) reading.source(property[1] ?? '', property[2] || 'true');
    else if (joined) reading.source(joined[1] ?? '', joined[2] || next);
    else if (word === '-c' || word === '--lax-checksums')
      reading.source('lax-checksums', 'true', { counts: 'added' });
    else if (word === '-C' || word === '--strict-checksums')
      reading.source('strict-checksums', 'true', { counts: 'lost' });
  }
}

/**
 * gradle.properties, and the properties of the Gradle and Maven wrappers: where the build tool itself comes from, and
 * what names an address of a repository. Another version from the same place is no other source.
 */
export function readJavaProperties(text: string, reading: ReadingBuilder): void {
  for (const { key, value, line } of propertiesOf(text)) {
    if (/^(?:distributionSha256Sum|wrapperSha256Sum)$/.test(key))
      reading.source(key, 'set', { line, counts: 'lost' });
    else if (/^(?:distributionUrl|wrapperUrl)$/.test(key))
      reading.source(key, withoutVersion(value), { line });
    else if (key === 'validateDistributionUrl' && value === 'false')
      reading.source(key, value, { line, counts: 'added' });
    else if (/^systemProp\.https?\.proxyHost$|^systemProp\.javax\.net\.ssl/.test(key))
      reading.source(key, value, { line });
    else if (
      value.includes('://') &&
      /repo|registry|mirror|maven|nexus|artifactory|plugin/i.test(key) &&
      !/^POM_/.test(key)
    )
      reading.source(key, value, { line });
  }
}

/** The directory of a distribution, with version numbers taken out. */
function withoutVersion(url: string): string {
  return url.replace(/\/[^/]*$/, '').replace(/\/\d[\w.-]*(?=\/|$)/g, '/*');
}

function propertiesOf(
  text: string,
): readonly { readonly key: string; readonly value: string; readonly line: number }[] {
  const found: { key: string; value: string; line: number }[] = [];
  let number = 0;
  let joined = '';
  let start = 0;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    number += 1;
    if (joined === '') start = number;
    const line = raw.trimStart();
    if (joined === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/.test(line) && joined.length < 65_536;
    joined += isContinued ? line.slice(0, -1) : line;
    if (isContinued) continue;
    const [, key = '', value = ''] = /^((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)$/s.exec(joined) ?? [];
    found.push({ key: unescaped(key), value: unescaped(value).trim(), line: start });
    joined = '';
  }
  return found;
}

function unescaped(text: string): string {
  return text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(.)/g, '$1');
}

function leavesOf(text: string): readonly Leaf[] | string {
  const leaves: Leaf[] = [];
  const path: string[] = [];
  const ids: number[] = [];
  const parser = openXml();
  let value = '';
  let nodes = 0;
  let isLeaf = false;
  let fault: string | undefined;
  const stop = (reason: string): never => {
    fault ??= reason;
    throw new Stop();
  };
  parser.on('error', () => stop('it is not well-formed XML'));
  parser.on('doctype', () => stop('it declares a document type'));
  parser.on('opentag', ({ name }) => {
    nodes += 1;
    if (path.length >= maxDepth || nodes > maxNodes)
      stop(`it is nested deeper than ${maxDepth} or has more than ${maxNodes} elements`);
    path.push(name.slice(name.indexOf(':') + 1));
    ids.push(nodes);
    value = '';
    isLeaf = true;
  });
  const add = (chunk: string): void => {
    if (value.length + chunk.length <= 4096) value += chunk;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => {
    if (isLeaf)
      leaves.push({ path: [...path], value: value.trim(), line: parser.line, parent: ids.at(-2) ?? 0 });
    isLeaf = false;
    path.pop();
    ids.pop();
  });
  try {
    parser.write(text).close();
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
  }
  return fault ?? leaves;
}

class Stop extends Error {}

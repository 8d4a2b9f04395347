import type { ReadingBuilder } from '../reading.ts';
import { childText, descendants, xmlTree } from './xml-tree.ts';

/** settings.xml: mirrors, repositories of profiles, proxies. A file of that name with another root says nothing. */
export function readMavenSettings(text: string, reading: ReadingBuilder): void {
  const root = xmlTree(text);
  if (typeof root === 'string') {
    if (/<settings[\s>]/.test(text)) reading.problem(root);
    return;
  }
  if (root.name !== 'settings') return;
  for (const [element, parent] of descendants(root)) {
    const { name, line } = element;
    if (name === 'mirror')
      reading.source(`mirror of ${childText(element, 'mirrorOf')}`, childText(element, 'url'), { line });
    else if (name === 'repository' || name === 'pluginRepository')
      reading.source(parent.name, childText(element, 'url'), { line });
    else if (name === 'proxy') reading.source('proxy', childText(element, 'host'), { line });
  }
}

/** `.mvn/extensions.xml`: programs that Maven loads before it builds. */
export function readMavenExtensions(text: string, reading: ReadingBuilder): void {
  const root = xmlTree(text);
  if (typeof root === 'string') return void reading.problem(root);
  for (const [element] of descendants(root)) {
    if (element.name !== 'extension') continue;
    const name = `${childText(element, 'groupId')}:${childText(element, 'artifactId')}`;
    const version = childText(element, 'version');
    if (/^:|:$|\$/.test(name)) reading.problem('it names an extension whose coordinates it does not say');
    else
      reading.declare({
        key: name,
        name,
        requirement: version,
        scope: 'development',
        field: 'extension',
        source: 'registry',
        needNotBeLocked: true,
        line: element.line,
        version: /^[\w.-]+$/.exec(version)?.[0],
      });
  }
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

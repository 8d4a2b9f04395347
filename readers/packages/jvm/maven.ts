/* Reads the files of Maven. */
import { createRequire } from 'node:module';
import { numberedLines } from '../content.ts';
import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';

type Kind = 'dependency' | 'managed' | 'plugin' | 'managed-plugin' | 'extension' | 'parent' | 'repository';

/** The required parent of each element: a repository under any other parent is a publishing target. */
const parents: Readonly<Record<string, readonly [kind: Kind, parent: RegExp]>> = {
  dependency: ['dependency', /^dependencies$/],
  plugin: ['plugin', /^plugins$/],
  extension: ['extension', /^extensions$/],
  parent: ['parent', /^project$/],
  repository: ['repository', /^(?:r|pluginR)epositories$/],
  pluginRepository: ['repository', /^(?:r|pluginR)epositories$/],
};
const coordinates = ['groupId', 'artifactId', 'version'] as const;

/**
 * Reads pom.xml: dependencies, plugins, extensions and the parent, with the properties and managed versions in the
 * file itself. If a version is defined elsewhere (a parent, an imported list), it is empty and the written text is
 * the requirement.
 */
export function readPom(text: string, reading: ReadingBuilder): void {
  const project = xmlTree(text);
  if (typeof project === 'string') return void reading.problem(project);
  if (project.name !== 'project') return void reading.problem('it is no `project`');
  const artifacts: [kind: Kind, element: XmlElement][] = [];
  const properties = new Map<string, string>();
  for (const [element, parent, above] of descendants(project)) {
    const kind = kindOf(element, parent, above);
    if (kind) artifacts.push([kind, element]);
    if (parent.name === 'properties' && /^(?:project|profile)$/.test(above?.name ?? ''))
      properties.set(element.name, element.text.trim());
  }
  const parent = artifacts.find(([kind]) => kind === 'parent')?.[1];
  for (const key of coordinates) {
    const inherited = parent ? childText(parent, key) : '';
    const own = childText(project, key) || inherited;
    for (const prefix of ['project.', 'pom.', '']) properties.set(`${prefix}${key}`, own);
    properties.set(`project.parent.${key}`, inherited);
  }
  const filled = (element: XmlElement, name: string): string => fill(childText(element, name), properties);
  const own = (key: string): string => fill(properties.get(key) ?? '', properties);
  reading.local.add(`${own('groupId')}:${own('artifactId')}`);
  const nameOf = (kind: Kind, element: XmlElement): string => {
    const group = filled(element, 'groupId') || (kind.endsWith('plugin') ? 'org.apache.maven.plugins' : '');
    return `${group}:${filled(element, 'artifactId')}`;
  };
  const managed = new Map<string, string>();
  for (const [kind, element] of artifacts)
    if (kind.startsWith('managed'))
      managed.set(`${kind} ${nameOf(kind, element)}`, filled(element, 'version'));
  const builder = new LockBuilder(reading);
  for (const [kind, element] of artifacts) {
    const { line } = element;
    const scope = childText(element, 'scope');
    if (kind === 'repository') {
      reading.source('repositories', filled(element, 'url'), { line });
      if (element.children.some((child) => childText(child, 'checksumPolicy') === 'ignore'))
        reading.source('checksumPolicy', 'ignore', { line, counts: 'added' });
    }
    if (kind === 'repository' || kind === 'managed-plugin' || (kind === 'managed' && scope !== 'import'))
      continue;
    const name = nameOf(kind, element);
    if (/^:|:$|\$/.test(name)) {
      reading.problem(`line ${line} names a ${kind} whose coordinates this file does not say`);
      continue;
    }
    const listed = kind === 'plugin' ? `managed-plugin ${name}` : `managed ${name}`;
    const written = filled(element, 'version') || managed.get(listed) || '';
    const isExact = written !== '' && !/[[(,$]|^(?:LATEST|RELEASE)$/.test(written);
    const variant = `${childText(element, 'classifier')} ${childText(element, 'type')}`;
    builder.add(`${name} ${written} ${kind} ${variant}`, {
      name,
      version: isExact ? written : '',
      ...(isExact ? {} : { requirement: written === '' ? 'a version that this file does not say' : written }),
      source: scope === 'system' ? 'path' : 'registry',
      origin: scope === 'system' ? filled(element, 'systemPath') : undefined,
      qualifiers: { classifier: filled(element, 'classifier') },
      scope: scopeOf(kind, element),
      direct: true,
      line,
      asks: [],
    });
  }
  builder.finish();
  reading.knowsDirect = true;
}

function kindOf(element: XmlElement, parent: XmlElement, above: XmlElement | undefined): Kind | undefined {
  const [kind, expected] = Object.hasOwn(parents, element.name) ? (parents[element.name] ?? []) : [];
  if (!expected?.test(parent.name)) return undefined;
  if (kind === 'dependency' && above?.name === 'dependencyManagement') return 'managed';
  return kind === 'plugin' && above?.name === 'pluginManagement' ? 'managed-plugin' : kind;
}

function scopeOf(kind: Kind, element: XmlElement): LockedPackage['scope'] {
  if (kind !== 'dependency') return kind === 'parent' || kind === 'managed' ? 'unknown' : 'development';
  if (childText(element, 'optional') === 'true') return 'optional';
  return childText(element, 'scope') === 'test' ? 'development' : 'runtime';
}

/** `${name}` by the file's own properties, nested at most ten times; what is not known stays as it is. */
function fill(text: string, properties: ReadonlyMap<string, string>): string {
  let filled = text;
  for (let round = 0; round < 10 && filled.includes('${') && filled.length < 2000; round += 1) {
    const next = filled.replace(/\$\{([^${}]*)\}/g, (whole, name: string) => properties.get(name) || whole);
    if (next === filled) break;
    filled = next;
  }
  return filled.length < 2000 ? filled : '$';
}

/** An element of a project file. Names have no prefix; `text` is what it holds directly, at most 4,096 characters. */
interface XmlElement {
  readonly name: string;
  readonly line: number;
  readonly children: XmlElement[];
  text: string;
}

const maxXmlDepth = 100;
const maxElements = 500_000;

class Stop extends Error {}

/** The root element, or why there is none. Document type declarations are refused. */
function xmlTree(text: string): XmlElement | string {
  // Loaded here: most changes bring no such file.
  const { SaxesParser } = createRequire(import.meta.url)('saxes') as typeof import('saxes');
  const parser = new SaxesParser({ position: true });
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  const stop = (reason: string): never => {
    throw new Stop(reason);
  };
  parser.on('error', () => stop('it is not well-formed XML'));
  parser.on('doctype', () => stop('it declares a document type'));
  parser.on('opentag', ({ name }) => {
    elements += 1;
    if (open.length >= maxXmlDepth || elements > maxElements)
      stop(`it is nested deeper than ${maxXmlDepth} or has more than ${maxElements} elements`);
    const element = { name: name.slice(name.indexOf(':') + 1), line: parser.line, children: [], text: '' };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  const add = (chunk: string): void => {
    const element = open.at(-1);
    if (element && element.text.length + chunk.length <= 4096) element.text += chunk;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => void open.pop());
  try {
    parser.write(text).close();
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
    return thrown.message;
  }
  return root ?? 'it is not well-formed XML';
}

/** Every element below `root` with its parent and the parent's parent, in the order of the text. */
function* descendants(
  root: XmlElement,
  above?: XmlElement,
): Generator<readonly [element: XmlElement, parent: XmlElement, above: XmlElement | undefined]> {
  for (const element of root.children) {
    yield [element, root, above];
    yield* descendants(element, root);
  }
}

/** Text of the last child of that name, or an empty one. */
function childText(element: XmlElement, name: string): string {
  return element.children.findLast((child) => child.name === name)?.text.trim() ?? '';
}

/**
 * Reads settings.xml: mirrors, repositories of profiles, and proxies. A file of that name with another root is
 * ignored.
 */
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
 * Reads gradle.properties and the properties of the Gradle and Maven wrappers: the source of the build tool, and
 * properties that name a repository address. Another version from the same place is not a different source.
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

/** The directory of a distribution URL, without version numbers. */
function withoutVersion(url: string): string {
  return url.replace(/\/[^/]*$/, '').replace(/\/\d[\w.-]*(?=\/|$)/g, '/*');
}

function propertiesOf(
  text: string,
): readonly { readonly key: string; readonly value: string; readonly line: number }[] {
  const found: { key: string; value: string; line: number }[] = [];
  let joined = '';
  let start = 0;
  for (const [number, raw] of numberedLines(text, /\r\n|\r|\n/)) {
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
